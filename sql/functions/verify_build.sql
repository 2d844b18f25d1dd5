-- requires: verification, manifest, verify_chunks
create function tracestore.verify_build(build_id bigint)
returns setof tracestore.verification
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_build tracestore_data.build;
  v_settings jsonb;
  v_hash text;
  v_count bigint;
  v_erased bigint;
  v_example text;
begin
  perform tracestore.require_whole_view();
  select b.* into v_build from tracestore_data.build b where b.build_id = verify_build.build_id;
  if v_build.state is distinct from 'ready' then
    raise exception using errcode = 'TS003', message = format('there is no ready build B-%s', verify_build.build_id),
      hint = 'View tracestore.builds lists builds.';
  end if;
  select i.settings_json into v_settings from tracestore_data.retrieval_index i where i.index_id = v_build.index_id;

  return next row('settings are those of the index',
    v_build.manifest_header::jsonb - 'chunker_version' - 'format' = v_settings
      and (v_build.manifest_header::jsonb ->> 'chunker_version')::integer = v_build.chunker_version, null)::tracestore.verification;
  v_hash := tracestore.manifest_hash(v_build.build_id);
  return next row('manifest hash recomputes', v_hash = encode(v_build.index_version, 'hex'),
    format('index_version %s, computed %s', encode(v_build.index_version, 'hex'), v_hash))::tracestore.verification;

  select count(*), count(*) filter (where v.erased_at is not null) into v_count, v_erased
  from tracestore_data.manifest_entry m join tracestore_data.document_version v using (version_key)
  where m.index_id = v_build.index_id and m.added_build <= v_build.build_id
    and (m.removed_build is null or m.removed_build > v_build.build_id);
  return next row('members are all there', v_count = v_build.documents,
    format('%s recorded, %s found, %s of them erased since', v_build.documents, v_count, v_erased))::tracestore.verification;

  select count(*), min(d.doc_id || ' ' || v.version_id) into v_count, v_example
  from tracestore_data.manifest_entry m
  join tracestore_data.document_version v using (version_key)
  join tracestore_data.document d using (doc_key)
  where m.index_id = v_build.index_id and m.added_build <= v_build.build_id
    and (m.removed_build is null or m.removed_build > v_build.build_id)
    and v.erased_at is null
    and (v.content is null or sha256(v.content) <> v.content_sha256 or char_length(convert_from(v.content, 'UTF8')) <> v.char_count);
  return next row('texts have their hash', v_count = 0, format('%s differ; first: %s', v_count, v_example))::tracestore.verification;
  if v_build.level <> 'manifest' then
    return query select * from tracestore.verify_chunks(v_build);
  end if;
end
$$;
comment on function tracestore.verify_build(bigint) is
  'Whether what was recorded of a build is still true, read from the tables themselves: settings, manifest, texts, spans, chunk counts, content keys, vectors.';
