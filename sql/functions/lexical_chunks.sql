-- requires: near_chunk, search_filter
create function tracestore.lexical_chunks(
  index_id bigint, build_id bigint, query_text text, match_count integer, wanted tracestore.search_filter)
returns tracestore.near_chunk[]
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using errcode = 'TS009', message = 'lexical search is not available', hint = 'Search without query_text.';
end
$$;
comment on function tracestore.lexical_chunks(bigint, bigint, text, integer, tracestore.search_filter) is 'The lexical leg.';
