-- requires: write_retrieval, check_fields
create function tracestore.log_retrieval(record jsonb)
returns bigint
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_hits tracestore.hit[];
  v_first jsonb := record #> '{hits,0}';
  v_build bigint;
  v_unknown text;
  v_vector @vector@.vector;
begin
  perform tracestore.check_fields(record, '{"hits": "!array", "index_alias": "string", "query_text": "string", "query_sha256": "string",
    "query_embedding": "array or string", "retrieved_at": "string", "api_version": "string", "settings": "object", "caller": "object",
    "suppression_epoch": "number", "alias_event_id": "number", "build_id": "number or string", "store_id": "string"}');
  perform tracestore.check_fields(coalesce(nullif(record -> 'caller', 'null'), '{"role": "x"}'), '{"role": "!string", "labels": "array"}', 'caller.');
  perform tracestore.check_fields(h.hit, '{"doc_id": "!string", "version_id": "!string", "citation": "!string", "span_sha256": "!string",
    "build_id": "!number", "suppression_epoch": "!number", "score": "!number", "ordinal": "!number", "span_start": "!number", "span_end": "!number",
    "context_start": "!number", "context_end": "!number", "settings": "!object"}', format('hits[%s].', h.place - 1))
  from jsonb_array_elements(record -> 'hits') with ordinality as h (hit, place);
  if coalesce(record ->> 'store_id', tracestore.store_id()::text) <> tracestore.store_id()::text then
    raise exception using errcode = 'TS001', message = 'store_id is that of another store', detail = record ->> 'store_id',
      hint = 'Log a search in the store that was searched.';
  end if;
  if coalesce(record ->> 'query_sha256', repeat('0', 64)) !~ '^[0-9a-f]{64}$' or coalesce(record ->> 'api_version', repeat('0', 64)) !~ '^[0-9a-f]{64}$' then
    raise exception using errcode = 'TS001', message = 'query_sha256 or api_version is not 64 hex digits', hint = 'Leave it out, or give all of it.';
  end if;
  v_build := coalesce(tracestore.field_as_build(v_first, 'build_id'), tracestore.field_as_build(record, 'build_id'));
  if not exists (select from tracestore_data.build b where b.build_id = v_build and b.state = 'ready') then
    raise exception using errcode = 'TS003', message = 'build_id names no ready build of this store', detail = format('build_id = %s', v_build),
      hint = 'It is in every hit; without hits, give build_id and suppression_epoch.';
  end if;
  if jsonb_array_length(record -> 'hits') = 0 then
    perform tracestore.check_fields(record, '{"suppression_epoch": "!number", "settings": "!object"}');
  end if;
  begin
    v_hits := array(select h from jsonb_populate_recordset(null::tracestore.hit, record -> 'hits') h);
    v_vector := case jsonb_typeof(record -> 'query_embedding') when 'array' then (record -> 'query_embedding')::text else record ->> 'query_embedding' end;
  exception when data_exception then
    raise exception using errcode = 'TS001', message = 'hits or query_embedding does not hold what search returns', detail = sqlerrm,
      hint = 'hits is `select jsonb_agg(to_jsonb(h)) from tracestore.search(...) h`, query_embedding a list of numbers.';
  end;
  select format('hits[%s]: %s@%s of B-%s', place - 1, doc_id, version_id, build_id) into v_unknown
  from unnest(v_hits) with ordinality as h (
    rank, score, dense_rank, lexical_rank, collection, doc_id, family_id, version_id, version_seq, version_state, effective_from,
    ordinal, span_start, span_end, context_start, context_end, heading_path, text, span_sha256, content_sha256, evidence_id,
    citation, build_id, index_version, suppression_epoch, alias_event_id, settings, dense_path, path, page, context, place)
  where h.build_id <> v_build or h.span_sha256 !~ '^[0-9a-f]{64}$' or not exists (
    select
    from tracestore_data.build b
    join tracestore_data.retrieval_index i using (index_id)
    join tracestore_data.document d using (collection_id)
    join tracestore_data.document_version v using (doc_key)
    join tracestore_data.manifest_entry m using (index_id, version_key)
    where b.build_id = v_build and d.doc_id = h.doc_id and v.version_id = h.version_id
      and m.added_build <= v_build and (m.removed_build is null or m.removed_build > v_build))
  limit 1;
  if v_unknown is not null then
    raise exception using errcode = 'TS001', message = 'hits holds a passage that its build did not have', detail = v_unknown,
      hint = 'Pass the hits of one search, as they came.';
  end if;
  return tracestore.write_retrieval(
    v_hits, v_build, record ->> 'index_alias', coalesce((v_first ->> 'alias_event_id')::bigint, (record ->> 'alias_event_id')::bigint),
    coalesce((v_first ->> 'suppression_epoch')::bigint, (record ->> 'suppression_epoch')::bigint),
    coalesce(v_first -> 'settings', record -> 'settings'), v_first ->> 'dense_path', v_first ->> 'path', record ->> 'query_text', v_vector,
    tracestore.field_as_time(record, 'retrieved_at'), decode(record ->> 'api_version', 'hex'), decode(record ->> 'query_sha256', 'hex'),
    record #>> '{caller,role}', array(select jsonb_array_elements_text(nullif(record #> '{caller,labels}', 'null'))),
    coalesce(record #> '{caller,labels}', 'null') = 'null');
end
$$;
comment on function tracestore.log_retrieval(jsonb) is
  'Logs a search that ran elsewhere, as on a replica, which cannot write: {"hits": [...], "index_alias", "query_text", "query_embedding", "retrieved_at", "caller": {"role", "labels"}}; returns its retrieval_id.';
