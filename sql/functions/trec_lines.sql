-- requires: percent_encode
create function tracestore.trec_lines(evaluation_id bigint)
returns table (file text, line text)
language sql
stable
begin atomic
  select lines.file, lines.line
  from (
    -- Ids of questions may hold spaces, which divide the columns.
    select 'run.txt', format('%s Q0 %s:%s %s %s tracestore', tracestore.percent_encode(i.question_id), h.version_key, h.ordinal, h.rank, - h.rank),
      i.gold_item_id, h.rank
    from tracestore_data.evaluation_hit h
    join tracestore_data.gold_item i using (gold_item_id)
    where h.evaluation_id = trec_lines.evaluation_id
    union all
    select 'qrels.txt', format('%s 0 %s:%s 1', tracestore.percent_encode(i.question_id), chunk.version_key, chunk.ordinal),
      i.gold_item_id, chunk.place
    from tracestore_data.evaluation_item x
    join tracestore_data.gold_item i using (gold_item_id)
    cross join lateral unnest(x.relevant_versions, x.relevant_ordinals) with ordinality as chunk (version_key, ordinal, place)
    where x.evaluation_id = trec_lines.evaluation_id and x.outcome in ('asked', 'not_embeddable')
    union all
    select 'qrels.txt', format('%s 0 none 0', tracestore.percent_encode(i.question_id)), i.gold_item_id, 1
    from tracestore_data.evaluation_item x
    join tracestore_data.gold_item i using (gold_item_id)
    where x.evaluation_id = trec_lines.evaluation_id and x.outcome in ('asked', 'not_embeddable') and x.relevant_versions = '{}'
  ) lines (file, line, gold_item_id, place)
  order by lines.file, lines.gold_item_id, lines.place;
end;
comment on function tracestore.trec_lines(bigint) is
  'The lines of the TREC run and qrels files of an evaluation: passages named VERSION_KEY:ORDINAL, scores that are minus the rank.';
