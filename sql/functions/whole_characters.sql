create function tracestore.whole_characters(bytes bytea)
returns text
language plpgsql
stable
strict
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_first integer := 0;
  v_end integer := octet_length(bytes);
  v_last integer := v_end - 1;
begin
  -- 10xxxxxx continues a character.
  while v_first < v_end and get_byte(bytes, v_first) & 192 = 128 loop
    v_first := v_first + 1;
  end loop;
  while v_last > v_first and get_byte(bytes, v_last) & 192 = 128 loop
    v_last := v_last - 1;
  end loop;
  if v_last >= v_first and v_end - v_last < (
      case
        when get_byte(bytes, v_last) < 128 then 1
        when get_byte(bytes, v_last) < 224 then 2
        when get_byte(bytes, v_last) < 240 then 3
        else 4
      end)
  then
    v_end := v_last;
  end if;
  return convert_from(substring(bytes from v_first + 1 for v_end - v_first), 'UTF8');
end
$$;
comment on function tracestore.whole_characters(bytea) is
  'The text of a window of a UTF-8 text, without the characters that the window cuts at its beginning and its end.';
