-- requires: dispute, dispute_facts, replay_rank
create type tracestore.explanation as (
  explanation text,
  role text,
  verdict text,
  is_cause boolean,
  sub_verdict text,
  evidence jsonb,
  remedy text
);
comment on type tracestore.explanation is
  'One of the explanations of a disputed answer. role: cause, status (now) or validity (of the citation); verdict: established, excluded or undetermined, where evidence.missing names what is not known; at most one row is the cause.';

create function tracestore.remedy_of(sub_verdict text)
returns text
language sql
immutable
parallel safe
begin atomic
  select case sub_verdict
    when 'not_registered' then 'Ingestion: the text came to the store only after the answer.'
    when 'not_in_build' then 'Ingestion: the text was known, and the build that was served did not have it. Build and publish more often; look at the others that wait. Where a build had removed it, something newer should have been used.'
    when 'not_chunked' then 'Ingestion: the document was in the index without a chunk of this passage. See what the chunker does with it: tracestore chunks FILE.'
    when 'not_visible' then 'Access: the search could not return it to this caller. Check the filter of the service and the labels of the document.'
    when 'generator_picked' then 'Both passages were before the model. Decide which one wins: declare what supersedes what, and a policy for conflicts.'
    when 'dropped_after_retrieval' then 'It was retrieved and taken out before the model saw it. Look at the reranker or the policy that dropped it.'
    when 'ann_miss_or_tie' then 'Fidelity: an exact search returns it. Search with more effort or exactly, renew the graph (tracestore reindex), and do not serve two revisions that are nearly equal.'
    when 'outranked' then 'Retrieval quality: an exact search ranks it lower too, so this repeats. Look at model, chunking and question.'
    when 'tombstoned' then 'Fixed for this document. Look at its siblings that are pending.'
    when 'withdrawn' then 'It was taken down. Nothing searches it any more.'
    when 'corrected_in_place' then 'The citation is not the passage the model saw: the source changes texts under the same label. Ingest with --strict.'
    when 'no_newer_revision' then 'Nothing here disagrees. If the world does, the corpus is out of date as a whole: see the owner and the review date.'
  end;
end;
comment on function tracestore.remedy_of(text) is 'What a sub-verdict of an explanation calls for.';

create function tracestore.explained(
  explanation text, role text, value boolean, sub_verdict text, is_cause boolean, missing text, detail jsonb)
returns tracestore.explanation
language sql
immutable
parallel safe
begin atomic
  select row(explanation, role, case when value then 'established' when not value then 'excluded' else 'undetermined' end,
    coalesce(is_cause, false), case when value then sub_verdict end,
    jsonb_strip_nulls(jsonb_build_object('missing', missing)) || coalesce(case jsonb_typeof(detail) when 'array' then jsonb_build_object('items', detail)
      else detail end, '{}'),
    case when value then tracestore.remedy_of(sub_verdict) end)::tracestore.explanation;
end;
comment on function tracestore.explained(text, text, boolean, text, boolean, text, jsonb) is
  'Internal to explain_answer: a row of it; value null: undetermined, missing says why.';

create function tracestore.search_of_expected(about tracestore.dispute)
returns tracestore.dispute
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v tracestore.dispute := about;
  v_found tracestore_data.retrieval;
begin
  select r.* into v_found from tracestore_data.retrieval r
  where r.retrieval_id = any (about.retrieval_ids) and exists (
    select from unnest(r.version_keys, r.span_starts, r.span_ends) as h (version_key, span_start, span_end)
    where h.version_key = about.expected_key and tracestore.in_expected(about, h.span_start, h.span_end))
  order by r.retrieval_id = (about.retrieval).retrieval_id desc, array_position(about.retrieval_ids, r.retrieval_id)
  limit 1;
  if found and v_found.retrieval_id <> (about.retrieval).retrieval_id then
    v.retrieval := v_found;
    v.build_id := v_found.build_id;
    select b.index_id, b.level into v.index_id, v.level from tracestore_data.build b where b.build_id = v_found.build_id;
  end if;
  return v;
end
$$;
comment on function tracestore.search_of_expected(tracestore.dispute) is
  'Internal to explain_answer: the dispute with the search that returned the expected passage in the place of the one that found the disputed one, where they are two: an answer may use several, across a switch of the alias.';

create function tracestore.causes_of(disputed tracestore.dispute)
returns setof tracestore.explanation
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_about tracestore.dispute := tracestore.search_of_expected(disputed);
  v_indexed tracestore.fact := tracestore.was_indexed(v_about);
  v_visible tracestore.fact;
  v_returned tracestore.fact := tracestore.was_returned(v_about);
  v_given tracestore.fact;
  v_top tracestore.fact;
  v_candidate boolean;  -- it was there, the caller could see it, and everything needed to say so is on record
begin
  v_visible := case when v_indexed.value then tracestore.was_visible(v_about) else row(null, v_indexed.missing, null)::tracestore.fact end;
  v_candidate := v_indexed.value and v_visible.value;
  if v_returned.value then
    v_given := tracestore.was_given(v_about);
  elsif v_candidate and not v_returned.value then
    v_top := tracestore.was_in_top_k(v_about);
  end if;
  return next tracestore.explained('not_in_index', 'cause', not v_indexed.value, v_indexed.detail ->> 'sub_verdict', not v_indexed.value,
    v_indexed.missing, v_indexed.detail - 'sub_verdict');
  return next tracestore.explained('not_allowed', 'cause', case when not v_indexed.value then false else not v_visible.value end, 'not_visible',
    v_indexed.value and not v_visible.value, coalesce(v_indexed.missing, v_visible.missing), v_visible.detail);
  -- Whether the model saw it decides between two causes: without it neither is named.
  return next tracestore.explained('generator_choice', 'cause', v_returned.value,
    case v_given.value when true then 'generator_picked' when false then 'dropped_after_retrieval' end,
    v_candidate and v_returned.value and v_given.value is not null, coalesce(v_returned.missing, v_given.missing), coalesce(v_given.detail, v_returned.detail));
  return next tracestore.explained('ranking', 'cause',
    case when v_returned.value or not v_indexed.value or not v_visible.value then false
      when v_candidate and not v_returned.value and v_top.value is not null then true end,
    case v_top.value when true then 'ann_miss_or_tie' when false then 'outranked' end,
    v_candidate and not v_returned.value and v_top.value is not null,
    coalesce(v_indexed.missing, v_visible.missing, v_returned.missing, v_top.missing), v_top.detail);
end
$$;
comment on function tracestore.causes_of(tracestore.dispute) is
  'Internal to explain_answer: the causes where it is known what should have been used, in the order in which the first one counts.';

create function tracestore.explain_answer(answer_id text, disputed text default null, expected jsonb default null)
returns setof tracestore.explanation
language plpgsql
stable
set search_path = pg_catalog, pg_temp
-- One plan for a session, for all that is asked below: planning for every month of the log and every index took longer.
-- By keys, since a plan that was made when a month was empty would read it through when it is not.
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set jit = off
as $$
#variable_conflict use_column
declare
  v_about tracestore.dispute;
  v_served tracestore.fact;
  v_unchanged tracestore.fact;
  v_member boolean;
  v_nothing boolean;
begin
  if not has_table_privilege('tracestore_data.document_event', 'select') then
    raise exception using errcode = 'insufficient_privilege', message = 'an explanation tells what there was, also what is hidden',
      hint = 'Ask as a member of tracestore_auditor.';
  end if;
  v_about := tracestore.dispute_of(answer_id, disputed, expected);
  v_served := tracestore.is_served(v_about);
  v_unchanged := tracestore.is_unchanged(v_about);
  v_member := v_about.build_id is not null and exists (
    select from tracestore_data.manifest_entry m where m.index_id = v_about.index_id and m.version_key = v_about.version_key
      and m.added_build <= v_about.build_id and (m.removed_build is null or m.removed_build > v_about.build_id));
  -- Nothing disagrees: what was cited was served then, is served now, reads the same, and nothing newer is known.
  v_nothing := v_about.wanted is null and v_member and coalesce(v_served.value and v_unchanged.value, false);
  if v_about.wanted is null then
    return query
    select e.*
    from unnest(array['not_in_index', 'not_allowed', 'generator_choice', 'ranking']) as name
    cross join lateral tracestore.explained(name, 'cause', case when v_nothing then false end, null, false, case when not v_nothing then 'expected' end, null) e;
  else
    return query select * from tracestore.causes_of(v_about);
  end if;
  return next tracestore.explained('no_disagreement', 'cause', case when v_about.wanted is not null then false when v_nothing then true end,
    'no_newer_revision', v_nothing,
    case when v_about.wanted is null and not v_nothing then coalesce(v_served.missing, v_unchanged.missing, 'expected') end,
    case when v_nothing then (
      select jsonb_build_object('doc_id', d.doc_id, 'owner', d.owner, 'review_due', d.review_due)
      from tracestore_data.document d join tracestore_data.document_version v using (doc_key) where v.version_key = v_about.version_key) end);
  return next tracestore.explained('tombstoned_since', 'status', not v_served.value,
    case when v_served.detail ? 'withdrawn_at' then 'withdrawn' else 'tombstoned' end, false, v_served.missing, v_served.detail);
  return next tracestore.explained('corrected_in_place', 'validity', not v_unchanged.value, 'corrected_in_place', false, v_unchanged.missing,
    v_unchanged.detail);
end
$$;
comment on function tracestore.explain_answer(text, text, jsonb) is
  'Why an answer said what it said: seven explanations, each established, excluded or undetermined with the rows that say so, and at most one cause. disputed: the citation that is; expected: what should have been used, {"citation"} or {"doc_id", "version_id", "anchor"}; left out: what succeeded the cited version.';
