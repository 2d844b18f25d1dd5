-- requires: answer_evidence
create type tracestore.answer_event as (
  occurred_at timestamptz,
  kind text,
  doc_id text,
  version_id text,
  build_id bigint,
  actor text,
  detail text
);
comment on type tracestore.answer_event is
  'Something that happened to the documents of an answer. kind: registered, effective, state, attribute, superseded, withdrawn, restored, erased, added, removed (by a build), served (by the alias), searched, answered.';

create function tracestore.members_among(build_id bigint, version_keys bigint[])
returns bigint[]
language sql
stable
begin atomic
  select array_agg(m.version_key order by m.version_key)
  from tracestore_data.build b
  join tracestore_data.manifest_entry m on m.index_id = b.index_id and m.version_key = any (version_keys)
    and m.added_build <= b.build_id and (m.removed_build is null or m.removed_build > b.build_id)
  where b.build_id = members_among.build_id;
end;
comment on function tracestore.members_among(bigint, bigint[]) is 'Internal to answer_timeline: those of some versions that a build has; null: none.';

create function tracestore.answer_timeline(answer_id text)
returns setof tracestore.answer_event
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_record jsonb := tracestore.answer_record(answer_id);
  v_answer tracestore_data.answer := tracestore.answer_row(answer_id);
  v_retrieval tracestore_data.retrieval := tracestore.last_retrieval(v_answer.retrieval_ids);
  v_index bigint;
  v_docs bigint[];
  v_versions bigint[];
begin
  if not has_table_privilege('tracestore_data.document_event', 'select') then
    raise exception using errcode = 'insufficient_privilege', message = 'a timeline tells what there was, also what is hidden',
      hint = 'Ask as a member of tracestore_auditor.';
  end if;
  v_index := (select b.index_id from tracestore_data.build b where b.build_id = coalesce(v_retrieval.build_id, v_answer.build_id));
  -- The families of what was cited; of everything that came back where the record does not say what was.
  v_docs := array(
    select distinct relative.doc_key
    from (select e.*, bool_or(e.role = 'cited') over () as says_cited from tracestore.answer_evidence(answer_id) e) e
    join tracestore_data.collection c on c.slug = e.collection
    join tracestore_data.document d on d.collection_id = c.collection_id and d.doc_id = e.doc_id
    join tracestore_data.document relative on relative.collection_id = d.collection_id and (relative.family_id = d.family_id
      or exists (select from tracestore_data.supersession s where s.doc_key = d.doc_key and s.by_doc_key = relative.doc_key))
    where e.role = 'cited' or not e.says_cited);
  v_versions := array(select v.version_key from tracestore_data.document_version v where v.doc_key = any (v_docs));
  return query
  select happened.occurred_at, happened.kind, happened.doc_id, happened.version_id, happened.build_id, happened.actor, happened.detail
  from (
    select 10, v.registered_at, 'registered', d.doc_id, v.version_id, null::bigint, v.registered_by,
      case when v.in_place_of is not null then 'an edit in place of ' || (select e.version_id from tracestore_data.document_version e where e.version_key = v.in_place_of) end
    from tracestore_data.document_version v join tracestore_data.document d using (doc_key) where v.version_key = any (v_versions)
    union all
    select 5, v.effective_from, 'effective', d.doc_id, v.version_id, null, null, null
    from tracestore_data.document_version v join tracestore_data.document d using (doc_key)
    where v.version_key = any (v_versions) and v.effective_from <> v.registered_at
    union all
    select 20, e.occurred_at, 'state', d.doc_id, v.version_id, null, e.actor, concat_ws(': ', concat_ws(' → ', e.old_state, e.new_state), e.reason)
    from tracestore_data.version_state_event e
    join tracestore_data.document_version v using (version_key) join tracestore_data.document d using (doc_key)
    where e.version_key = any (v_versions) and e.cause not in ('registered', 'withdrawn', 'restored')
    union all
    select 20, e.occurred_at, 'attribute', d.doc_id, null, null, e.actor,
      concat_ws(': ', e.attribute, concat_ws(' → ', coalesce(e.old_value #>> '{}', '–'), coalesce(e.new_value #>> '{}', '–')), e.reason)
    from tracestore_data.document_event e join tracestore_data.document d using (doc_key) where e.doc_key = any (v_docs)
    union all
    select 25, s.declared_at, 'superseded', d.doc_id, v.version_id, null, s.actor,
      concat_ws(': ', concat_ws(' ', 'by', by.doc_id, case when s.inferred then '(a guess)' end), s.reason)
    from tracestore_data.supersession s join tracestore_data.document d using (doc_key)
    left join tracestore_data.document by on by.doc_key = s.by_doc_key
    left join tracestore_data.document_version v on v.version_key = s.version_key
    where s.doc_key = any (v_docs)
    union all
    select 30, taken.at, taken.kind, d.doc_id, v.version_id, null, taken.actor, taken.reason
    from tracestore_data.suppression s join tracestore_data.document d using (doc_key)
    left join tracestore_data.document_version v on v.version_key = s.version_key
    cross join lateral (values (s.suppressed_at, s.kind, s.actor, s.reason), (s.lifted_at, 'restored', s.lifted_by, s.lift_reason)) as taken (at, kind, actor, reason)
    where s.doc_key = any (v_docs) and taken.at is not null
    union all
    select 40, b.committed_at, moved.kind, d.doc_id, v.version_id, b.build_id, b.actor, null
    from tracestore_data.manifest_entry m
    join tracestore_data.document_version v using (version_key) join tracestore_data.document d using (doc_key)
    cross join lateral (values ('added', m.added_build), ('removed', m.removed_build)) as moved (kind, build_id)
    join tracestore_data.build b on b.build_id = moved.build_id
    where m.index_id = v_index and m.version_key = any (v_versions)
    union all
    -- Only switches that changed what was served of these, and the one that the search met.
    select 50, e.occurred_at, 'served', null, null, e.to_build_id, e.actor,
      concat_ws(', ', e.action || ' of ' || e.alias_name, case when e.forced then 'by force' end, e.reason)
    from tracestore_data.alias_event e
    where e.alias_name = coalesce(v_retrieval.index_alias, v_record ->> 'index_alias') and (
      e.alias_event_id = v_retrieval.alias_event_id
      or tracestore.members_among(e.from_build_id, v_versions) is distinct from tracestore.members_among(e.to_build_id, v_versions))
    union all
    select 60, coalesce(r.retrieved_at, r.logged_at), 'searched', null, null, r.build_id, coalesce(r.caller, r.logged_by),
      cardinality(r.version_keys) || ' passages'
    from tracestore_data.retrieval r where r.retrieval_id = any (v_answer.retrieval_ids)
    union all
    select 70, coalesce(tracestore.field_as_time(v_record, 'answered_at'), v_answer.logged_at), 'answered', null, null, v_answer.build_id, v_answer.logged_by, null
  ) as happened (place, occurred_at, kind, doc_id, version_id, build_id, actor, detail)
  order by happened.occurred_at, happened.place, happened.doc_id, happened.version_id;
end
$$;
comment on function tracestore.answer_timeline(text) is
  'What happened to the families of the documents that an answer cites, and when it was given, in order of time.';
