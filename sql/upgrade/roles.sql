-- What keeps members of the three roles out: a role that is not there, or that this store has granted nothing yet, or
-- that may not use the schema of the vector extension.
select role.name,
  pg_catalog.to_regrole(role.name) is not null as is_there,
  pg_catalog.has_schema_privilege(pg_catalog.to_regrole(role.name), 'tracestore', 'usage') is true as is_granted,
  pg_catalog.has_schema_privilege(pg_catalog.to_regrole(role.name), e.extnamespace, 'usage') is not false as has_vectors,
  me.rolsuper or me.rolcreaterole as may_be_made,
  pg_catalog.quote_ident(n.nspname) as vector_schema
from pg_catalog.unnest(array['tracestore_reader', 'tracestore_writer', 'tracestore_auditor']) as role (name)
join pg_catalog.pg_roles me on me.rolname = current_user
join pg_catalog.pg_extension e on e.extname = 'vector'
join pg_catalog.pg_namespace n on n.oid = e.extnamespace
order by role.name;
