-- requires: retrieval_record
create function tracestore.short_name(field text)
returns text
language sql
immutable
parallel safe
return coalesce((array['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l'])[array_position(
  array['rank', 'chunk_id', 'doc_id', 'doc_family_id', 'doc_version', 'version_state_at_answer', 'effective_from', 'content_hash', 'score', 'cited',
    'given_to_model', 'citation_number'], field)], field);
comment on function tracestore.short_name(text) is 'A letter for each field that most items of a record have; others are called as they are.';

create function tracestore.long_name(field text)
returns text
language sql
immutable
parallel safe
return coalesce((
  array['rank', 'chunk_id', 'doc_id', 'doc_family_id', 'doc_version', 'version_state_at_answer', 'effective_from', 'content_hash', 'score', 'cited',
    'given_to_model', 'citation_number'])[nullif(position(field in case when char_length(field) = 1 then 'abcdefghijkl' end), 0)], field);
comment on function tracestore.long_name(text) is 'The inverse of short_name.';

create function tracestore.digest_column(digests bytea, first integer, width integer, place integer)
returns text
language sql
immutable
parallel safe
return case width
  when 16 then encode(substring(digests from first + 16 * place + 1 for 16), 'hex')::uuid::text
  else 'sha256:' || encode(substring(digests from first + 32 * place + 1 for 32), 'hex') end;
comment on function tracestore.digest_column(bytea, integer, integer, integer) is
  'A hash, or of 16 bytes a UUID, of those that are kept one behind the other from a place on.';

create function tracestore.unpack_items(packed jsonb, known jsonb, digests bytea)
returns jsonb
language sql
immutable
parallel safe
begin atomic
  select coalesce(jsonb_agg(
    -- Without keys, whatever is known.
    case when packed ? 'keys' then
      coalesce((select jsonb_object_agg(key, known -> place -> key) from jsonb_array_elements_text(packed -> 'keys') as key), '{}')
      else coalesce(known -> place, '{}') end
    || coalesce((select jsonb_object_agg(tracestore.long_name(key), value) from jsonb_each(packed -> 'same')), '{}')
    || coalesce((select jsonb_object_agg(tracestore.long_name(key), value -> place) from jsonb_each(packed -> 'columns')), '{}')
    || coalesce((select jsonb_object_agg(tracestore.long_name(key), value -> 0 -> substr(value ->> 1, place + 1, 1)::integer) from jsonb_each(packed -> 'picked')), '{}')
    || coalesce((select jsonb_object_agg(tracestore.long_name(key), format('[%s]', value)::jsonb -> place) from jsonb_each_text(packed -> 'numbers')), '{}')
    || coalesce((
      select jsonb_object_agg(tracestore.long_name(key), split_part(value, chr(10), 1) || split_part(value, chr(10), place + 2)) from jsonb_each_text(packed -> 'texts')), '{}')
    || coalesce((
      select jsonb_object_agg(tracestore.long_name(key), tracestore.digest_column(digests, (value -> 0)::integer, (value -> 1)::integer, place))
      from jsonb_each(packed -> 'digests')), '{}')
    order by place), '[]')
  from generate_series(0, (packed -> 'count')::integer - 1) as place;
end;
comment on function tracestore.unpack_items(jsonb, jsonb, bytea) is 'What pack_items packed, from the same known items.';

create function tracestore.common_prefix(one text, other text)
returns text
language sql
immutable
parallel safe
begin atomic
  select left(one, (
    select coalesce(max(length), 0) from generate_series(1, least(char_length(one), char_length(other), 64)) as length
    where left(one, length) = left(other, length)));
end;
comment on function tracestore.common_prefix(text, text) is 'How two texts both begin, up to 64 characters.';

create type tracestore.packed_items as (
  packed jsonb,
  digests bytea
);
comment on type tracestore.packed_items is 'The items of an answer''s record as they are kept: what is text, and the bytes of hashes and UUIDs.';

create function tracestore.pack_items(items jsonb, known jsonb)
returns tracestore.packed_items
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_packed jsonb;
  v_digests bytea;
  v_keys text[];
begin
  if items is null or jsonb_array_length(items) = 0
    or (select count(distinct array(select jsonb_object_keys(item))) from jsonb_array_elements(items) as item) > 1 then
    return row(items, null)::tracestore.packed_items;
  end if;
  -- By text: equal numbers may be written in two ways. A record with 12 passages of another system takes 2.6 kB as it
  -- comes, 1.7 kB as columns, and 1.0 kB with each column in the form that fits it, short names and the bytes of hashes.
  with item as (
    select key, value, value::text as written, value #>> '{}' as plain, place, dense_rank() over (partition by key order by value) - 1 as pick
    from jsonb_array_elements(items) with ordinality as listed (item, place)
    cross join lateral jsonb_each(item)
  ),
  field as (
    select key,
      bool_and((known -> (place - 1)::integer -> key)::text is not distinct from written) as is_known,
      count(distinct written) as variety,
      bool_and(jsonb_typeof(value) = 'number') as is_number,
      bool_and(jsonb_typeof(value) = 'string' and plain ~ '^sha256:[0-9a-f]{64}$') as is_hash,
      bool_and(jsonb_typeof(value) = 'string' and plain ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$') as is_uuid,
      bool_and(jsonb_typeof(value) = 'string' and position(chr(10) in plain) = 0) as is_line,
      tracestore.common_prefix(min(plain collate "C"), max(plain collate "C")) as prefix
    from item group by key
  ),
  formed as (
    select key, prefix, is_hash,
      case when is_known then 'known' when variety = 1 then 'same' when is_number then 'numbers'
        when 2 * variety <= jsonb_array_length(items) and variety <= 10 then 'picked' when is_hash or is_uuid then 'digests'
        when is_line then 'texts' else 'columns' end as form
    from field
  ),
  packed as (
    select form, key, case form
        when 'same' then jsonb_agg(value) -> 0
        when 'numbers' then to_jsonb(string_agg(written, ',' order by place))
        when 'picked' then jsonb_build_array(jsonb_agg(distinct value), string_agg(pick::text, '' order by place))
        when 'texts' then to_jsonb(prefix || chr(10) || string_agg(substr(plain, char_length(prefix) + 1), chr(10) order by place))
        else jsonb_agg(value order by place) end as value
    from item join formed using (key)
    where form not in ('known', 'digests')
    group by form, key, prefix
  ),
  digest as (
    select key, min(octet_length(bytes)) as width, string_agg(bytes, '' order by place) as bytes
    from (select key, place, decode(translate(right(plain, case when is_hash then 64 else 36 end), '-', ''), 'hex') as bytes
      from item join formed using (key) where form = 'digests') decoded
    group by key
  )
  select (select coalesce(array_agg(key order by key), '{}') from formed where form = 'known'),
    jsonb_build_object('count', jsonb_array_length(items)) || coalesce((
      select jsonb_object_agg(form, fields) from (
        select form, jsonb_object_agg(tracestore.short_name(key), value) as fields from packed group by form
        union all
        select 'digests', jsonb_object_agg(tracestore.short_name(key), jsonb_build_array(first, width))
        from (select key, width, sum(octet_length(bytes)) over (order by key) - octet_length(bytes) as first from digest) placed having count(*) > 0) together), '{}'),
    (select string_agg(bytes, '' order by key) from digest)
  into v_keys, v_packed, v_digests;
  if v_keys is distinct from array(select jsonb_object_keys(known -> 0) order by 1) then
    v_packed := v_packed || jsonb_build_object('keys', v_keys);
  end if;
  return case when tracestore.unpack_items(v_packed, known, v_digests)::text = items::text then row(v_packed, v_digests)::tracestore.packed_items
    else row(items, null)::tracestore.packed_items end;
end
$$;
comment on function tracestore.pack_items(jsonb, jsonb) is
  'The items of an answer''s record without what is known from its searches, each field once and in the shortest form; as they are where that would change them.';
