-- Objects outside schema tracestore that depend on something in it, and would go with it when it is rebuilt.
with ours as (
  select 'pg_catalog.pg_proc'::regclass as classid, p.oid from pg_catalog.pg_proc p
  where p.pronamespace = pg_catalog.to_regnamespace('tracestore')
  union all
  select 'pg_catalog.pg_class'::regclass, c.oid from pg_catalog.pg_class c
  where c.relnamespace = pg_catalog.to_regnamespace('tracestore')
  union all
  select 'pg_catalog.pg_type'::regclass, t.oid from pg_catalog.pg_type t
  where t.typnamespace = pg_catalog.to_regnamespace('tracestore')
)
select distinct pg_catalog.pg_describe_object(d.classid, d.objid, 0)
from pg_catalog.pg_depend d
join ours o on o.classid = d.refclassid and o.oid = d.refobjid
left join pg_catalog.pg_rewrite r on d.classid = 'pg_catalog.pg_rewrite'::regclass and r.oid = d.objid
left join pg_catalog.pg_class c on c.oid = coalesce(r.ev_class, d.objid)
  and (r.oid is not null or d.classid = 'pg_catalog.pg_class'::regclass)
left join pg_catalog.pg_proc p on d.classid = 'pg_catalog.pg_proc'::regclass and p.oid = d.objid
left join pg_catalog.pg_type t on d.classid = 'pg_catalog.pg_type'::regclass and t.oid = d.objid
where d.deptype = 'n'
  and coalesce(c.relnamespace, p.pronamespace, t.typnamespace, 0)
      is distinct from pg_catalog.to_regnamespace('tracestore')
order by 1
