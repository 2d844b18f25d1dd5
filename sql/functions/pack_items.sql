-- requires: retrieval_record
create function tracestore.unpack_items(packed jsonb, known jsonb)
returns jsonb
language sql
immutable
parallel safe
begin atomic
  select coalesce(jsonb_agg(
    -- Without keys, whatever is known.
    case when packed ? 'keys' then
      coalesce((select jsonb_object_agg(key, known -> place -> key) from jsonb_array_elements_text(packed -> 'keys') as key), '{}')
      else known -> place end
    || coalesce(packed -> 'same', '{}')
    || coalesce((select jsonb_object_agg(key, value -> place) from jsonb_each(packed -> 'columns')), '{}')
    order by place), '[]')
  from generate_series(0, (packed -> 'count')::integer - 1) as place;
end;
comment on function tracestore.unpack_items(jsonb, jsonb) is 'What pack_items packed, from the same known items.';

create function tracestore.pack_items(items jsonb, known jsonb)
returns jsonb
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_packed jsonb;
  v_keys text[];
begin
  if items is null or jsonb_array_length(items) = 0
    or (select count(distinct array(select jsonb_object_keys(item))) from jsonb_array_elements(items) as item) > 1 then
    return items;
  end if;
  -- By text: equal numbers may be written in two ways.
  with field as (
    select key,
      bool_and(place <= jsonb_array_length(known) and (known -> (place - 1)::integer -> key)::text is not distinct from value::text) as is_known,
      count(distinct value::text) = 1 as is_same,
      jsonb_agg(value order by place) as given
    from jsonb_array_elements(items) with ordinality as listed (item, place)
    cross join lateral jsonb_each(item)
    group by key
  )
  select coalesce(array_agg(key order by key) filter (where is_known), '{}'), jsonb_strip_nulls(jsonb_build_object(
    'count', jsonb_array_length(items),
    'columns', jsonb_object_agg(key, given) filter (where not is_known and (not is_same or given -> 0 = 'null')))) || jsonb_build_object(
    'same', coalesce(jsonb_object_agg(key, given -> 0) filter (where not is_known and is_same and given -> 0 <> 'null'), '{}'))
  into v_keys, v_packed from field;
  if v_keys is distinct from array(select jsonb_object_keys(known -> 0) order by 1) then
    v_packed := v_packed || jsonb_build_object('keys', v_keys);
  end if;
  return case when tracestore.unpack_items(v_packed, known)::text = items::text then v_packed else items end;
end
$$;
comment on function tracestore.pack_items(jsonb, jsonb) is
  'The items of an answer''s record without what is known from its searches, each field once; as they are where that would change them.';
