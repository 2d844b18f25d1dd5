-- Of which builds does the manifest, computed again from its rows, not have the hash that is on record?
--   psql -f manifests.sql
\ir begin.sql
\echo 'builds whose manifest hash does not recompute'
select b.build_id, b.collection, b.index_id, b.index_version, h.manifest_hash
from tracestore.builds b
left join (
  select r.build_id, r.manifest_hash
  from (select distinct i.index_id from tracestore.builds i where i.state = 'ready') i
  cross join lateral tracestore.manifest_hashes(i.index_id) r) h using (build_id)
where b.state = 'ready' and h.manifest_hash is distinct from b.index_version
order by b.build_id;
\ir end.sql
