-- requires: first_passage
create function tracestore.report_questions(evaluation_a bigint, evaluation_b bigint, cutoff integer, most integer)
returns table (
  question_id text, query text, slices text[], anchors jsonb, rank_a integer, rank_b integer, first_a jsonb, first_b jsonb, total bigint)
language sql
stable
begin atomic
  with judged as (
    select x.evaluation_id, x.gold_item_id, min(h.rank) filter (where h.is_relevant) as rank
    from tracestore_data.evaluation_item x
    left join tracestore_data.evaluation_hit h using (evaluation_id, gold_item_id)
    where x.evaluation_id in (evaluation_a, evaluation_b) and x.outcome = 'asked'
    group by x.evaluation_id, x.gold_item_id
  ),
  chosen as (
    -- Of two evaluations, the questions that one of them answers within the cutoff and the other does not; of one, those
    -- that it does not answer.
    select a.gold_item_id, a.rank as rank_a, b.rank as rank_b, count(*) over () as total
    from judged a
    left join judged b on b.evaluation_id = evaluation_b and b.gold_item_id = a.gold_item_id
    where a.evaluation_id = evaluation_a
      and case when evaluation_b is null then coalesce(a.rank > cutoff, true)
        else b.gold_item_id is not null and coalesce(a.rank <= cutoff, false) <> coalesce(b.rank <= cutoff, false) end
    order by coalesce(a.rank > cutoff, true), a.gold_item_id
    limit most
  )
  select i.question_id, i.query, i.slices, (
      select jsonb_agg(jsonb_build_object('doc_id', d.doc_id, 'family_id', k.family_id, 'quote', k.quote) order by k.gold_anchor_id)
      from tracestore_data.gold_anchor k left join tracestore_data.document d using (doc_key)
      where k.gold_item_id = c.gold_item_id),
    c.rank_a, c.rank_b, tracestore.first_passage(evaluation_a, c.gold_item_id), tracestore.first_passage(evaluation_b, c.gold_item_id),
    c.total
  from chosen c
  join tracestore_data.gold_item i using (gold_item_id)
  order by coalesce(c.rank_a > cutoff, true), c.gold_item_id;
end;
comment on function tracestore.report_questions(bigint, bigint, integer, integer) is
  'For reports: the questions that one of two evaluations answers within a cutoff and the other does not, or that one alone does not answer, with what stood first; total counts them all.';
