create function tracestore.supersession_at(doc_key bigint, version_key bigint, effective_from timestamptz, cutoff timestamptz)
returns text
language sql
stable
parallel safe
begin atomic
  -- declared: by an owner, or a guess that was accepted. inferred: a guess nobody has decided.
  select case when bool_or(not s.inferred or s.accepted) then 'declared' when count(*) > 0 then 'inferred' end
  from tracestore_data.supersession s
  where s.doc_key = supersession_at.doc_key and s.effective_at <= cutoff and s.accepted is not false
    and (s.version_key = supersession_at.version_key
         or s.version_key is null and supersession_at.effective_from <= s.effective_at);
end;
comment on function tracestore.supersession_at(bigint, bigint, timestamptz, timestamptz) is
  'Whether a version is superseded at a time by declaration (declared), or perhaps (inferred); null: neither.';
