create function tracestore.open_staging()
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  create temporary table staged_manifest on commit drop as
    select m.index_id, m.version_key, m.added_build, m.version_state, m.family_id, m.class, m.chunk_count
    from tracestore_data.manifest_entry m with no data;
  create temporary table staged_chunk on commit drop as
    select c.index_id, c.version_key, c.added_build, c.ordinal, c.span_start, c.span_end, c.byte_start, c.byte_end,
      c.context_start, c.context_end, c.words, c.split, c.heading_path, c.span_sha256, c.content_key
    from tracestore_data.chunk c with no data;
end
$$;
comment on function tracestore.open_staging() is
  'Makes tables to the end of the transaction that a build is copied into by whoever does not own the store: COPY refuses tables with row-level security.';

create function tracestore.take_staging()
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into tracestore_data.manifest_entry (index_id, version_key, added_build, version_state, family_id, class, chunk_count)
  select s.index_id, s.version_key, s.added_build, s.version_state, s.family_id, s.class, s.chunk_count
  from pg_temp.staged_manifest s;
  insert into tracestore_data.chunk (
    index_id, version_key, added_build, ordinal, span_start, span_end, byte_start, byte_end, context_start, context_end,
    words, split, heading_path, span_sha256, content_key)
  select s.index_id, s.version_key, s.added_build, s.ordinal, s.span_start, s.span_end, s.byte_start, s.byte_end,
    s.context_start, s.context_end, s.words, s.split, s.heading_path, s.span_sha256, s.content_key
  from pg_temp.staged_chunk s;
end
$$;
comment on function tracestore.take_staging() is 'Moves what was copied into the tables of open_staging to where it belongs.';
