create view tracestore.conflict_policies with (security_invoker = true) as
select
  c.slug as collection,
  p.conflict_policy_id,
  p.class,
  p.policy,
  p.policy is not null and not exists (
    select from tracestore_data.conflict_policy n
    where n.collection_id = p.collection_id and n.class is not distinct from p.class and n.conflict_policy_id > p.conflict_policy_id) as in_force,
  p.decided_at,
  p.actor,
  p.reason
from tracestore_data.conflict_policy p
join tracestore_data.collection c using (collection_id);
comment on view tracestore.conflict_policies is
  'Every decision about what searches do with two revisions of a family; in_force are those that hold now. class null: every class without one of its own.';
