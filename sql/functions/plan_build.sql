-- requires: supersession_at
create type tracestore.planned_change as (
  action text,
  version_key bigint,
  version_state text,
  family_id text,
  class text,
  chunk_count integer,
  char_count integer
);
comment on type tracestore.planned_change is
  'add: a version of char_count characters to chunk. close: a member that leaves. relabel: a member whose state, family or class changed, chunks untouched. chunk_count is that of the member.';

create function tracestore.plan_build(index_id bigint, cutoff timestamptz, rechunk boolean)
returns setof tracestore.planned_change
language sql
stable
begin atomic
  with in_effect as (
    select distinct on (v.doc_key) v.doc_key, v.version_key, v.effective_from, v.erased_at, v.char_count, d.family_id, d.class
    from tracestore_data.document d
    join tracestore_data.document_version v using (doc_key)
    where d.collection_id = (select i.collection_id from tracestore_data.retrieval_index i where i.index_id = plan_build.index_id)
      and v.effective_from <= cutoff and v.version_state <> 'withdrawn'
    order by v.doc_key, v.effective_from desc, v.version_seq desc
  ),
  judged as (
    -- Asked of the few documents that were ever superseded, not of all.
    select e.*, case when e.doc_key in (select s.doc_key from tracestore_data.supersession s)
      then tracestore.supersession_at(e.doc_key, e.version_key, e.effective_from, cutoff) end as supersession
    from in_effect e
  ),
  wanted as (
    select e.version_key, case when e.supersession = 'inferred' then 'unknown' else 'current' end as version_state,
      e.family_id, e.class, e.char_count
    from judged e
    where e.erased_at is null and e.supersession is distinct from 'declared'
      and not exists (
        select from tracestore_data.suppression s
        where s.doc_key = e.doc_key and s.lifted_at is null and (s.version_key is null or s.version_key = e.version_key))
  ),
  member as (
    select m.version_key, m.version_state, m.family_id, m.class, m.chunk_count
    from tracestore_data.manifest_entry m
    where m.index_id = plan_build.index_id and m.removed_build is null
  )
  select
    case
      when w.version_key is null then 'close'
      when m.version_key is null or rechunk then 'add'
      else 'relabel'
    end,
    coalesce(w.version_key, m.version_key), w.version_state, w.family_id, w.class, m.chunk_count, w.char_count
  from wanted w
  full join member m on m.version_key = w.version_key
  where w.version_key is null or m.version_key is null or rechunk
    or (w.version_state, w.family_id, w.class) is distinct from (m.version_state, m.family_id, m.class)
  order by 2;
end;
comment on function tracestore.plan_build(bigint, timestamptz, boolean) is
  'What a build has to change: the corpus in effect at the cut-off against the latest ready build.';

create function tracestore.texts_of(version_keys bigint[])
returns table (version_key bigint, doc_id text, version_id text, media_type text, content bytea)
language sql
stable
begin atomic
  select v.version_key, d.doc_id, v.version_id, v.media_type, v.content
  from tracestore_data.document_version v
  join tracestore_data.document d using (doc_key)
  where v.version_key = any (version_keys)
  order by v.version_key;
end;
comment on function tracestore.texts_of(bigint[]) is 'Content of versions, to be chunked; null where it was erased meanwhile.';
