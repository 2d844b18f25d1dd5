-- Written by `just schema` from the newest migration, for people. Nothing reads it: change a table by a migration.

-- ----------------------------------------------------------------------------------------------------
-- rules

CREATE SCHEMA tracestore_data;
COMMENT ON SCHEMA tracestore_data IS 'Tables, types and trigger functions of tracestore. Read through schema tracestore.';

CREATE FUNCTION tracestore_data.is_citable_id(label text) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  return octet_length(label) between 1 and 1024
    and label not in ('.', '..')
    and label is nfc normalized
    and label !~ '[\u0001-\u001f\u007f-\u009f]';
end
$$;
COMMENT ON FUNCTION tracestore_data.is_citable_id(label text) IS 'True for an id that a citation can carry: 1 to 1024 bytes, NFC, no control characters, not "." or "..".';

CREATE FUNCTION tracestore_data.is_page_map(pages jsonb, char_count integer) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  return jsonb_typeof(pages) = 'array' and not exists (
    select
    from (
      select entry, starts, lag(starts, 1, 0::numeric) over (order by place) as previous
      from (
        select entry, place, case jsonb_typeof(entry -> 0) when 'number' then (entry ->> 0)::numeric end as starts
        from jsonb_array_elements(case jsonb_typeof(pages) when 'array' then pages else '[]' end)
          with ordinality as entries (entry, place)) numbered) page
    where (
      jsonb_typeof(entry) = 'array' and jsonb_typeof(entry -> 1) = 'string' and entry -> 2 is null
      and starts = trunc(starts) and starts between previous and char_count) is not true);
end
$$;
COMMENT ON FUNCTION tracestore_data.is_page_map(pages jsonb, char_count integer) IS 'True for [[first code point, "label"], ...] whose numbers are whole, never fall and lie within the text.';

CREATE FUNCTION tracestore_data.labels_of_caller(role name, pass bytea) RETURNS text[]
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
#variable_conflict use_variable
begin
  if (pass = (select tracestore_data.pass_of(role, k.secret) from tracestore_data.caller_key k)) is not true then
    raise exception using errcode = '42501', message = format('this is not the pass of role %s', quote_nullable(role)),
      hint = 'Call tracestore.search().';
  end if;
  return tracestore_data.labels_visible_to(role);
end
$$;
COMMENT ON FUNCTION tracestore_data.labels_of_caller(role name, pass bytea) IS 'Internal to functions that run as the owner: the labels of whoever called one, null for everything; an error without its pass.';

CREATE FUNCTION tracestore_data.manifest_bucket(doc_id text) RETURNS integer
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN get_byte(sha256(convert_to(doc_id, 'UTF8'::name)), 0);
COMMENT ON FUNCTION tracestore_data.manifest_bucket(doc_id text) IS 'The bucket of the manifest hash that a document belongs to, 0 to 255.';

CREATE FUNCTION tracestore_data.policies_at(collection_id bigint, moment timestamp with time zone, conflict_decision bigint, recency_decision bigint) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
COMMENT ON FUNCTION tracestore_data.policies_at(collection_id bigint, moment timestamp with time zone, conflict_decision bigint, recency_decision bigint) IS 'The policies of a collection as they stood at a moment, or at a decision about conflicts and one about recency: the numbers of both, and what holds for each class; null without any.';

CREATE FUNCTION tracestore_data.apply_version_state_event() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  v_old text;
begin
  select v.version_state into v_old
  from tracestore_data.document_version v
  where v.version_key = new.version_key
  for no key update;
  if new.cause = 'registered' then
    new.old_state := null;
    if new.new_state = 'withdrawn' or exists (
         select from tracestore_data.version_state_event e where e.version_key = new.version_key) then
      raise exception using
        errcode = 'TS010',
        message = format('a version that is %s cannot become %s by being registered', v_old, new.new_state),
        hint = 'Only the first event of a version registers it.';
    end if;
  else
    new.old_state := v_old;
    if v_old = new.new_state
       or (v_old = 'withdrawn') <> (new.cause = 'restored')
       or (new.new_state = 'withdrawn') <> (new.cause = 'withdrawn') then
      raise exception using
        errcode = 'TS010',
        message = format('a version that is %s cannot become %s by %s', v_old, new.new_state, new.cause),
        hint = 'A withdrawn version is first restored.';
    end if;
  end if;
  update tracestore_data.document_version v
  set version_state = new.new_state
  where v.version_key = new.version_key and v.version_state <> new.new_state;
  return new;
end
$$;
COMMENT ON FUNCTION tracestore_data.apply_version_state_event() IS 'Checks the transition and sets the state of the version.';

CREATE FUNCTION tracestore_data.every_label_is_in(labels text[]) RETURNS boolean
    LANGUAGE plpgsql STABLE SECURITY DEFINER PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
COMMENT ON FUNCTION tracestore_data.every_label_is_in(labels text[]) IS 'Whether some labels, all of them the session''s own, are every label a document ever had.';

CREATE FUNCTION tracestore_data.guard_answer_key() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  if tg_op = 'UPDATE' or exists (
    select from tracestore_data.answer a where a.answer_key = old.answer_key and a.logged_at = old.logged_at) then
    raise exception using
      errcode = 'TS005',
      message = format('%s on tracestore_data.answer_key is refused: its rows are a record', tg_op),
      hint = 'Ids of answers go with the month that holds their answers.';
  end if;
  return old;
end
$$;
COMMENT ON FUNCTION tracestore_data.guard_answer_key() IS 'Lets the id of an answer go only after the answer.';

CREATE FUNCTION tracestore_data.guard_build() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  if tg_op = 'DELETE' then
    -- A build that found nothing to do leaves no trace; anything else is a record.
    if old.state = 'building' then
      return old;
    end if;
    raise exception using
      errcode = 'TS005',
      message = format('build B-%s cannot be deleted', old.build_id),
      hint = 'Builds are kept; garbage collection lowers their retention level.';
  end if;
  if old.state <> 'building'
     and (new.index_id, new.parent_build_id, new.kind, new.state, new.cutoff_at, new.committed_at, new.chunker_version,
          new.manifest_header, new.index_version, new.documents, new.chunks, new.not_embeddable)
         is distinct from
         (old.index_id, old.parent_build_id, old.kind, old.state, old.cutoff_at, old.committed_at, old.chunker_version,
          old.manifest_header, old.index_version, old.documents, old.chunks, old.not_embeddable) then
    raise exception using
      errcode = 'TS005',
      message = format('build B-%s is %s and cannot be changed', old.build_id, old.state),
      hint = 'Make a new build.';
  end if;
  if array_position(array['vectors', 'chunks', 'manifest'], new.level) < array_position(array['vectors', 'chunks', 'manifest'], old.level) then
    raise exception using
      errcode = 'TS005',
      message = format('build B-%s cannot go back from level %s to %s', old.build_id, old.level, new.level),
      hint = 'What was collected is gone. Make a new build.';
  end if;
  return new;
end
$$;
COMMENT ON FUNCTION tracestore_data.guard_build() IS 'A build that is ready or failed is a record.';

CREATE FUNCTION tracestore_data.guard_build_hold() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
COMMENT ON FUNCTION tracestore_data.guard_build_hold() IS 'A hold is only released.';

CREATE FUNCTION tracestore_data.guard_canary() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
COMMENT ON FUNCTION tracestore_data.guard_canary() IS 'A canary is only retired; its question goes with an erasure.';

CREATE FUNCTION tracestore_data.guard_document_event() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  if (new.document_event_id, new.doc_key, new.attribute, new.occurred_at, new.actor, new.reason)
       is distinct from (old.document_event_id, old.doc_key, old.attribute, old.occurred_at, old.actor, old.reason)
     or num_nonnulls(new.old_value, new.new_value) > 0
     or old.attribute <> 'title'
     or exists (select from tracestore_data.document_version v where v.doc_key = old.doc_key and v.erased_at is null) then
    raise exception using
      errcode = 'TS005',
      message = 'an event of a document cannot be changed',
      hint = 'Nothing recorded is changed; the titles of an erased document are removed by tracestore.erase().';
  end if;
  return new;
end
$$;
COMMENT ON FUNCTION tracestore_data.guard_document_event() IS 'Lets go only of the titles of a document of which nothing is left.';

CREATE FUNCTION tracestore_data.guard_document_version() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  if tg_op = 'DELETE' then
    raise exception using
      errcode = 'TS005',
      message = format('version %s of a document cannot be deleted', old.version_id),
      hint = 'Use tracestore.erase() to remove its content; the record that it existed stays.';
  end if;
  if old.content is not null and new.content is null and new.erased_at is not null then
    if not exists (
      select from tracestore_data.suppression s
      where s.doc_key = old.doc_key and s.kind = 'erased' and (s.version_key is null or s.version_key = old.version_key))
    then
      raise exception using
        errcode = 'TS005',
        message = format('content of version %s can only be removed through tracestore.erase()', old.version_id),
        hint = 'tracestore.erase() also suppresses it in every build.';
    end if;
    -- What may change in an erasure: nothing else but the free-form fields that can repeat the text.
    new.version_state := old.version_state;
  elsif new.version_state is distinct from old.version_state and pg_trigger_depth() < 2 then
    raise exception using
      errcode = 'TS005',
      message = format('state of version %s changes only by an event', old.version_id),
      hint = 'Insert into tracestore_data.version_state_event.';
  elsif (new.content, new.attributes, new.pages, new.source_uri, new.erased_at)
        is distinct from (old.content, old.attributes, old.pages, old.source_uri, old.erased_at) then
    raise exception using
      errcode = 'TS005',
      message = format('version %s is immutable', old.version_id),
      hint = 'Register the new text as a new version; tracestore.erase() is the only way to remove content.';
  end if;
  if (new.version_key, new.doc_key, new.version_id, new.version_seq, new.content_sha256, new.char_count, new.media_type,
      new.effective_from, new.registered_at, new.registered_by, new.in_place_of, new.parser)
     is distinct from
     (old.version_key, old.doc_key, old.version_id, old.version_seq, old.content_sha256, old.char_count, old.media_type,
      old.effective_from, old.registered_at, old.registered_by, old.in_place_of, old.parser) then
    raise exception using
      errcode = 'TS005',
      message = format('version %s is immutable', old.version_id),
      hint = 'Register the new text as a new version.';
  end if;
  return new;
end
$$;
COMMENT ON FUNCTION tracestore_data.guard_document_version() IS 'Keeps versions immutable, except for erasure and for states set by events.';

CREATE FUNCTION tracestore_data.guard_gold_anchor() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  if tg_op = 'DELETE'
     or (new.gold_anchor_id, new.gold_item_id, new.doc_key, new.family_id, new.quote_position, new.valid_from, new.valid_to)
        is distinct from (old.gold_anchor_id, old.gold_item_id, old.doc_key, old.family_id, old.quote_position, old.valid_from, old.valid_to)
     or num_nonnulls(new.quote, new.prefix, new.suffix) > 0
     or not exists (
        select from tracestore_data.suppression s join tracestore_data.document d using (doc_key)
        where s.kind = 'erased' and (d.doc_key = old.doc_key or d.family_id = old.family_id)) then
    raise exception using
      errcode = 'TS005',
      message = format('anchor %s is a record and cannot be changed', old.gold_anchor_id),
      hint = 'Import the changed question under the same question_id; words leave through tracestore.erase().';
  end if;
  return new;
end
$$;
COMMENT ON FUNCTION tracestore_data.guard_gold_anchor() IS 'An anchor loses its words by erasure; nothing else changes.';

CREATE FUNCTION tracestore_data.guard_gold_item() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  if tg_op = 'DELETE'
     or (new.gold_item_id, new.gold_set_id, new.question_id, new.slices, new.split, new.added_at, new.actor)
        is distinct from (old.gold_item_id, old.gold_set_id, old.question_id, old.slices, old.split, old.added_at, old.actor)
     or (old.retired_at is null and new.retired_by <> session_user)
     or (old.retired_at is not null and (new.retired_at, new.retired_by, new.retire_reason)
        is distinct from (old.retired_at, old.retired_by, old.retire_reason))
     or (new.query is distinct from old.query and (new.query is not null or exists (
        select from tracestore_data.gold_anchor a where a.gold_item_id = old.gold_item_id and a.quote is not null))) then
    raise exception using
      errcode = 'TS005',
      message = format('gold item %s is a record: it can be retired once, nothing else changes', old.gold_item_id),
      hint = 'Import the changed question under the same question_id; use tracestore.retire_gold().';
  end if;
  return new;
end
$$;
COMMENT ON FUNCTION tracestore_data.guard_gold_item() IS 'A gold item is only retired; its question goes when all its anchors were erased.';

CREATE FUNCTION tracestore_data.guard_role_label() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
COMMENT ON FUNCTION tracestore_data.guard_role_label() IS 'The grant of a label is only revoked.';

CREATE FUNCTION tracestore_data.guard_supersession() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
COMMENT ON FUNCTION tracestore_data.guard_supersession() IS 'A supersession is never changed; a guess is decided once.';

CREATE FUNCTION tracestore_data.guard_suppression() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  if tg_op <> 'UPDATE'
     or old.lifted_at is not null
     or (new.suppression_id, new.doc_key, new.version_key, new.kind, new.epoch, new.suppressed_at, new.actor, new.reason)
        is distinct from
        (old.suppression_id, old.doc_key, old.version_key, old.kind, old.epoch, old.suppressed_at, old.actor, old.reason) then
    raise exception using
      errcode = 'TS005',
      message = 'a suppression can be lifted once, not changed or deleted',
      hint = 'Use tracestore.restore().';
  end if;
  return new;
end
$$;
COMMENT ON FUNCTION tracestore_data.guard_suppression() IS 'A suppression can only be lifted.';

CREATE FUNCTION tracestore_data.has_role(role text) RETURNS boolean
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  -- USAGE, as with any privilege: of inherited memberships, and of others after SET ROLE. Null: there is no such role.
  return coalesce(pg_has_role(to_regrole(quote_ident(role)), 'usage'), false);
end
$$;
COMMENT ON FUNCTION tracestore_data.has_role(role text) IS 'Whether the current role has the privileges of another; false where there is no such role.';

CREATE FUNCTION tracestore_data.labels_visible_to(role name) RETURNS text[]
    LANGUAGE plpgsql STABLE SECURITY DEFINER PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
COMMENT ON FUNCTION tracestore_data.labels_visible_to(role name) IS 'The labels a role may read; null: everything. For functions that run as the owner, where the current role says nothing of the caller.';

CREATE FUNCTION tracestore_data.note_labels() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  insert into tracestore_data.known_label (label)
  select distinct label from unnest(new.labels) as label order by label
  on conflict do nothing;
  return null;
end
$$;
COMMENT ON FUNCTION tracestore_data.note_labels() IS 'Keeps known_label complete.';

CREATE FUNCTION tracestore_data.note_policy() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  update tracestore_data.collection c
  set policies = tracestore_data.policies_at(c.collection_id, 'infinity', null, null)
  where c.collection_id = new.collection_id;
  return null;
end
$$;
COMMENT ON FUNCTION tracestore_data.note_policy() IS 'Keeps collection.policies in step with the decisions.';

CREATE FUNCTION tracestore_data.outer_role() RETURNS name
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  return case current_setting('role') when 'none' then session_user else current_setting('role') end::name;
end
$$;
COMMENT ON FUNCTION tracestore_data.outer_role() IS 'The role of the session, after SET ROLE and SET SESSION AUTHORIZATION, whatever function runs as whoever; nobody can set it to a role that is not theirs.';

CREATE FUNCTION tracestore_data.pass_of(role name, secret bytea) RETURNS bytea
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN sha256((secret || sha256(convert_to((((((role)::text || ' '::text) || pg_backend_pid()) || ' '::text) || (EXTRACT(epoch FROM transaction_timestamp()))::text), 'UTF8'::name))));
COMMENT ON FUNCTION tracestore_data.pass_of(role name, secret bytea) IS 'What proves to a function that runs as the owner which role called it.';

CREATE FUNCTION tracestore_data.readable_labels() RETURNS text[]
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  return array(
    select distinct l.label from tracestore_data.role_label l
    where l.revoked_at is null and tracestore_data.has_role(l.role));
end
$$;
COMMENT ON FUNCTION tracestore_data.readable_labels() IS 'Labels granted to a role whose privileges the current role has. Row-level security asks once a query.';

CREATE FUNCTION tracestore_data.reads_everything() RETURNS boolean
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  return tracestore_data.has_role('tracestore_auditor') or tracestore_data.has_role('tracestore_writer');
end
$$;
COMMENT ON FUNCTION tracestore_data.reads_everything() IS 'Whether labels do not matter for the current role: an auditor, or a writer, whose builds have to hold everything.';

CREATE FUNCTION tracestore_data.refuse_change() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  raise exception using
    errcode = 'TS005',
    message = format('%s on %I.%I is refused: its rows are a record', tg_op, tg_table_schema, tg_table_name),
    hint = 'Add a row instead. Nothing recorded is changed or deleted.';
end
$$;
COMMENT ON FUNCTION tracestore_data.refuse_change() IS 'Refuses UPDATE, DELETE and TRUNCATE on append-only tables.';

CREATE FUNCTION tracestore_data.sees_every_document() RETURNS boolean
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  -- By the cheapest first: without labels in use this is all that row-level security costs.
  return tracestore_data.every_label_is_in('{}') or tracestore_data.reads_everything()
    or tracestore_data.every_label_is_in(tracestore_data.readable_labels());
end
$$;
COMMENT ON FUNCTION tracestore_data.sees_every_document() IS 'Whether nothing is hidden from the current role. Row-level security asks once a query, and then looks at no row.';
