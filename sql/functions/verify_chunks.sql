-- requires: verification, chunk_faults, content_key
create function tracestore.verify_chunks(build tracestore_data.build)
returns setof tracestore.verification
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_recipe_id text;
  v_header boolean;
  v_dimension integer;
  v_count bigint;
  v_total bigint;
  v_example text;
  v_erased boolean;
begin
  select r.recipe_id, coalesce((r.settings ->> 'header')::boolean, true), r.dimension into v_recipe_id, v_header, v_dimension
  from tracestore_data.retrieval_index i join tracestore_data.recipe r using (recipe_key)
  where i.index_id = build.index_id;

  select count(*), min(format('%s %s has %s of %s', d.doc_id, v.version_id, n.found, m.chunk_count)) into v_count, v_example
  from tracestore_data.manifest_entry m
  join tracestore_data.document_version v using (version_key)
  join tracestore_data.document d using (doc_key)
  left join (
    select c.version_key, count(*) as found from tracestore_data.chunk c
    where c.index_id = build.index_id and c.added_build <= build.build_id and (c.removed_build is null or c.removed_build > build.build_id)
    group by c.version_key) n on n.version_key = m.version_key
  where m.index_id = build.index_id and m.added_build <= build.build_id
    and (m.removed_build is null or m.removed_build > build.build_id)
    and v.erased_at is null and coalesce(n.found, 0) <> m.chunk_count;
  return next row('chunks are all there', v_count = 0,
    format('%s versions differ; first: %s', v_count, v_example))::tracestore.verification;

  select count(*), count(*) filter (where c.content_key is null) into v_total, v_count
  from tracestore_data.chunk c
  where c.index_id = build.index_id and c.added_build <= build.build_id and (c.removed_build is null or c.removed_build > build.build_id);
  -- Chunks of versions erased since are gone.
  v_erased := exists (
    select from tracestore_data.manifest_entry m join tracestore_data.document_version v using (version_key)
    where m.index_id = build.index_id and m.added_build <= build.build_id
      and (m.removed_build is null or m.removed_build > build.build_id) and v.erased_at is not null);
  return next row('chunks are as many as were counted',
    (v_total, v_count) = (build.chunks, build.not_embeddable)
      or v_erased and v_total <= build.chunks and v_count <= build.not_embeddable,
    format('%s recorded, %s without a vector; found %s, %s', build.chunks, build.not_embeddable, v_total, v_count))::tracestore.verification;

  select count(*), min(format('%s %s ordinal %s: %s', d.doc_id, v.version_id, f.ordinal, f.fault)) into v_count, v_example
  from tracestore.chunk_faults(build.index_id, build.build_id, false) f
  join tracestore_data.document_version v using (version_key)
  join tracestore_data.document d using (doc_key);
  return next row('spans are the text they claim', v_count = 0,
    format('%s faults; first: %s', v_count, v_example))::tracestore.verification;

  select count(*), min(format('%s %s ordinal %s', d.doc_id, v.version_id, c.ordinal)) into v_count, v_example
  from tracestore_data.chunk c
  join tracestore_data.document_version v using (version_key)
  join tracestore_data.document d using (doc_key)
  where c.index_id = build.index_id and c.added_build <= build.build_id and (c.removed_build is null or c.removed_build > build.build_id)
    and v.content is not null and c.content_key is not null
    and c.content_key <> tracestore.content_key(v_recipe_id,
      case when v_header then array_to_string(c.heading_path, ' > ') || E'\n' else '' end
      || convert_from(substring(v.content from c.byte_start + 1 for c.byte_end - c.byte_start), 'UTF8'));
  return next row('content keys are those of the embedded text', v_count = 0,
    format('%s differ; first: %s', v_count, v_example))::tracestore.verification;

  select count(*),
    count(*) filter (where e.content_key is null or @vector@.vector_dims(e.vec) <> v_dimension
      or not abs(@vector@.vector_norm(e.vec) - 1) < 1e-4 or not e.live or e.vec_sha256 <> sha256(@vector@.vector_send(e.vec)))
  into v_total, v_count
  from tracestore_data.chunk c
  left join tracestore_data.embedding e on e.index_id = build.index_id and e.content_key = c.content_key
  where c.index_id = build.index_id and c.added_build <= build.build_id and (c.removed_build is null or c.removed_build > build.build_id)
    and c.content_key is not null;
  return next row('every embeddable chunk has the vector that was stored', v_count = 0 or build.level <> 'vectors',
    format('%s checked, %s missing or wrong', v_total, v_count))::tracestore.verification;
end
$$;
comment on function tracestore.verify_chunks(tracestore_data.build) is 'The part of verify_build that reads chunks and vectors.';
