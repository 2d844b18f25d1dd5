create type tracestore.chunk_fault as (
  version_key bigint,
  ordinal integer,
  fault text
);
comment on type tracestore.chunk_fault is 'A chunk that is not what it claims to be, and why.';

create function tracestore.chunk_faults(index_id bigint, build_id bigint, only_added boolean)
returns setof tracestore.chunk_fault
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_members text := format(
    'select distinct c.version_key from tracestore_data.chunk c
     where c.index_id = %s and c.added_build <= $1 and (c.removed_build is null or c.removed_build > $1)', index_id);
  -- Those that a build added, found without reading the chunks of all.
  v_added text := format(
    'select m.version_key from tracestore_data.manifest_entry m
     where m.index_id = %1$s and m.added_build = $1 and exists (
       select from tracestore_data.chunk c
       where c.index_id = %1$s and c.version_key = m.version_key and c.added_build = $1)', index_id);
begin
  -- By bytes, and version by version: its content is read once (offset 0 keeps the planner from reading it for each
  -- chunk) and its chunks come in order from their index. 100k spans in 6 kB versions take 0.8 s; a slice of the stored
  -- content for each takes 5 s, and cutting text 45 s.
  -- Code points are checked by the text between a chunk and the one before it, so each byte is decoded once.
  return query execute format(
    $query$
    with changed as materialized (%2$s),
    judged as (
      select v.version_key, c.ordinal,
        case
          when c.previous_byte > c.byte_start then 'spans overlap'
          when c.ordinal <> c.previous_ordinal + 1 then 'ordinals have a gap'
          when c.span_end > v.char_count or c.context_end > v.char_count then 'span ends after the text'
          when c.byte_end > octet_length(v.content) then 'bytes end after the text'
          when get_byte(v.content, c.byte_start) & 192 = 128
            or (c.byte_end < octet_length(v.content) and get_byte(v.content, c.byte_end) & 192 = 128) then 'bytes cut a character'
          when sha256(substring(v.content from c.byte_start + 1 for c.byte_end - c.byte_start)) <> c.span_sha256
            then 'text differs from its hash'
          when char_length(convert_from(substring(v.content from c.byte_start + 1 for c.byte_end - c.byte_start), 'UTF8'))
              <> c.span_end - c.span_start
            or (c.previous_byte < c.byte_start and get_byte(v.content, c.previous_byte) & 192 = 128)
            or char_length(convert_from(substring(v.content from c.previous_byte + 1 for c.byte_start - c.previous_byte), 'UTF8'))
              <> c.span_start - c.previous_end
            then 'characters and bytes differ'
        end as fault
      from (
        select d.version_key, d.char_count, d.content || ''::bytea as content
        from changed join tracestore_data.document_version d using (version_key)
        where d.erased_at is null
        offset 0
      ) v
      cross join lateral (
        select k.ordinal, k.span_start, k.span_end, k.byte_start, k.byte_end, k.span_sha256, k.context_end,
          lag(k.ordinal, 1, -1) over in_order as previous_ordinal,
          lag(k.span_end, 1, 0) over in_order as previous_end,
          lag(k.byte_end, 1, 0) over in_order as previous_byte
        from tracestore_data.chunk k
        where k.index_id = %1$s and k.version_key = v.version_key
          and k.added_build <= $1 and (k.removed_build is null or k.removed_build > $1)
          and (not $2 or k.added_build = $1)
        window in_order as (order by k.ordinal)
      ) c
    )
    select j.version_key, j.ordinal, j.fault from judged j where j.fault is not null
    $query$, index_id, case when only_added then v_added else v_members end)
  using build_id, only_added;
end
$$;
comment on function tracestore.chunk_faults(bigint, bigint, boolean) is
  'Chunks of a build whose span, bytes, hash or order is wrong; all of them or only those the build added.';
