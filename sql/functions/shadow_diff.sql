-- requires: search
create function tracestore.shadow_diff(
  hits tracestore.hit[], index_alias text, query_embedding @vector@.vector, recipe_id text, match_count integer, query_text text, mode text,
  filter jsonb, as_of_build bigint, as_of timestamptz, options jsonb)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_variable
declare
  v_first tracestore.hit := hits[1];
  v_options jsonb := coalesce(nullif(options, 'null'), '{}');
  v_number jsonb := jsonb_build_object('recency_policy_id', v_first.settings -> 'recency_policy_id');
  v_other tracestore.hit[];
begin
  if v_options -> 'shadow' = 'true' or not jsonb_path_exists(
    tracestore.policies_of(v_first.collection, null, 0, (v_number ->> 'recency_policy_id')::bigint), '$.recency[*] ? (@.state == "shadow")')
  then
    return null;
  end if;
  begin
    v_other := array(
      select h from tracestore.search(index_alias, query_embedding, recipe_id, match_count, query_text, mode, filter, as_of_build, as_of,
        -- With the limit of the search the answer would be at risk; the policies are those that it had.
        v_options - 'max_ms' || v_number || jsonb_build_object('shadow', true, 'refuse', false,
          'conflict_policy_id', coalesce(v_first.settings -> 'conflict_policy_id', '0'))) h);
  exception when others then
    -- What is only tried out costs no answer; that it failed is on record.
    return v_number || jsonb_build_object('failed', sqlerrm);
  end;
  if (v_other[1].build_id, v_other[1].suppression_epoch) is distinct from (v_first.build_id, v_first.suppression_epoch) then
    return v_number || jsonb_build_object('failed', 'something else was served meanwhile');
  end if;
  return v_number || (
    select jsonb_build_object('changed', count(*) > 0, 'moved', coalesce(jsonb_agg(m.move order by m.rank, m.shadow_rank), '[]'))
    from (
      select a.rank, b.rank as shadow_rank,
        -- Hits are on record by their rank; what would come in is not.
        jsonb_strip_nulls(jsonb_build_object('rank', a.rank, 'shadow_rank', b.rank, 'citation', case when a.rank is null then b.citation end)) as move
      from (select h.rank, h.doc_id, h.version_id, h.ordinal from unnest(hits) as h) a
      full join (select h.rank, h.doc_id, h.version_id, h.ordinal, h.citation from unnest(v_other) as h) b using (doc_id, version_id, ordinal)
      where a.rank is distinct from b.rank) m);
end
$$;
comment on function tracestore.shadow_diff(tracestore.hit[], text, @vector@.vector, text, integer, text, text, jsonb, bigint, timestamptz, jsonb) is
  'Internal to retrieve: which of its hits would have another rank, go or come if recency in the shadow were on; null where none is in the shadow.';
