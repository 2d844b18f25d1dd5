-- Frozen. What is true now is in sql/schema/.

create table tracestore_data.supersession (
  supersession_id bigint generated always as identity primary key,
  doc_key bigint not null references tracestore_data.document,
  version_key bigint references tracestore_data.document_version,
  by_doc_key bigint references tracestore_data.document,
  by_version_key bigint references tracestore_data.document_version,
  effective_at timestamptz not null,
  inferred boolean not null default false,
  declared_at timestamptz not null default clock_timestamp(),
  actor text not null default session_user,
  reason text,
  accepted boolean,
  decided_at timestamptz,
  decided_by text,
  constraint supersession_is_not_by_itself check (by_doc_key is distinct from doc_key or by_version_key is distinct from version_key),
  constraint only_a_guess_is_decided check (inferred or accepted is null),
  constraint decision_is_complete check (num_nulls(accepted, decided_at, decided_by) in (0, 3))
);
create index supersession_by_document on tracestore_data.supersession (doc_key);
create unique index supersession_guess_is_once
  on tracestore_data.supersession (doc_key, version_key, by_doc_key, by_version_key) where inferred;
comment on table tracestore_data.supersession is
  'What replaces what, and from when. It ends the membership of the versions in effect by then, at the first build after it.';
comment on column tracestore_data.supersession.supersession_id is 'Surrogate key.';
comment on column tracestore_data.supersession.doc_key is 'The document that is replaced.';
comment on column tracestore_data.supersession.version_key is 'The one version meant; null: whatever of the document is in effect by then.';
comment on column tracestore_data.supersession.by_doc_key is 'The document that replaces it; null: nothing does, it ended.';
comment on column tracestore_data.supersession.by_version_key is 'The version that replaces it, where one was named.';
comment on column tracestore_data.supersession.effective_at is 'From when.';
comment on column tracestore_data.supersession.inferred is 'Guessed from a family with two current documents; counts only when accepted.';
comment on column tracestore_data.supersession.declared_at is 'When it was written.';
comment on column tracestore_data.supersession.actor is 'Who declared it, or whose build guessed it.';
comment on column tracestore_data.supersession.reason is 'Why.';
comment on column tracestore_data.supersession.accepted is 'Of a guess: true or false once somebody decided.';
comment on column tracestore_data.supersession.decided_at is 'When somebody decided.';
comment on column tracestore_data.supersession.decided_by is 'Who decided.';

create function tracestore_data.guard_supersession()
returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if tg_op <> 'UPDATE'
     or not old.inferred or old.accepted is not null
     or (new.supersession_id, new.doc_key, new.version_key, new.by_doc_key, new.by_version_key, new.effective_at,
         new.inferred, new.declared_at, new.actor)
        is distinct from
        (old.supersession_id, old.doc_key, old.version_key, old.by_doc_key, old.by_version_key, old.effective_at,
         old.inferred, old.declared_at, old.actor) then
    raise exception using
      errcode = 'TS005',
      message = 'a supersession is a record: a guess can be decided once, nothing else changes',
      hint = 'Declare another supersession.';
  end if;
  return new;
end
$$;
comment on function tracestore_data.guard_supersession() is 'A supersession is never changed; a guess is decided once.';
create trigger supersession_is_a_record
  before update or delete on tracestore_data.supersession
  for each row execute function tracestore_data.guard_supersession();
create trigger supersession_is_not_truncated
  before truncate on tracestore_data.supersession
  for each statement execute function tracestore_data.refuse_change();

create table tracestore_data.build_hold (
  build_hold_id bigint generated always as identity primary key,
  build_id bigint not null references tracestore_data.build,
  placed_at timestamptz not null default clock_timestamp(),
  actor text not null default session_user,
  reason text not null,
  released_at timestamptz,
  released_by text,
  release_reason text,
  constraint release_is_complete check (num_nulls(released_at, released_by) in (0, 2))
);
create unique index build_hold_in_force on tracestore_data.build_hold (build_id) where released_at is null;
comment on table tracestore_data.build_hold is 'Builds that garbage collection must leave searchable.';
comment on column tracestore_data.build_hold.build_hold_id is 'Surrogate key.';
comment on column tracestore_data.build_hold.build_id is 'The build.';
comment on column tracestore_data.build_hold.placed_at is 'When the hold was placed.';
comment on column tracestore_data.build_hold.actor is 'Who placed it.';
comment on column tracestore_data.build_hold.reason is 'Why.';
comment on column tracestore_data.build_hold.released_at is 'When it was released.';
comment on column tracestore_data.build_hold.released_by is 'Who released it.';
comment on column tracestore_data.build_hold.release_reason is 'Why it was released.';

create function tracestore_data.guard_build_hold()
returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if tg_op <> 'UPDATE' or old.released_at is not null
     or (new.build_hold_id, new.build_id, new.placed_at, new.actor, new.reason)
        is distinct from (old.build_hold_id, old.build_id, old.placed_at, old.actor, old.reason) then
    raise exception using
      errcode = 'TS005',
      message = 'a hold is a record: it can be released once, nothing else changes',
      hint = 'Use tracestore.release().';
  end if;
  return new;
end
$$;
comment on function tracestore_data.guard_build_hold() is 'A hold is only released.';
create trigger build_hold_is_only_released
  before update or delete on tracestore_data.build_hold
  for each row execute function tracestore_data.guard_build_hold();
create trigger build_hold_is_not_truncated
  before truncate on tracestore_data.build_hold
  for each statement execute function tracestore_data.refuse_change();

-- A build kept at level chunks needs the name of its vectors, not the vectors.
alter table tracestore_data.embedding alter column vec drop not null;
alter table tracestore_data.embedding
  add constraint embedding_is_live_or_without_vector check ((vec is not null) = live);
-- Collected, or there again: nothing else about a vector changes.
drop trigger embedding_is_immutable on tracestore_data.embedding;
create trigger embedding_is_immutable
  before update of index_id, content_key, vec, vec_sha256, lexemes, truncated on tracestore_data.embedding
  for each row
  when (
    (old.index_id, old.content_key) is distinct from (new.index_id, new.content_key)
    or old.live = new.live
    or (not new.live and new.lexemes is not null)
    or (not new.live and (old.vec_sha256, old.truncated) is distinct from (new.vec_sha256, new.truncated)))
  execute function tracestore_data.refuse_change();
comment on column tracestore_data.embedding.vec is 'Unit vector of the recipe''s dimension; null where only the record of it is retained.';

create index build_by_cutoff on tracestore_data.build (index_id, cutoff_at desc, build_id desc) where state = 'ready';

-- Samples of what erasure removes must not stay in pg_statistic, which any reader of pg_stats sees. Naming the type again
-- rewrites nothing and drops the samples there are; a column that is no longer sampled would keep them for ever.
alter table tracestore_data.document alter column title type text;
alter table tracestore_data.document alter column title set statistics 0;
alter table tracestore_data.document_event alter column old_value type jsonb, alter column new_value type jsonb;
alter table tracestore_data.document_event alter column old_value set statistics 0, alter column new_value set statistics 0;
alter table tracestore_data.document_version
  alter column source_uri type text, alter column pages type jsonb, alter column attributes type jsonb;
alter table tracestore_data.document_version
  alter column source_uri set statistics 0, alter column pages set statistics 0, alter column attributes set statistics 0;
alter table tracestore_data.build alter column failure type text;
alter table tracestore_data.build alter column failure set statistics 0;

-- Samples of what erasure removes must not stay in pg_statistic, which any reader of pg_stats sees. Naming the type again
-- rewrites nothing and drops the samples there are; a column that is no longer sampled would keep them for ever.
alter table tracestore_data.document alter column title type text;
alter table tracestore_data.document alter column title set statistics 0;
alter table tracestore_data.document_event alter column old_value type jsonb, alter column new_value type jsonb;
alter table tracestore_data.document_event alter column old_value set statistics 0, alter column new_value set statistics 0;
alter table tracestore_data.document_version
  alter column source_uri type text, alter column pages type jsonb, alter column attributes type jsonb;
alter table tracestore_data.document_version
  alter column source_uri set statistics 0, alter column pages set statistics 0, alter column attributes set statistics 0;
alter table tracestore_data.build alter column failure type text;
alter table tracestore_data.build alter column failure set statistics 0;

-- A dropped index keeps its builds as a record; another of the same settings can be made in its place.
alter table tracestore_data.retrieval_index
  add column dropped_at timestamptz,
  add column dropped_by text,
  add column drop_reason text,
  add constraint dropping_is_complete check (num_nulls(dropped_at, dropped_by, drop_reason) in (0, 3)),
  drop constraint index_is_once_in_its_collection;
create unique index index_is_once_in_its_collection
  on tracestore_data.retrieval_index (collection_id, settings) where dropped_at is null;
comment on column tracestore_data.retrieval_index.dropped_at is 'When its chunks and vectors were removed for good; null while it is in use.';
comment on column tracestore_data.retrieval_index.dropped_by is 'Who dropped it.';
comment on column tracestore_data.retrieval_index.drop_reason is 'Why it was dropped.';
drop trigger retrieval_index_is_immutable on tracestore_data.retrieval_index;
create trigger retrieval_index_is_immutable
  before update on tracestore_data.retrieval_index
  for each row
  when (
    old.dropped_at is not null
    or (old.index_id, old.collection_id, old.recipe_key, old.settings, old.lexical, old.created_at)
       is distinct from (new.index_id, new.collection_id, new.recipe_key, new.settings, new.lexical, new.created_at))
  execute function tracestore_data.refuse_change();
create trigger retrieval_index_is_never_deleted
  before delete or truncate on tracestore_data.retrieval_index
  for each statement execute function tracestore_data.refuse_change();

-- A rollback to what was served before a publish beside it, or before anything, takes a build away: it says so itself,
-- so that a retirement is never taken for one.
alter table tracestore_data.alias_event drop constraint retiring_has_no_target;
alter table tracestore_data.alias_event
  add constraint publishing_has_a_target_and_retiring_none
    check (case action when 'publish' then to_build_id is not null when 'retire' then to_build_id is null else true end);
