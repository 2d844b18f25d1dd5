create function tracestore.currency_of(version_key bigint, doc_key bigint, effective_from timestamptz, version_seq integer)
returns table (superseded_since timestamptz, doubtful_since timestamptz, withdrawn_since timestamptz, known_since timestamptz)
language sql
stable
parallel safe
begin atomic
  -- By what is in effect, not by when the states were settled: a source may say it before the store hears of it, and the
  -- store hears of it before a build does.
  select
    least(later.effective_from, declared.effective_at),
    declared.guessed_at,
    gone.suppressed_at,
    least(later.known_at, declared.known_at, gone.suppressed_at)
  from (
    select min(n.effective_from) as effective_from, min(greatest(n.effective_from, n.registered_at)) as known_at
    from tracestore_data.document_version n
    where n.doc_key = currency_of.doc_key
      and (n.effective_from, n.version_seq) > (currency_of.effective_from, currency_of.version_seq)) later
  cross join (
    select
      min(s.effective_at) filter (where not s.inferred or s.accepted) as effective_at,
      min(greatest(s.effective_at, coalesce(s.decided_at, s.declared_at))) filter (where not s.inferred or s.accepted) as known_at,
      min(s.effective_at) filter (where s.inferred and s.accepted is null) as guessed_at
    from tracestore_data.supersession s
    where s.doc_key = currency_of.doc_key and s.accepted is not false
      and (s.version_key = currency_of.version_key or s.version_key is null and currency_of.effective_from <= s.effective_at)) declared
  cross join (
    -- A take-down that was undone counts as none.
    select min(s.suppressed_at) as suppressed_at
    from tracestore_data.suppression s
    where s.doc_key = currency_of.doc_key and s.lifted_at is null
      and (s.version_key is null or s.version_key = currency_of.version_key)) gone;
end;
comment on function tracestore.currency_of(bigint, bigint, timestamptz, integer) is
  'Since when a version is replaced, perhaps replaced (a guess that nobody has decided), taken down; null: it is not. known_since: since when the store knew of a replacement or take-down that holds.';

create function tracestore.state_at(
  at timestamptz, effective_from timestamptz, superseded_since timestamptz, doubtful_since timestamptz, withdrawn_since timestamptz)
returns text
language sql
immutable
parallel safe
return case
  when at >= withdrawn_since then 'withdrawn'
  when at >= superseded_since then 'superseded'
  when at < effective_from or at >= doubtful_since then 'unknown'
  else 'current' end;
comment on function tracestore.state_at(timestamptz, timestamptz, timestamptz, timestamptz, timestamptz) is
  'The state of a version at a time, from what currency_of says of it; unknown: not yet in effect, or in doubt.';
