create view tracestore.conflicting_families with (security_invoker = true) as
select
  m.collection,
  m.index_id,
  m.build_id,
  array(select a.alias_name from tracestore_data.alias a where a.build_id = m.build_id order by a.alias_name) as served_by,
  m.family_id,
  m.members,
  d.doc_id,
  d.class,
  v.version_id,
  v.version_seq,
  m.version_state,
  v.effective_from
from (
  select c.slug as collection, b.index_id, b.build_id, e.family_id, e.version_key, e.version_state,
    count(*) over (partition by c.slug, b.index_id, b.build_id, e.family_id) as members
  from tracestore_data.build b
  join tracestore_data.retrieval_index i on i.index_id = b.index_id and i.dropped_at is null
  join tracestore_data.collection c on c.collection_id = i.collection_id
  join tracestore_data.manifest_entry e
    on e.index_id = b.index_id and e.added_build <= b.build_id and (e.removed_build is null or e.removed_build > b.build_id)
  join tracestore_data.document_version v on v.version_key = e.version_key
  where b.state = 'ready'
    and (b.build_id in (select a.build_id from tracestore_data.alias a)
      or b.build_id = (select max(n.build_id) from tracestore_data.build n where n.index_id = b.index_id and n.state = 'ready'))
    and not exists (
      select from tracestore_data.suppression s
      where s.doc_key = v.doc_key and s.lifted_at is null and (s.version_key is null or s.version_key = v.version_key))) m
join tracestore_data.document_version v on v.version_key = m.version_key
join tracestore_data.document d on d.doc_key = v.doc_key
where m.members > 1;
comment on view tracestore.conflicting_families is
  'Families of which a search can return more than one member: two revisions alive. Of what aliases serve, and of the newest build of each index, which comes next; served_by is empty where no alias serves it.';
