-- requires: set_conflict_policy
create function tracestore.set_recency(
  collection text, class text, state text, half_life_days double precision default null, weight double precision default null, reason text default null)
returns bigint
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_collection bigint;
  v_newest tracestore_data.recency_policy;
  v_half_life double precision;
  v_weight double precision;
begin
  if state is null or state not in ('off', 'shadow', 'on') or class is null then
    raise exception using errcode = 'TS001', message = 'state is none of off, shadow, on, or class is null',
      detail = format('state = %s', quote_nullable(left(state, 100))), hint = 'Recency is for a class that asks for it: shadow first, then on.';
  end if;
  if state <> 'off' then
    perform tracestore.check_class(class);
  end if;
  -- NaN is greater than every number.
  if coalesce(half_life_days, 1) < 0.001 or coalesce(half_life_days, 1) >= 1000000 or coalesce(weight, 1) <= 0 or coalesce(weight, 1) > 1 then
    raise exception using errcode = 'TS001', message = 'half_life_days or weight makes no sense',
      detail = format('half_life_days = %s, weight = %s', half_life_days, weight), hint = 'Days from 0.001 to below a million; a weight above 0 and up to 1.';
  end if;
  v_collection := tracestore.begin_decision(collection);
  select p.* into v_newest from tracestore_data.recency_policy p
  where p.collection_id = v_collection and p.class = set_recency.class
  order by p.recency_policy_id desc limit 1;
  if state <> 'off' then
    v_half_life := coalesce(half_life_days, v_newest.half_life_days);
    v_weight := coalesce(weight, v_newest.weight, 0.05);
    if v_half_life is null then
      raise exception using errcode = 'TS001', message = 'half_life_days is null', hint = 'After how many days is half of the weight lost?';
    end if;
  end if;
  if coalesce(v_newest.state, 'off') = set_recency.state
    and (v_newest.half_life_days, v_newest.weight) is not distinct from (v_half_life, v_weight) then
    return v_newest.recency_policy_id;
  end if;
  -- What nobody has seen the effect of is not switched on.
  if state = 'on' and (coalesce(v_newest.state, 'off') = 'off' or (v_newest.half_life_days, v_newest.weight) is distinct from (v_half_life, v_weight)) then
    raise exception using errcode = 'TS004', message = format('recency of class %s was not in the shadow with these numbers', quote_literal(class)),
      detail = format('half_life_days = %s, weight = %s; in force: %s', v_half_life, v_weight,
        coalesce(format('%s, half_life_days = %s, weight = %s', v_newest.state, v_newest.half_life_days, v_newest.weight), 'nothing')),
      hint = 'Set state shadow with them, look at tracestore.shadow_report() after a while, then set state on.';
  end if;
  insert into tracestore_data.recency_policy (collection_id, class, state, half_life_days, weight, decided_at, reason)
  select v_collection, set_recency.class, set_recency.state, v_half_life, v_weight,
    greatest(clock_timestamp(), max(p.decided_at) + interval '1 microsecond'), set_recency.reason
  from tracestore_data.recency_policy p where p.collection_id = v_collection
  returning * into v_newest;
  return v_newest.recency_policy_id;
end
$$;
comment on function tracestore.set_recency(text, text, text, double precision, double precision, text) is
  'Decides how much age costs passages of a class: shadow lets retrieve log what would change, on ranks by it, with the numbers that were in the shadow. Weight 0.05 where nothing is said. Returns the decision.';
