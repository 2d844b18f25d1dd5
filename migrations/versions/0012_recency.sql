-- Frozen. What is true now is in sql/schema/.

create table tracestore_data.recency_policy (
  recency_policy_id bigint generated always as identity primary key,
  collection_id bigint not null references tracestore_data.collection,
  class text collate "C" not null,
  state text collate "C" not null,
  half_life_days double precision,
  weight double precision,
  decided_at timestamptz not null default clock_timestamp(),
  actor text not null default session_user,
  reason text,
  constraint recency_state_is_known check (state in ('off', 'shadow', 'on')),
  constraint recency_has_its_numbers check (num_nulls(half_life_days, weight) = case state when 'off' then 2 else 0 end),
  constraint half_life_is_some_days check (half_life_days >= 0.001 and half_life_days < 1000000),
  constraint recency_weight_is_a_share check (weight > 0 and weight <= 1)
);
create index recency_policy_of_collection on tracestore_data.recency_policy (collection_id, recency_policy_id desc);
comment on table tracestore_data.recency_policy is
  'How much the age of a passage costs it in the ranking, for classes that ask for it. The newest row of a class is in force. Append-only.';
comment on column tracestore_data.recency_policy.recency_policy_id is 'Surrogate key, in the order of deciding; hits name the newest of their collection.';
comment on column tracestore_data.recency_policy.collection_id is 'The corpus.';
comment on column tracestore_data.recency_policy.class is 'The class it is for.';
comment on column tracestore_data.recency_policy.state is
  'off -> shadow: retrieve logs what would change; shadow -> on: searches rank by it, with the numbers that were in the shadow; off again from either.';
comment on column tracestore_data.recency_policy.half_life_days is 'After so many days half of the weight is lost; null: off.';
comment on column tracestore_data.recency_policy.weight is 'What a passage of no recency at all loses, in units of the score; null: off.';
comment on column tracestore_data.recency_policy.decided_at is 'Since when; of a collection, later than every decision before it.';
comment on column tracestore_data.recency_policy.actor is 'Who decided.';
comment on column tracestore_data.recency_policy.reason is 'Why.';
create trigger recency_policy_is_append_only before update or delete or truncate on tracestore_data.recency_policy
  for each statement execute function tracestore_data.refuse_change();

drop function tracestore_data.policies_at(bigint, timestamptz, bigint);
create function tracestore_data.policies_at(collection_id bigint, moment timestamptz, conflict_decision bigint, recency_decision bigint)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_conflict bigint;
  v_recency bigint;
  v_rules jsonb;
  v_terms jsonb;
begin
  select max(p.conflict_policy_id) into v_conflict
  from tracestore_data.conflict_policy p
  where p.collection_id = policies_at.collection_id and p.decided_at <= moment and p.conflict_policy_id <= coalesce(conflict_decision, p.conflict_policy_id);
  select jsonb_agg(jsonb_build_object('class', p.class, 'policy', p.policy) order by p.class nulls last) into v_rules
  from (
    select distinct on (p.class) p.class, p.policy
    from tracestore_data.conflict_policy p
    where p.collection_id = policies_at.collection_id and p.conflict_policy_id <= v_conflict
    order by p.class, p.conflict_policy_id desc) p
  where p.policy is not null;
  select max(p.recency_policy_id) into v_recency
  from tracestore_data.recency_policy p
  where p.collection_id = policies_at.collection_id and p.decided_at <= moment and p.recency_policy_id <= coalesce(recency_decision, p.recency_policy_id);
  select jsonb_agg(jsonb_build_object('class', p.class, 'state', p.state, 'half_life_days', p.half_life_days, 'weight', p.weight) order by p.class)
  into v_terms
  from (
    select distinct on (p.class) p.class, p.state, p.half_life_days, p.weight
    from tracestore_data.recency_policy p
    where p.collection_id = policies_at.collection_id and p.recency_policy_id <= v_recency
    order by p.class, p.recency_policy_id desc) p
  where p.state <> 'off';
  return nullif(
    case when v_rules is null then '{}' else jsonb_build_object('conflict_policy_id', v_conflict, 'conflict', v_rules) end
    || case when v_terms is null then '{}' else jsonb_build_object('recency_policy_id', v_recency, 'recency', v_terms) end, '{}');
end
$$;
comment on function tracestore_data.policies_at(bigint, timestamptz, bigint, bigint) is
  'The policies of a collection as they stood at a moment, or at a decision about conflicts and one about recency: the numbers of both, and what holds for each class; null without any.';

create or replace function tracestore_data.note_policy()
returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  update tracestore_data.collection c
  set policies = tracestore_data.policies_at(c.collection_id, 'infinity', null, null)
  where c.collection_id = new.collection_id;
  return null;
end
$$;
create trigger recency_policy_is_noted after insert on tracestore_data.recency_policy
  for each row execute function tracestore_data.note_policy();
