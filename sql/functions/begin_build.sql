-- requires: add_embeddings
create type tracestore.lease as (
  build_id bigint,
  parent_build_id bigint,
  cutoff_at timestamptz,
  lease_token uuid
);
comment on type tracestore.lease is 'A build in the making and the token that allows to finish it.';

create function tracestore.begin_build(
  index_id bigint, chunker_version integer, manifest_header text, lease interval default '120 seconds',
  effective_at timestamptz default null, kind text default 'build')
returns tracestore.lease
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_held tracestore_data.build;
  v_lease tracestore.lease;
begin
  if effective_at > clock_timestamp() then
    raise exception using errcode = 'TS001', message = format('%s is in the future', effective_at),
      hint = 'A build holds what took effect by now, or by an earlier time.';
  end if;
  perform from tracestore_data.retrieval_index i where i.index_id = begin_build.index_id for no key update;
  if exists (select from tracestore_data.retrieval_index i where i.index_id = begin_build.index_id and i.dropped_at is not null) then
    raise exception using errcode = 'TS004', message = format('index %s was dropped', begin_build.index_id),
      hint = 'Run the build again; it makes another index.';
  end if;
  select b.* into v_held from tracestore_data.build b
  where b.index_id = begin_build.index_id and b.state = 'building';
  if found then
    perform tracestore.take_over(v_held);
  end if;
  -- The cut-off is read under the lock, so that a build never knows less than the one before it.
  select max(b.build_id), coalesce(effective_at, greatest(clock_timestamp(), max(b.cutoff_at)))
  into v_lease.parent_build_id, v_lease.cutoff_at
  from tracestore_data.build b where b.index_id = begin_build.index_id and b.state = 'ready';
  insert into tracestore_data.build (
    index_id, parent_build_id, kind, cutoff_at, chunker_version, manifest_header, lease_token, lease_expires_at, lease_pid,
    lease_backend_start)
  values (
    begin_build.index_id, v_lease.parent_build_id, begin_build.kind, v_lease.cutoff_at, begin_build.chunker_version,
    begin_build.manifest_header, gen_random_uuid(), clock_timestamp() + lease, pg_backend_pid(),
    (select a.backend_start from pg_stat_activity a where a.pid = pg_backend_pid()))
  returning build_id, lease_token into v_lease.build_id, v_lease.lease_token;
  return v_lease;
end
$$;
comment on function tracestore.begin_build(bigint, integer, text, interval, timestamptz, text) is
  'Takes the lease of an index and opens a build whose cut-off is now, or effective_at. An error while another process holds it.';

create function tracestore.holder_is_gone(held tracestore_data.build)
returns boolean
language sql
stable
begin atomic
  -- A holder whose server process is gone cannot finish, however long its lease. The start is compared as well, since
  -- numbers are used again; it reads null for a role that may not see the session.
  select not exists (
    select from pg_stat_activity a
    where a.pid = held.lease_pid and coalesce(a.backend_start, held.lease_backend_start) = held.lease_backend_start);
end;
comment on function tracestore.holder_is_gone(tracestore_data.build) is
  'True for a build whose holder''s connection has ended.';

create function tracestore.clean_after_erasure(failed tracestore_data.build)
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  -- The build may have read the text before it was erased, and have embedded it.
  if exists (
    select from tracestore_data.retrieval_index i
    join tracestore_data.document d using (collection_id)
    join tracestore_data.suppression s using (doc_key)
    where i.index_id = failed.index_id and s.kind = 'erased' and s.suppressed_at >= failed.started_at)
  then
    perform tracestore.drop_unused_embeddings(failed.index_id);
    -- The reason may quote the text.
    update tracestore_data.build b set failure = 'withheld since a document was erased' where b.build_id = failed.build_id;
  end if;
end
$$;
comment on function tracestore.clean_after_erasure(tracestore_data.build) is
  'Deletes the vectors a failed build left behind, and its reason, if a document of its collection was erased while it was made.';

create function tracestore.take_over(held tracestore_data.build)
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_gone boolean := tracestore.holder_is_gone(held);
begin
  if v_gone or held.lease_expires_at <= clock_timestamp() then
    update tracestore_data.build b
    set state = 'failed', lease_token = null,
      failure = case when v_gone then 'its process went away' else 'its lease ran out' end
    where b.build_id = (
      -- Skipped: the holder renewed the lease, or is in the transaction that ends the build.
      select h.build_id from tracestore_data.build h
      where h.build_id = held.build_id and h.lease_token = held.lease_token and h.lease_expires_at = held.lease_expires_at
      for update skip locked);
    if found then
      perform tracestore.clean_after_erasure(held);
      return;
    end if;
  end if;
  raise exception using errcode = 'TS006',
    message = format('build B-%s of this index is in the making', held.build_id),
    detail = format('by %s since %s', held.actor, held.started_at),
    hint = format('Wait for it; its lease ends at %s unless it is renewed.', held.lease_expires_at);
end
$$;
comment on function tracestore.take_over(tracestore_data.build) is
  'Internal to begin_build: fails a build whose holder is gone or silent for too long, and is an error for any other.';

create function tracestore.renew_lease(build_id bigint, lease_token uuid, lease interval default '120 seconds')
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  update tracestore_data.build b set lease_expires_at = clock_timestamp() + lease
  where b.build_id = renew_lease.build_id and b.state = 'building' and b.lease_token = renew_lease.lease_token;
  if not found then
    raise exception using errcode = 'TS006', message = format('build B-%s lost its lease', renew_lease.build_id),
      hint = 'Another process took over; run the build again.';
  end if;
end
$$;
comment on function tracestore.renew_lease(bigint, uuid, interval) is
  'Keeps the lease, and locks the build to the end of the transaction; an error if another process took it over.';

create function tracestore.abandon_build(build_id bigint, lease_token uuid, failure text default null)
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_failed tracestore_data.build;
begin
  if failure is null then
    delete from tracestore_data.build b
    where b.build_id = abandon_build.build_id and b.state = 'building' and b.lease_token = abandon_build.lease_token;
  else
    update tracestore_data.build b
    set state = 'failed', failure = abandon_build.failure, lease_token = null
    where b.build_id = abandon_build.build_id and b.state = 'building' and b.lease_token = abandon_build.lease_token
    returning b.* into v_failed;
    if found then
      perform tracestore.clean_after_erasure(v_failed);
    end if;
  end if;
end
$$;
comment on function tracestore.abandon_build(bigint, uuid, text) is
  'Gives the lease back: the build failed, or without a failure there was nothing to build.';

create function tracestore.watch_client()
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  perform set_config('client_connection_check_interval', '1s', true);
exception when invalid_parameter_value then
  return;  -- a server on a system that cannot look; the lease ends in its time
end
$$;
comment on function tracestore.watch_client() is
  'To the end of the transaction: a statement ends when its client is gone, and with it the hold on a lease.';
