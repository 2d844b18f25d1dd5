create view tracestore.gold_sets with (security_invoker = true) as
select
  c.slug as collection,
  g.name as gold_set,
  g.gold_set_id,
  count(i.gold_item_id) filter (where i.retired_at is null) as questions,
  count(i.gold_item_id) filter (where i.retired_at is not null) as retired,
  g.created_at,
  g.actor
from tracestore_data.gold_set g
join tracestore_data.collection c using (collection_id)
left join tracestore_data.gold_item i using (gold_set_id)
group by c.slug, g.gold_set_id;
comment on view tracestore.gold_sets is 'Every gold set with the number of its questions.';
