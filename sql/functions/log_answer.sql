-- requires: answer_record, pack_items, write_retrieval, check_fields, parse_citation
create function tracestore.parts_of_item(item jsonb)
returns tracestore.citation_parts
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return tracestore.parse_citation(coalesce(item ->> 'citation', item ->> 'chunk_id'));
exception when sqlstate 'TS008' then
  -- Another system's id.
  return null;
end
$$;
comment on function tracestore.parts_of_item(jsonb) is 'What the citation of an item of an answer''s record names; null where it has none of ours.';

create function tracestore.version_of_item(item jsonb)
returns bigint
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_parts tracestore.citation_parts := tracestore.parts_of_item(item);
  v_hash bytea;
  v_found bigint;
begin
  if v_parts.doc_id is not null then
    select v.version_key into v_found
    from tracestore_data.collection c join tracestore_data.document d using (collection_id) join tracestore_data.document_version v using (doc_key)
    where c.slug = v_parts.collection and d.doc_id = v_parts.doc_id and v.version_id = v_parts.version_id;
    return v_found;
  end if;
  -- Another system's id: the document may be here all the same, and a hash says whether it is the same text.
  if coalesce(item ->> 'content_hash', '') !~ '^sha256:[0-9a-f]{64}$' then
    return null;
  end if;
  v_hash := decode(substr(item ->> 'content_hash', 8), 'hex');
  select v.version_key into v_found
  -- One collection after the other: ids are looked up within one.
  from tracestore_data.collection c
  cross join lateral (
    select d.doc_key from tracestore_data.document d where d.collection_id = c.collection_id and d.doc_id = item ->> 'doc_id' offset 0) d
  join tracestore_data.document_version v on v.doc_key = d.doc_key
  where (v.content_sha256 = v_hash or exists (
    select from tracestore_data.manifest_entry m
    join tracestore_data.chunk c on c.index_id = m.index_id and c.version_key = m.version_key
    where m.version_key = v.version_key and c.span_sha256 = v_hash))
  order by v.version_id = item ->> 'doc_version' or v.version_seq::text = item ->> 'doc_version' desc, v.version_key
  limit 1;
  return v_found;
end
$$;
comment on function tracestore.version_of_item(jsonb) is
  'The version an item of an answer''s record is of: by its citation, or by document and hash, of a chunk or of the whole; null where neither leads to one.';

create function tracestore.check_answer(record jsonb)
returns void
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_item jsonb;
  v_place bigint;
begin
  perform tracestore.check_fields(record, '{"answer_id": "!string", "answered_at": "string", "index_build_id": "string or number", "retriever_config_hash": "string",
    "generator": "object", "retrieved": "array", "retrieval_ids": "array", "store_id": "string"}');
  if octet_length(record ->> 'answer_id') not between 1 and 1024 then
    raise exception using errcode = 'TS001', message = 'answer_id is empty or longer than 1024 bytes', hint = 'Give each answer an id of its own.';
  end if;
  for v_item, v_place in select * from jsonb_array_elements(nullif(record -> 'retrieval_ids', 'null')) with ordinality loop
    if jsonb_typeof(v_item) <> 'number' or v_item::text !~ '^[1-9][0-9]{0,17}$' then
      raise exception using errcode = 'TS001', message = format('retrieval_ids[%s] is not the number of a logged search', v_place - 1),
        detail = left(v_item::text, 200), hint = 'retrieve() and log_retrieval() return it.';
    end if;
  end loop;
  for v_item, v_place in select * from jsonb_array_elements(nullif(record -> 'retrieved', 'null')) with ordinality loop
    perform tracestore.check_fields(v_item, '{"rank": "number", "chunk_id": "string", "citation": "string", "doc_id": "string", "doc_family_id": "string",
      "doc_version": "number or string", "version_state_at_answer": "string", "effective_from": "string", "content_hash": "string", "score": "number",
      "cited": "boolean", "given_to_model": "boolean", "dropped_by": "string", "citation_number": "number or string", "retrieval_id": "number"}',
      format('retrieved[%s].', v_place - 1));
    if coalesce(v_item ->> 'chunk_id', v_item ->> 'citation', v_item ->> 'doc_id') is null then
      raise exception using errcode = 'TS001', message = format('retrieved[%s].chunk_id is missing', v_place - 1),
        hint = 'Without chunk_id, citation or doc_id nothing says what was retrieved.';
    end if;
  end loop;
end
$$;
comment on function tracestore.check_answer(jsonb) is 'Internal to log_answer: an error that names the field which makes no sense.';

-- As the owner: nobody else writes the log.
create function tracestore.log_answer(record jsonb)
returns text
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set jit = off
as $$
#variable_conflict use_column
declare
  v_answer_id text;
  v_retrievals bigint[];
  v_builds bigint[];
  v_missing bigint;
  v_build bigint;
  v_items jsonb;
  v_cited bigint[];
  v_is_ours boolean;
  v_answered timestamptz;
  v_key tracestore_data.answer_key;
  v_implied integer;
  v_rest jsonb;
  v_packed tracestore.packed_items;
  v_config bytea := decode(substring(record ->> 'retriever_config_hash' from '^sha256:([0-9a-f]{64})$'), 'hex');
begin
  perform tracestore.check_answer(record);
  v_answer_id := record ->> 'answer_id';
  v_answered := tracestore.field_as_time(record, 'answered_at');
  v_retrievals := array(select value::bigint from jsonb_array_elements(nullif(record -> 'retrieval_ids', 'null')) with ordinality as listed (value, place) order by place);
  select min(wanted.id) filter (where r.retrieval_id is null or not tracestore.may_read_log(r.logged_by)), array_agg(r.build_id order by place desc)
  into v_missing, v_builds
  from unnest(v_retrievals) with ordinality as wanted (id, place)
  left join tracestore_data.retrieval r on r.retrieval_id = wanted.id;
  if v_missing is not null then
    raise exception using errcode = 'TS003', message = format('retrieval_ids: there is no logged search %s of yours', v_missing),
      hint = 'retrieve() and log_retrieval() return the number; it goes with the month of the log.';
  end if;
  v_items := nullif(record -> 'retrieved', 'null');
  v_cited := array(
    select tracestore.version_of_item(item) from jsonb_array_elements(v_items) with ordinality as listed (item, place)
    where item -> 'cited' = 'true' order by place);
  -- B-1042 of another store is no build of this one.
  v_is_ours := coalesce(record ->> 'store_id' = tracestore.store_id()::text, v_retrievals <> '{}' or exists (
    select from jsonb_array_elements(v_items) as item where tracestore.version_of_item(item) is not null));
  if v_is_ours then
    select b.build_id into v_build from tracestore_data.build b
    where b.build_id = coalesce(tracestore.field_as_build(record, 'index_build_id'), v_builds[1]) and b.state = 'ready';
  end if;
  insert into tracestore_data.answer_key (logged_at, answer_id) values (clock_timestamp(), v_answer_id)
  on conflict (answer_id) do nothing
  returning * into v_key;
  if not found then
    if tracestore.read_answer(v_answer_id) is distinct from record then
      raise exception using errcode = 'TS006', message = format('answer_id %L is taken by another record', v_answer_id),
        hint = 'Nothing on record is changed: log it under an id of its own.';
    end if;
    return v_answer_id;
  end if;
  v_answered := coalesce(v_answered, v_key.logged_at);
  v_implied := (
    select coalesce(sum(bit), 0)
    from unnest(array[1, 2, 4, 8, 16, 32], array['store_id', 'index_build_id', 'retrieval_ids', 'answered_at', 'conflict_policy_fired', 'retriever_config_hash']) as field (bit, name)
    where (record -> name)::text = (tracestore.implied_fields(bit, v_build, v_retrievals, v_answered, v_config) -> name)::text);
  v_rest := record - 'answer_id' - array(select jsonb_object_keys(tracestore.implied_fields(v_implied, v_build, v_retrievals, v_answered, v_config)));
  if v_items is not null then
    v_packed := tracestore.pack_items(v_items, case when v_retrievals = '{}' then '[]' else tracestore.retrieval_items(v_retrievals) end);
    v_rest := v_rest || jsonb_build_object('retrieved', v_packed.packed);
  end if;
  insert into tracestore_data.answer (logged_at, answer_key, answered_at, build_id, retrieval_ids, cited_versions, cited, logged_by, record, other_builds, implied, digests)
  values (v_key.logged_at, v_key.answer_key, v_answered, v_build, v_retrievals, array_remove(v_cited, null), cardinality(v_cited),
    tracestore_data.outer_role(), v_rest, (select array_agg(distinct other) from unnest(v_builds) as other where other is distinct from v_build),
    v_implied, nullif(coalesce(v_packed.digests, '') || case when v_implied & 32 > 0 then v_config else '' end, ''));
  return v_answer_id;
end
$$;
comment on function tracestore.log_answer(jsonb) is
  'Logs an answer and the evidence it used, once for each answer_id; the same record again changes nothing. Unknown fields are kept; records of other systems are taken.';
