-- requires: ranked_chunk
create function tracestore.recency_terms(policies jsonb, with_shadow boolean)
returns jsonb
language sql
immutable
parallel safe
begin atomic
  select jsonb_agg(t.term - 'state' order by t.place)
  from jsonb_array_elements(policies -> 'recency') with ordinality as t (term, place)
  where t.term ->> 'state' = 'on' or with_shadow;
end;
comment on function tracestore.recency_terms(jsonb, boolean) is
  'Internal to search: the terms of recency that a ranking gets, those in the shadow as well if asked for; null: none.';

create function tracestore.rerank_recent(
  index_id bigint, build_id bigint, candidates tracestore.ranked_chunk[], terms jsonb, unit double precision)
returns tracestore.ranked_chunk[]
language sql
stable
parallel safe
set jit = off
begin atomic
  -- score + weight * (2 ^ (- age / half-life) - 1), age from effective_from to the cut-off of the build. The decay is the
  -- prior of Li and Croft, Time-based language models, CIKM 2003, exp(- rate * age), with rate = ln 2 / half-life; added and
  -- not multiplied, since scores may be negative, and as a loss of at most weight: what is new, or of another class, keeps
  -- its score.
  select coalesce(array_agg(row(r.version_key, r.ordinal, r.added_build, r.aged, r.dense_rank, r.lexical_rank)::tracestore.ranked_chunk
    order by r.aged desc, r.doc_id collate "C", r.version_seq, r.ordinal, r.added_build), '{}')
  from (
    select c.version_key, c.ordinal, c.added_build, c.dense_rank, c.lexical_rank, d.doc_id, v.version_seq,
      round((c.score + coalesce(t.weight * unit * (power(2::double precision,
        -- So many half-lives are as good as all there are, and what is too small for a number would be an error.
        - least(greatest((extract(epoch from b.cutoff_at) - extract(epoch from v.effective_from))::double precision, 0) / 86400 / t.half_life_days, 1000)) - 1), 0))::numeric, 6)::double precision as aged
    from unnest(candidates) as c (version_key, ordinal, added_build, score, dense_rank, lexical_rank)
    join tracestore_data.build b on b.build_id = rerank_recent.build_id
    cross join lateral (
      select m.class from tracestore_data.manifest_entry m
      where m.index_id = rerank_recent.index_id and m.version_key = c.version_key
        and m.added_build <= rerank_recent.build_id and (m.removed_build is null or m.removed_build > rerank_recent.build_id)
      offset 0) m
    cross join lateral (
      select v.doc_key, v.version_seq, v.effective_from from tracestore_data.document_version v where v.version_key = c.version_key
      offset 0) v
    cross join lateral (select d.doc_id from tracestore_data.document d where d.doc_key = v.doc_key offset 0) d
    left join jsonb_to_recordset(terms) as t (class text, half_life_days double precision, weight double precision) on t.class = m.class
  ) r;
end;
comment on function tracestore.rerank_recent(bigint, bigint, tracestore.ranked_chunk[], jsonb, double precision) is
  'Internal to search: candidates in the order that recency gives them, with the scores it leaves them; unit: what a weight of 1 is in their scores.';
