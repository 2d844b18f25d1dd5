create function tracestore.hold(build_id bigint, reason text)
returns bigint
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_build tracestore_data.build;
  v_hold bigint;
begin
  if reason is null then
    raise exception using errcode = 'TS001', message = 'a hold needs a reason', hint = 'Say why the build has to stay.';
  end if;
  select b.* into v_build from tracestore_data.build b where b.build_id = hold.build_id for no key update;
  if v_build.state is distinct from 'ready' then
    raise exception using errcode = 'TS003', message = format('there is no ready build B-%s', hold.build_id),
      hint = 'View tracestore.builds lists builds.';
  end if;
  if v_build.level <> 'vectors' then
    raise exception using errcode = 'TS004', message = format('build B-%s can no longer be searched', v_build.build_id),
      detail = format('retained: %s', v_build.level), hint = 'A hold keeps what is there; it brings nothing back.';
  end if;
  insert into tracestore_data.build_hold (build_id, reason) values (v_build.build_id, hold.reason)
  on conflict do nothing
  returning build_hold_id into v_hold;
  if v_hold is null then
    select h.build_hold_id into v_hold from tracestore_data.build_hold h
    where h.build_id = v_build.build_id and h.released_at is null;
  end if;
  return v_hold;
end
$$;
comment on function tracestore.hold(bigint, text) is 'Keeps a build searchable whatever retention says, until it is released. Returns the hold; one that is there already stays as it is.';

create function tracestore.release(build_id bigint, reason text default null)
returns boolean
language sql
volatile
begin atomic
  with released as (
    update tracestore_data.build_hold h
    set released_at = clock_timestamp(), released_by = session_user, release_reason = release.reason
    where h.build_id = release.build_id and h.released_at is null
    returning 1
  )
  select exists (select from released);
end;
comment on function tracestore.release(bigint, text) is 'Ends the hold on a build; false if there was none.';
