create function tracestore.check_fields(fields jsonb, types jsonb, place text default '')
returns void
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_name text;
  v_type text;
begin
  if jsonb_typeof(fields) is distinct from 'object' then
    raise exception using errcode = 'TS001', message = format('%s is not a JSON object', coalesce(nullif(place, ''), 'the record')),
      detail = left(quote_nullable(fields::text), 200), hint = 'docs/investigations.md shows a record.';
  end if;
  for v_name, v_type in select * from jsonb_each_text(types) loop
    -- null says nothing, as does leaving it out. A ! makes it mandatory.
    if coalesce(fields -> v_name, 'null') = 'null' then
      if starts_with(v_type, '!') then
        raise exception using errcode = 'TS001', message = format('%s is missing', place || v_name), hint = 'docs/investigations.md shows a record.';
      end if;
      continue;
    end if;
    if jsonb_typeof(fields -> v_name) <> all (string_to_array(ltrim(v_type, '!'), ' or ')) then
      raise exception using errcode = 'TS001', message = format('%s is not a %s', place || v_name, replace(ltrim(v_type, '!'), 'object', 'JSON object')),
        detail = left((fields -> v_name)::text, 200), hint = 'docs/investigations.md shows a record.';
    end if;
  end loop;
end
$$;
comment on function tracestore.check_fields(jsonb, jsonb, text) is
  'Internal to functions that take records: an error that names the first field which is missing or of another JSON type. Unknown fields pass.';

create function tracestore.field_as_time(fields jsonb, name text, place text default '')
returns timestamptz
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
set datestyle = 'ISO'
as $$
begin
  if (fields ->> name) !~ E'^\\d{4}-\\d\\d-\\d\\d' then
    raise exception using errcode = '22007', message = 'no date';
  end if;
  return (fields ->> name)::timestamptz;
exception when datetime_field_overflow or invalid_datetime_format or invalid_text_representation or invalid_parameter_value then
  raise exception using errcode = 'TS001', message = format('%s is not a time', place || name), detail = left(quote_nullable(fields ->> name), 200),
    hint = 'For example 2026-03-04T09:14:22Z.';
end
$$;
comment on function tracestore.field_as_time(jsonb, text, text) is
  'Internal to functions that take records: a time as RFC 3339 has it, UTC where it names no zone; null where there is none.';

create function tracestore.field_as_build(fields jsonb, name text)
returns bigint
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  -- Those of other systems are any text.
  return (regexp_match(fields ->> name, '^(?:B-)?([1-9][0-9]{0,17})$'))[1]::bigint;
end
$$;
comment on function tracestore.field_as_build(jsonb, text) is 'Internal to functions that take records: the number of a build, written 7 or B-7; null for anything else.';

create function tracestore.rfc3339(moment timestamptz)
returns text
language sql
immutable
parallel safe
return to_char(moment at time zone 'UTC',
  case when date_trunc('second', moment at time zone 'UTC') = moment at time zone 'UTC' then 'YYYY-MM-DD"T"HH24:MI:SS"Z"' else 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"' end);
comment on function tracestore.rfc3339(timestamptz) is 'A moment as records have it: RFC 3339, in UTC.';
