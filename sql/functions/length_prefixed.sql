create function tracestore.length_prefixed(field bytea)
returns bytea
language sql
immutable
strict
parallel safe
return int4send(octet_length(field)) || field;
comment on function tracestore.length_prefixed(bytea) is
  'A field with its length before it, four bytes, most significant first: fields in a row can then be told apart.';

-- STABLE, as convert_to is: an immutable function that calls it is not inlined, and the hash of a manifest takes four times as long.
create function tracestore.length_prefixed(field text)
returns bytea
language sql
stable
strict
parallel safe
return tracestore.length_prefixed(convert_to(field, 'UTF8'));
comment on function tracestore.length_prefixed(text) is 'The UTF-8 bytes of a field with their length before them.';
