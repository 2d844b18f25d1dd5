create view tracestore.evaluation_metrics with (security_invoker = true) as
select
  e.evaluation_id,
  e.build_id,
  g.name as gold_set,
  m.slice,
  m.metric,
  m.questions,
  m.value,
  m.worst,
  m.expected,
  m.best,
  m.low,
  m.high
from tracestore_data.evaluation_metric m
join tracestore_data.evaluation e using (evaluation_id)
join tracestore_data.gold_set g using (gold_set_id);
comment on view tracestore.evaluation_metrics is
  'The figures of every evaluation, over all questions (slice empty) and by slice: value in the store''s order, worst to best over orders of ties, low to high over samples of questions.';
