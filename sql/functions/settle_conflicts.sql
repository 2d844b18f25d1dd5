-- requires: ranked_chunk, served_build_at, check_fields, citation
create function tracestore.policies_of(collection text, moment timestamptz, conflict_decision bigint, recency_decision bigint)
returns jsonb
language sql
stable
begin atomic
  select tracestore_data.policies_at(c.collection_id, coalesce(moment, 'infinity'), conflict_decision, recency_decision)
  from tracestore_data.collection c where c.slug = policies_of.collection;
end;
comment on function tracestore.policies_of(text, timestamptz, bigint, bigint) is
  'Internal to search: the policies of a collection at a moment, or as they stood with a decision about conflicts, and one about recency; null: none.';

create type tracestore.settled as (
  kept integer[],
  dropped integer[],
  conflicts jsonb
);
comment on type tracestore.settled is
  'Candidates after the policies for conflicts: the places of those to return, of those left out, and the families of which several revisions were looked at, null: none.';

create function tracestore.conflicts_among(
  index_id bigint, build_id bigint, version_keys bigint[], policies jsonb, match_count integer)
returns tracestore.settled
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
set jit = off
as $$
#variable_conflict use_column
declare
  v_settled tracestore.settled;
begin
  with rule as (
    select class, policy from jsonb_to_recordset(policies -> 'conflict') as listed (class text, policy text)
  ),
  revision as (
    select k.version_key, k.first_place, m.family_id, m.class, m.version_state, v.effective_from, d.doc_id, v.version_id,
      coalesce(own.policy, other.policy) as policy
    from (
      select c.version_key, min(c.place)::integer as first_place
      from unnest(version_keys) with ordinality as c (version_key, place) group by c.version_key) k
    -- OFFSET 0: version by version through the key.
    cross join lateral (
      select m.family_id, m.class, m.version_state
      from tracestore_data.manifest_entry m
      where m.index_id = conflicts_among.index_id and m.version_key = k.version_key
        and m.added_build <= conflicts_among.build_id and (m.removed_build is null or m.removed_build > conflicts_among.build_id)
      offset 0) m
    cross join lateral (
      select v.doc_key, v.version_id, v.effective_from
      from tracestore_data.document_version v where v.version_key = k.version_key
      offset 0) v
    cross join lateral (select d.doc_id from tracestore_data.document d where d.doc_key = v.doc_key offset 0) d
    left join rule own on own.class = m.class
    left join rule other on other.class is null
  ),
  -- Revisions of a family are in conflict where their classes have one policy: so one of them always stays.
  contested as (
    select r.*
    from (select r.*, count(*) over (partition by r.family_id, r.policy) as revisions from revision r where r.policy is not null) r
    where r.revisions > 1
  ),
  judged as (
    select r.*, (
      select min(o.first_place) from contested o
      where o.family_id = r.family_id and o.policy = r.policy
        and case r.policy
          when 'prefer_current' then o.version_state = 'current' and r.version_state <> 'current'
          when 'prefer_latest_effective' then o.effective_from > r.effective_from end) as beaten_at
    from contested r
  ),
  -- A candidate is gone once both it and what beats it were looked at.
  gone as (
    select c.place::integer as place, greatest(c.place, j.beaten_at)::integer as gone_at
    from unnest(version_keys) with ordinality as c (version_key, place) join judged j using (version_key)
    where j.beaten_at is not null
  ),
  -- As many are looked at as leave enough: the next ones fill up what is dropped.
  reach as (
    select coalesce(min(place) filter (where remaining >= match_count), cardinality(version_keys)) as place
    from (
      select n.place, n.place - sum(coalesce(g.gone, 0)) over (order by n.place) as remaining
      from generate_series(1, cardinality(version_keys)) as n (place)
      left join (select gone_at, count(*) as gone from gone group by gone_at) g on g.gone_at = n.place) looked_at
  )
  select
    array(select n.place from generate_series(1, reach.place) as n (place)
      where not exists (select from gone g where g.place = n.place and g.gone_at <= reach.place) order by 1),
    array(select g.place from gone g where g.gone_at <= reach.place order by 1),
    (select jsonb_agg(f.conflict order by f.family_id collate "C", f.policy)
     from (
       select j.family_id, j.policy, jsonb_build_object('policy', j.policy, 'family_id', j.family_id,
         'kept', coalesce(jsonb_agg(r.revision order by j.first_place) filter (where not r.is_dropped), '[]'),
         'dropped', coalesce(jsonb_agg(r.revision order by j.first_place) filter (where r.is_dropped), '[]')) as conflict
       from judged j
       cross join lateral (
         select coalesce(j.beaten_at <= reach.place, false) as is_dropped,
           jsonb_strip_nulls(jsonb_build_object('doc_id', j.doc_id, 'version_id', j.version_id, 'version_state', j.version_state, 'class', j.class,
             'effective_from', tracestore.rfc3339(j.effective_from))) as revision) r
       where j.first_place <= reach.place
       group by j.family_id, j.policy
       having count(*) > 1) f)
  into v_settled.kept, v_settled.dropped, v_settled.conflicts
  from reach;
  return v_settled;
end
$$;
comment on function tracestore.conflicts_among(bigint, bigint, bigint[], jsonb, integer) is
  'Applies policies for conflicts to the versions of candidates, in their order: match_count of them are kept, the next ones in the place of those dropped.';

create type tracestore.settled_candidates as (
  found tracestore.ranked_chunk[],
  fired jsonb,
  dropped integer
);
comment on type tracestore.settled_candidates is
  'What is left of the candidates of a search, what the policies did, null: nothing, and how many they dropped.';

create function tracestore.refuse_conflict(conflicts jsonb)
returns void
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_conflict jsonb := jsonb_path_query_first(conflicts, '$[*] ? (@.policy == "refuse")');
begin
  if v_conflict is null then
    return;
  end if;
  raise exception using errcode = 'TS012',
    message = format('revisions of family %s contradict one another, and the policy of their class refuses to choose', quote_literal(v_conflict ->> 'family_id')),
    detail = (
      select string_agg(format('%s@%s, %s, in effect from %s', r ->> 'doc_id', r ->> 'version_id', r ->> 'version_state', r ->> 'effective_from'), '; ' order by place)
      from jsonb_array_elements(v_conflict -> 'kept') with ordinality as listed (r, place)),
    hint = 'Declare which one replaces the other (tracestore.supersede) and build, or set another policy; option "refuse": false names them and goes on.';
end
$$;
comment on function tracestore.refuse_conflict(jsonb) is 'Internal to search: the error of policy refuse, with the revisions, where there is such a conflict.';

create function tracestore.settle_candidates(
  served tracestore.served_build, candidates tracestore.ranked_chunk[], policies jsonb, match_count integer, refuses boolean)
returns tracestore.settled_candidates
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_settled tracestore.settled;
  v_result tracestore.settled_candidates;
  v_dropped jsonb;
begin
  if not policies ? 'conflict' then
    v_result.found := candidates[:match_count];
    return v_result;
  end if;
  v_settled := tracestore.conflicts_among(served.index_id, served.build_id,
    array(select c.version_key from unnest(candidates) with ordinality as c (version_key, ordinal, added_build, score, dense_rank, lexical_rank, place) order by c.place),
    policies, match_count);
  v_result.dropped := cardinality(v_settled.dropped);
  if v_settled.conflicts is null then
    v_result.found := candidates[:match_count];
    return v_result;
  end if;
  if refuses then
    perform tracestore.refuse_conflict(v_settled.conflicts);
  end if;
  v_result.found := array(select candidates[place] from unnest(v_settled.kept) as place order by place);
  if v_result.dropped > 0 then
    -- A partition by its number: only so are others left alone.
    execute format(
      $query$
      select jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
        'candidate_rank', p.place, 'citation', tracestore.citation($3, d.doc_id, v.version_id, k.span_start, k.span_end, k.span_sha256),
        'span_sha256', encode(k.span_sha256, 'hex'), 'score', c.score, 'dense_rank', c.dense_rank, 'lexical_rank', c.lexical_rank)) order by p.place)
      from unnest($1) as p (place)
      cross join lateral (select ($2[p.place]).*) c
      cross join lateral (
        select k.span_start, k.span_end, k.span_sha256 from tracestore_data.chunk k
        where k.index_id = %s and k.version_key = c.version_key and k.ordinal = c.ordinal and k.added_build = c.added_build
        offset 0) k
      join tracestore_data.document_version v on v.version_key = c.version_key
      join tracestore_data.document d on d.doc_key = v.doc_key
      $query$, served.index_id)
    into v_dropped using v_settled.dropped, candidates, served.collection;
  end if;
  v_result.fired := jsonb_build_object('conflict_policy_id', policies -> 'conflict_policy_id', 'conflicts', v_settled.conflicts, 'dropped', coalesce(v_dropped, '[]'));
  return v_result;
end
$$;
comment on function tracestore.settle_candidates(tracestore.served_build, tracestore.ranked_chunk[], jsonb, integer, boolean) is
  'Internal to search: applies the policies of a collection to its candidates, and says what they did.';
