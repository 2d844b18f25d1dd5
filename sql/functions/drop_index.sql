-- requires: plan_retention, sweep_index, make_searcher
create function tracestore.drop_index(index_id bigint, reason text)
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_index tracestore_data.retrieval_index;
  v_builds bigint[];
  v_used bigint;
begin
  if reason is null then
    raise exception using errcode = 'TS001', message = 'dropping an index needs a reason', hint = 'Say why nobody needs it.';
  end if;
  perform tracestore.lock_line(index_id);
  select i.* into v_index from tracestore_data.retrieval_index i where i.index_id = drop_index.index_id;
  if not found then
    raise exception using errcode = 'TS003', message = format('there is no index %s', index_id),
      hint = 'View tracestore.builds lists builds with their index.';
  end if;
  if v_index.dropped_at is not null then
    return;
  end if;
  -- Publish, rollback and hold lock the row of a build as well before they read its level.
  v_builds := array(
    select b.build_id from tracestore_data.build b
    where b.index_id = v_index.index_id and b.state = 'ready' order by b.build_id for update);
  select min(build_id) into v_used from tracestore.builds_in_use(v_builds) as build_id;
  if v_used is not null then
    raise exception using errcode = 'TS004', message = format('index %s is in use', index_id),
      detail = format('an alias serves B-%s or would after a rollback, or it is held', v_used),
      hint = 'Retire the alias or publish another index, and release the hold.';
  end if;
  update tracestore_data.retrieval_index i
  set dropped_at = clock_timestamp(), dropped_by = session_user, drop_reason = drop_index.reason
  where i.index_id = v_index.index_id;
  update tracestore_data.build b set level = 'manifest' where b.build_id = any (v_builds) and b.level <> 'manifest';
  -- The rows go here and their tables in a step of its own: these are locks on rows that nobody else wants.
  execute format('delete from tracestore_data.chunk c where c.index_id = %s', v_index.index_id);
  execute format('delete from tracestore_data.embedding e where e.index_id = %s', v_index.index_id);
end
$$;
comment on function tracestore.drop_index(bigint, text) is
  'Removes the chunks and vectors of an index for good; its builds stay as manifests, its citations resolve. Refused while a build of it is served, held, in the making, or what a rollback would serve.';

create function tracestore.drop_partitions(index_id bigint)
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
set lock_timeout = '200ms'
as $$
#variable_conflict use_column
begin
  if not exists (select from tracestore_data.retrieval_index i where i.index_id = drop_partitions.index_id and i.dropped_at is not null) then
    raise exception using errcode = 'TS004', message = format('index %s was not dropped', index_id), hint = 'Use tracestore.drop_index().';
  end if;
  -- Parents and the tables of foreign keys are locked against everybody for some milliseconds, even when the partition
  -- is detached before. Searches queue behind a lock that is waited for, so it is waited for briefly, and given up before
  -- the server would look for a deadlock with a search (deadlock_timeout, 1 s). In the order in which a search locks them:
  -- in another it waits for searches that wait for it, and 2 hot loops of searches made it give up 5 times.
  lock table only tracestore_data.embedding in access exclusive mode;
  lock table only tracestore_data.chunk in access exclusive mode;
  lock table only tracestore_data.manifest_entry in access exclusive mode;
  perform tracestore.drop_searcher(index_id);
  execute format('drop table if exists tracestore_data.%I', 'chunk_' || index_id);
  if to_regclass(format('tracestore_data.%I', 'embedding_' || index_id)) is not null then
    -- The foreign key of chunk lets a partition go only by itself, and only when no chunk refers to it.
    execute format('alter table tracestore_data.embedding detach partition tracestore_data.%I', 'embedding_' || index_id);
    execute format('drop table tracestore_data.%I', 'embedding_' || index_id);
  end if;
exception when lock_not_available then
  raise exception using errcode = 'TS006', message = format('the tables of index %s are in use', index_id),
    hint = 'They are empty; drop the index again to remove them.';
end
$$;
comment on function tracestore.drop_partitions(bigint) is 'Removes the empty tables of a dropped index; an error when that would make others wait for long.';
