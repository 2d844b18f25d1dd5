-- requires: dispute, search, settle_conflicts, labels_at
create function tracestore.not_replayable(retrieval tracestore_data.retrieval)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_mode text := retrieval.settings ->> 'mode';
  v_level text := (select b.level from tracestore_data.build b where b.build_id = retrieval.build_id);
  v_has_words boolean := retrieval.query_sha256 is not null and (retrieval.lexical_ranks is not null or retrieval.settings ? 'candidates' or v_mode = 'lexical');
begin
  return case
    when retrieval.retrieval_id is null then 'retrieval_ids'
    when v_mode <> 'lexical' and retrieval.query_vec is null then 'query_embedding'
    when v_has_words and retrieval.query_text is null then 'query_text'
    when v_level <> 'vectors' then format('the vectors of the build: only its %s are retained', v_level)
    when (select a.api_sha256 from tracestore_data.api_release a where a.api_key = retrieval.api_key)
      is distinct from (select s.api_sha256 from tracestore_data.store s) then 'api_version: other functions searched'
    when exists (
      select from tracestore_data.suppression s join tracestore_data.document_version v using (doc_key)
      join tracestore_data.build b on b.build_id = retrieval.build_id
      join tracestore_data.manifest_entry m on m.index_id = b.index_id and m.version_key = v.version_key
        and m.added_build <= b.build_id and (m.removed_build is null or m.removed_build > b.build_id)
      where s.kind = 'erased' and s.epoch > retrieval.suppression_epoch and (s.version_key is null or s.version_key = v.version_key))
      then 'texts that were erased since'
    -- The legs together are ranked by the search itself, as it sees things now.
    when v_has_words and (retrieval.caller_labels is not null or exists (
      select from tracestore_data.suppression s join tracestore_data.document_version v using (doc_key)
      join tracestore_data.build b on b.build_id = retrieval.build_id
      join tracestore_data.manifest_entry m on m.index_id = b.index_id and m.version_key = v.version_key
        and m.added_build <= b.build_id and (m.removed_build is null or m.removed_build > b.build_id)
      where (s.version_key is null or s.version_key = v.version_key)
        and (s.epoch <= retrieval.suppression_epoch and coalesce(s.lifted_epoch > retrieval.suppression_epoch, true)) <> (s.lifted_epoch is null)))
      then 'what was visible then, for a search by words'
  end;
end
$$;
comment on function tracestore.not_replayable(tracestore_data.retrieval) is 'What is missing to run a logged search again, exactly, on its build; null: nothing.';

create function tracestore.replay_legs(retrieval tracestore_data.retrieval, match_count integer)
returns table (rank integer, version_key bigint, span_start integer, span_end integer, score double precision)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set jit = off
as $$
#variable_conflict use_column
declare
  v_recipe text;
  v_index bigint;
  v_wanted tracestore.search_filter := tracestore.parse_filter(retrieval.settings -> 'filter');
  v_at timestamptz := coalesce(retrieval.retrieved_at, retrieval.logged_at);
begin
  select i.index_id, r.recipe_id into v_index, v_recipe
  from tracestore_data.build b join tracestore_data.retrieval_index i using (index_id) join tracestore_data.recipe r using (recipe_key)
  where b.build_id = retrieval.build_id;
  if retrieval.settings ->> 'mode' = 'lexical' or retrieval.settings ? 'candidates' then
    return query
    select h.rank, v.version_key, h.span_start, h.span_end, h.score
    from tracestore.search(null, retrieval.query_vec, v_recipe, match_count, retrieval.query_text,
      case retrieval.settings ->> 'mode' when 'lexical' then 'lexical' else 'exact' end, retrieval.settings -> 'filter', retrieval.build_id, null,
      -- By the policies of then, and without an error.
      coalesce(nullif(retrieval.settings -> 'options', 'null'), '{}')
        || jsonb_build_object('conflict_policy_id', coalesce(retrieval.settings -> 'conflict_policy_id', '0'),
          'recency_policy_id', coalesce(retrieval.settings -> 'recency_policy_id', '0'), 'refuse', false)) h
    join tracestore_data.collection c on c.slug = h.collection
    join tracestore_data.document d on d.collection_id = c.collection_id and d.doc_id = h.doc_id
    join tracestore_data.document_version v on v.doc_key = d.doc_key and v.version_id = h.version_id;
    return;
  end if;
  return query execute format(
    $query$
    select (row_number() over ranked)::integer, version_key, span_start, span_end, - distance_key::double precision
    from (
      select c.version_key, c.span_start, c.span_end, d.doc_id, v.version_seq, c.ordinal,
        round(((e.vec operator(@vector@.<#>) $1) + 0)::numeric, 6) as distance_key
      from tracestore_data.manifest_entry m
      join tracestore_data.document_version v using (version_key)
      join tracestore_data.document d using (doc_key)
      join tracestore_data.chunk c on c.index_id = %1$s and c.version_key = m.version_key
        and c.added_build <= $2 and (c.removed_build is null or c.removed_build > $2)
      join tracestore_data.embedding e on e.index_id = %1$s and e.content_key = c.content_key
      where m.index_id = %1$s and m.added_build <= $2 and (m.removed_build is null or m.removed_build > $2)
        and not exists (
          select from tracestore_data.suppression s
          where s.doc_key = d.doc_key and (s.version_key is null or s.version_key = v.version_key)
            and s.epoch <= $3 and (s.lifted_epoch is null or s.lifted_epoch > $3))
        and ($4 is null or tracestore.labels_at(d.doc_key, $5) = '{}' or tracestore.labels_at(d.doc_key, $5) && $4)
        and (($6).doc_id is null or d.doc_id = any (($6).doc_id)) and (($6).family_id is null or m.family_id = any (($6).family_id))
        and (($6).class is null or m.class = any (($6).class)) and (($6).labels is null or tracestore.labels_at(d.doc_key, $5) && ($6).labels)
    ) member
    window ranked as (order by distance_key, doc_id collate "C", version_seq, ordinal, span_start)
    order by 1 limit $7
    $query$, v_index)
  using @vector@.l2_normalize(retrieval.query_vec), retrieval.build_id, retrieval.suppression_epoch, retrieval.caller_labels, v_at, v_wanted, match_count;
end
$$;
comment on function tracestore.replay_legs(tracestore_data.retrieval, integer) is
  'Internal to replay: the same, of a search by vectors before policies.';

create function tracestore.replay(retrieval tracestore_data.retrieval, match_count integer)
returns table (rank integer, version_key bigint, span_start integer, span_end integer, score double precision)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
-- It reads all vectors, whatever the function that asks for it has set.
set enable_seqscan = on
set jit = off
as $$
#variable_conflict use_column
declare
  v_options tracestore.search_options := tracestore.parse_options(coalesce(nullif(retrieval.settings -> 'options', 'null'), '{}'));
  v_build tracestore_data.build;
  v_policies jsonb;
  v_terms jsonb;
  v_keys bigint[];
  v_starts integer[];
  v_ends integer[];
  v_all tracestore.ranked_chunk[];  -- each with its place for its ordinal, by which equals are in order as well
  v_pool tracestore.ranked_chunk[];
  v_settled tracestore.settled;
  v_candidates integer := match_count;
begin
  if not retrieval.settings ?| array['conflict_policy_id', 'recency_policy_id']
    or retrieval.settings ->> 'mode' = 'lexical' or retrieval.settings ? 'candidates' then
    return query select * from tracestore.replay_legs(retrieval, match_count);
    return;
  end if;
  select b.* into v_build from tracestore_data.build b where b.build_id = retrieval.build_id;
  select tracestore_data.policies_at(i.collection_id, 'infinity', coalesce((retrieval.settings ->> 'conflict_policy_id')::bigint, 0),
    coalesce((retrieval.settings ->> 'recency_policy_id')::bigint, 0)) into v_policies
  from tracestore_data.retrieval_index i where i.index_id = v_build.index_id;
  v_terms := tracestore.recency_terms(v_policies, coalesce(v_options.shadow, false));
  if v_terms is not null then
    v_candidates := greatest(match_count, coalesce(v_options.candidates, 100));
  end if;
  select array_agg(r.version_key order by r.rank), array_agg(r.span_start order by r.rank), array_agg(r.span_end order by r.rank),
    array_agg(row(r.version_key, r.rank, null, r.score, r.rank, null)::tracestore.ranked_chunk order by r.rank)
  into v_keys, v_starts, v_ends, v_all
  from tracestore.replay_legs(retrieval, 100000) r;
  -- The steps of search, on what it would have looked at.
  loop
    v_pool := coalesce(v_all[:v_candidates], '{}');
    if v_terms is not null then
      v_pool := tracestore.rerank_recent(v_build.index_id, v_build.build_id, v_pool, v_terms, 1);
    end if;
    v_settled := tracestore.conflicts_among(v_build.index_id, v_build.build_id,
      array(select p.version_key from unnest(v_pool) with ordinality as p (version_key, ordinal, added_build, score, dense_rank, lexical_rank, place) order by p.place),
      coalesce(v_policies, '{}'), match_count);
    exit when cardinality(v_settled.kept) >= match_count or v_candidates >= 100000 or cardinality(v_pool) < v_candidates;
    v_candidates := least(2 * v_candidates + 10, 100000);
  end loop;
  return query
  select k.rank::integer, v_keys[(v_pool[k.place]).ordinal], v_starts[(v_pool[k.place]).ordinal], v_ends[(v_pool[k.place]).ordinal], (v_pool[k.place]).score
  from unnest(v_settled.kept) with ordinality as k (place, rank);
end
$$;
comment on function tracestore.replay(tracestore_data.retrieval, integer) is
  'A logged search again, exactly, on the build that answered it, with what its caller could see then and the policies in force then; ask not_replayable first.';

create function tracestore.was_in_top_k(about tracestore.dispute)
returns tracestore.fact
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_retrieval tracestore_data.retrieval := about.retrieval;
  v_missing text := tracestore.not_replayable(about.retrieval);
  v_k integer := coalesce((v_retrieval.settings ->> 'match_count')::integer, cardinality(v_retrieval.version_keys));
  v_rank integer;
begin
  if v_missing is not null then
    return row(null, v_missing, null)::tracestore.fact;
  end if;
  select min(r.rank) into v_rank from tracestore.replay(v_retrieval,
    -- How many are asked decides how many candidates the legs of a hybrid search fuse, and how many recency ranks again.
    case when v_retrieval.settings ?| array['candidates', 'recency'] or v_retrieval.settings ->> 'mode' = 'lexical' then v_k else 10000 end) r
  where r.version_key = about.expected_key and tracestore.in_expected(about, r.span_start, r.span_end);
  return row(coalesce(v_rank <= v_k, false), null, jsonb_build_object('exact_rank', v_rank, 'match_count', v_k, 'path', v_retrieval.path,
    'retrieval_id', v_retrieval.retrieval_id))::tracestore.fact;
end
$$;
comment on function tracestore.was_in_top_k(tracestore.dispute) is
  'Internal to explain_answer: whether an exact search with the recorded question on the answering build has the expected passage among as many as were asked.';
