-- Every audit, one after the other; an error at the end when one found something.
--   psql -f all.sql [-v since=2026-01-01]
\set all_audits true
\ir manifests.sql
\ir unresolvable_citations.sql
\ir citations_not_current.sql
\ir aliases_without_gates.sql
\ir forced.sql
select case :findings when 1 then 'finding' else 'findings' end as noun \gset
\echo :findings :noun
select :findings > 0 as is_found \gset
\if :is_found
  do $$
  begin
    raise exception using errcode = 'TS007', message = 'the audits found something', hint = 'The rows are above.';
  end
  $$;
\endif
