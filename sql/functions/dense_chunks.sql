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
    v_result.near := tracestore.nearest_chunks(served.index_id, served.build_id, unit_query, match_count);
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
  wanted tracestore.search_filter, effort integer, all_candidates boolean)
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
  execute format('select * from tracestore.%I($1, $2, $3, $4)', case when all_candidates then 'ann_all_' else 'ann_' end || served.index_id)
  into v_result using served.build_id, unit_query, match_count, wanted;
  return v_result;
end
$$;
comment on function tracestore.ann_scan(tracestore.served_build, text, @vector@.vector, integer, tracestore.search_filter, integer, boolean) is
  'One approximate scan with ef_search or probes. Internal to dense_chunks, which restores the setting.';

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

create function tracestore.ann_chunks(
  served tracestore.served_build, unit_query @vector@.vector, match_count integer, wanted tracestore.search_filter,
  mode text, options tracestore.search_options)
returns tracestore.dense_result
language plpgsql
stable
parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_kind text;
  v_ready boolean;
  v_vectors double precision;
  -- Compared are ten at least: two scans agree more easily on one wrong hit than on ten.
  v_count integer := greatest(match_count, 10);
  v_enough integer := v_count;
  v_scanned tracestore.ann_result;
  v_effort integer;
  v_most integer := 1000;
  v_first tracestore.near_chunk[];
  v_second tracestore.near_chunk[];
  v_name text;
begin
  select i.settings_json #>> '{ann,kind}' into v_kind from tracestore_data.retrieval_index i where i.index_id = served.index_id;
  if v_kind is not null then
    select x.indisvalid into v_ready
    from pg_index x where x.indexrelid = to_regclass('tracestore_data.embedding_' || served.index_id || '_ann');
  end if;
  if v_ready is not true then
    if mode = 'ann' then
      raise exception using errcode = 'TS009', message = format('index %s has no approximate index', served.index_id),
        detail = case when v_kind is null then 'its settings ask for none' else 'it is still to be made' end,
        hint = case when v_kind is null then 'Build with --ann hnsw, or use mode auto or exact.' else 'tracestore reindex makes it; use mode auto or exact.' end;
    end if;
    return tracestore.exact_chunks(served, unit_query, match_count, wanted, case when v_kind is not null then 'no graph yet' end);
  end if;
  v_effort := coalesce(options.ef_search, greatest(100, 2 * match_count));
  if v_kind = 'ivfflat' then
    v_most := tracestore.lists_of(served.index_id);
    v_effort := coalesce(options.probes, ceil(sqrt(v_most))::integer);
  end if;
  v_name := v_kind || case v_kind when 'hnsw' then ' ef_search ' else ' probes ' end;
  if mode = 'ann' then
    v_effort := least(v_effort, v_most);
    v_first := tracestore.whole_answer(
      tracestore.ann_scan(served, v_kind, unit_query, match_count, wanted, v_effort, false), match_count, match_count);
    if v_first is not null then
      return row(v_first, v_kind, v_name || v_effort)::tracestore.dense_result;
    end if;
    v_first := tracestore.whole_answer(
      tracestore.ann_scan(served, v_kind, unit_query, match_count, wanted, v_most, true), match_count, match_count);
    if v_first is not null then
      return row(v_first, v_kind, v_name || v_most || ', all candidates')::tracestore.dense_result;
    end if;
    perform tracestore.check_time(options.max_ms);
    return tracestore.exact_chunks(served, unit_query, match_count, wanted, 'too few members near');
  end if;
  v_vectors := tracestore.vectors_of(served.index_id);
  -- Reading so few vectors is as quick as scanning a graph twice.
  if v_vectors * served.dimension <= 1000000 then
    return tracestore.exact_chunks(served, unit_query, match_count, wanted, 'small index');
  end if;
  -- Labels that hide documents are a filter too.
  if not (wanted is null) or tracestore.labels_hide_documents() then
    -- What the filter keeps of the neighbourhood tells more than what it keeps of the corpus, and costs one scan. Three
    -- times as many as asked have to be seen: the nearest of fewer may lie behind what the graph reached.
    v_enough := 3 * v_count;
    if cardinality(wanted.doc_id) <= 100 or v_effort > v_most then
      return tracestore.exact_chunks(served, unit_query, match_count, wanted, 'selective filter');
    end if;
    v_scanned := tracestore.ann_scan(served, v_kind, unit_query, v_enough, wanted, v_effort, true);
    if cardinality(v_scanned.near) < v_enough then
      if cardinality(v_scanned.near) = 0 or v_kind <> 'hnsw' then
        return tracestore.exact_chunks(served, unit_query, match_count, wanted, 'selective filter');
      end if;
      v_effort := least(v_most, v_effort * v_enough * 1.2 / cardinality(v_scanned.near));
    end if;
  end if;
  if 2 * v_effort > v_most then
    return tracestore.exact_chunks(
      served, unit_query, match_count, wanted, case when wanted is null then 'more asked than the graph gives' else 'selective filter' end);
  end if;
  -- Recall is a property of the query too: a scan of a far query returns k rows and misses most. What twice the effort
  -- does not change stands; what it changes is looked for with all the effort, then exactly.
  v_first := tracestore.whole_answer(
    tracestore.ann_scan(served, v_kind, unit_query, v_enough, wanted, v_effort, false), v_count, v_enough);
  v_second := tracestore.whole_answer(
    tracestore.ann_scan(served, v_kind, unit_query, v_enough, wanted, 2 * v_effort, false), v_count, v_enough);
  if v_first = v_second then
    return row(v_second[:match_count], v_kind, v_name || v_effort || ' and ' || 2 * v_effort)::tracestore.dense_result;
  end if;
  perform tracestore.check_time(options.max_ms);
  v_most := least(v_most, 10 * v_effort);
  if v_second is not null and 2 * v_effort < v_most then
    v_first := tracestore.whole_answer(
      tracestore.ann_scan(served, v_kind, unit_query, v_enough, wanted, v_most, true), v_count, v_enough);
    if v_first = v_second then
      return row(v_second[:match_count], v_kind, v_name || 2 * v_effort || ' and ' || v_most)::tracestore.dense_result;
    end if;
    perform tracestore.check_time(options.max_ms);
  end if;
  return tracestore.exact_chunks(served, unit_query, match_count, wanted,
    case when v_second is null then 'too few members near' else 'the graph does not agree with itself' end);
end
$$;
comment on function tracestore.ann_chunks(tracestore.served_build, @vector@.vector, integer, tracestore.search_filter, text, tracestore.search_options) is
  'Internal to dense_chunks, which restores the settings it changes: the dense leg by the approximate index of a build, or exactly where that is quicker or the index does not give enough.';

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
  v_before text[];
  v_result tracestore.dense_result;
begin
  if mode = 'exact' or (mode = 'auto' and as_of) then
    return tracestore.exact_chunks(served, unit_query, match_count, wanted, null);
  end if;
  -- Put back here; after an error the transaction, or the block that catches it, does. Not by SET in the function's
  -- head: a role that is no superuser cannot restore a dump with such a function before the library is loaded.
  v_before := array[current_setting(v_settings[1]), current_setting(v_settings[2]), current_setting(v_settings[3]), current_setting(v_settings[4])];
  -- An iterative scan returns enough rows whatever it missed; too few are the sign to look on.
  perform set_config(v_settings[2], 'off', true), set_config(v_settings[4], 'off', true);
  v_result := tracestore.ann_chunks(served, unit_query, match_count, wanted, mode, options);
  perform set_config(v_settings[place], v_before[place], true) from generate_series(1, 4) as place;
  return v_result;
end
$$;
comment on function tracestore.dense_chunks(tracestore.served_build, @vector@.vector, integer, tracestore.search_filter, text, boolean, tracestore.search_options) is
  'The dense leg of a search: the nearest chunks of a build, exactly or by its approximate index as mode asks and its yield allows.';
