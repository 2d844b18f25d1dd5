-- requires: supersession_at
create view tracestore.waiting_documents with (security_invoker = true) as
select
  c.slug as collection,
  a.alias_name as index_alias,
  a.build_id,
  d.doc_id,
  d.class,
  v.version_id,
  v.version_seq,
  v.effective_from,
  v.registered_at,
  greatest(v.effective_from, v.registered_at, back.lifted_at) as waiting_since,
  (
    select o.version_id
    from tracestore_data.document_version o
    join tracestore_data.manifest_entry m on m.index_id = b.index_id and m.version_key = o.version_key
    where o.doc_key = d.doc_key and m.added_build <= b.build_id and (m.removed_build is null or m.removed_build > b.build_id)
    limit 1) as served_version_id
from tracestore_data.alias a
join tracestore_data.build b on b.build_id = a.build_id
join tracestore_data.collection c on c.collection_id = a.collection_id
join tracestore_data.document d on d.collection_id = a.collection_id
cross join lateral (
  select n.version_key, n.version_id, n.version_seq, n.effective_from, n.registered_at, n.erased_at
  from tracestore_data.document_version n
  where n.doc_key = d.doc_key and n.effective_from <= now() and n.version_state <> 'withdrawn'
  order by n.effective_from desc, n.version_seq desc
  limit 1) v
left join (
  select s.doc_key, max(s.lifted_at) as lifted_at from tracestore_data.suppression s group by s.doc_key) back on back.doc_key = d.doc_key
where v.erased_at is null
  and not exists (
    select from tracestore_data.manifest_entry m
    where m.index_id = b.index_id and m.version_key = v.version_key
      and m.added_build <= b.build_id and (m.removed_build is null or m.removed_build > b.build_id))
  and not exists (
    select from tracestore_data.suppression s
    where s.doc_key = d.doc_key and s.lifted_at is null and (s.version_key is null or s.version_key = v.version_key))
  and tracestore.supersession_at(d.doc_key, v.version_key, v.effective_from, now()) is distinct from 'declared';
comment on view tracestore.waiting_documents is
  'Documents whose version in effect is not in the build that an alias serves: never there, or there in an older version (served_version_id). waiting_since: since the store could have served it.';
