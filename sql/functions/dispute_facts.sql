-- requires: dispute, replay_rank, resolve
create function tracestore.was_indexed(about tracestore.dispute)
returns tracestore.fact
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_entry tracestore_data.manifest_entry;
  v_chunks bigint;
begin
  if about.build_id is null then
    return row(null, 'index_build_id', null)::tracestore.fact;
  end if;
  select m.* into v_entry from tracestore_data.manifest_entry m
  where m.index_id = about.index_id and m.version_key = about.expected_key
    and m.added_build <= about.build_id and (m.removed_build is null or m.removed_build > about.build_id);
  if not found then
    return tracestore.why_not_in_build(about);
  end if;
  if about.level = 'manifest' then
    -- The chunks are gone; their number is not, and what was returned was a chunk.
    return case
      when v_entry.chunk_count = 0 then row(false, null, jsonb_build_object('sub_verdict', 'not_chunked', 'chunks_of_version', 0))::tracestore.fact
      when (tracestore.was_returned(about)).value then row(true, null, null)::tracestore.fact
      else row(null, 'the chunks of the build: only its manifest is retained', null)::tracestore.fact end;
  end if;
  select count(*) into v_chunks from tracestore_data.chunk c
  where c.index_id = about.index_id and c.version_key = about.expected_key and c.content_key is not null
    and c.added_build <= about.build_id and (c.removed_build is null or c.removed_build > about.build_id)
    and tracestore.in_expected(about, c.span_start, c.span_end);
  if v_chunks = 0 and (select v.content is null from tracestore_data.document_version v where v.version_key = about.expected_key) then
    -- Its chunks went with the text; what was returned was one of them.
    return case when (tracestore.was_returned(about)).value then row(true, null, null)::tracestore.fact else row(null, 'the text of the expected version: erased', null)::tracestore.fact end;
  end if;
  return row(v_chunks > 0, null, jsonb_strip_nulls(jsonb_build_object(
    'sub_verdict', case when v_chunks = 0 then 'not_chunked' end, 'added_build', v_entry.added_build, 'chunks_of_version', v_entry.chunk_count,
    'chunks_of_passage', v_chunks)))::tracestore.fact;
end
$$;
comment on function tracestore.was_indexed(tracestore.dispute) is
  'Internal to explain_answer: whether the expected passage was a searchable chunk of the answering build; by its manifest, never by what was returned.';

create function tracestore.why_not_in_build(about tracestore.dispute)
returns tracestore.fact
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_version tracestore_data.document_version;
  v_first tracestore_data.build;
  v_last tracestore_data.build;
  v_waiting bigint;
begin
  select v.* into v_version from tracestore_data.document_version v where v.version_key = about.expected_key;
  if not found then
    return row(false, null, jsonb_build_object('sub_verdict', 'not_registered', 'registered_at', null))::tracestore.fact;
  end if;
  if about.answered_at is null then
    return row(null, 'answered_at', null)::tracestore.fact;
  end if;
  if v_version.registered_at > about.answered_at then
    return row(false, null, jsonb_build_object('sub_verdict', 'not_registered', 'registered_at', v_version.registered_at,
      'effective_from', v_version.effective_from, 'answer_was_right_then', v_version.effective_from > about.answered_at))::tracestore.fact;
  end if;
  select b.* into v_first
  from tracestore_data.manifest_entry m join tracestore_data.build b on b.build_id = m.added_build
  where m.index_id = about.index_id and m.version_key = v_version.version_key and m.added_build > about.build_id
  order by b.build_id limit 1;
  select b.* into v_last
  from tracestore_data.manifest_entry m join tracestore_data.build b on b.build_id = m.removed_build
  where m.index_id = about.index_id and m.version_key = v_version.version_key and m.removed_build <= about.build_id
  order by b.build_id desc limit 1;
  -- Others known then and in effect, the newest of their document, that the build did not have.
  select count(*) into v_waiting
  from tracestore_data.document d
  cross join lateral (
    select v.version_key, v.version_state from tracestore_data.document_version v
    where v.doc_key = d.doc_key and v.registered_at <= about.answered_at and v.effective_from <= about.answered_at
    order by v.effective_from desc, v.version_seq desc limit 1) newest
  where d.collection_id = about.collection_id and newest.version_key <> v_version.version_key and newest.version_state in ('current', 'unknown')
    and not exists (
      select from tracestore_data.manifest_entry m
      where m.index_id = about.index_id and m.version_key = newest.version_key
        and m.added_build <= about.build_id and (m.removed_build is null or m.removed_build > about.build_id));
  return row(false, null, jsonb_strip_nulls(jsonb_build_object('sub_verdict', 'not_in_build', 'registered_at', v_version.registered_at,
    -- What was there and was replaced before the answer did not wait.
    'waited', case when v_last.build_id is null then justify_hours(about.answered_at - v_version.registered_at)::text end,
    'removed_by_build', v_last.build_id, 'removed_at', v_last.committed_at,
    'effective_from', v_version.effective_from, 'answer_was_right_then', nullif(v_version.effective_from > about.answered_at, false),
    'came_with_build', v_first.build_id, 'came_at', v_first.committed_at, 'other_documents_waiting', v_waiting)))::tracestore.fact;
end
$$;
comment on function tracestore.why_not_in_build(tracestore.dispute) is
  'Internal to explain_answer: since when the expected version was known, how long it waited, which build brought it, and how many others waited.';

create function tracestore.was_visible(about tracestore.dispute)
returns tracestore.fact
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_retrieval tracestore_data.retrieval := about.retrieval;
  v_wanted tracestore.search_filter;
  v_doc tracestore_data.document;
  v_entry tracestore_data.manifest_entry;
  v_labels text[];
  v_why text;
begin
  if (tracestore.was_returned(about)).value then
    return row(true, null, '{"returned": true}')::tracestore.fact;
  end if;
  if v_retrieval.retrieval_id is null then
    return row(null, 'retrieval_ids: the filter and the labels of the caller', null)::tracestore.fact;
  end if;
  select d.* into v_doc from tracestore_data.document d join tracestore_data.document_version v using (doc_key) where v.version_key = about.expected_key;
  select m.* into v_entry from tracestore_data.manifest_entry m
  where m.index_id = about.index_id and m.version_key = about.expected_key
    and m.added_build <= about.build_id and (m.removed_build is null or m.removed_build > about.build_id);
  -- When the search ran, as in a replay: the answer may have come later.
  v_labels := tracestore.labels_at(v_doc.doc_key, coalesce(v_retrieval.retrieved_at, v_retrieval.logged_at));
  v_wanted := tracestore.parse_filter(v_retrieval.settings -> 'filter');
  v_why := case
    when exists (
      select from tracestore_data.suppression s
      where s.doc_key = v_doc.doc_key and (s.version_key is null or s.version_key = about.expected_key)
        and s.epoch <= v_retrieval.suppression_epoch and (s.lifted_epoch is null or s.lifted_epoch > v_retrieval.suppression_epoch)) then 'withdrawn then'
    when v_retrieval.caller_labels is not null and v_labels <> '{}' and not v_labels && v_retrieval.caller_labels then 'labels of the document'
    when v_doc.doc_id <> all (v_wanted.doc_id) then 'filter: doc_id'
    when v_entry.family_id <> all (v_wanted.family_id) then 'filter: family_id'
    when coalesce(v_entry.class, '') <> all (v_wanted.class) then 'filter: class'
    when v_wanted.labels is not null and not v_labels && v_wanted.labels then 'filter: labels' end;
  return row(v_why is null, null, jsonb_build_object('why_not', v_why, 'labels', v_labels, 'caller', v_retrieval.caller,
    'caller_labels', v_retrieval.caller_labels, 'filter', v_retrieval.settings -> 'filter'))::tracestore.fact;
end
$$;
comment on function tracestore.was_visible(tracestore.dispute) is
  'Internal to explain_answer: whether the search could return the expected version to its caller, by its filter, the labels then and what was withdrawn then.';

create function tracestore.was_returned(about tracestore.dispute)
returns tracestore.fact
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return case
    when about.wanted is null then row(null, 'expected', null)::tracestore.fact
    when about.items is null then row(null, 'retrieved', null)::tracestore.fact
    when about.found = '[]' then row(false, null, jsonb_build_object('retrieved', jsonb_array_length(about.items)))::tracestore.fact
    else row(true, null, jsonb_strip_nulls((about.found -> 0) - array['doc_family_id', 'effective_from', 'content_hash']))::tracestore.fact end;
end
$$;
comment on function tracestore.was_returned(tracestore.dispute) is 'Internal to explain_answer: whether the expected passage is among what was retrieved.';

create function tracestore.was_given(about tracestore.dispute)
returns tracestore.fact
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return case
    -- What was cited was read.
    when jsonb_path_exists(about.found, '$[*] ? (@.given_to_model == true || @.cited == true)') then row(true, null, about.found)::tracestore.fact
    -- A part that is not said to be dropped may have been read.
    when not jsonb_path_exists(about.found, '$[*] ? (!(@.given_to_model == false || @.dropped_by.type() == "string"))') then row(false, null, about.found)::tracestore.fact
    else row(null, 'given_to_model', about.found)::tracestore.fact end;
end
$$;
comment on function tracestore.was_given(tracestore.dispute) is 'Internal to explain_answer: whether the model saw the expected passage.';

create function tracestore.is_served(about tracestore.dispute)
returns tracestore.fact
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_builds bigint[];
  v_serving bigint[];
  v_withdrawn tracestore_data.suppression;
begin
  if about.build_id is null then
    return row(null, 'index_build_id', null)::tracestore.fact;
  elsif about.version_key is null then
    return row(null, 'the disputed version: its chunk_id is not known here', null)::tracestore.fact;
  end if;
  if not exists (
    select from tracestore_data.manifest_entry m where m.index_id = about.index_id and m.version_key = about.version_key
      and m.added_build <= about.build_id and (m.removed_build is null or m.removed_build > about.build_id)) then
    return row(true, null, jsonb_build_object('note', 'the answering build did not have it either', 'build_id', about.build_id))::tracestore.fact;
  end if;
  -- Without an alias on record, whatever serves the collection, if it agrees.
  select array_agg(distinct a.build_id), array_agg(distinct a.build_id) filter (where exists (
    select from tracestore_data.build b join tracestore_data.manifest_entry m using (index_id)
    where b.build_id = a.build_id and m.version_key = about.version_key
      and m.added_build <= a.build_id and (m.removed_build is null or m.removed_build > a.build_id)))
  into v_builds, v_serving
  from tracestore_data.alias a where a.collection_id = about.collection_id and a.alias_name = coalesce(about.index_alias, a.alias_name);
  if v_builds is null or (about.index_alias is null and cardinality(v_serving) < cardinality(v_builds)) then
    return row(null, 'index_alias', jsonb_build_object('served', v_builds))::tracestore.fact;
  end if;
  select s.* into v_withdrawn
  from tracestore_data.suppression s join tracestore_data.document_version v using (doc_key)
  where v.version_key = about.version_key and s.lifted_at is null and (s.version_key is null or s.version_key = v.version_key)
  order by s.epoch limit 1;
  return row(v_serving is not null and v_withdrawn.suppression_id is null, null, jsonb_strip_nulls(jsonb_build_object('served', v_builds,
    'withdrawn_at', v_withdrawn.suppressed_at, 'withdrawn_by', v_withdrawn.actor, 'kind', v_withdrawn.kind)
    || tracestore.tombstone_of(about, v_builds[1])))::tracestore.fact;
end
$$;
comment on function tracestore.is_served(tracestore.dispute) is
  'Internal to explain_answer: whether the alias still serves the disputed version, of the build that answered.';

create function tracestore.tombstone_of(about tracestore.dispute, served bigint)
returns jsonb
language sql
stable
begin atomic
  select jsonb_build_object(
    'removed_by_build', gone.build_id, 'removed_at', gone.committed_at, 'built_by', gone.actor,
    'switched_at', switch.occurred_at, 'switched_by', switch.actor,
    -- Other versions that have a successor and are still served: they got it since that build began. By the events since
    -- then, with a day for those of transactions that were open, and not by all that is served.
    'siblings_pending', (
      select count(distinct v.version_key)
      from tracestore_data.build b
      join tracestore_data.version_state_event e on e.new_state = 'superseded' and e.occurred_at > b.cutoff_at - interval '1 day'
      join tracestore_data.document_version v on v.version_key = e.version_key and v.version_state = 'superseded'
      join tracestore_data.manifest_entry m on m.index_id = b.index_id and m.version_key = v.version_key
        and m.added_build <= served and (m.removed_build is null or m.removed_build > served)
      where b.build_id = served and v.version_key <> (about).version_key))
  from (select) one
  left join lateral (
    select b.build_id, b.committed_at, b.actor
    from tracestore_data.manifest_entry m join tracestore_data.build b on b.build_id = m.removed_build
    where m.index_id = (about).index_id and m.version_key = (about).version_key and m.added_build <= (about).build_id
    order by m.removed_build desc limit 1) gone on true
  left join lateral (
    select e.occurred_at, e.actor from tracestore_data.alias a join tracestore_data.alias_event e on e.alias_event_id = a.alias_event_id
    where a.build_id = served and a.alias_name = coalesce((about).index_alias, a.alias_name)
    order by e.alias_event_id desc limit 1) switch on gone.build_id is not null or not exists (
      -- Another index is served, which never had it.
      select from tracestore_data.build b join tracestore_data.manifest_entry m using (index_id)
      where b.build_id = served and m.version_key = (about).version_key
        and m.added_build <= served and (m.removed_build is null or m.removed_build > served));
end;
comment on function tracestore.tombstone_of(tracestore.dispute, bigint) is
  'Internal to explain_answer: which build left the disputed version out, when and by whom, and how many others wait for the same.';

create function tracestore.is_unchanged(about tracestore.dispute)
returns tracestore.fact
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_is_citation boolean := (tracestore.parts_of_item(about.item)).doc_id is not null;
  v_hash text := (regexp_match(about.item ->> 'content_hash', '^sha256:([0-9a-f]{64})$'))[1];
  v_found tracestore.resolution;
  v_edit tracestore_data.document_version;
begin
  -- All edits of a label name its first text.
  select v.* into v_edit from tracestore_data.document_version cited
  join tracestore_data.document_version v on v.in_place_of = coalesce(cited.in_place_of, cited.version_key) and v.version_seq > cited.version_seq
  where cited.version_key = about.version_key order by v.version_seq limit 1;
  if found then
    return row(false, null, jsonb_build_object('edited_in_place', v_edit.version_id, 'registered_at', v_edit.registered_at,
      'registered_by', v_edit.registered_by))::tracestore.fact;
  end if;
  if not v_is_citation then
    return case when about.version_key is not null then row(true, null, jsonb_build_object('content_hash', v_hash))::tracestore.fact
      else row(null, case when v_hash is null then 'content_hash' else 'citation' end, null)::tracestore.fact end;
  end if;
  v_found := tracestore.resolve(coalesce(about.item ->> 'citation', about.item ->> 'chunk_id'));
  if v_found.status = 'version_missing' then
    return row(null, 'the cited text: ' || replace(v_found.reason, '_', ' '), null)::tracestore.fact;
  end if;
  -- The hash of a passage, or of the whole version.
  return row(v_found.status = 'ok' and coalesce(v_hash in (v_found.span_sha256, v_found.content_sha256), true), null,
    jsonb_build_object('recorded', v_hash, 'status', v_found.status, 'now', v_found.span_sha256))::tracestore.fact;
end
$$;
comment on function tracestore.is_unchanged(tracestore.dispute) is
  'Internal to explain_answer: whether the citation still resolves to the words that were cited; false also where the text was edited in place.';
