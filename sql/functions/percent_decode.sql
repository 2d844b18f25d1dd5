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
      case when left(part[1], 1) = '%' then decode(substr(part[1], 2), 'hex') else convert_to(part[1], 'UTF8') end,
      ''::bytea order by place)
  into v_raw
  from regexp_matches(encoded, '%[0-9A-Fa-f]{2}|[^%]+', 'g') with ordinality as parts (part, place);
  -- The table of RFC 3629 without NUL, over the hexadecimal digits. Not an exception handler: that starts a
  -- subtransaction, which no parallel worker may before PostgreSQL 18.
  if encode(v_raw, 'hex') !~ ('^(?:0[1-9a-f]|[1-7][0-9a-f]'
      || '|(?:c[2-9a-f]|d[0-9a-f])[89ab][0-9a-f]'
      || '|(?:e0[ab][0-9a-f]|e[1-9a-cef][89ab][0-9a-f]|ed[89][0-9a-f])[89ab][0-9a-f]'
      || '|(?:f0[9ab][0-9a-f]|f[1-3][89ab][0-9a-f]|f48[0-9a-f])(?:[89ab][0-9a-f]){2})*$') then
    raise exception using errcode = 'TS008', message = 'percent-encoded bytes are not UTF-8',
      detail = left(encoded, 200), hint = 'Percent-encode the UTF-8 bytes of the id.';
  end if;
  return convert_from(coalesce(v_raw, ''), 'UTF8');
end
$$;
comment on function tracestore.percent_decode(text) is 'The inverse of percent_encode; refuses what is not UTF-8.';
