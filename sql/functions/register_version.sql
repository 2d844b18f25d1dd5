-- requires: registration, make_documents, touch_document, known_version, add_first_versions, add_version, settle_document, lift_suppression
create function tracestore.take_version(doc_key bigint, record jsonb, content bytea, strict boolean)
returns tracestore.registration
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_variable
declare
  v_document tracestore_data.document := tracestore.touch_document(doc_key, record);
  v_sha256 bytea := sha256(content);
  v_label text := record ->> 'version_id';
  v_now timestamptz := clock_timestamp();
  v_restored boolean := false;
  v_withdrawal tracestore_data.suppression;
  v_known tracestore_data.document_version;
  v_edited tracestore_data.document_version;
begin
  select s.* into v_withdrawal from tracestore_data.suppression s
  where s.doc_key = v_document.doc_key and s.version_key is null and s.lifted_at is null;
  if v_withdrawal.kind = 'withdrawn' and v_withdrawal.reason = 'absent from source' then
    v_restored := tracestore.lift_suppression(v_document.doc_key, 'absent from source', 'back in the source');
    perform tracestore.settle_document(v_document.doc_key, v_now);
    v_withdrawal := null;
  end if;
  v_known := tracestore.known_version(
    v_document.doc_key, v_withdrawal.doc_key is not null, (record ->> 'effective_from')::timestamptz, v_now, v_sha256);
  if v_known.version_key is null and v_label is not null then
    v_edited := tracestore.labelled_version(v_document.doc_key, v_label);
    if v_edited.content_sha256 = v_sha256 then
      v_known := v_edited;
    end if;
  end if;
  if v_known.version_key is null
     and exists (select from tracestore_data.suppression s where s.doc_key = v_document.doc_key and s.kind = 'erased' and s.lifted_at is null) then
    select v.* into v_known from tracestore_data.document_version v
    where v.doc_key = v_document.doc_key and v.content_sha256 = v_sha256 and v.erased_at is not null
    order by v.version_seq desc limit 1;
  end if;
  if v_known.version_key is not null then
    if v_known.version_state = 'unknown' then
      perform tracestore.settle_document(v_document.doc_key, v_now);
    end if;
    return (
      case when v_known.erased_at is not null then 'erased' when v_restored then 'restored' else 'unchanged' end,
      v_document.doc_id, v_known.version_id, v_known.version_seq, v_known.version_key)::tracestore.registration;
  end if;
  if v_edited.version_key is not null and strict then
    raise exception using errcode = 'TS006',
      message = format('version %s of %s arrived with another text', quote_literal(v_label), quote_literal(v_document.doc_id)),
      detail = format('known sha256 %s, new %s', encode(v_edited.content_sha256, 'hex'), encode(v_sha256, 'hex')),
      hint = 'The source was edited in place. Without strict it becomes a version of its own.';
  end if;
  return tracestore.add_version(v_document, record, content, v_sha256, v_now, v_edited, v_withdrawal);
end
$$;
comment on function tracestore.take_version(bigint, jsonb, bytea, boolean) is
  'Internal to register_versions: stores one text of a document that is made and locked, if it says something new.';

create function tracestore.register_versions(collection text, records jsonb, contents bytea[], strict boolean default false)
returns setof tracestore.registration
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
-- Times without a zone are UTC.
set timezone = 'UTC'
-- Plans are made once a session, often while the tables are still empty, where a scan looks cheaper than an index.
set enable_seqscan = off
as $$
#variable_conflict use_variable
declare
  v_keys bigint[];
  v_makes_it boolean[];
  v_first tracestore.registration[];
begin
  if jsonb_typeof(records) is distinct from 'array'
     or jsonb_array_length(records) <> coalesce(cardinality(contents), 0) or array_position(contents, null) is not null then
    raise exception using errcode = 'TS001', message = 'records and contents do not pair',
      detail = format('%s contents, records %s', coalesce(cardinality(contents), 0),
        coalesce(jsonb_array_length(case jsonb_typeof(records) when 'array' then records end)::text, 'not an array')),
      hint = 'Give a JSON array of records and one content, not null, for each of them.';
  end if;
  if cardinality(contents) > 0 then
    select array_agg(d.doc_key order by d.place), array_agg(d.makes_it order by d.place) into v_keys, v_makes_it
    from tracestore.make_documents(collection, records) as d;
    v_first := tracestore.add_first_versions(v_keys, v_makes_it, records, contents, clock_timestamp());
    for v_place in 1 .. cardinality(contents) loop
      if v_makes_it[v_place] then
        return next v_first[v_place];
      else
        return next tracestore.take_version(v_keys[v_place], records -> (v_place - 1), contents[v_place], strict);
      end if;
    end loop;
  end if;
end
$$;
comment on function tracestore.register_versions(text, jsonb, bytea[], boolean) is
  'Stores many texts in one transaction, each if it says something new; one row each, in their order. A record is what register_version takes.';

create function tracestore.register_version(collection text, record jsonb, content bytea, strict boolean default false)
returns tracestore.registration
language sql
volatile
begin atomic
  select r from tracestore.register_versions(collection, jsonb_build_array(record), array[content], strict) as r;
end;
comment on function tracestore.register_version(text, jsonb, bytea, boolean) is
  'Stores one text of a document if it says something new. record: doc_id and, where known, version_id, title, family_id, class, owner, review_due, labels, effective_from, source_uri, pages, media_type, parser, attributes.';
