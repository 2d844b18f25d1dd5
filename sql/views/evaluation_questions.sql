create view tracestore.evaluation_questions with (security_invoker = true) as
select
  x.evaluation_id,
  x.gold_item_id,
  i.question_id,
  i.query,
  i.slices,
  x.outcome,
  x.occurrences,
  x.context_lost,
  x.border,
  (
    select min(h.rank) from tracestore_data.evaluation_hit h
    where h.evaluation_id = x.evaluation_id and h.gold_item_id = x.gold_item_id and h.is_relevant) as first_rank,
  (
    select min(h.rank) from tracestore_data.evaluation_hit h
    where h.evaluation_id = x.evaluation_id and h.gold_item_id = x.gold_item_id and h.in_context) as context_rank,
  x.relevant_versions,
  x.relevant_ordinals,
  x.tied_beyond,
  x.relevant_beyond,
  x.in_context_beyond,
  x.tie_is_open,
  x.miss
from tracestore_data.evaluation_item x
join tracestore_data.gold_item i using (gold_item_id);
comment on view tracestore.evaluation_questions is
  'Every question of every evaluation: at which rank its answer was found, or why it was not asked.';
