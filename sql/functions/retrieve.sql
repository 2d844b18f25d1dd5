-- requires: search, shadow_diff, write_retrieval
create type tracestore.logged_hit as (
  rank integer,
  score double precision,
  dense_rank integer,
  lexical_rank integer,
  collection text,
  doc_id text,
  family_id text,
  version_id text,
  version_seq integer,
  version_state text,
  effective_from timestamptz,
  ordinal integer,
  span_start integer,
  span_end integer,
  context_start integer,
  context_end integer,
  heading_path text[],
  text text,
  span_sha256 text,
  content_sha256 text,
  evidence_id text,
  citation text,
  build_id bigint,
  index_version text,
  suppression_epoch bigint,
  alias_event_id bigint,
  settings jsonb,
  dense_path text,
  path text,
  page text,
  context text,
  retrieval_id bigint
);
comment on type tracestore.logged_hit is 'A hit, and the number under which its search is on record.';

create function tracestore.retrieve(
  index_alias text,
  query_embedding @vector@.vector,
  recipe_id text,
  match_count integer default 10,
  query_text text default null,
  mode text default 'auto',
  filter jsonb default null,
  as_of_build bigint default null,
  as_of timestamptz default null,
  options jsonb default null)
returns setof tracestore.logged_hit
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_hits tracestore.hit[];
  v_served tracestore.served_build;
  v_epoch bigint;
  v_id bigint;
  v_settings jsonb;
begin
  -- One statement, one snapshot: the log holds what this search saw.
  v_hits := array(
    select h from tracestore.search(index_alias, query_embedding, recipe_id, match_count, query_text, mode, filter, as_of_build, as_of, options) h);
  if cardinality(v_hits) > 0 then
    v_settings := v_hits[1].settings;
    if v_settings ? 'recency_policy_id' then
      v_settings := v_settings || jsonb_strip_nulls(jsonb_build_object('recency_shadow', tracestore.shadow_diff(
        v_hits, index_alias, query_embedding, recipe_id, match_count, query_text, mode, filter, as_of_build, as_of, options)));
    end if;
    v_id := tracestore.write_retrieval(
      v_hits, v_hits[1].build_id, index_alias, v_hits[1].alias_event_id, v_hits[1].suppression_epoch, v_settings,
      v_hits[1].dense_path, v_hits[1].path, query_text, query_embedding);
  else
    -- That nothing was found is on record as well.
    v_served := tracestore.served_build_at(index_alias, recipe_id, as_of_build, as_of);
    select s.suppression_epoch into v_epoch from tracestore_data.store s;
    v_settings := jsonb_strip_nulls(jsonb_build_object('mode', mode, 'match_count', match_count, 'filter', filter,
      'as_of_build', as_of_build, 'options', options));
    v_id := tracestore.write_retrieval(v_hits, v_served.build_id, index_alias, v_served.alias_event_id, v_epoch, v_settings, null, null, query_text,
      query_embedding);
  end if;
  return query select (h).*, v_id from unnest(v_hits) as h;
end
$$;
comment on function tracestore.retrieve(text, @vector@.vector, text, integer, text, text, jsonb, bigint, timestamptz, jsonb) is
  'search, and its record in the log, in one round trip; each hit carries the retrieval_id to give to log_answer.';
