-- requires: retrieved_chunks, check_fields, api_version
create function tracestore.retrieval_items(retrieval_ids bigint[])
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
-- One plan for a session: planning for every month took longer than all the rest.
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set jit = off
as $$
#variable_conflict use_column
begin
  return coalesce((
    select jsonb_agg(
      jsonb_build_object(
        'rank', r.rank, 'chunk_id', r.citation, 'doc_id', r.doc_id, 'doc_family_id', r.family_id, 'doc_version', r.version_seq,
        'version_state_at_answer', r.version_state, 'effective_from', tracestore.rfc3339(r.effective_from),
        'content_hash', 'sha256:' || r.span_sha256, 'score', r.score)
      order by wanted.place, r.rank)
    from unnest(retrieval_items.retrieval_ids) with ordinality as wanted (retrieval_id, place)
    join tracestore.retrieved_chunks r using (retrieval_id)), '[]');
end
$$;
comment on function tracestore.retrieval_items(bigint[]) is 'What logged searches returned, as an answer''s record has it in retrieved.';

create function tracestore.policies_fired(retrieval_ids bigint[])
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set jit = off
as $$
#variable_conflict use_column
declare
  v_fired jsonb;
begin
  select jsonb_agg(r.settings -> 'conflict_policy_fired' order by wanted.place) into v_fired
  from unnest(policies_fired.retrieval_ids) with ordinality as wanted (retrieval_id, place)
  join tracestore_data.retrieval r using (retrieval_id)
  where r.settings ? 'conflict_policy_fired';
  return case jsonb_array_length(v_fired) when 1 then v_fired -> 0 else coalesce(v_fired, 'null') end;
end
$$;
comment on function tracestore.policies_fired(bigint[]) is
  'What policies did with the candidates of logged searches, as an answer''s record has it in conflict_policy_fired: JSON null for nothing, of several searches a list.';

create function tracestore.retrieval_record(retrieval_id bigint)
returns jsonb
language sql
stable
begin atomic
  select jsonb_build_object(
    'store_id', tracestore.store_id(), 'index_build_id', 'B-' || r.build_id, 'retrieval_ids', jsonb_build_array(r.retrieval_id),
    'conflict_policy_fired', tracestore.policies_fired(array[r.retrieval_id]), 'retrieved', tracestore.retrieval_items(array[r.retrieval_id]))
  from tracestore_data.retrieval r where r.retrieval_id = retrieval_record.retrieval_id;
end;
comment on function tracestore.retrieval_record(bigint) is
  'The part of an answer''s record that its search knows: add answer_id, answered_at, generator and which items were cited, and pass it to log_answer.';
