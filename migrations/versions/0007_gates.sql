create table tracestore_data.gate_floor (
  gate_floor_id bigint generated always as identity primary key,
  collection_id bigint not null references tracestore_data.collection,
  gate text collate "C" not null,
  measure text collate "C" not null default '',
  slice text collate "C" not null default '',
  gold_set text collate "C" not null default '',
  floor double precision,
  settings jsonb not null default '{}',
  in_force boolean not null default true,
  set_at timestamptz not null default clock_timestamp(),
  actor text not null default session_user,
  reason text,
  constraint gate_of_a_floor_is_known check (gate in (
    'structure', 'coverage', 'current_versions', 'canaries', 'near_duplicates', 'model', 'gold', 'ann_recall', 'change_budget',
    'no_regression')),
  constraint gate_floor_is_a_number check (floor <> 'NaN'),
  constraint gate_settings_is_an_object check (jsonb_typeof(settings) = 'object')
);
create index gate_floor_of_collection on tracestore_data.gate_floor (collection_id, gate, measure, slice, gold_set, gate_floor_id desc);
comment on table tracestore_data.gate_floor is
  'What builds of a collection have to pass. The latest row of a (gate, measure, slice, gold_set) is in force, if it says so. Append-only.';
comment on column tracestore_data.gate_floor.gate_floor_id is 'Surrogate key, and the version of the floor: a result names the one it was judged by.';
comment on column tracestore_data.gate_floor.collection_id is 'The corpus.';
comment on column tracestore_data.gate_floor.gate is 'What is looked at.';
comment on column tracestore_data.gate_floor.measure is 'Which figure of it, such as hit@5; empty: all that the gate has.';
comment on column tracestore_data.gate_floor.slice is 'Label of the questions it is about; empty: all questions together; *: each label by itself.';
comment on column tracestore_data.gate_floor.gold_set is 'The questions, for a gate that asks some; else empty.';
comment on column tracestore_data.gate_floor.floor is 'The figure that is just good enough, for a budget the largest; null: the gate''s own.';
comment on column tracestore_data.gate_floor.settings is 'How the gate looks, such as the mode of its searches.';
comment on column tracestore_data.gate_floor.in_force is 'False: the gate is switched off by this row.';
comment on column tracestore_data.gate_floor.set_at is 'Since when.';
comment on column tracestore_data.gate_floor.actor is 'Who set it.';
comment on column tracestore_data.gate_floor.reason is 'Why.';
create trigger gate_floor_is_append_only before update or delete or truncate on tracestore_data.gate_floor
for each statement execute function tracestore_data.refuse_change();

create table tracestore_data.gate_check (
  gate_check_id bigint generated always as identity primary key,
  build_id bigint not null references tracestore_data.build,
  suppression_epoch bigint not null,
  api_sha256 bytea not null,
  started_at timestamptz not null,
  checked_at timestamptz not null default clock_timestamp(),
  actor text not null default session_user,
  constraint gate_check_digest_is_sha256 check (octet_length(api_sha256) = 32)
);
create index gate_check_of_build on tracestore_data.gate_check (build_id, gate_check_id desc);
comment on table tracestore_data.gate_check is 'Each time a build was checked. Append-only.';
comment on column tracestore_data.gate_check.gate_check_id is 'Surrogate key, in order of checking.';
comment on column tracestore_data.gate_check.build_id is 'The build.';
comment on column tracestore_data.gate_check.suppression_epoch is 'Which documents were suppressed.';
comment on column tracestore_data.gate_check.api_sha256 is 'Which SQL functions looked.';
comment on column tracestore_data.gate_check.started_at is 'When it began.';
comment on column tracestore_data.gate_check.checked_at is 'When it was recorded.';
comment on column tracestore_data.gate_check.actor is 'Who checked.';
create trigger gate_check_is_append_only before update or delete or truncate on tracestore_data.gate_check
for each statement execute function tracestore_data.refuse_change();

create table tracestore_data.gate_result (
  gate_check_id bigint not null references tracestore_data.gate_check,
  place integer not null,
  gate_floor_id bigint references tracestore_data.gate_floor,
  gate text collate "C" not null,
  measure text collate "C" not null,
  slice text collate "C" not null default '',
  gold_set text collate "C" not null default '',
  against_build_id bigint references tracestore_data.build,
  ok boolean not null,
  value double precision,
  floor double precision,
  detail text,
  constraint gate_result_pkey primary key (gate_check_id, place),
  constraint gate_result_place_starts_at_one check (place >= 1)
);
create index gate_result_by_floor on tracestore_data.gate_result (gate_floor_id);
comment on table tracestore_data.gate_result is 'What a check of a build found, a figure a row. Append-only.';
comment on column tracestore_data.gate_result.gate_check_id is 'The check.';
comment on column tracestore_data.gate_result.place is 'Its place in the check, from 1.';
comment on column tracestore_data.gate_result.gate_floor_id is 'The floor it was judged by; null: by the gate''s own.';
comment on column tracestore_data.gate_result.gate is 'The gate.';
comment on column tracestore_data.gate_result.measure is 'The figure.';
comment on column tracestore_data.gate_result.slice is 'Label of the questions; empty: all, or none are asked.';
comment on column tracestore_data.gate_result.gold_set is 'The questions; empty where none are asked.';
comment on column tracestore_data.gate_result.against_build_id is 'The served build it was compared with.';
comment on column tracestore_data.gate_result.ok is 'Whether it is good enough.';
comment on column tracestore_data.gate_result.value is 'The figure, where it is a number.';
comment on column tracestore_data.gate_result.floor is 'What is just good enough.';
comment on column tracestore_data.gate_result.detail is 'Numbers and ids, never words of a document.';
create trigger gate_result_is_append_only before update or delete or truncate on tracestore_data.gate_result
for each statement execute function tracestore_data.refuse_change();

create table tracestore_data.canary (
  canary_id bigint generated always as identity primary key,
  doc_key bigint not null references tracestore_data.document,
  version_key bigint references tracestore_data.document_version,
  query text,
  added_at timestamptz not null default clock_timestamp(),
  actor text not null default session_user,
  reason text,
  retired_at timestamptz,
  retired_by text,
  retire_reason text,
  constraint canary_query_is_not_empty check (query <> ''),
  constraint canary_retirement_is_complete check (num_nulls(retired_at, retired_by) in (0, 2))
);
alter table tracestore_data.canary alter column query set statistics 0;
create index canary_of_document on tracestore_data.canary (doc_key);
comment on table tracestore_data.canary is
  'A document, or a version of one, that no search may ever return. It is kept apart from withdrawals, so that it notices one that was undone or never happened.';
comment on column tracestore_data.canary.canary_id is 'Surrogate key.';
comment on column tracestore_data.canary.doc_key is 'The document.';
comment on column tracestore_data.canary.version_key is 'The version; null: every version of the document.';
comment on column tracestore_data.canary.query is 'A question that it would answer; null: its own passages are asked for. Removed when the document is erased.';
comment on column tracestore_data.canary.added_at is 'Since when.';
comment on column tracestore_data.canary.actor is 'Who added it.';
comment on column tracestore_data.canary.reason is 'Why.';
comment on column tracestore_data.canary.retired_at is 'Since when it is not asked any more; null while it is.';
comment on column tracestore_data.canary.retired_by is 'Who retired it.';
comment on column tracestore_data.canary.retire_reason is 'Why it was retired.';

create function tracestore_data.guard_canary()
returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if tg_op <> 'UPDATE'
     or (new.canary_id, new.doc_key, new.version_key, new.added_at, new.actor, new.reason)
        is distinct from (old.canary_id, old.doc_key, old.version_key, old.added_at, old.actor, old.reason)
     or (new.query is distinct from old.query and (new.query is not null or not exists (
        select from tracestore_data.suppression s where s.doc_key = old.doc_key and s.kind = 'erased')))
     or ((new.retired_at, new.retired_by, new.retire_reason) is distinct from (old.retired_at, old.retired_by, old.retire_reason)
        and (old.retired_at is not null or new.retired_by <> session_user)) then
    raise exception using
      errcode = 'TS005',
      message = format('canary %s is a record: it can be retired once, nothing else changes', old.canary_id),
      hint = 'Use tracestore.retire_canary().';
  end if;
  return new;
end
$$;
comment on function tracestore_data.guard_canary() is 'A canary is only retired; its question goes with an erasure.';
create trigger canary_is_only_retired before update or delete on tracestore_data.canary
for each row execute function tracestore_data.guard_canary();
create trigger canary_is_not_truncated before truncate on tracestore_data.canary
for each statement execute function tracestore_data.refuse_change();

-- For who writes and who audits; results and canaries name documents.
do $$
declare
  v_table text;
begin
  foreach v_table in array array['gate_floor', 'gate_check', 'gate_result', 'canary'] loop
    execute format('create policy %I on tracestore_data.%I for select using ((select tracestore_data.reads_everything()))',
      v_table || '_is_read', v_table);
    execute format('create policy %I on tracestore_data.%I for insert with check ((select tracestore_data.reads_everything()))',
      v_table || '_is_added', v_table);
    execute format('alter table tracestore_data.%I enable row level security', v_table);
  end loop;
end
$$;
create policy canary_is_changed on tracestore_data.canary for update using ((select tracestore_data.reads_everything()));
