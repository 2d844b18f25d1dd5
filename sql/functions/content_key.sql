-- requires: length_prefixed
create function tracestore.content_key(recipe_id text, embedded_text text)
returns bytea
language sql
immutable
strict
parallel safe
return sha256(tracestore.length_prefixed(recipe_id) || tracestore.length_prefixed(embedded_text));
comment on function tracestore.content_key(text, text) is 'Name of the vector of an embedded text under a recipe.';
