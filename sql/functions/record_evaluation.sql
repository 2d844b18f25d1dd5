create function tracestore.record_evaluation(
  build_id bigint, gold_set_id bigint, header jsonb, items jsonb, metrics jsonb)
returns bigint
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_store tracestore_data.store;
  v_evaluation bigint;
begin
  select s.* into v_store from tracestore_data.store s;
  if v_store.suppression_epoch <> (header ->> 'suppression_epoch')::bigint then
    raise exception using errcode = 'TS006', message = 'a document was withdrawn, restored or erased during the evaluation',
      detail = format('suppression epoch %s, then %s', header ->> 'suppression_epoch', v_store.suppression_epoch),
      hint = 'Evaluate again.';
  end if;
  insert into tracestore_data.evaluation (
    build_id, gold_set_id, mode, hybrid, depth, options, split, paths, suppression_epoch, api_sha256, started_at, search_seconds)
  select record_evaluation.build_id, record_evaluation.gold_set_id, h.mode, h.hybrid, h.depth, h.options, h.split, h.paths,
    h.suppression_epoch, v_store.api_sha256, h.started_at, h.search_seconds
  from jsonb_to_record(header) as h (
    mode text, hybrid boolean, depth integer, options jsonb, split text, paths jsonb, suppression_epoch bigint, started_at timestamptz,
    search_seconds double precision)
  returning evaluation_id into v_evaluation;
  insert into tracestore_data.evaluation_item (
    evaluation_id, gold_item_id, outcome, occurrences, context_lost, border, relevant_versions, relevant_ordinals, tied_beyond,
    relevant_beyond, in_context_beyond, tie_is_open, miss)
  select v_evaluation, i.gold_item_id, i.outcome, i.occurrences, i.context_lost, i.border, i.relevant_versions, i.relevant_ordinals,
    i.tied_beyond, i.relevant_beyond, i.in_context_beyond, i.tie_is_open, i.miss
  from jsonb_to_recordset(items) as i (
    gold_item_id bigint, outcome text, occurrences integer, context_lost boolean, border text, relevant_versions bigint[],
    relevant_ordinals integer[], tied_beyond integer, relevant_beyond integer, in_context_beyond integer, tie_is_open boolean,
    miss text);
  insert into tracestore_data.evaluation_metric (evaluation_id, slice, metric, questions, value, worst, expected, best, low, high)
  select v_evaluation, m.slice, m.metric, m.questions, m.value, m.worst, m.expected, m.best, m.low, m.high
  from jsonb_to_recordset(metrics) as m (
    slice text, metric text, questions integer, value double precision, worst double precision, expected double precision,
    best double precision, low double precision, high double precision);
  return v_evaluation;
end
$$;
comment on function tracestore.record_evaluation(bigint, bigint, jsonb, jsonb, jsonb) is
  'Keeps an evaluation, its questions and its figures; refused when documents were suppressed or restored while it ran. Hits follow in the same transaction.';

create function tracestore.add_evaluation_hits(
  evaluation_id bigint, gold_item_ids bigint[], ranks integer[], version_keys bigint[], ordinals integer[], span_starts integer[],
  span_ends integer[], context_starts integer[], context_ends integer[], scores double precision[], relevant boolean[], in_context boolean[])
returns bigint
language sql
volatile
begin atomic
  with added as (
    insert into tracestore_data.evaluation_hit (
      evaluation_id, gold_item_id, rank, version_key, ordinal, span_start, span_end, context_start, context_end, score, is_relevant, in_context)
    select add_evaluation_hits.evaluation_id, h.*
    from unnest(gold_item_ids, ranks, version_keys, ordinals, span_starts, span_ends, context_starts, context_ends, scores, relevant, in_context) as h
    returning 1
  )
  select count(*) from added;
end;
comment on function tracestore.add_evaluation_hits(bigint, bigint[], integer[], bigint[], integer[], integer[], integer[], integer[], integer[], double precision[], boolean[], boolean[]) is
  'Keeps what the questions of an evaluation found; returns how many hits.';
