create function tracestore.evaluation_answers(evaluation_id bigint)
returns table (
  gold_item_id bigint, question_id text, query text, slices text[], outcome text, relevant_versions bigint[], relevant_ordinals integer[],
  tied_beyond integer, relevant_beyond integer, in_context_beyond integer, tie_is_open boolean)
language sql
stable
begin atomic
  select x.gold_item_id, i.question_id, i.query, i.slices, x.outcome, x.relevant_versions, x.relevant_ordinals, x.tied_beyond,
    x.relevant_beyond, x.in_context_beyond, x.tie_is_open
  from tracestore_data.evaluation_item x join tracestore_data.gold_item i using (gold_item_id)
  where x.evaluation_id = evaluation_answers.evaluation_id and x.outcome in ('asked', 'not_embeddable');
end;
comment on function tracestore.evaluation_answers(bigint) is 'The questions of an evaluation that count.';

create function tracestore.judged_hits(evaluation_id bigint)
returns table (
  gold_item_id bigint, version_key bigint, ordinal integer, span_start integer, span_end integer, context_start integer,
  context_end integer, score double precision, is_relevant boolean, in_context boolean)
language sql
stable
begin atomic
  select h.gold_item_id, h.version_key, h.ordinal, h.span_start, h.span_end, h.context_start, h.context_end, h.score, h.is_relevant,
    h.in_context
  from tracestore_data.evaluation_hit h
  where h.evaluation_id = judged_hits.evaluation_id
  order by h.gold_item_id, h.rank;
end;
comment on function tracestore.judged_hits(bigint) is 'The hits of an evaluation in the order of rank, without their texts.';

create function tracestore.fitting_evaluation(
  build_id bigint, gold_set_id bigint, mode text, hybrid boolean, depth integer, options jsonb, split text)
returns bigint
language sql
stable
begin atomic
  select max(e.evaluation_id)
  from tracestore_data.evaluation e
  cross join tracestore_data.store s
  where e.build_id = fitting_evaluation.build_id and e.gold_set_id = fitting_evaluation.gold_set_id
    and e.mode = fitting_evaluation.mode and e.hybrid = fitting_evaluation.hybrid and e.depth = fitting_evaluation.depth
    and e.options = fitting_evaluation.options and e.split is not distinct from fitting_evaluation.split
    and e.suppression_epoch = s.suppression_epoch and e.api_sha256 = s.api_sha256
    -- The approximate index is one for all builds of an index: another graph, or more in it, may answer otherwise. The
    -- other modes ask a build by its number exactly.
    and not (e.mode = 'ann' and exists (
      select from tracestore_data.build asked
      join tracestore_data.build later on later.index_id = asked.index_id and later.committed_at >= e.started_at
      where asked.build_id = e.build_id and later.state = 'ready'
      union all
      select from tracestore_data.build asked
      join tracestore_data.graph_event g on g.index_id = asked.index_id and g.made_at >= e.started_at
      where asked.build_id = e.build_id))
    and not exists (
      -- What is asked now was asked then, and nothing else.
      select from (
        select i.gold_item_id from tracestore_data.gold_item i
        where i.gold_set_id = e.gold_set_id and i.retired_at is null and i.split = coalesce(fitting_evaluation.split, i.split)) present
      full join (
        select x.gold_item_id from tracestore_data.evaluation_item x where x.evaluation_id = e.evaluation_id) past
        using (gold_item_id)
      where present.gold_item_id is null or past.gold_item_id is null);
end;
comment on function tracestore.fitting_evaluation(bigint, bigint, text, boolean, integer, jsonb, text) is
  'The latest evaluation that asked a build the questions in use in the same way, by the same functions, of the same graph and under the same suppressions; null: evaluate.';

create function tracestore.top_passages(evaluation_id bigint, gold_item_ids bigint[])
returns table (gold_item_id bigint, doc_id text, version_id text, span_start integer, span_end integer, text text)
language sql
stable
begin atomic
  select h.gold_item_id, d.doc_id, v.version_id, h.span_start, h.span_end,
    substr(convert_from(v.content, 'UTF8'), h.span_start + 1, h.span_end - h.span_start)
  from tracestore_data.evaluation_hit h
  join tracestore_data.document_version v using (version_key)
  join tracestore_data.document d using (doc_key)
  where h.evaluation_id = top_passages.evaluation_id and h.gold_item_id = any (gold_item_ids) and h.rank = 1;
end;
comment on function tracestore.top_passages(bigint, bigint[]) is 'What stood first for some questions of an evaluation.';
