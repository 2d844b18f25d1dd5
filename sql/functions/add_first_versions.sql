-- requires: registration
create function tracestore.add_first_versions(
  doc_keys bigint[], makes_it boolean[], records jsonb, contents bytea[], registered timestamptz)
returns tracestore.registration[]
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_docs bigint[];
  v_versions bigint[];
  v_labels text[];
  v_effective timestamptz[];
begin
  -- Set-based: single inserts set up their constraints, triggers and plans one by one, at twice the cost.
  with added as (
    insert into tracestore_data.document_version (
      doc_key, version_id, version_seq, content, content_sha256, char_count, media_type, effective_from, registered_at,
      source_uri, parser, pages, attributes)
    select doc_key, coalesce(record ->> 'version_id', 'sha-' || left(encode(content_sha256, 'hex'), 12)), 1,
      content, content_sha256, char_length(convert_from(content, 'UTF8')),
      coalesce(record ->> 'media_type', 'text/markdown'),
      coalesce((record ->> 'effective_from')::timestamptz, registered), registered,
      record ->> 'source_uri', record ->> 'parser', nullif(record -> 'pages', 'null'),
      coalesce(nullif(record -> 'attributes', 'null'), '{}')
    from (
      -- OFFSET 0: hashed once, for the column and for the label that is made of it.
      select doc_key, record, content, sha256(content) as content_sha256, place
      from rows from (unnest(doc_keys), unnest(makes_it), jsonb_array_elements(records), unnest(contents))
        with ordinality as delivered (doc_key, makes_it, record, content, place)
      where makes_it offset 0) made
    order by place
    returning doc_key, version_key, version_id, effective_from
  )
  select array_agg(doc_key), array_agg(version_key), array_agg(version_id), array_agg(effective_from)
  into v_docs, v_versions, v_labels, v_effective
  from added;
  insert into tracestore_data.version_state_event (version_key, new_state, cause)
  select version_key, 'unknown', 'registered' from unnest(v_versions) as version_key order by version_key;
  insert into tracestore_data.version_state_event (version_key, new_state, cause)
  select version_key, 'current', 'effective'
  from unnest(v_versions, v_effective) as added (version_key, effective_from)
  where effective_from <= registered order by version_key;
  return array(
    select case when makes_it
      then ('created', record ->> 'doc_id', version_id, 1, version_key)::tracestore.registration end
    from rows from (unnest(doc_keys), unnest(makes_it), jsonb_array_elements(records))
      with ordinality as delivered (doc_key, makes_it, record, place)
    left join unnest(v_docs, v_versions, v_labels) as added (doc_key, version_key, version_id) using (doc_key)
    order by place);
end
$$;
comment on function tracestore.add_first_versions(bigint[], boolean[], jsonb, bytea[], timestamptz) is
  'Internal to register_versions: writes the first version of each document that a record has just made; one element a record, null where it made none.';
