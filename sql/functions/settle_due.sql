-- requires: settle_document, infer_supersessions
create function tracestore.settle_due(collection text, cutoff timestamptz)
returns bigint
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_count bigint;
begin
  select coalesce(sum(tracestore.settle_document(due.doc_key, cutoff)), 0) into v_count
  from (
    -- Locked in the order in which ingests lock them: a build and an ingest wait for one another, never in a circle.
    select d.doc_key
    from tracestore_data.collection c
    join tracestore_data.document d using (collection_id)
    where c.slug = settle_due.collection
      -- From the few versions of which something may be due: asked of each document it took as long as planning the build.
      and d.doc_key in (
        select v.doc_key from tracestore_data.document_version v
        where v.version_state = 'unknown' and v.effective_from <= cutoff
        union all
        select s.doc_key from tracestore_data.supersession s join tracestore_data.document_version v using (doc_key)
        where s.effective_at <= cutoff and v.version_state in ('current', 'unknown')
          and (not s.inferred or s.accepted))
    order by d.doc_id
    for no key update of d
  ) due;
  return v_count + tracestore.infer_supersessions(collection, cutoff);
end
$$;
comment on function tracestore.settle_due(text, timestamptz) is
  'Writes the state events that are due: versions whose time has come, declared supersessions, and guesses for review; returns how many.';
