create function tracestore.percent_decode(encoded text)
returns text
language plpgsql
immutable
strict
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_raw bytea;
begin
  if encoded ~ '%(?![0-9A-Fa-f]{2})' then
    raise exception using errcode = 'TS008', message = 'a % is not followed by two hexadecimal digits',
      detail = left(encoded, 200), hint = 'Percent-encode the id.';
  end if;
  select string_agg(
      case when part[1] like '\%%' then decode(substr(part[1], 2), 'hex') else convert_to(part[1], 'UTF8') end,
      ''::bytea order by place)
  into v_raw
  from regexp_matches(encoded, '%[0-9A-Fa-f]{2}|[^%]+', 'g') with ordinality as parts (part, place);
  return convert_from(coalesce(v_raw, ''), 'UTF8');
exception
  when character_not_in_repertoire or untranslatable_character then
    raise exception using errcode = 'TS008', message = 'percent-encoded bytes are not UTF-8',
      detail = left(encoded, 200), hint = 'Percent-encode the UTF-8 bytes of the id.';
end
$$;
comment on function tracestore.percent_decode(text) is 'The inverse of percent_encode; refuses what is not UTF-8.';
