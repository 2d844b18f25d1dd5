-- What every audit begins with: read-only, one snapshot, and a role from which nothing is hidden.
\set ON_ERROR_STOP on
\set QUIET on
\if :{?since}
\else
  \set since '-infinity'
\endif
-- all.sql goes on after a finding; an audit by itself ends.
\if :{?all_audits}
\else
  \set all_audits false
\endif
\if :{?findings}
\else
  \set findings 0
\endif
begin transaction isolation level repeatable read read only;
set local search_path = pg_catalog, pg_temp;
do $$
begin
  if not pg_catalog.has_schema_privilege('tracestore', 'usage')
    or not pg_catalog.has_table_privilege('tracestore_data.document_event', 'select') then
    raise exception using errcode = 'insufficient_privilege', message = 'an audit needs a role from which nothing is hidden',
      hint = 'Connect as a member of tracestore_auditor.';
  end if;
end
$$;
\unset QUIET
