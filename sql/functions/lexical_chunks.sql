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

create function tracestore.caller_labels(within text[])
returns text[]
language sql
stable
parallel safe
begin atomic
  -- Of the role of the session, after SET ROLE: in a function that runs as the owner the current role is the owner.
  select case
      when within is null then session.labels
      when session.labels is null then within
      else array(select unnest(session.labels) intersect select unnest(within))
    end
  from (select tracestore_data.labels_visible_to(tracestore_data.outer_role()) as labels) session;
end;
comment on function tracestore.caller_labels(text[]) is
  'Internal to lexical_candidates: the labels that limit what it may look at, those of the session that are also within; null: nothing is hidden.';

create function tracestore.lexical_candidates(
  index_id bigint, build_id bigint, query_text text, match_count integer, wanted tracestore.search_filter, within text[])
returns tracestore.near_chunk[]
language sql
stable
parallel safe
security definer
set search_path = pg_catalog, pg_temp
begin atomic
  -- As the owner, since `@@` is not leakproof: behind row-level security it reads no index, and every row.
  select tracestore.lexical_matches(
    index_id, build_id, tracestore.lexemes_of_query(index_id, query_text), match_count, wanted, tracestore.caller_labels(within));
end;
comment on function tracestore.lexical_candidates(bigint, bigint, text, integer, tracestore.search_filter, text[]) is
  'Keys and ranks of the lexical leg, and nothing else, for callers behind row-level security: of what their session may see.';

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
    -- Inside somebody's SECURITY DEFINER function the current role is not the session's, which is all that
    -- lexical_candidates can know for sure: words are looked up with what both may see.
    return tracestore.lexical_candidates(
      index_id, build_id, query_text, match_count, wanted,
      case when not tracestore_data.sees_every_document() then tracestore_data.readable_labels() end);
  end if;
  return tracestore.lexical_matches(
    index_id, build_id, tracestore.lexemes_of_query(index_id, query_text), match_count, wanted, null);
end
$$;
comment on function tracestore.lexical_chunks(bigint, bigint, text, integer, tracestore.search_filter) is
  'The lexical leg of a search: chunks of a build with words of a text, in total order; distance_key is minus the rank.';
