-- requires: set_gate, switch_alias
create function tracestore.begin_decision(collection text)
returns bigint
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_collection bigint := tracestore.find_collection(collection);
begin
  -- One decision of a collection at a time, so that their numbers and times are in the order in which they commit.
  perform from tracestore_data.collection c where c.collection_id = v_collection for no key update;
  -- Announced as a switch is: an as_of that it may still claim is refused and not answered by the policy before it.
  perform pg_advisory_xact_lock_shared(tracestore.switch_lock(clock_timestamp()));
  perform tracestore.lock_alias(e.alias_name)
  from (select distinct e.alias_name from tracestore_data.alias_event e where e.collection_id = v_collection order by 1) e;
  update tracestore_data.alias_turn turn set switches = turn.switches
  where turn.alias_name in (select e.alias_name from tracestore_data.alias_event e where e.collection_id = v_collection);
  return v_collection;
end
$$;
comment on function tracestore.begin_decision(text) is
  'Internal to what decides how a collection is searched: waits for its turn and announces it to searches as of a time. Returns the collection''s key.';

create function tracestore.check_class(class text)
returns void
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  if octet_length(class) not between 1 and 1024 or class ~ '[\u0001-\u001f\u007f-\u009f]' then
    raise exception using errcode = 'TS001', message = 'the class is no name of a class', detail = left(quote_literal(class), 200),
      hint = 'Names have 1 to 1024 bytes and hold no control characters.';
  end if;
end
$$;
comment on function tracestore.check_class(text) is
  'Internal to what decides by class: refuses what cannot be meant as one; null passes.';

create function tracestore.set_conflict_policy(collection text, class text, policy text, reason text default null)
returns bigint
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_collection bigint;
  v_newest tracestore_data.conflict_policy;
begin
  if policy not in ('prefer_current', 'prefer_latest_effective', 'return_both_flagged', 'refuse') then
    raise exception using errcode = 'TS001', message = format('policy %s is unknown', quote_nullable(left(policy, 100))),
      hint = 'Policies: prefer_current, prefer_latest_effective, return_both_flagged, refuse; null for none.';
  end if;
  if policy is not null then
    perform tracestore.check_class(class);
  end if;
  v_collection := tracestore.begin_decision(collection);
  select p.* into v_newest from tracestore_data.conflict_policy p
  where p.collection_id = v_collection and p.class is not distinct from set_conflict_policy.class
  order by p.conflict_policy_id desc limit 1;
  -- The same again is no other decision, and no policy where there was none is none.
  if v_newest.policy is not distinct from set_conflict_policy.policy then
    return v_newest.conflict_policy_id;
  end if;
  insert into tracestore_data.conflict_policy (collection_id, class, policy, decided_at, reason)
  select v_collection, set_conflict_policy.class, set_conflict_policy.policy,
    greatest(clock_timestamp(), max(p.decided_at) + interval '1 microsecond'), set_conflict_policy.reason
  from tracestore_data.conflict_policy p where p.collection_id = v_collection
  returning * into v_newest;
  return v_newest.conflict_policy_id;
end
$$;
comment on function tracestore.set_conflict_policy(text, text, text, text) is
  'Decides what searches do when two revisions of a family of a class are among their candidates; class null: every class without a policy of its own; policy null: nothing any more. Returns the decision.';
