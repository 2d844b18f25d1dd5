-- Frozen. What is true now is in sql/schema/.

create table tracestore_data.conflict_policy (
  conflict_policy_id bigint generated always as identity primary key,
  collection_id bigint not null references tracestore_data.collection,
  class text collate "C",
  policy text collate "C",
  decided_at timestamptz not null default clock_timestamp(),
  actor text not null default session_user,
  reason text,
  constraint conflict_policy_is_known check (policy in ('prefer_current', 'prefer_latest_effective', 'return_both_flagged', 'refuse'))
);
create index conflict_policy_of_collection on tracestore_data.conflict_policy (collection_id, conflict_policy_id desc);
comment on table tracestore_data.conflict_policy is
  'What a search does when two revisions of a family are among its candidates, by class. The newest row of a class is in force. Append-only.';
comment on column tracestore_data.conflict_policy.conflict_policy_id is 'Surrogate key, in the order of deciding; hits name the newest of their collection.';
comment on column tracestore_data.conflict_policy.collection_id is 'The corpus.';
comment on column tracestore_data.conflict_policy.class is 'The class it is for; null: every class without a policy of its own, and documents without class.';
comment on column tracestore_data.conflict_policy.policy is
  'prefer_current drops what is not current where one is; prefer_latest_effective keeps the latest; return_both_flagged names them; refuse is an error; null: no policy any more.';
comment on column tracestore_data.conflict_policy.decided_at is 'Since when; of a collection, later than every decision before it.';
comment on column tracestore_data.conflict_policy.actor is 'Who decided.';
comment on column tracestore_data.conflict_policy.reason is 'Why.';
create trigger conflict_policy_is_append_only before update or delete or truncate on tracestore_data.conflict_policy
  for each statement execute function tracestore_data.refuse_change();

-- What a search reads with the build it asks anyway: null in a collection without policies, which costs it nothing.
alter table tracestore_data.collection add column policies jsonb;
comment on column tracestore_data.collection.policies is
  'The policies in force, as tracestore_data.policies_at() has them; null without any. Kept by a trigger on the decisions.';

create function tracestore_data.policies_at(collection_id bigint, moment timestamptz, decision bigint)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_newest bigint;
  v_rules jsonb;
begin
  select max(p.conflict_policy_id) into v_newest
  from tracestore_data.conflict_policy p
  where p.collection_id = policies_at.collection_id and p.decided_at <= policies_at.moment and p.conflict_policy_id <= coalesce(decision, p.conflict_policy_id);
  select jsonb_agg(jsonb_build_object('class', p.class, 'policy', p.policy) order by p.class nulls last) into v_rules
  from (
    select distinct on (p.class) p.class, p.policy
    from tracestore_data.conflict_policy p
    where p.collection_id = policies_at.collection_id and p.conflict_policy_id <= v_newest
    order by p.class, p.conflict_policy_id desc) p
  where p.policy is not null;
  return case when v_rules is not null then jsonb_build_object('conflict_policy_id', v_newest, 'conflict', v_rules) end;
end
$$;
comment on function tracestore_data.policies_at(bigint, timestamptz, bigint) is
  'The policies of a collection as they stood at a moment, or at a decision: its number, and a policy for each class; null without any.';

-- As the owner: who decides need not be able to write the collection.
create function tracestore_data.note_policy()
returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  update tracestore_data.collection c
  set policies = tracestore_data.policies_at(c.collection_id, 'infinity', null)
  where c.collection_id = new.collection_id;
  return null;
end
$$;
comment on function tracestore_data.note_policy() is 'Keeps collection.policies in step with the decisions.';
create trigger conflict_policy_is_noted after insert on tracestore_data.conflict_policy
  for each row execute function tracestore_data.note_policy();

comment on column tracestore_data.answer.implied is
  'What is left out of record since it follows from the columns, added up: 1 store_id, 2 index_build_id, 4 retrieval_ids, 8 answered_at, 16 conflict_policy_fired.';
comment on table tracestore_data.alias_turn is
  'One row for each alias that was ever switched. Written by switches and by decisions about policies, and locked by nobody else: the xmax of its rows tells readers of switches and decisions that they do not see.';
