-- requires: cited_versions
create function tracestore.cited_version_rates(since timestamptz, collection text default null)
returns table (
  week date, collection text, class text, citations bigint, not_current bigint, known_then bigint, in_doubt bigint, not_current_now bigint,
  share_not_current double precision, share_not_current_now double precision)
language sql
stable
parallel safe
begin atomic
  select r.week, r.collection, r.class, r.citations, r.not_current, r.known_then, r.in_doubt, r.not_current_now,
    r.not_current::double precision / r.citations, r.not_current_now::double precision / r.citations
  from (
    select v.week, v.collection, v.class, count(*) as citations,
      count(*) filter (where v.state_at_answer in ('superseded', 'withdrawn')) as not_current,
      count(*) filter (where v.state_at_answer in ('superseded', 'withdrawn') and v.known_since <= v.answered_at) as known_then,
      count(*) filter (where v.state_at_answer = 'unknown') as in_doubt,
      count(*) filter (where v.state_at_answer in ('current', 'unknown') and v.state_now in ('superseded', 'withdrawn')) as not_current_now
    from tracestore.cited_versions v
    -- Nothing is logged before it is answered, but for clocks that differ.
    where v.answered_at >= cited_version_rates.since and v.logged_at >= cited_version_rates.since - interval '1 day'
      and (cited_version_rates.collection is null or v.collection = cited_version_rates.collection)
    group by v.week, v.collection, v.class) r
  order by r.week, r.collection, r.class nulls last;
end;
comment on function tracestore.cited_version_rates(timestamptz, text) is
  'How many citations of answers since a time were of versions that were not current then (known_then: although the store knew), and how many of the others are not current any more; by week, which begins on Monday, UTC, and class.';
