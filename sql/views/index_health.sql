create view tracestore.index_health with (security_invoker = true) as
with counted as (
  select
    i.index_id,
    c.slug as collection,
    r.recipe_id,
    i.settings_json #>> '{ann,kind}' as ann_kind,
    i.settings_json #>> '{ann,type}' as ann_type,
    g.graph_event_id,
    g.made_at,
    g.vectors as vectors_then,
    r.dimension,
    x.indisvalid as valid,
    p.partrelid is not null as is_made,
    p.counted,
    p.counted_at,
    pg_stat_get_dead_tuples(p.partrelid) as dead_tuples,
    b.committed_at,
    b.embedded_since,
    -- Chunks share vectors, so members are at least as many as their vectors.
    (select max(b.chunks - b.not_embeddable) from tracestore_data.build b
     where b.index_id = i.index_id and b.state = 'ready' and (
       exists (select from tracestore_data.alias a where a.build_id = b.build_id)
       or b.build_id = (select max(n.build_id) from tracestore_data.build n where n.index_id = i.index_id and n.state = 'ready'))) as members
  from tracestore_data.retrieval_index i
  join tracestore_data.collection c using (collection_id)
  join tracestore_data.recipe r using (recipe_key)
  left join lateral (
    select k.oid as partrelid, nullif(k.reltuples, -1)::bigint as counted,
      greatest(pg_stat_get_last_analyze_time(k.oid), pg_stat_get_last_autoanalyze_time(k.oid),
        pg_stat_get_last_vacuum_time(k.oid), pg_stat_get_last_autovacuum_time(k.oid)) as counted_at
    from pg_class k
    where k.oid = to_regclass('tracestore_data.embedding_' || i.index_id)) p on true
  left join pg_index x on x.indexrelid = to_regclass('tracestore_data.embedding_' || i.index_id || '_ann')
  left join lateral (
    select e.graph_event_id, e.build_id, e.made_at, e.vectors from tracestore_data.graph_event e
    where e.index_id = i.index_id order by e.graph_event_id desc limit 1) g on true
  left join lateral (
    select max(b.committed_at) as committed_at,
      coalesce(sum(b.embedding_calls) filter (where b.build_id > g.build_id), 0) as embedded_since
    from tracestore_data.build b where b.index_id = i.index_id and b.state = 'ready') b on true
  where i.dropped_at is null
),
sized as (
  -- Not the live tuples of pg_stat: they count twice what an ANALYZE saw before its inserts were reported, and a crash
  -- forgets them. The planner's count is of the last VACUUM, ANALYZE or making of an index; what builds embedded since
  -- then is on record.
  select n.*,
    case when greatest(n.counted_at, n.made_at) > n.committed_at then coalesce(n.counted, 0)
      else greatest(n.counted, n.vectors_then + n.embedded_since, case when n.vectors_then is null then n.members end, 0) end as vectors_now
  from counted n
),
drifted as (
  select
    n.*,
    greatest(n.embedded_since, n.vectors_now - n.vectors_then) as added_since,
    round(greatest(n.embedded_since, n.vectors_now - n.vectors_then) / nullif(greatest(n.vectors_now, n.embedded_since), 0)::numeric, 4)
      as added_share,
    round((greatest(n.vectors_now - n.members, 0) + n.dead_tuples)::numeric / nullif(n.vectors_now + n.dead_tuples, 0), 4) as dead_share,
    m.recall,
    m.recall_by,
    -- Far questions are left to mode auto: any graph misses them.
    least((m.recall_by #>> '{kind,near}')::numeric, (m.recall_by #>> '{kind,given}')::numeric) as ordinary_recall,
    m.recall_floor,
    m.probed_at,
    m.auto_recall,
    m.list_imbalance
  from sized n
  left join lateral (
    select a.recall, a.recall_by, a.recall_floor, a.measured_at as probed_at,
      (select o.recall from tracestore_data.fidelity_measurement o
       where o.graph_event_id = n.graph_event_id and o.mode = 'auto' order by o.fidelity_measurement_id desc limit 1) as auto_recall,
      -- Rows in the nearest list of a question, against those of a list if all were equally long.
      (select round((o.candidates * (
          select option_value::integer from pg_class k, pg_options_to_table(k.reloptions)
          where k.oid = to_regclass('tracestore_data.embedding_' || n.index_id || '_ann') and option_name = 'lists')
        / nullif(n.vectors_now, 0))::numeric, 2)
       from tracestore_data.fidelity_measurement o
       where o.graph_event_id = n.graph_event_id and n.ann_kind = 'ivfflat' and o.mode = 'scan' and o.effort = 1
       order by o.fidelity_measurement_id desc limit 1) as list_imbalance
    from tracestore_data.fidelity_measurement a
    where a.graph_event_id = n.graph_event_id and a.mode = 'ann' and a.filter is null
    order by a.fidelity_measurement_id desc limit 1) m on true
)
select
  d.index_id,
  d.collection,
  d.recipe_id,
  d.ann_kind,
  d.ann_type,
  d.valid,
  d.made_at,
  d.vectors_then,
  d.vectors_now,
  d.added_since,
  d.added_share,
  d.dead_share,
  d.list_imbalance,
  d.recall,
  d.auto_recall,
  d.recall_by -> 'hardness' as recall_by_hardness,
  d.recall_by -> 'kind' as recall_by_kind,
  d.recall_floor,
  d.probed_at,
  case
    when not d.is_made then 'index drop: its tables are gone'
    when d.ann_kind is null and d.vectors_now * d.dimension > 20000000 then
      format('build with --ann hnsw: every search reads all %s vectors', d.vectors_now)
    when d.ann_kind is null then 'nothing to do: it is searched exactly'
    when d.valid is not true then 'build again: the approximate index is not there, and searches are exact'
    when (d.recall_by #>> '{kind,recent}')::numeric < d.recall_floor then
      format('reindex: of what came after the %s were made, a search finds %s %%, and %s %% are wanted',
        case d.ann_kind when 'ivfflat' then 'lists' else 'links' end,
        round(100 * (d.recall_by #>> '{kind,recent}')::numeric, 1), round(100 * d.recall_floor::numeric, 1))
    when d.auto_recall < d.recall_floor then
      format('%s: mode auto finds %s %% of the exact answer, and %s %% are wanted',
        case d.ann_kind when 'ivfflat' then 'reindex, or search with more probes' else 'search with a higher ef_search' end,
        round(100 * d.auto_recall::numeric, 1), round(100 * d.recall_floor::numeric, 1))
    when d.ordinary_recall < d.recall_floor then
      format('search in mode auto, or with %s: mode ann finds %s %% of the exact answer, and %s %% are wanted',
        case d.ann_kind when 'ivfflat' then 'more probes' else 'a higher ef_search' end,
        round(100 * d.ordinary_recall, 1), round(100 * d.recall_floor::numeric, 1))
    when d.ann_kind = 'ivfflat' and d.added_share > 0.2 then
      format('reindex: %s %% of the vectors came after the lists were trained', round(100 * d.added_share))
    when d.dead_share > 0.3 then
      format('gc: %s %% of the vectors are of no served build', round(100 * d.dead_share))
    when d.list_imbalance > 5 then
      format('reindex with more lists: questions fall into lists %s times as long as others', round(d.list_imbalance, 1))
    when d.probed_at is null then 'fidelity: it was never measured since it was made'
    else 'nothing to do'
  end as recommendation
from drifted d;
comment on view tracestore.index_health is
  'The approximate index of each index: what changed since it was made, how close to exact it was when last measured, and what to do. Counts are those of statistics and of builds; no vector is read.';
