create view tracestore.recency_policies with (security_invoker = true) as
select
  c.slug as collection,
  p.recency_policy_id,
  p.class,
  p.state,
  p.half_life_days,
  p.weight,
  p.state <> 'off' and not exists (
    select from tracestore_data.recency_policy n
    where n.collection_id = p.collection_id and n.class = p.class and n.recency_policy_id > p.recency_policy_id) as in_force,
  p.decided_at,
  p.actor,
  p.reason
from tracestore_data.recency_policy p
join tracestore_data.collection c using (collection_id);
comment on view tracestore.recency_policies is
  'Every decision about how much age costs passages of a class; in_force are those that hold now, in the shadow or on.';
