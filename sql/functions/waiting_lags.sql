-- requires: waiting_documents
create function tracestore.waiting_lags(collection text default null)
returns table (
  collection text, index_alias text, build_id bigint, documents bigint, median_seconds double precision, p90_seconds double precision,
  oldest_seconds double precision)
language sql
stable
parallel safe
begin atomic
  select w.collection, w.index_alias, w.build_id, count(*), percentile_cont(0.5) within group (order by w.lag),
    percentile_cont(0.9) within group (order by w.lag), max(w.lag)
  from (
    select w.collection, w.index_alias, w.build_id, extract(epoch from now() - w.waiting_since)::double precision as lag
    from tracestore.waiting_documents w
    where waiting_lags.collection is null or w.collection = waiting_lags.collection) w
  group by w.collection, w.index_alias, w.build_id
  order by w.collection, w.index_alias, w.build_id;
end;
comment on function tracestore.waiting_lags(text) is
  'How many documents wait for the build that an alias serves, and for how long: the median, nine in ten, the longest.';
