create function tracestore.page_of(pages jsonb, char_position bigint)
returns text
language sql
immutable
strict
parallel safe
begin atomic
  select entry ->> 1
  from jsonb_array_elements(pages) with ordinality as entries (entry, place)
  where (entry ->> 0)::bigint <= char_position
  order by place desc
  limit 1;
end;
comment on function tracestore.page_of(jsonb, bigint) is 'Label of the page a code point lies on; null where no page is known.';
