-- requires: is_far_off, make_searcher, nearest_chunks, filtered_chunks, visible_chunks, labels_hide_documents, search_graph, search_options, served_build_at
create type tracestore.dense_result as (
  near tracestore.near_chunk[],
  dense_path text,
  path text
);
comment on type tracestore.dense_result is 'What the dense leg found, in total order, by exact, hnsw or ivfflat, and what it did to find it.';

create function tracestore.exact_chunks(
  served tracestore.served_build, unit_query @vector@.vector, match_count integer, wanted tracestore.search_filter, why text)
returns tracestore.dense_result
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_result tracestore.dense_result;
  v_way text := 'vectors first';
  v_filtered tracestore.filtered_result;
begin
  if wanted is null and tracestore.few_are_visible(served.index_id, served.build_id) then
    v_way := 'visible first';
    v_result.near := tracestore.visible_chunks(served.index_id, served.build_id, unit_query, match_count, null);
  elsif wanted is null then
    v_result.near := tracestore.nearest_chunks(served.index_id, served.build_id, unit_query, match_count, null);
  else
    v_filtered := tracestore.filtered_chunks(served.index_id, served.build_id, unit_query, match_count, wanted);
    v_result.near := v_filtered.near;
    v_way := v_filtered.way;
  end if;
  v_result.dense_path := 'exact';
  v_result.path := concat('exact: ', v_way, '; ' || why);
  return v_result;
end
$$;
comment on function tracestore.exact_chunks(tracestore.served_build, @vector@.vector, integer, tracestore.search_filter, text) is
  'The dense leg, exactly; why is said in the path.';

create function tracestore.check_time(max_ms integer)
returns void
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  if clock_timestamp() - statement_timestamp() > max_ms * interval '1 millisecond' then
    raise exception using errcode = 'TS011', message = format('the search took longer than %s ms', max_ms),
      detail = format('%s ms so far', (extract(epoch from clock_timestamp() - statement_timestamp()) * 1000)::integer),
      hint = 'Allow more, or ask with mode ann; nothing less than the full answer is returned.';
  end if;
end
$$;
comment on function tracestore.check_time(integer) is 'An error once the statement has taken longer than it may; null: no limit.';

create function tracestore.ann_scan(
  served tracestore.served_build, kind text, unit_query @vector@.vector, match_count integer,
  wanted tracestore.search_filter, effort integer, most integer)
returns tracestore.ann_result
language plpgsql
stable
parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_result tracestore.ann_result;
begin
  perform set_config(tracestore.effort_setting(kind), effort::text, true);
  execute format('select * from tracestore.%I($1, $2, $3, $4, $5)', 'ann_' || served.index_id)
  into v_result using served.build_id, unit_query, match_count, wanted, most;
  return v_result;
end
$$;
comment on function tracestore.ann_scan(tracestore.served_build, text, @vector@.vector, integer, tracestore.search_filter, integer, integer) is
  'One approximate scan with ef_search or probes, of at most so many candidates, null: all. Internal to dense_chunks, which restores the setting.';

create function tracestore.whole_answer(scanned tracestore.ann_result, match_count integer, enough integer)
returns tracestore.near_chunk[]
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  -- Short of members, or a tie that may go on behind what was looked at: no answer.
  if cardinality(scanned.near) < enough
    or (scanned.near[match_count]).distance_key >= coalesce(scanned.reach, (scanned.near[cardinality(scanned.near)]).distance_key) then
    return null;
  end if;
  return scanned.near[:match_count];
end
$$;
comment on function tracestore.whole_answer(tracestore.ann_result, integer, integer) is
  'The nearest of what an approximate scan found, or null when it did not see enough members, at least match_count, to answer.';

create function tracestore.refuse_ann(index_id bigint, graph text)
returns void
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using errcode = 'TS009', message = format('index %s has no approximate index', index_id),
    detail = case when graph is null then 'its settings ask for none' else 'it is still to be made' end,
    hint = case when graph is null then 'Build with --ann hnsw, or use mode auto or exact.' else 'tracestore reindex makes it; use mode auto or exact.' end;
end
$$;
comment on function tracestore.refuse_ann(bigint, text) is 'An error for mode ann of a build without a usable approximate index.';

create function tracestore.ann_most(index_id bigint, kind text)
returns integer
language sql
stable
parallel safe
return case kind when 'hnsw' then 1000 else tracestore.lists_of(index_id) end;
comment on function tracestore.ann_most(bigint, text) is 'All the ef_search or probes there are.';

create function tracestore.ann_effort(kind text, match_count integer, options tracestore.search_options, most integer)
returns integer
language sql
immutable
parallel safe
-- Here and in ann_path an expression, which is inlined: on the way to the graph each call of a function counts.
return least(most, case kind
  when 'hnsw' then coalesce((options).ef_search, greatest(100, 2 * match_count))
  else coalesce((options).probes, ceil(sqrt(most))::integer) end);
comment on function tracestore.ann_effort(text, integer, tracestore.search_options, integer) is
  'The ef_search or probes that mode ann looks with first.';

create function tracestore.ann_path(kind text, effort integer)
returns text
language sql
immutable
parallel safe
return kind || case kind when 'hnsw' then ' ef_search ' else ' probes ' end || effort;
comment on function tracestore.ann_path(text, integer) is 'How mode ann names what it did.';

create function tracestore.ann_only_chunks(
  served tracestore.served_build, kind text, unit_query @vector@.vector, match_count integer, wanted tracestore.search_filter,
  options tracestore.search_options)
returns tracestore.dense_result
language plpgsql
stable
parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_near tracestore.near_chunk[];
  v_most constant integer := tracestore.ann_most(served.index_id, kind);
  v_effort integer;
begin
  foreach v_effort in array array[tracestore.ann_effort(kind, match_count, options, v_most), v_most] loop
    v_near := tracestore.whole_answer(
      tracestore.ann_scan(served, kind, unit_query, match_count, wanted, v_effort, null), match_count, match_count);
    if v_near is not null then
      return row(v_near, kind, tracestore.ann_path(kind, v_effort))::tracestore.dense_result;
    end if;
    perform tracestore.check_time(options.max_ms);
  end loop;
  return tracestore.exact_chunks(served, unit_query, match_count, wanted, 'too few members near');
end
$$;
comment on function tracestore.ann_only_chunks(tracestore.served_build, text, @vector@.vector, integer, tracestore.search_filter, tracestore.search_options) is
  'Internal to dense_chunks: mode ann. One scan, where it is too short another with all the effort there is, then exactly.';

create function tracestore.chunks_if_few(
  served tracestore.served_build, unit_query @vector@.vector, match_count integer, wanted tracestore.search_filter)
returns tracestore.near_chunk[]
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_few bigint;
  v_kept tracestore.kept_versions;
begin
  -- An exact search begins with the same look, and a filter that keeps more ends this one early.
  select greatest(100, b.documents / 50) into strict v_few from tracestore_data.build b where b.build_id = served.build_id;
  v_kept := tracestore.versions_kept(served.index_id, served.build_id, wanted, v_few + 1);
  if cardinality(v_kept.version_key) > v_few or v_kept.share > 0.05 then
    return null;
  end if;
  return tracestore.chunks_of_versions(served.index_id, served.build_id, unit_query, match_count, v_kept.version_key);
end
$$;
comment on function tracestore.chunks_if_few(tracestore.served_build, @vector@.vector, integer, tracestore.search_filter) is
  'The nearest chunks among what a filter keeps, exactly, where it keeps one document of fifty, or a hundred; null where it keeps more.';

create function tracestore.auto_chunks(
  served tracestore.served_build, kind text, unit_query @vector@.vector, match_count integer, wanted tracestore.search_filter,
  options tracestore.search_options)
returns tracestore.dense_result
language plpgsql
stable
parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_lists integer;
  -- Compared are ten at least: two scans agree more easily on one wrong hit than on ten.
  v_count integer := greatest(match_count, 10);
  v_enough integer := v_count;
  v_share double precision := 1;
  -- Three times what is asked: with 400 candidates and then 800, 1 of 100 of the nearest 200 was missing, of 100,000 vectors.
  v_effort integer := coalesce(options.ef_search, greatest(100, 3 * match_count));
  v_highest integer := 1000;
  v_most integer;
  v_near tracestore.near_chunk[];
  v_scanned tracestore.ann_result;
  v_first tracestore.near_chunk[];
  v_second tracestore.near_chunk[];
  v_name text := kind || case kind when 'hnsw' then ' ef_search ' else ' probes ' end;
begin
  -- Reading so few vectors is as quick as scanning a graph twice.
  if tracestore.vectors_of(served.index_id) * served.dimension <= 1000000 then
    return tracestore.exact_chunks(served, unit_query, match_count, wanted, 'small index');
  end if;
  if kind = 'ivfflat' then
    v_lists := tracestore.lists_of(served.index_id);
    -- No look reads more than most of the vectors: all of them are read as quickly. More lists than mode ann looks into, and
    -- more for more hits, and under a filter for those it leaves out: with 10 and then 20 of 100 lists 1 of 20 questions under
    -- a filter got the same wrong answer twice.
    v_highest := 0.7 * v_lists;
    v_effort := coalesce(options.probes, ceil(1.5 * sqrt(v_lists * v_count / 10.0))::integer);
  end if;
  -- Labels that hide documents are a filter too.
  if not (wanted is null) or tracestore.labels_hide_documents() then
    -- What the filter keeps of the neighbourhood tells more than what it keeps of the corpus, and costs a part of a scan; of
    -- IVFFlat one list.
    -- Three times as many as asked have to be seen: the nearest of fewer may lie behind what the graph reached.
    v_enough := 3 * v_count;
    if cardinality(wanted.doc_id) <= 100 or 2 * v_effort > v_highest then
      return tracestore.exact_chunks(served, unit_query, match_count, wanted, 'selective filter');
    end if;
    if not tracestore.labels_hide_documents() then
      v_near := tracestore.chunks_if_few(served, unit_query, match_count, wanted);
      if v_near is not null then
        return row(v_near, 'exact', 'exact: filter first; selective filter')::tracestore.dense_result;
      end if;
    end if;
    v_most := greatest(50, match_count);
    v_scanned := tracestore.ann_scan(served, kind, unit_query, v_enough, wanted, case kind when 'hnsw' then least(v_most, v_highest) else 1 end, v_most);
    if cardinality(v_scanned.near) = 0 then
      return tracestore.exact_chunks(served, unit_query, match_count, wanted, 'selective filter');
    end if;
    v_share := cardinality(v_scanned.near)
      / case when cardinality(v_scanned.near) > v_enough then v_scanned.looked_at else v_most end::double precision;
    if kind = 'ivfflat' then
      v_effort := coalesce(options.probes, ceil(1.5 * sqrt(v_lists * v_count / v_share / 10))::integer);
    else
      -- Of fifty it is an estimate: what comes near to enough is worth the look, at a tenth of an exact search of so many.
      v_effort := greatest(v_effort, least(case when v_share >= 0.05 then v_highest / 2 else v_highest end, 1.2 * v_enough / v_share));
    end if;
  end if;
  if 2 * v_effort > v_highest then
    return tracestore.exact_chunks(served, unit_query, match_count, wanted,
      case when v_share = 1 then 'more asked than the graph gives' else 'selective filter' end);
  end if;
  -- Recall is a property of the query too: a scan of a far query returns k rows and misses most. What more effort does
  -- not change stands; what it changes is looked for with all the effort, then exactly. Where so many candidates are no
  -- members, the neighbourhood was withdrawn, and the nearest are anywhere.
  v_most := 100 + 4 * (v_enough + 5) / v_share;
  v_first := tracestore.whole_answer(
    tracestore.ann_scan(served, kind, unit_query, v_enough, wanted, v_effort, v_most), v_count, v_enough);
  if v_first is not null or v_effort < 2 * v_enough then
    v_second := tracestore.whole_answer(
      tracestore.ann_scan(served, kind, unit_query, v_enough, wanted, 2 * v_effort, v_most), v_count, v_enough);
    -- Of far questions a graph finds one cluster and does not leave it, whatever the effort: looks agree, and are wrong.
    if v_second is not null and tracestore.is_far_off(served.index_id, unit_query, v_second) then
      return tracestore.exact_chunks(served, unit_query, match_count, wanted, 'far from what the graph found');
    end if;
    if v_first = v_second then
      return row(v_second[:match_count], kind, v_name || v_effort || ' and ' || 2 * v_effort)::tracestore.dense_result;
    end if;
    perform tracestore.check_time(options.max_ms);
    v_effort := 2 * v_effort;
    if v_second is not null and v_effort < v_highest then
      v_highest := least(v_highest, 5 * v_effort);
      v_first := tracestore.whole_answer(
        tracestore.ann_scan(served, kind, unit_query, v_enough, wanted, v_highest, v_most), v_count, v_enough);
      if v_first = v_second then
        return row(v_second[:match_count], kind, v_name || v_effort || ' and ' || v_highest)::tracestore.dense_result;
      end if;
      perform tracestore.check_time(options.max_ms);
    end if;
  end if;
  return tracestore.exact_chunks(served, unit_query, match_count, wanted,
    case when v_second is null then 'too few members near' else 'the graph does not agree with itself' end);
end
$$;
comment on function tracestore.auto_chunks(tracestore.served_build, text, @vector@.vector, integer, tracestore.search_filter, tracestore.search_options) is
  'Internal to dense_chunks: mode auto of a build with an approximate index. By that where two looks agree, or exactly where that is quicker, the index does not give enough, or does not agree with itself.';

create function tracestore.begin_scans()
returns text[]
language plpgsql
stable
parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_before constant text[] := array[
    current_setting('hnsw.ef_search'), current_setting('hnsw.iterative_scan'),
    current_setting('ivfflat.probes'), current_setting('ivfflat.iterative_scan')];
begin
  -- An iterative scan returns enough rows whatever it missed; too few are the sign to look on.
  perform set_config('hnsw.iterative_scan', 'off', true), set_config('ivfflat.iterative_scan', 'off', true);
  return v_before;
end
$$;
comment on function tracestore.begin_scans() is
  'Makes the settings of pgvector those of our scans; returns what they were, for end_scans. Each scan sets its effort.';

create function tracestore.end_scans(before text[])
returns void
language plpgsql
stable
parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
begin
  -- Put back here; after an error the transaction, or the block that catches it, does. Not by SET in the function's
  -- head: a role that is no superuser cannot restore a dump with such a function before the library is loaded.
  perform set_config('hnsw.ef_search', before[1], true), set_config('hnsw.iterative_scan', before[2], true),
    set_config('ivfflat.probes', before[3], true), set_config('ivfflat.iterative_scan', before[4], true);
end
$$;
comment on function tracestore.end_scans(text[]) is 'Puts the settings of pgvector back as they were before begin_scans.';

create function tracestore.dense_chunks(
  served tracestore.served_build, unit_query @vector@.vector, match_count integer, wanted tracestore.search_filter,
  mode text, as_of boolean, options tracestore.search_options)
returns tracestore.dense_result
language plpgsql
stable
parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_before text[];
  v_result tracestore.dense_result;
begin
  if mode = 'exact' or (mode = 'auto' and as_of) then
    return tracestore.exact_chunks(served, unit_query, match_count, wanted, null);
  end if;
  if served.graph is null or served.graph = 'to be made' then
    if mode = 'ann' then
      perform tracestore.refuse_ann(served.index_id, served.graph);
    end if;
    return tracestore.exact_chunks(served, unit_query, match_count, wanted, case when served.graph is not null then 'no graph yet' end);
  end if;
  v_before := tracestore.begin_scans();
  v_result := case mode
    when 'ann' then tracestore.ann_only_chunks(served, served.graph, unit_query, match_count, wanted, options)
    else tracestore.auto_chunks(served, served.graph, unit_query, match_count, wanted, options) end;
  perform tracestore.end_scans(v_before);
  return v_result;
end
$$;
comment on function tracestore.dense_chunks(tracestore.served_build, @vector@.vector, integer, tracestore.search_filter, text, boolean, tracestore.search_options) is
  'The dense leg of a search: the nearest chunks of a build, exactly or by its approximate index as mode asks and its yield allows.';
