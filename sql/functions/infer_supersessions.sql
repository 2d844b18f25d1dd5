create function tracestore.infer_supersessions(collection text, cutoff timestamptz)
returns bigint
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_count bigint;
begin
  -- Only inside a family, which somebody named when two documents share it; only between current versions, and only
  -- where one is clearly newer. Families first, by a member that is not named as its family: they are few, and a collection
  -- has many documents.
  with family as (
    select distinct d.collection_id, d.family_id
    from tracestore_data.collection c
    join tracestore_data.document d using (collection_id)
    where c.slug = infer_supersessions.collection and d.family_id <> d.doc_id
  ),
  member as (
    select d.doc_key, d.family_id, v.version_key, v.effective_from,
      first_value(d.doc_key) over newest_first as newest_doc,
      first_value(v.version_key) over newest_first as newest_version,
      first_value(v.effective_from) over newest_first as newest_from
    from family
    join tracestore_data.document d using (collection_id, family_id)
    join tracestore_data.document_version v using (doc_key)
    where v.version_state = 'current' and v.effective_from <= cutoff
    window newest_first as (partition by d.family_id order by v.effective_from desc, d.doc_key desc)
  ),
  guessed as (
    insert into tracestore_data.supersession (doc_key, version_key, by_doc_key, by_version_key, effective_at, inferred, reason)
    select doc_key, version_key, newest_doc, newest_version, newest_from, true, format('both current in family %s', family_id)
    from member
    where effective_from < newest_from
    on conflict do nothing
    returning version_key, reason
  )
  insert into tracestore_data.version_state_event (version_key, new_state, cause, reason)
  select version_key, 'unknown', 'inferred', reason from guessed order by version_key;
  get diagnostics v_count = row_count;
  return v_count;
end
$$;
comment on function tracestore.infer_supersessions(text, timestamptz) is
  'Proposes for review what a newer document of a named family may have replaced, and marks the older version unknown; it stays a member. Returns how many are new.';

create function tracestore.decide_supersession(supersession_id bigint, accept boolean, reason text default null)
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_guess tracestore_data.supersession;
begin
  select s.* into v_guess from tracestore_data.supersession s where s.supersession_id = decide_supersession.supersession_id for update;
  if not found or not v_guess.inferred or v_guess.accepted is not null then
    raise exception using errcode = 'TS003', message = format('there is no undecided guess %s', decide_supersession.supersession_id),
      hint = 'View tracestore.supersessions lists them.';
  end if;
  update tracestore_data.supersession s
  set accepted = accept, decided_at = clock_timestamp(), decided_by = session_user,
    reason = coalesce(decide_supersession.reason, s.reason)
  where s.supersession_id = v_guess.supersession_id;
  if not accept then
    insert into tracestore_data.version_state_event (version_key, new_state, cause, reason)
    select v.version_key, 'current', 'declared', decide_supersession.reason
    from tracestore_data.document_version v
    where v.version_key = v_guess.version_key and v.version_state = 'unknown';
  end if;
end
$$;
comment on function tracestore.decide_supersession(bigint, boolean, text) is
  'Decides a guess: accepted, the older version leaves with the next build; rejected, it is current again.';
