-- requires: make_searcher, nearest_chunks, filtered_chunks, visible_chunks, labels_hide_documents, search_graph, search_options, served_build_at
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
  v_way text := case when wanted is null then 'vectors first' else 'filter first' end;
begin
  if wanted is null and tracestore.few_are_visible(served.index_id, served.build_id) then
    v_way := 'visible first';
    v_result.near := tracestore.visible_chunks(served.index_id, served.build_id, unit_query, match_count, null);
  elsif wanted is null then
    v_result.near := tracestore.nearest_chunks(served.index_id, served.build_id, unit_query, match_count, null);
  else
    v_result.near := tracestore.filtered_chunks(served.index_id, served.build_id, unit_query, match_count, wanted);
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
  perform set_config(case kind when 'hnsw' then 'hnsw.ef_search' else 'ivfflat.probes' end, effort::text, true);
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

create function tracestore.graph_kind(served tracestore.served_build, mode text)
returns text
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_kind text;
begin
  select i.settings_json #>> '{ann,kind}' into v_kind from tracestore_data.retrieval_index i where i.index_id = served.index_id;
  if v_kind is not null and exists (
    select from pg_index x
    where x.indexrelid = to_regclass('tracestore_data.embedding_' || served.index_id || '_ann') and x.indisvalid) then
    return v_kind;
  end if;
  if mode = 'ann' then
    raise exception using errcode = 'TS009', message = format('index %s has no approximate index', served.index_id),
      detail = case when v_kind is null then 'its settings ask for none' else 'it is still to be made' end,
      hint = case when v_kind is null then 'Build with --ann hnsw, or use mode auto or exact.' else 'tracestore reindex makes it; use mode auto or exact.' end;
  end if;
  return case when v_kind is not null then 'to be made' end;
end
$$;
comment on function tracestore.graph_kind(tracestore.served_build, text) is
  'The approximate index that a build can be searched with: hnsw or ivfflat, to be made, or null for none; mode ann needs one.';

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
  v_effort integer;
  v_most integer := 1000;
begin
  if kind = 'ivfflat' then
    v_most := tracestore.lists_of(served.index_id);
  end if;
  v_effort := least(v_most, case kind
    when 'hnsw' then coalesce(options.ef_search, greatest(100, 2 * match_count))
    else coalesce(options.probes, ceil(sqrt(v_most))::integer) end);
  foreach v_effort in array array[v_effort, v_most] loop
    v_near := tracestore.whole_answer(
      tracestore.ann_scan(served, kind, unit_query, match_count, wanted, v_effort, null), match_count, match_count);
    if v_near is not null then
      return row(v_near, kind, concat(kind, case kind when 'hnsw' then ' ef_search ' else ' probes ' end, v_effort))::tracestore.dense_result;
    end if;
    perform tracestore.check_time(options.max_ms);
  end loop;
  return tracestore.exact_chunks(served, unit_query, match_count, wanted, 'too few members near');
end
$$;
comment on function tracestore.ann_only_chunks(tracestore.served_build, text, @vector@.vector, integer, tracestore.search_filter, tracestore.search_options) is
  'Internal to dense_chunks: mode ann. One scan, where it is too short another with all the effort there is, then exactly.';

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
  v_settings constant text[] := array['hnsw.ef_search', 'hnsw.iterative_scan', 'ivfflat.probes', 'ivfflat.iterative_scan'];
  v_kind text;
  v_before text[];
  v_result tracestore.dense_result;
begin
  if mode = 'exact' or (mode = 'auto' and as_of) then
    return tracestore.exact_chunks(served, unit_query, match_count, wanted, null);
  end if;
  v_kind := tracestore.graph_kind(served, mode);
  if v_kind is null or v_kind = 'to be made' then
    return tracestore.exact_chunks(served, unit_query, match_count, wanted, case when v_kind is not null then 'no graph yet' end);
  end if;
  -- Put back here; after an error the transaction, or the block that catches it, does. Not by SET in the function's
  -- head: a role that is no superuser cannot restore a dump with such a function before the library is loaded.
  v_before := array[current_setting(v_settings[1]), current_setting(v_settings[2]), current_setting(v_settings[3]), current_setting(v_settings[4])];
  -- An iterative scan returns enough rows whatever it missed; too few are the sign to look on.
  perform set_config(v_settings[2], 'off', true), set_config(v_settings[4], 'off', true);
  v_result := case mode
    when 'ann' then tracestore.ann_only_chunks(served, v_kind, unit_query, match_count, wanted, options)
    else tracestore.auto_chunks(served, v_kind, unit_query, match_count, wanted, options) end;
  perform set_config(v_settings[place], v_before[place], true) from generate_series(1, 4) as place;
  return v_result;
end
$$;
comment on function tracestore.dense_chunks(tracestore.served_build, @vector@.vector, integer, tracestore.search_filter, text, boolean, tracestore.search_options) is
  'The dense leg of a search: the nearest chunks of a build, exactly or by its approximate index as mode asks and its yield allows.';
