-- requires: lexical_matches, lexemes
create function tracestore.lexemes_of_query(index_id bigint, query_text text)
returns text[]
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_index tracestore_data.retrieval_index;
begin
  select i.* into v_index from tracestore_data.retrieval_index i where i.index_id = lexemes_of_query.index_id;
  if v_index.settings_json -> 'lexing' is distinct from '1' then
    raise exception using errcode = 'TS009', message = format('index %s has no words to search', lexemes_of_query.index_id),
      detail = 'It was made before there was lexical search.', hint = 'Build the collection again: it gets an index beside this one, without the model.';
  end if;
  return tracestore.query_lexemes(v_index.lexical::regconfig, query_text);
end
$$;
comment on function tracestore.lexemes_of_query(bigint, text) is
  'The lexemes by which an index is asked for a text. Stop words follow its full-text configuration; only stop words: an empty array.';

create function tracestore.lexical_candidates(
  index_id bigint, build_id bigint, query_text text, match_count integer, wanted tracestore.search_filter, caller name, pass bytea)
returns tracestore.near_chunk[]
language sql
stable
parallel safe
security definer
set search_path = pg_catalog, pg_temp
begin atomic
  -- As the owner, since `@@` is not leakproof: behind row-level security it reads no index, and every row.
  select tracestore.lexical_matches(
    index_id, build_id, tracestore.lexemes_of_query(index_id, query_text), match_count, wanted,
    tracestore_data.labels_of_caller(caller, pass));
end;
comment on function tracestore.lexical_candidates(bigint, bigint, text, integer, tracestore.search_filter, name, bytea) is
  'Keys and ranks of the lexical leg, and nothing else, for callers behind row-level security: of what the role may see whose pass it is given.';

create function tracestore.lexical_chunks(
  index_id bigint, build_id bigint, query_text text, match_count integer, wanted tracestore.search_filter)
returns tracestore.near_chunk[]
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  if row_security_active('tracestore_data.embedding') then
    return (
      select tracestore.lexical_candidates(index_id, build_id, query_text, match_count, wanted, p.role, p.pass)
      from tracestore_data.caller_pass p);
  end if;
  return tracestore.lexical_matches(
    index_id, build_id, tracestore.lexemes_of_query(index_id, query_text), match_count, wanted, null);
end
$$;
comment on function tracestore.lexical_chunks(bigint, bigint, text, integer, tracestore.search_filter) is
  'The lexical leg of a search: chunks of a build with words of a text, in total order; distance_key is minus the rank.';
