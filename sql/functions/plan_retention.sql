-- requires: rollback
create type tracestore.retention_plan as (
  build_id bigint,
  index_id bigint,
  level text,
  new_level text,
  kept_for text
);
comment on type tracestore.retention_plan is 'What garbage collection would make of a build, and why it stays where it does.';

create function tracestore.builds_to_return_to()
returns setof bigint
language sql
stable
begin atomic
  -- One step back, since a rollback is for the minute after a publish. A retired alias gives its builds up.
  select build.value::bigint
  from (select distinct a.alias_name from tracestore_data.alias a) alias
  cross join lateral (
    select stack.state from tracestore.undo_stack(alias.alias_name) with ordinality as stack (state, place)
    where stack.place = 2) previous
  cross join lateral jsonb_each_text(previous.state) as build;
end;
comment on function tracestore.builds_to_return_to() is 'Builds that a rollback of an alias would serve, of aliases that serve something.';

create function tracestore.builds_of_answers(build_ids bigint[])
returns setof bigint
language sql
stable
begin atomic
  select b.build_id
  from unnest(build_ids) as b (build_id)
  where exists (select from tracestore_data.answer a where a.build_id = b.build_id)
  union
  select other.build_id
  from tracestore_data.answer a cross join lateral unnest(a.other_builds) as other (build_id)
  where a.other_builds is not null and other.build_id = any (build_ids);
end;
comment on function tracestore.builds_of_answers(bigint[]) is 'Those of some builds that answers on record came from.';

create function tracestore.plan_retention(
  collection text, keep_searchable integer, keep_chunks integer, older_than interval default '0')
returns setof tracestore.retention_plan
language sql
stable
begin atomic
  with undo as materialized (
    select build_id from tracestore.builds_to_return_to() as build_id
  ),
  line as (
    select b.build_id, b.index_id, b.level, b.committed_at,
      row_number() over (partition by b.index_id order by b.build_id desc) as age,
      b.build_id in (select a.build_id from tracestore_data.alias a) as is_served,
      b.build_id in (select h.build_id from tracestore_data.build_hold h where h.released_at is null) as is_held,
      b.build_id in (select u.build_id from undo u) as is_previous,
      exists (select from tracestore.builds_of_answers(array[b.build_id])) as is_cited
    from tracestore_data.build b
    join tracestore_data.retrieval_index i using (index_id)
    join tracestore_data.collection c using (collection_id)
    where b.state = 'ready' and (plan_retention.collection is null or c.slug = plan_retention.collection)
  ),
  reasoned as (
    select l.*, case
        when age = 1 then 'the newest build of its index'
        when is_served then 'served by an alias'
        when is_held then 'held'
        when is_previous then 'a rollback would serve it'
        when is_cited then 'an answer on record came from it'
        when age <= keep_searchable then 'among the latest ' || keep_searchable
        when committed_at > now() - older_than then 'younger than ' || older_than
      end as reason
    from line l
  )
  select build_id, index_id, level,
    case when reason is not null then level
      when age <= keep_chunks and level <> 'manifest' then 'chunks'
      else 'manifest' end,
    coalesce(reason, case when age <= keep_chunks and level <> 'manifest' then 'its chunks: among the latest ' || keep_chunks end)
  from reasoned
  order by build_id;
end;
comment on function tracestore.plan_retention(text, integer, integer, interval) is
  'What to keep: the newest build of each index, what an alias serves or a rollback would, what is held, what an answer on record came from, the latest keep_searchable builds and any younger than older_than stay as they are; the latest keep_chunks keep their chunks, of the others only the manifest stays.';

create function tracestore.builds_in_use(build_ids bigint[])
returns setof bigint
language sql
stable
begin atomic
  select b.build_id
  from unnest(build_ids) as b (build_id)
  where b.build_id in (select a.build_id from tracestore_data.alias a)
    or b.build_id in (select h.build_id from tracestore_data.build_hold h where h.released_at is null)
    or b.build_id in (select tracestore.builds_to_return_to())
  order by b.build_id;
end;
comment on function tracestore.builds_in_use(bigint[]) is
  'Those of some builds that an alias serves or would after a rollback, or that are held.';

create function tracestore.needed_builds(build_ids bigint[])
returns setof bigint
language sql
stable
begin atomic
  select tracestore.builds_in_use(build_ids)
  union
  select tracestore.builds_of_answers(build_ids)
  union
  select b.build_id
  from tracestore_data.build b
  where b.build_id = any (build_ids) and not exists (
    select from tracestore_data.build later
    where later.index_id = b.index_id and later.state = 'ready' and later.build_id > b.build_id)
  order by 1;
end;
comment on function tracestore.needed_builds(bigint[]) is
  'Those of some builds that have to stay searchable: in use, what an answer on record came from, or the newest of their index, from which the next build starts.';

create function tracestore.lower_levels(build_ids bigint[], new_level text)
returns setof bigint
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_needed bigint[];
begin
  -- Publish, rollback and hold lock the row as well before they read its level.
  perform from tracestore_data.build b where b.build_id = any (build_ids) and b.state = 'ready' order by b.build_id for update;
  -- Asked under the lock: a publish or a hold that came meanwhile wins.
  v_needed := array(select tracestore.needed_builds(build_ids));
  update tracestore_data.build b set level = new_level
  where b.build_id = any (build_ids) and b.build_id <> all (v_needed) and b.state = 'ready' and b.level <> new_level;
  return query select unnest(v_needed);
end
$$;
comment on function tracestore.lower_levels(bigint[], text) is
  'Lowers the retention level of builds; returns those that stay as they are since they are needed.';
