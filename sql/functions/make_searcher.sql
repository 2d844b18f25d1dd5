-- requires: search_graph, hit, near_chunk, ranked_chunk, served_build_at, search_filter, citation, page_of, contexts_of
create type tracestore.ann_result as (
  near tracestore.near_chunk[],
  reach numeric,
  looked_at bigint
);
comment on type tracestore.ann_result is
  'What an approximate scan found, in total order, and the distance up to which it looked, null: that of the last found. A tie at that distance may have more members. looked_at: the place of the last one found among the candidates.';

create function tracestore.ann_candidates(
  index_id bigint, dimension integer, storage text, all_candidates boolean, chunk_columns text, version_columns text)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_indexed text := format('%s(%s)', storage, dimension);
begin
  -- Operators and types of the extension are named with its schema: a search path of a caller changes nothing.
  return format(
    $template$
      with near as %3$s (
        select e.content_key, round(((e.vec operator(@vector@.<#>) unit_query) + 0)::numeric, 6) as distance_key
        from tracestore_data.embedding e
        where e.index_id = %1$s and e.live
        order by (e.vec::@vector@.%2$s) operator(@vector@.%8$s) (unit_query::@vector@.%2$s)
        limit most
      ),
      pulled as (
        select n.distance_key, n.looked_at, c.*, v.*
        from (select n.content_key, n.distance_key, row_number() over () as looked_at from %4$s n) n
        cross join lateral (
          select c.version_key, c.ordinal, c.added_build, c.span_start%6$s
          from tracestore_data.chunk c
          where c.index_id = %1$s and c.content_key = n.content_key
            and c.added_build <= build_id and (c.removed_build is null or c.removed_build > build_id)
          offset 0) c
        -- OFFSET 0 here too: the order of the index is kept only while each row is looked up for the one before. A join that
        -- began with the versions of a small table took the first that were among the candidates, not the nearest.
        cross join lateral (
          select v.doc_key, v.version_seq, d.doc_id, d.labels%7$s
          from tracestore_data.document_version v join tracestore_data.document d on d.doc_key = v.doc_key
          where v.version_key = c.version_key
          offset 0) v
        where not exists (
            select from tracestore_data.suppression s
            where s.doc_key = v.doc_key and s.lifted_at is null
              and (s.version_key is null or s.version_key = c.version_key))
          -- Two conditions: what the manifest leaves out is not looked up among versions and documents.
          and (wanted is null or ((wanted).family_id is null and (wanted).class is null) or exists (
            select from tracestore_data.manifest_entry m
            where m.index_id = %1$s and m.version_key = c.version_key
              -- The sum keeps to the key of the version; another index has one to skip through for each build.
              and m.added_build + 0 <= build_id and (m.removed_build is null or m.removed_build > build_id)
              and ((wanted).family_id is null or m.family_id = any ((wanted).family_id))
              and ((wanted).class is null or m.class = any ((wanted).class))
            offset 0))
          and (wanted is null or (
            ((wanted).doc_id is null or v.doc_id = any ((wanted).doc_id))
            and ((wanted).labels is null or v.labels && (wanted).labels)))
        %5$s
        -- A few more than asked, to see whether a tie goes on behind the last: each costs 20 microseconds.
        limit match_count + 5
      )
    $template$,
    index_id, v_indexed,
    case when all_candidates then 'materialized' else 'not materialized' end,
    case when all_candidates then '(select content_key, distance_key from near order by distance_key)' else 'near' end,
    case when all_candidates then 'order by n.distance_key, v.doc_id collate "C", v.version_seq, c.ordinal, c.span_start' else '' end,
    chunk_columns, version_columns, tracestore.ann_operator(storage));
end
$$;
comment on function tracestore.ann_candidates(bigint, integer, text, boolean, text, text) is
  'Internal to make_searcher: the approximate scan of an index, near and what was pulled from it, with more columns if asked. Lazily it pulls candidates in the order of the index until there are enough members, or it has looked at most; with all_candidates it ranks every candidate in full precision.';

create function tracestore.ann_statement(index_id bigint, dimension integer, storage text, all_candidates boolean)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return tracestore.ann_candidates(index_id, dimension, storage, all_candidates, '', '') || format(
    $template$
      select
        array(select row(p.version_key, p.ordinal, p.added_build, p.distance_key)::tracestore.near_chunk
              from pulled p
              order by p.distance_key, p.doc_id collate "C", p.version_seq, p.ordinal, p.span_start),
        %s,
        (select max(p.looked_at) from pulled p)
    $template$,
    case when all_candidates then '(select max(distance_key) from near)' else 'null' end);
end
$$;
comment on function tracestore.ann_statement(bigint, integer, text, boolean) is
  'Internal to make_searcher: what an approximate scan finds, in total order.';

create function tracestore.evidence_columns()
returns text
language sql
immutable
begin atomic
  select $columns$
      n.place::integer,
      n.score::double precision,
      n.dense_rank::integer,
      n.lexical_rank::integer,
      (served).collection,
      d.doc_id,
      m.family_id,
      v.version_id,
      v.version_seq,
      m.version_state,
      v.effective_from,
      c.ordinal,
      c.span_start,
      c.span_end,
      coalesce(n.context_start, c.context_start),
      coalesce(n.context_end, c.context_end),
      c.heading_path,
      convert_from(substring(v.content from c.byte_start + 1 for c.byte_end - c.byte_start), 'UTF8'),
      encode(c.span_sha256, 'hex'),
      encode(v.content_sha256, 'hex'),
      d.doc_id || ':' || v.version_id || ':' || c.ordinal,
      tracestore.citation((served).collection, d.doc_id, v.version_id, c.span_start, c.span_end, c.span_sha256),
      (served).build_id,
      encode((served).index_version, 'hex'),
      s.suppression_epoch,
      (served).alias_event_id,
      settings,
      dense_path,
      path,
      tracestore.page_of(v.pages, c.span_start),
      n.context$columns$;
end;
comment on function tracestore.evidence_columns() is
  'Internal to make_searcher: the columns of a hit, of what was found (n), its chunk (c), entry in the manifest (m), version (v), document (d) and the store (s).';

create function tracestore.evidence_statement(index_id bigint)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return format(
    $template$
    select %2$s
    from unnest(ranked, contexts) with ordinality as n (
      version_key, ordinal, added_build, score, dense_rank, lexical_rank, context_start, context_end, context, place)
    -- OFFSET 0: row by row through the keys, whatever the statistics say right after a build.
    cross join lateral (
      select c.ordinal, c.span_start, c.span_end, c.byte_start, c.byte_end, c.context_start, c.context_end, c.heading_path, c.span_sha256
      from tracestore_data.chunk c
      where c.index_id = %1$s and c.version_key = n.version_key and c.ordinal = n.ordinal and c.added_build = n.added_build
      offset 0) c
    cross join lateral (
      select m.family_id, m.version_state
      from tracestore_data.manifest_entry m
      where m.index_id = %1$s and m.version_key = n.version_key
        and m.added_build + 0 <= (served).build_id and (m.removed_build is null or m.removed_build > (served).build_id)
      offset 0) m
    join tracestore_data.document_version v on v.version_key = n.version_key
    join tracestore_data.document d on d.doc_key = v.doc_key
    cross join tracestore_data.store s
    order by n.place
    $template$,
    index_id, tracestore.evidence_columns());
end
$$;
comment on function tracestore.evidence_statement(bigint) is 'Internal to make_searcher: reads the evidence of the chunks that were found.';

create function tracestore.ann_hits_statement(index_id bigint, dimension integer, storage text, all_candidates boolean)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return tracestore.ann_candidates(index_id, dimension, storage, all_candidates,
    ', c.span_end, c.byte_start, c.byte_end, c.context_start as chunk_start, c.context_end as chunk_end, c.heading_path, c.span_sha256',
    ', v.version_id, v.effective_from, v.content, v.content_sha256, v.pages') || format(
    $template$,
    ranked as (
      select p.*, - p.distance_key as score, row_number() over by_distance as place, row_number() over by_distance as dense_rank,
        null::integer as lexical_rank, null::integer as context_start, null::integer as context_end, null::text as context,
        -- As in whole_answer.
        nth_value(p.distance_key, match_count) over by_distance < %3$s as is_whole
      from pulled p
      window by_distance as (
        order by p.distance_key, p.doc_id collate "C", p.version_seq, p.ordinal, p.span_start
        rows between unbounded preceding and unbounded following)
    )
    select array(
      select row(%2$s)::tracestore.hit
    from ranked n
    cross join lateral (
      select n.ordinal, n.span_start, n.span_end, n.byte_start, n.byte_end, n.chunk_start as context_start, n.chunk_end as context_end,
        n.heading_path, n.span_sha256) c
    cross join lateral (
      select m.family_id, m.version_state
      from tracestore_data.manifest_entry m
      where m.index_id = %1$s and m.version_key = n.version_key
        and m.added_build + 0 <= build_id and (m.removed_build is null or m.removed_build > build_id)
      offset 0) m
    cross join lateral (select n.version_id, n.version_seq, n.effective_from, n.content, n.content_sha256, n.pages) v
    cross join lateral (select n.doc_id) d
    cross join tracestore_data.store s
    where n.place <= match_count and n.is_whole
    -- The order of the window, so that nothing is sorted twice.
    order by n.distance_key, n.doc_id collate "C", n.version_seq, n.ordinal, n.span_start)
    $template$,
    index_id, tracestore.evidence_columns(),
    case when all_candidates then '(select max(distance_key) from near)' else 'last_value(p.distance_key) over by_distance' end);
end
$$;
comment on function tracestore.ann_hits_statement(bigint, integer, text, boolean) is
  'Internal to make_searcher: an approximate scan and the evidence of what it finds in one, or nothing where it did not see enough to answer.';

create function tracestore.admit_readers(function_name text)
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_role text;
begin
  execute format('revoke all on function tracestore.%I from public', function_name);
  foreach v_role in array array['tracestore_reader', 'tracestore_writer', 'tracestore_auditor'] loop
    if to_regrole(v_role) is not null then
      execute format('grant execute on function tracestore.%I to %I', function_name, v_role);
    end if;
  end loop;
end
$$;
comment on function tracestore.admit_readers(text) is
  'Internal to make_searcher: lets the roles that read call a function made between two upgrades, and nobody else.';

create function tracestore.make_planned(function_name text, arguments text, result text, body text, purpose text)
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  -- A cached plan for each index: planning these took 1 ms of a search of 4. With one way left to plan them, since
  -- right after a build there are no statistics and later ones say nothing of the nearest rows.
  execute format(
    $function$
    create or replace function tracestore.%I(%s) returns %s language plpgsql stable parallel safe
    set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan set jit = off
    set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set enable_hashjoin = off set enable_mergejoin = off
    set enable_memoize = off set max_parallel_workers_per_gather = 0
    as $body$
    #variable_conflict use_variable
    %s
    $body$
    $function$,
    function_name, arguments, result, body);
  execute format('comment on function tracestore.%I is %L', function_name, purpose);
  perform tracestore.admit_readers(function_name);
end
$$;
comment on function tracestore.make_planned(text, text, text, text, text) is 'Internal to make_searcher: makes a function of one index, for the roles that read.';

-- As the owner: who writes builds need not be able to make functions. What it makes follows from the settings of the index.
create function tracestore.make_searcher(index_id bigint)
returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_storage text;
  v_dimension integer;
  v_halved boolean;
begin
  select coalesce(i.settings_json #>> '{ann,type}', ''), r.dimension into strict v_storage, v_dimension
  from tracestore_data.retrieval_index i join tracestore_data.recipe r using (recipe_key)
  where i.index_id = make_searcher.index_id;
  perform tracestore.make_planned('evidence_' || index_id,
    'ranked tracestore.ranked_chunk[], contexts tracestore.passage_context[], served tracestore.served_build, settings jsonb, dense_path text, path text',
    'setof tracestore.hit',
    format('begin return query %s; end', tracestore.evidence_statement(index_id)),
    format('Evidence of chunks of index %s.', index_id));
  if v_storage = '' then
    return;
  end if;
  -- The order of half precision is not that of full precision: every candidate is ranked again.
  v_halved := v_storage = 'halfvec';
  perform tracestore.make_planned('ann_' || index_id,
    'build_id bigint, unit_query @vector@.vector, match_count integer, wanted tracestore.search_filter, most integer',
    'tracestore.ann_result',
    format('declare v_result tracestore.ann_result; begin %s into v_result.near, v_result.reach, v_result.looked_at; return v_result; end',
      tracestore.ann_statement(index_id, v_dimension, v_storage, v_halved)),
    format('Approximate scan of index %s.', index_id));
  perform tracestore.make_planned('ann_hits_' || index_id,
    'served tracestore.served_build, unit_query @vector@.vector, match_count integer, wanted tracestore.search_filter, settings jsonb, dense_path text, path text',
    'tracestore.hit[]',
    format('declare build_id bigint := served.build_id; most integer; v_hits tracestore.hit[]; begin %s into v_hits; return v_hits; end',
      tracestore.ann_hits_statement(index_id, v_dimension, v_storage, v_halved)),
    format('Approximate scan of index %s, and the evidence of what it finds.', index_id));
end
$$;
comment on function tracestore.make_searcher(bigint) is
  'Makes the functions that search one index, each with its plan cached by the session that calls it. Run when an index is made, and for all at an upgrade.';

create function tracestore.drop_searcher(index_id bigint)
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_function regprocedure;
begin
  for v_function in
    select p.oid from pg_proc p
    where p.pronamespace = 'tracestore'::regnamespace
      and p.proname in ('evidence_' || index_id, 'ann_' || index_id, 'ann_hits_' || index_id)
  loop
    execute format('drop function %s', v_function);
  end loop;
end
$$;
comment on function tracestore.drop_searcher(bigint) is 'Removes the functions that searched an index.';

-- The functions of indexes there are already: this file runs at each upgrade.
select tracestore.make_searcher(i.index_id) from tracestore_data.retrieval_index i where i.dropped_at is null order by i.index_id;
