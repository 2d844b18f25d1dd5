-- requires: shadow_searches, retrieved_chunks, set_gate
create function tracestore.shadow_report(collection text, since timestamptz default null, until timestamptz default null)
returns table (
  searches bigint, searches_changed bigint, searches_failed bigint, answers bigint, answers_changed bigint,
  hits_came bigint, hits_went bigint, hits_moved bigint)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  perform tracestore.find_collection(collection);
  return query
  with searched as materialized (
    select s.retrieval_id, s.changed, s.failed, s.moved
    from tracestore.shadow_searches s
    where s.collection = shadow_report.collection
      -- The months are by the time of logging.
      and s.logged_at >= coalesce(since, '-infinity') and s.logged_at < coalesce(until, 'infinity')
  ), answered as (
    -- An answer is logged after its searches.
    select a.answer_key, bool_or(s.changed) as changed
    from tracestore_data.answer a
    cross join lateral unnest(a.retrieval_ids) as used (retrieval_id)
    join searched s using (retrieval_id)
    where a.logged_at >= coalesce(since, '-infinity') and s.failed is null
    group by a.answer_key
  ), hit as (
    select (m.move ->> 'rank')::integer as rank, (m.move ->> 'shadow_rank')::integer as shadow_rank
    from searched s cross join lateral jsonb_array_elements(s.moved) as m (move)
  )
  select s.*, a.*, h.*
  from (select count(*), count(*) filter (where changed), count(*) filter (where failed is not null) from searched) s
  cross join (select count(*), count(*) filter (where changed) from answered) a
  cross join (
    select count(*) filter (where rank is null), count(*) filter (where shadow_rank is null), count(*) filter (where rank <> shadow_rank) from hit) h;
end
$$;
comment on function tracestore.shadow_report(text, timestamptz, timestamptz) is
  'What recency in the shadow would have changed in a time: how many logged searches, of how many; how many answers on record that used them, of how many; and how many hits would have come, gone or moved.';

create function tracestore.shadow_hits(
  collection text, since timestamptz default null, until timestamptz default null, most integer default 20)
returns table (citation text, came bigint, went bigint, rose bigint, fell bigint)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  perform tracestore.find_collection(collection);
  if most is null or most < 1 then
    raise exception using errcode = 'TS001', message = 'most is not at least 1', hint = 'How many hits are wanted?';
  end if;
  return query
  with move as (
    select s.retrieval_id, (m.move ->> 'rank')::integer as rank, (m.move ->> 'shadow_rank')::integer as shadow_rank, m.move ->> 'citation' as citation
    from tracestore.shadow_searches s cross join lateral jsonb_array_elements(s.moved) as m (move)
    where s.collection = shadow_hits.collection
      and s.logged_at >= coalesce(since, '-infinity') and s.logged_at < coalesce(until, 'infinity')
  )
  select coalesce(m.citation, r.citation), count(*) filter (where m.rank is null), count(*) filter (where m.shadow_rank is null),
    count(*) filter (where m.shadow_rank < m.rank), count(*) filter (where m.shadow_rank > m.rank)
  from move m
  left join lateral (
    select r.citation from tracestore.retrieved_chunks r where m.citation is null and r.retrieval_id = m.retrieval_id and r.rank = m.rank) r on true
  group by 1
  order by count(*) desc, 1
  limit most;
end
$$;
comment on function tracestore.shadow_hits(text, timestamptz, timestamptz, integer) is
  'The hits that recency in the shadow would have moved most often in a time: how often each would have come, gone, risen or fallen.';
