-- What every audit ends with: an error when its query, which ran just before, had a row.
\set found :ROW_COUNT
\set QUIET on
rollback;
select :findings + :found as findings, :found > 0 and not :all_audits as is_found \gset
\if :is_found
  do $$
  begin
    raise exception using errcode = 'TS007', message = 'the audit found something', hint = 'The rows are above.';
  end
  $$;
\endif
\unset QUIET
