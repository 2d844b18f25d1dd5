-- requires: hit, ann_hits, served_build_at, refuse_query, search_filter, dense_chunks, fuse_legs, lexical_chunks, contexts_of, settle_conflicts, rerank_recent
create function tracestore.search(
  index_alias text,
  query_embedding @vector@.vector,
  recipe_id text,
  match_count integer default 10,
  query_text text default null,
  mode text default 'auto',
  filter jsonb default null,
  as_of_build bigint default null,
  as_of timestamptz default null,
  options jsonb default null)
returns setof tracestore.hit
language plpgsql
stable
parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_served tracestore.served_build;
  v_wanted tracestore.search_filter;
  v_options tracestore.search_options;
  v_dense tracestore.dense_result;
  v_lexical tracestore.near_chunk[];
  v_found tracestore.ranked_chunk[];
  v_contexts tracestore.passage_context[];
  v_settings jsonb;
  v_hits tracestore.hit[];
  v_candidates integer := match_count;
  v_policies jsonb;
  v_terms jsonb;
  v_settled tracestore.settled_candidates;
begin
  if match_count is null or match_count not between 1 and 10000 then
    raise exception using errcode = 'TS001', message = 'match_count is not between 1 and 10000',
      detail = format('match_count = %s', match_count), hint = 'Ask for 1 to 10000 hits.';
  end if;
  if mode is null or mode not in ('auto', 'exact', 'ann', 'lexical') then
    raise exception using errcode = 'TS001', message = format('mode %s is unknown', quote_nullable(mode)),
      hint = 'Modes: auto, exact, ann, lexical.';
  end if;
  if mode = 'lexical' and query_text is null then
    raise exception using errcode = 'TS001', message = 'mode lexical needs query_text', hint = 'Give the words of the query.';
  end if;
  if options is not null and options <> 'null' then
    v_options := tracestore.parse_options(options);
  end if;
  if filter is not null then
    v_wanted := tracestore.parse_filter(filter);
  end if;
  v_served := tracestore.served_build_at(index_alias, recipe_id, as_of_build, as_of);
  if v_served.level <> 'vectors' then
    raise exception using errcode = 'TS004', message = format('build B-%s can no longer be searched', v_served.build_id),
      detail = format('retained: %s', v_served.level), hint = 'Search a build whose level is vectors.';
  end if;
  v_policies := v_served.policies;
  if as_of is not null or v_options.conflict_policy_id is not null or v_options.recency_policy_id is not null then
    v_policies := tracestore.policies_of(v_served.collection, as_of, v_options.conflict_policy_id, v_options.recency_policy_id);
  end if;
  if v_policies ? 'recency' then
    v_terms := tracestore.recency_terms(v_policies, coalesce(v_options.shadow, false));
    if v_terms is not null then
      v_candidates := greatest(match_count, coalesce(v_options.candidates, 100));
    end if;
  end if;
  if mode <> 'lexical' and tracestore.is_comparable(query_embedding, v_served.dimension) is not true then
    perform tracestore.refuse_query(v_served, query_embedding);
  end if;
  v_settings := jsonb_strip_nulls(jsonb_build_object(
    'mode', mode, 'match_count', match_count, 'filter', filter, 'as_of_build', as_of_build,
    'as_of', to_char(as_of at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'options', options));
  -- The graph gives no more than a thousand.
  if mode = 'ann' and match_count <= 1000 and query_text is null and v_policies is null and v_options.context is null then
    v_hits := tracestore.ann_hits(v_served, @vector@.l2_normalize(query_embedding), match_count, v_wanted, v_options, v_settings);
    if cardinality(v_hits) > 0 then
      perform tracestore.check_time(v_options.max_ms);
      return query select * from unnest(v_hits);
      return;
    end if;
  end if;
  if query_text is not null and mode <> 'lexical' then
    v_options := tracestore.with_weights(v_options);
    v_settings := v_settings || jsonb_build_object(
      'rrf_k', v_options.rrf_k, 'dense_weight', v_options.dense_weight, 'lexical_weight', v_options.lexical_weight);
  end if;
  loop
    if query_text is not null then
      v_candidates := greatest(v_candidates, coalesce(v_options.candidates, 100));
      v_lexical := tracestore.lexical_chunks(v_served.index_id, v_served.build_id, query_text, v_candidates, v_wanted);
    end if;
    if mode <> 'lexical' then
      v_dense := tracestore.dense_chunks(
        v_served, @vector@.l2_normalize(query_embedding), v_candidates, v_wanted, mode, as_of_build is not null or as_of is not null, v_options);
    end if;
    if query_text is null then
      v_found := array(
        select row(n.version_key, n.ordinal, n.added_build, - n.distance_key, n.place, null)::tracestore.ranked_chunk
        from unnest(v_dense.near) with ordinality as n (version_key, ordinal, added_build, distance_key, place));
    elsif mode = 'lexical' then
      v_found := array(
        select row(n.version_key, n.ordinal, n.added_build, - n.distance_key, null, n.place)::tracestore.ranked_chunk
        from unnest(v_lexical) with ordinality as n (version_key, ordinal, added_build, distance_key, place)
        where v_policies is not null or place <= match_count);
    else
      v_found := tracestore.fuse_legs(v_dense.near, v_lexical, case when v_policies is null then match_count else 2 * v_candidates end, v_options);
    end if;
    exit when v_policies is null;
    if v_terms is not null then
      -- Of words alone there is no highest score: a weight is a share of the best.
      v_found := tracestore.rerank_recent(v_served.index_id, v_served.build_id, v_found, v_terms,
        case when mode = 'lexical' then (v_found[1]).score else 1 end);
    end if;
    -- Under a policy all candidates there are: the next ones fill up what it drops.
    v_settled := tracestore.settle_candidates(v_served, v_found, v_policies, match_count, coalesce(v_options.refuse, true));
    v_found := v_settled.found;
    exit when cardinality(v_found) >= match_count or v_candidates >= 100000
      or greatest(cardinality(v_dense.near), cardinality(v_lexical)) < v_candidates;
    perform tracestore.check_time(v_options.max_ms);
    v_candidates := least(2 * v_candidates + 10, 100000);
  end loop;
  if v_options.context is not null then
    v_contexts := tracestore.contexts_of(v_served.index_id, v_found, v_options.context);
  end if;
  perform tracestore.check_time(v_options.max_ms);
  return query execute format('select * from tracestore.%I($1, $2, $3, $4, $5, $6)', 'evidence_' || v_served.index_id)
  using v_found, v_contexts, v_served,
    v_settings || jsonb_strip_nulls(jsonb_build_object(
      'candidates', case when query_text is not null then v_candidates end,
      'conflict_policy_id', v_policies -> 'conflict_policy_id', 'conflict_policy_fired', v_settled.fired,
      'recency_policy_id', v_policies -> 'recency_policy_id', 'recency', v_terms)),
    v_dense.dense_path,
    case when mode = 'lexical' then 'lexical' else v_dense.path
      || case when query_text is null then '' when cardinality(v_lexical) = 0 then ' + lexical, which found nothing' else ' + lexical' end end
    || case when v_terms is not null then '; recency' else '' end
    || case when v_settled.dropped > 0 then format('; %s dropped by policy', v_settled.dropped) else '' end;
end
$$;
comment on function tracestore.search(text, @vector@.vector, text, integer, text, text, jsonb, bigint, timestamptz, jsonb) is
  'The match_count best passages of the build an alias serves, as evidence. Score is the inner product of unit vectors, or with query_text the fused score of both legs; higher is better, order is total.';
