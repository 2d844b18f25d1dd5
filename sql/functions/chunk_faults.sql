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
begin
  -- By bytes and in one pass: 97k spans in 160 kB versions take 0.15 s, where cutting text takes 45 s.
  -- Code points are checked by the text between a chunk and the one before it, so each byte is decoded once.
  return query execute format(
    $query$
    with claim as (
      select c.version_key, c.ordinal, c.span_start, c.span_end, c.byte_start, c.byte_end, c.span_sha256, v.content, v.char_count,
        c.context_end,
        lag(c.ordinal, 1, -1) over before_it as previous_ordinal,
        lag(c.span_end, 1, 0) over before_it as previous_end,
        lag(c.byte_end, 1, 0) over before_it as previous_byte
      from tracestore_data.chunk c
      join tracestore_data.document_version v on v.version_key = c.version_key
      where c.index_id = %1$s and c.added_build <= $1 and (c.removed_build is null or c.removed_build > $1)
        and (not $2 or c.added_build = $1) and v.erased_at is null
      window before_it as (partition by c.version_key order by c.ordinal)
    ),
    sliced as (
      select k.*,
        substring(content from byte_start + 1 for byte_end - byte_start) as slice,
        substring(content from previous_byte + 1 for byte_start - previous_byte) as gap,
        substring(content from byte_end + 1 for 1) as next_byte
      from claim k
      where previous_byte <= byte_start
    ),
    judged as (
      select s.version_key, s.ordinal,
        case
          when s.ordinal <> s.previous_ordinal + 1 then 'ordinals have a gap'
          when s.span_end > s.char_count or s.context_end > s.char_count then 'span ends after the text'
          when octet_length(s.slice) <> s.byte_end - s.byte_start then 'bytes end after the text'
          when get_byte(s.slice, 0) & 192 = 128
            or (octet_length(s.next_byte) = 1 and get_byte(s.next_byte, 0) & 192 = 128) then 'bytes cut a character'
          when sha256(s.slice) <> s.span_sha256 then 'text differs from its hash'
          when char_length(convert_from(s.slice, 'UTF8')) <> s.span_end - s.span_start
            or (octet_length(s.gap) > 0 and get_byte(s.gap, 0) & 192 = 128)
            or char_length(convert_from(s.gap, 'UTF8')) <> s.span_start - s.previous_end then 'characters and bytes differ'
        end as fault
      from sliced s
    )
    select j.version_key, j.ordinal, j.fault from judged j where j.fault is not null
    union all
    select k.version_key, k.ordinal, 'spans overlap' from claim k where k.previous_byte > k.byte_start
    $query$, index_id)
  using build_id, only_added;
end
$$;
comment on function tracestore.chunk_faults(bigint, bigint, boolean) is
  'Chunks of a build whose span, bytes, hash or order is wrong; all of them or only those the build added.';
