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
      b.build_id in (select u.build_id from undo u) as is_previous
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
  'What to keep: the newest build of each index, what an alias serves or a rollback would, what is held, the latest keep_searchable builds and any younger than older_than stay as they are; the latest keep_chunks keep their chunks, of the others only the manifest stays.';

create function tracestore.lower_level(build_id bigint, new_level text)
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_build tracestore_data.build;
begin
  -- Publish, rollback and hold lock the row as well before they read its level.
  select b.* into v_build from tracestore_data.build b where b.build_id = lower_level.build_id and b.state = 'ready' for update;
  if not found then
    raise exception using errcode = 'TS003', message = format('there is no ready build B-%s', lower_level.build_id),
      hint = 'View tracestore.builds lists builds.';
  end if;
  -- Asked again under the lock: a publish or a hold that came meanwhile wins.
  if exists (select from tracestore_data.alias a where a.build_id = v_build.build_id)
     or exists (select from tracestore_data.build_hold h where h.build_id = v_build.build_id and h.released_at is null)
     or v_build.build_id in (select tracestore.builds_to_return_to())
     or not exists (select from tracestore_data.build b
                    where b.index_id = v_build.index_id and b.state = 'ready' and b.build_id > v_build.build_id) then
    raise exception using errcode = 'TS004', message = format('build B-%s is needed', v_build.build_id),
      detail = 'an alias serves it or would after a rollback, or it is held, or the newest of its index',
      hint = 'Retire the alias or release the hold first.';
  end if;
  update tracestore_data.build b set level = new_level where b.build_id = v_build.build_id and b.level <> new_level;
end
$$;
comment on function tracestore.lower_level(bigint, text) is
  'Lowers the retention level of a build; refused while an alias, a rollback, a hold or the next build needs it.';
