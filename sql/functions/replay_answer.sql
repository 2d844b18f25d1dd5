-- requires: replay_rank, answer_record
create type tracestore.replayed as (
  retrieval_id bigint,
  verdict text,
  because text,
  recorded_rank integer,
  exact_rank integer,
  rank_today integer,
  citation text,
  excludes text[],
  leaves_open text[]
);
comment on type tracestore.replayed is
  'A passage of a logged search that was run again: its rank on record, in an exact search on the build that answered, and in one on what the alias serves today. verdict is that of the search: reproduced, ann_miss, ranking_changed, or not_replayable, because of what is missing. excludes and leaves_open are sub-verdicts of explain_answer: what this replay tells of each.';

create function tracestore.open_after_replay(verdict text)
returns text[]
language sql
immutable
parallel safe
begin atomic
  -- Whatever came out today, only a fault of the approximate search is excluded, and that only by a record that is exact.
  select array_remove(array['not_registered', 'not_in_build', 'not_chunked', 'not_visible', 'generator_picked', 'dropped_after_retrieval',
      'ann_miss_or_tie', 'outranked', 'no_newer_revision', 'tombstoned', 'withdrawn', 'corrected_in_place'],
    case when verdict = 'reproduced' then 'ann_miss_or_tie' end);
end;
comment on function tracestore.open_after_replay(text) is
  'Internal to replay_answer: the sub-verdicts of explain_answer that a replay with this verdict leaves open.';

create function tracestore.replay_retrieval(retrieval tracestore_data.retrieval)
returns setof tracestore.replayed
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_missing text := tracestore.not_replayable(retrieval);
  v_k integer := greatest(1, coalesce((retrieval.settings ->> 'match_count')::integer, cardinality(retrieval.version_keys)));
  v_today tracestore_data.retrieval := retrieval;
begin
  if v_missing is not null then
    return next row(retrieval.retrieval_id, 'not_replayable', v_missing, null, null, null, null, '{}',
      tracestore.open_after_replay('not_replayable'))::tracestore.replayed;
    return;
  end if;
  -- Today is what a search would be now, its policies included.
  select a.build_id, s.suppression_epoch, retrieval.settings - array['conflict_policy_id', 'recency_policy_id']
      || jsonb_strip_nulls(jsonb_build_object('conflict_policy_id', c.policies -> 'conflict_policy_id', 'recency_policy_id', c.policies -> 'recency_policy_id'))
  into v_today.build_id, v_today.suppression_epoch, v_today.settings
  from tracestore_data.store s
  left join tracestore_data.build then_built on then_built.build_id = retrieval.build_id
  left join tracestore_data.retrieval_index i on i.index_id = then_built.index_id
  left join tracestore_data.collection c using (collection_id)
  left join tracestore_data.alias a on a.alias_name = retrieval.index_alias and a.recipe_key = i.recipe_key;
  return query
  with recorded as (
    select h.place::integer as rank, h.version_key, h.span_start, h.span_end
    from unnest(retrieval.version_keys, retrieval.span_starts, retrieval.span_ends) with ordinality as h (version_key, span_start, span_end, place)
  ), exact as (
    select r.rank, r.version_key, r.span_start, r.span_end from tracestore.replay(retrieval, v_k) r
  ), today as (
    select r.rank, r.version_key, r.span_start, r.span_end from tracestore.replay(v_today, v_k) r where v_today.build_id is not null
  ), together as (
    select recorded.rank as recorded_rank, exact.rank as exact_rank, today.rank as rank_today, version_key, span_start, span_end
    from recorded full join exact using (version_key, span_start, span_end) full join today using (version_key, span_start, span_end)
  ), judged as (
    select *, case when not bool_or(recorded_rank is distinct from exact_rank) over () then 'reproduced'
      when retrieval.dense_path <> 'exact' then 'ann_miss' else 'ranking_changed' end as verdict
    from together
  )
  select retrieval.retrieval_id, t.verdict, null::text, t.recorded_rank, t.exact_rank, t.rank_today,
    tracestore.citation(c.slug, d.doc_id, v.version_id, t.span_start, t.span_end,
      sha256(convert_to(substr(convert_from(v.content, 'UTF8'), t.span_start + 1, t.span_end - t.span_start), 'UTF8'))),
    case when t.verdict = 'reproduced' then array['ann_miss_or_tie'] else '{}' end, tracestore.open_after_replay(t.verdict)
  from judged t
  join tracestore_data.document_version v using (version_key)
  join tracestore_data.document d using (doc_key)
  join tracestore_data.collection c using (collection_id)
  order by t.recorded_rank, t.exact_rank, t.rank_today;
  if not found then
    -- Nothing was found then, and nothing is.
    return next row(retrieval.retrieval_id, 'reproduced', null, null, null, null, null, array['ann_miss_or_tie'],
      tracestore.open_after_replay('reproduced'))::tracestore.replayed;
  end if;
end
$$;
comment on function tracestore.replay_retrieval(tracestore_data.retrieval) is 'Internal to replay_answer: one of its searches.';

create function tracestore.replay_answer(answer_id text)
returns setof tracestore.replayed
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_ids bigint[];
  v_retrieval tracestore_data.retrieval;
begin
  if not has_table_privilege('tracestore_data.document_event', 'select') then
    raise exception using errcode = 'insufficient_privilege', message = 'a replay returns what somebody else could see',
      hint = 'Ask as a member of tracestore_auditor.';
  end if;
  perform tracestore.answer_record(answer_id);
  v_ids := (tracestore.answer_row(answer_id)).retrieval_ids;
  if v_ids = '{}' then
    return next row(null, 'not_replayable', 'retrieval_ids', null, null, null, null, '{}',
      tracestore.open_after_replay('not_replayable'))::tracestore.replayed;
  end if;
  for v_retrieval in select r.* from tracestore_data.retrieval r where r.retrieval_id = any (v_ids) order by array_position(v_ids, r.retrieval_id) loop
    return query select * from tracestore.replay_retrieval(v_retrieval);
  end loop;
end
$$;
comment on function tracestore.replay_answer(text) is
  'The searches of an answer again, exactly, on the builds that answered, passage by passage beside the record and today. A clean replay excludes that the approximate index missed something, and nothing else.';
