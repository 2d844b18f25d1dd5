-- Frozen. What is true now is in sql/schema/.

create table tracestore_data.role_label (
  role_label_id bigint generated always as identity primary key,
  role text collate "C" not null,
  label text collate "C" not null,
  granted_at timestamptz not null default clock_timestamp(),
  granted_by text not null default session_user,
  reason text,
  revoked_at timestamptz,
  revoked_by text,
  revoke_reason text,
  constraint role_label_names_a_role check (octet_length(role) between 1 and 63),
  constraint revoking_is_complete check (num_nulls(revoked_at, revoked_by) in (0, 2))
);
create unique index role_label_in_force on tracestore_data.role_label (role, label) where revoked_at is null;
comment on table tracestore_data.role_label is
  'Which access labels a role may read. A document is visible to whoever has one of its labels; without labels, to everybody.';
comment on column tracestore_data.role_label.role_label_id is 'Surrogate key, in order of granting.';
comment on column tracestore_data.role_label.role is 'The role, by name: its members read with it. One that no longer exists grants nothing.';
comment on column tracestore_data.role_label.label is 'The label.';
comment on column tracestore_data.role_label.granted_at is 'When.';
comment on column tracestore_data.role_label.granted_by is 'Who granted it.';
comment on column tracestore_data.role_label.reason is 'Why.';
comment on column tracestore_data.role_label.revoked_at is 'When it was revoked; null while it holds.';
comment on column tracestore_data.role_label.revoked_by is 'Who revoked it.';
comment on column tracestore_data.role_label.revoke_reason is 'Why it was revoked.';

create function tracestore_data.guard_role_label()
returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if tg_op <> 'UPDATE' or old.revoked_at is not null
     or (new.role_label_id, new.role, new.label, new.granted_at, new.granted_by, new.reason)
        is distinct from (old.role_label_id, old.role, old.label, old.granted_at, old.granted_by, old.reason) then
    raise exception using
      errcode = 'TS005',
      message = 'the grant of a label is a record: it can be revoked once, nothing else changes',
      hint = 'Use tracestore.revoke_label().';
  end if;
  return new;
end
$$;
comment on function tracestore_data.guard_role_label() is 'The grant of a label is only revoked.';
create trigger role_label_is_only_revoked before update or delete on tracestore_data.role_label
  for each row execute function tracestore_data.guard_role_label();
create trigger role_label_is_not_truncated before truncate on tracestore_data.role_label
  for each statement execute function tracestore_data.refuse_change();

create table tracestore_data.known_label (
  label text collate "C" primary key,
  first_used_at timestamptz not null default clock_timestamp()
);
comment on table tracestore_data.known_label is
  'Every label a document ever had. Whoever may read all of these sees every document, and no row needs a look.';
comment on column tracestore_data.known_label.label is 'The label.';
comment on column tracestore_data.known_label.first_used_at is 'When a document first had it.';
create trigger known_label_is_append_only before update or delete or truncate on tracestore_data.known_label
  for each statement execute function tracestore_data.refuse_change();

-- As the owner: whoever may write documents need not be able to read or write this table.
create function tracestore_data.note_labels()
returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into tracestore_data.known_label (label)
  select distinct label from unnest(new.labels) as label order by label
  on conflict do nothing;
  return null;
end
$$;
comment on function tracestore_data.note_labels() is 'Keeps known_label complete.';
create trigger document_labels_are_known after insert or update of labels on tracestore_data.document
  for each row when (new.labels <> '{}') execute function tracestore_data.note_labels();
-- Also where a replica applies changes: with a label missing there, hidden documents would be shown.
alter table tracestore_data.document enable always trigger document_labels_are_known;
insert into tracestore_data.known_label (label)
select distinct label from tracestore_data.document d cross join unnest(d.labels) as label order by label;

create function tracestore_data.has_role(role text)
returns boolean
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  -- USAGE, as with any privilege: of inherited memberships, and of others after SET ROLE. Null: there is no such role.
  return coalesce(pg_has_role(to_regrole(quote_ident(role)), 'usage'), false);
end
$$;
comment on function tracestore_data.has_role(text) is
  'Whether the current role has the privileges of another; false where there is no such role.';

create function tracestore_data.reads_everything()
returns boolean
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return tracestore_data.has_role('tracestore_auditor') or tracestore_data.has_role('tracestore_writer');
end
$$;
comment on function tracestore_data.reads_everything() is
  'Whether labels do not matter for the current role: an auditor, or a writer, whose builds have to hold everything.';

create function tracestore_data.readable_labels()
returns text[]
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    select distinct l.label from tracestore_data.role_label l
    where l.revoked_at is null and tracestore_data.has_role(l.role));
end
$$;
comment on function tracestore_data.readable_labels() is
  'Labels granted to a role whose privileges the current role has. Row-level security asks once a query.';

create function tracestore_data.labels_visible_to(role name)
returns text[]
language plpgsql
stable
parallel safe
security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_variable
declare
  v_all boolean;
begin
  select r.rolsuper or r.rolbypassrls
    or pg_has_role(r.oid, (select c.relowner from pg_class c where c.oid = 'tracestore_data.document'::regclass), 'usage')
    or coalesce(pg_has_role(r.oid, to_regrole('tracestore_auditor'), 'usage'), false)
    or coalesce(pg_has_role(r.oid, to_regrole('tracestore_writer'), 'usage'), false)
  into v_all
  from pg_roles r where r.rolname = role;
  if v_all then
    return null;
  end if;
  -- A role that does not exist has none.
  return array(
    select distinct l.label from tracestore_data.role_label l
    where l.revoked_at is null and v_all is not null
      and pg_has_role(role, to_regrole(quote_ident(l.role)), 'usage'));
end
$$;
comment on function tracestore_data.labels_visible_to(name) is
  'The labels a role may read; null: everything. For functions that run as the owner, where the current role says nothing of the caller.';

create function tracestore_data.outer_role()
returns name
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return case current_setting('role') when 'none' then session_user else current_setting('role') end::name;
end
$$;
comment on function tracestore_data.outer_role() is
  'The role of the session, after SET ROLE and SET SESSION AUTHORIZATION, whatever function runs as whoever; nobody can set it to a role that is not theirs.';

create table tracestore_data.caller_key (
  singleton boolean primary key default true,
  secret bytea not null,
  constraint caller_key_is_one_row check (singleton)
);
comment on table tracestore_data.caller_key is 'One row that nobody but the owner reads: what makes a caller_pass impossible to forge.';
comment on column tracestore_data.caller_key.singleton is 'Always true; keeps the table to one row.';
comment on column tracestore_data.caller_key.secret is 'Random bytes.';
insert into tracestore_data.caller_key (secret) values (sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8')));
alter table tracestore_data.caller_key enable row level security;

create function tracestore_data.pass_of(role name, secret bytea)
returns bytea
language sql
stable
parallel safe
-- Of this session and this transaction: one that somebody kept is worth nothing later. Twice, so that it cannot be extended.
return sha256(secret || sha256(convert_to(
  role::text || ' ' || pg_backend_pid() || ' ' || extract(epoch from transaction_timestamp())::text, 'UTF8')));
comment on function tracestore_data.pass_of(name, bytea) is 'What proves to a function that runs as the owner which role called it.';

-- In a view the current role is its reader, while its tables are read as the owner; in a function only one of the two can be had.
create view tracestore_data.caller_pass with (security_barrier) as
select current_user::name as role, tracestore_data.pass_of(current_user, k.secret) as pass
from tracestore_data.caller_key k;
comment on view tracestore_data.caller_pass is 'The current role and the proof that it is.';

create function tracestore_data.labels_of_caller(role name, pass bytea)
returns text[]
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_variable
begin
  if (pass = (select tracestore_data.pass_of(role, k.secret) from tracestore_data.caller_key k)) is not true then
    raise exception using errcode = '42501', message = format('this is not the pass of role %s', quote_nullable(role)),
      hint = 'Call tracestore.search().';
  end if;
  return tracestore_data.labels_visible_to(role);
end
$$;
comment on function tracestore_data.labels_of_caller(name, bytea) is
  'Internal to functions that run as the owner: the labels of whoever called one, null for everything; an error without its pass.';

create function tracestore_data.every_label_is_in(labels text[])
returns boolean
language plpgsql
stable
parallel safe
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_visible text[];
begin
  if not exists (select from tracestore_data.known_label k where k.label <> all (labels)) then
    if not exists (select from tracestore_data.known_label) then
      return true;
    end if;
    -- Only labels that the session has: guessed ones tell nothing.
    v_visible := tracestore_data.labels_visible_to(tracestore_data.outer_role());
    return v_visible is null or not exists (select from tracestore_data.known_label k where k.label <> all (v_visible));
  end if;
  return false;
end
$$;
comment on function tracestore_data.every_label_is_in(text[]) is
  'Whether some labels, all of them the session''s own, are every label a document ever had.';

create function tracestore_data.sees_every_document()
returns boolean
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  -- By the cheapest first: without labels in use this is all that row-level security costs.
  return tracestore_data.every_label_is_in('{}') or tracestore_data.reads_everything()
    or tracestore_data.every_label_is_in(tracestore_data.readable_labels());
end
$$;
comment on function tracestore_data.sees_every_document() is
  'Whether nothing is hidden from the current role. Row-level security asks once a query, and then looks at no row.';

-- Keys of what the current role sees, read as the owner, so that no policy stands behind a policy: planned one behind the
-- other, those of an embedding, its chunks, their versions and documents took 6 ms a query. Keys and nothing else, each with
-- the condition of its documents; a barrier, since the condition has to come before any function of the caller's.
create view tracestore_data.visible_document with (security_barrier) as
select d.doc_key from tracestore_data.document d
where d.labels = '{}' or d.labels && (select tracestore_data.readable_labels());
comment on view tracestore_data.visible_document is 'The documents the current role may see by their labels.';
create view tracestore_data.visible_version with (security_barrier) as
select v.version_key from tracestore_data.document_version v join tracestore_data.document d using (doc_key)
where d.labels = '{}' or d.labels && (select tracestore_data.readable_labels());
comment on view tracestore_data.visible_version is 'The versions of documents the current role may see by their labels.';
create view tracestore_data.visible_content with (security_barrier) as
select c.index_id, c.content_key
from tracestore_data.chunk c join tracestore_data.document_version v using (version_key) join tracestore_data.document d using (doc_key)
where d.labels = '{}' or d.labels && (select tracestore_data.readable_labels());
comment on view tracestore_data.visible_content is
  'The content keys of chunks of documents the current role may see by their labels, once for each chunk.';
create view tracestore_data.visible_member with (security_barrier) as
select c.index_id, c.version_key, c.ordinal, c.span_start, c.added_build, c.removed_build,
  m.added_build as member_from, m.removed_build as member_until, m.family_id, m.class,
  d.doc_key, d.doc_id, d.labels, v.version_seq, e.vec
from tracestore_data.manifest_entry m
join tracestore_data.document_version v using (version_key)
join tracestore_data.document d using (doc_key)
join tracestore_data.chunk c on c.index_id = m.index_id and c.version_key = m.version_key
join tracestore_data.embedding e on e.index_id = c.index_id and e.content_key = c.content_key
where d.labels = '{}' or d.labels && (select tracestore_data.readable_labels());
comment on view tracestore_data.visible_member is
  'The chunks and vectors of documents the current role may see by their labels, once for each membership of their version: what an exact search of a reader reads.';
create view tracestore_data.visible_vector with (security_barrier) as
select e.index_id, e.content_key, e.vec from tracestore_data.embedding e
where (select tracestore_data.sees_every_document())
  or exists (select from tracestore_data.visible_content c where c.index_id = e.index_id and c.content_key = e.content_key);
comment on view tracestore_data.visible_vector is
  'The vectors that a chunk has that the current role may see, for who reads all of an index: looked up or hashed, as the planner sees fit.';

-- What a role reads. Asked once a query, as a subquery of its own; then row by row, by keys, as far as rows are read.
-- EXISTS leaves the choice to the planner: a look-up for each row, or all visible keys in a hash table.
create policy document_is_read on tracestore_data.document for select using (
  (select tracestore_data.sees_every_document()) or labels = '{}' or labels && (select tracestore_data.readable_labels()));
create policy document_event_is_read on tracestore_data.document_event for select using (
  (select tracestore_data.sees_every_document())
  or exists (select from tracestore_data.visible_document d where d.doc_key = document_event.doc_key));
create policy document_version_is_read on tracestore_data.document_version for select using (
  (select tracestore_data.sees_every_document())
  or exists (select from tracestore_data.visible_document d where d.doc_key = document_version.doc_key));
create policy version_state_event_is_read on tracestore_data.version_state_event for select using (
  (select tracestore_data.sees_every_document())
  or exists (select from tracestore_data.visible_version v where v.version_key = version_state_event.version_key));
create policy suppression_is_read on tracestore_data.suppression for select using (
  (select tracestore_data.sees_every_document())
  or exists (select from tracestore_data.visible_document d where d.doc_key = suppression.doc_key));
create policy supersession_is_read on tracestore_data.supersession for select using (
  (select tracestore_data.sees_every_document())
  or exists (select from tracestore_data.visible_document d where d.doc_key = supersession.doc_key)
    and (by_doc_key is null or exists (select from tracestore_data.visible_document d where d.doc_key = supersession.by_doc_key)));
create policy manifest_entry_is_read on tracestore_data.manifest_entry for select using (
  (select tracestore_data.sees_every_document())
  or exists (select from tracestore_data.visible_version v where v.version_key = manifest_entry.version_key));
create policy chunk_is_read on tracestore_data.chunk for select using (
  (select tracestore_data.sees_every_document())
  or exists (select from tracestore_data.visible_version v where v.version_key = chunk.version_key));
-- OFFSET 0: always a look-up. A scan of an approximate index reads some rows, the planner thinks of all of them, and
-- would make a hash table of all keys that are visible: 200 ms for 50k, for ten hits.
create policy embedding_is_read on tracestore_data.embedding for select using (
  (select tracestore_data.sees_every_document())
  or exists (
    select from tracestore_data.visible_content c
    where c.index_id = embedding.index_id and c.content_key = embedding.content_key offset 0));
-- Why a build failed may name a document, and the token of one in the making is its holder's.
create policy build_is_read on tracestore_data.build for select using (
  state = 'ready' or (select tracestore_data.reads_everything()));
create policy newest_manifest_is_read on tracestore_data.newest_manifest for select using (
  (select tracestore_data.reads_everything()));
create policy build_hold_is_read on tracestore_data.build_hold for select using (true);
create policy role_label_is_read on tracestore_data.role_label for select using (
  (select tracestore_data.reads_everything()) or tracestore_data.has_role(role));

-- Who writes reads everything: what is hidden can be neither built nor erased.
do $$
declare
  v_table text;
begin
  foreach v_table in array array[
    'document', 'document_event', 'document_version', 'version_state_event', 'suppression', 'supersession', 'build',
    'build_hold', 'manifest_entry', 'newest_manifest', 'chunk', 'embedding'] loop
    execute format('create policy %I on tracestore_data.%I for insert with check ((select tracestore_data.reads_everything()))',
      v_table || '_is_added', v_table);
    execute format('create policy %I on tracestore_data.%I for update using ((select tracestore_data.reads_everything()))',
      v_table || '_is_changed', v_table);
    execute format('create policy %I on tracestore_data.%I for delete using ((select tracestore_data.reads_everything()))',
      v_table || '_is_deleted', v_table);
    execute format('alter table tracestore_data.%I enable row level security', v_table);
  end loop;
end
$$;
alter table tracestore_data.role_label enable row level security;
alter table tracestore_data.known_label enable row level security;
-- Who lifted a withdrawal, decided a guess or released a hold is whoever did.
create policy suppression_is_lifted_by_its_lifter on tracestore_data.suppression as restrictive for update using (true)
  with check (lifted_by is null or lifted_by = session_user);
create policy supersession_is_decided_by_its_decider on tracestore_data.supersession as restrictive for update using (true)
  with check (decided_by is null or decided_by = session_user);
create policy build_hold_is_released_by_its_releaser on tracestore_data.build_hold as restrictive for update using (true)
  with check (released_by is null or released_by = session_user);

-- Read directly, a partition gives nothing to anybody but the owner; through its parent the policies above hold.
do $$
declare
  v_partition regclass;
begin
  for v_partition in
    select i.inhrelid from pg_catalog.pg_inherits i
    where i.inhparent in ('tracestore_data.chunk'::pg_catalog.regclass, 'tracestore_data.embedding'::pg_catalog.regclass)
  loop
    execute format('alter table %s enable row level security', v_partition);
  end loop;
end
$$;
