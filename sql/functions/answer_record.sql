-- requires: pack_items, write_retrieval, api_version, check_fields
create function tracestore.implied_fields(
  implied integer, build_id bigint, retrieval_ids bigint[], answered_at timestamptz, config_sha256 bytea)
returns jsonb
language sql
stable
begin atomic
  select case when implied & 1 > 0 then jsonb_build_object('store_id', tracestore.store_id()) else '{}' end
    || case when implied & 2 > 0 then jsonb_build_object('index_build_id', 'B-' || build_id) else '{}' end
    || case when implied & 4 > 0 then jsonb_build_object('retrieval_ids', retrieval_ids) else '{}' end
    || case when implied & 8 > 0 then jsonb_build_object('answered_at', tracestore.rfc3339(answered_at)) else '{}' end
    || case when implied & 16 > 0 then jsonb_build_object('conflict_policy_fired', tracestore.policies_fired(retrieval_ids)) else '{}' end
    || case when implied & 32 > 0 then jsonb_build_object('retriever_config_hash', 'sha256:' || encode(config_sha256, 'hex')) else '{}' end;
end;
comment on function tracestore.implied_fields(integer, bigint, bigint[], timestamptz, bytea) is
  'Internal to answer_record: fields of a record that are kept as columns, by the sum of their numbers: 1 store_id, 2 index_build_id, 4 retrieval_ids, 8 answered_at, 16 conflict_policy_fired, 32 retriever_config_hash, the last 32 bytes of the digests.';

create function tracestore.read_answer(answer_id text)
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
  v_answer tracestore_data.answer;
  v_record jsonb;
begin
  select a.* into v_answer
  from tracestore_data.answer_key k
  join tracestore_data.answer a on a.answer_key = k.answer_key and a.logged_at = k.logged_at
  where k.answer_id = read_answer.answer_id;
  if not found then
    return null;
  end if;
  v_record := v_answer.record || jsonb_build_object('answer_id', read_answer.answer_id);
  if jsonb_typeof(v_record -> 'retrieved') = 'object' then
    v_record := v_record || jsonb_build_object('retrieved', tracestore.unpack_items(v_record -> 'retrieved',
      case when v_answer.retrieval_ids = '{}' then '[]' else tracestore.retrieval_items(v_answer.retrieval_ids) end, v_answer.digests));
  end if;
  return v_record || tracestore.implied_fields(v_answer.implied, v_answer.build_id, v_answer.retrieval_ids, v_answer.answered_at,
    substring(v_answer.digests from octet_length(v_answer.digests) - 31));
end
$$;
comment on function tracestore.read_answer(text) is 'Internal to answer_record and log_answer: the record of an answer as it was given; null where there is none.';

-- As the owner: what is hidden from the reader of a record today was not when he wrote it, and it has to come out as it was.
create function tracestore.answer_record(answer_id text)
returns jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set jit = off
as $$
#variable_conflict use_column
begin
  perform
  from tracestore_data.answer_key k join tracestore_data.answer a on a.answer_key = k.answer_key and a.logged_at = k.logged_at
  where k.answer_id = answer_record.answer_id and tracestore.may_read_log(a.logged_by);
  if not found then
    raise exception using errcode = 'TS003', message = format('there is no answer %s on record', quote_nullable(answer_record.answer_id)),
      hint = 'View tracestore.answers lists those you may read.';
  end if;
  return tracestore.read_answer(answer_record.answer_id);
end
$$;
comment on function tracestore.answer_record(text) is 'The record of an answer, as it was given to log_answer.';
