create type tracestore.search_filter as (
  doc_id text[],
  family_id text[],
  class text[],
  labels text[]
);
comment on type tracestore.search_filter is 'A filter taken apart; null means no condition.';

create function tracestore.parse_filter(filter jsonb)
returns tracestore.search_filter
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key text;
  v_value jsonb;
  v_values text[];
  v_filter tracestore.search_filter;
begin
  if filter is null or filter = 'null' then
    return null;
  end if;
  if jsonb_typeof(filter) <> 'object' then
    raise exception using errcode = 'TS001', message = 'filter is not a JSON object', detail = left(filter::text, 200),
      hint = 'For example {"class": ["policy"], "doc_id": ["a.md", "b.md"]}.';
  end if;
  for v_key, v_value in select * from jsonb_each(filter) loop
    if jsonb_typeof(v_value) = 'string' then
      v_value := jsonb_build_array(v_value);
    end if;
    if v_key not in ('doc_id', 'family_id', 'class', 'labels') then
      raise exception using errcode = 'TS001', message = format('filter key %L is unknown', v_key),
        hint = 'Known keys: doc_id, family_id, class, labels.';
    end if;
    if jsonb_typeof(v_value) <> 'array' or jsonb_path_exists(v_value, 'strict $[*] ? (@.type() != "string")') then
      raise exception using errcode = 'TS001', message = format('filter key %L takes a list of strings', v_key),
        detail = left(v_value::text, 200), hint = 'For example {"class": ["policy"]}.';
    end if;
    v_values := array(select jsonb_array_elements_text(v_value));
    case v_key
      when 'doc_id' then v_filter.doc_id := v_values;
      when 'family_id' then v_filter.family_id := v_values;
      when 'class' then v_filter.class := v_values;
      when 'labels' then v_filter.labels := v_values;
    end case;
  end loop;
  if v_filter is null then
    return null;
  end if;
  return v_filter;
end
$$;
comment on function tracestore.parse_filter(jsonb) is
  'Takes a filter apart: any of the values within a key, all of the keys; an unknown key is an error.';
