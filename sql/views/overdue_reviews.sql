create view tracestore.overdue_reviews with (security_invoker = true) as
select
  c.slug as collection,
  d.doc_id,
  d.family_id,
  d.title,
  d.class,
  d.owner,
  d.review_due,
  (now() at time zone 'UTC')::date - d.review_due as overdue_days,
  v.version_id,
  v.version_seq,
  v.effective_from
from tracestore_data.document d
join tracestore_data.collection c using (collection_id)
-- What is current, or may be; not what was replaced or taken down.
cross join lateral (
  select n.version_id, n.version_seq, n.effective_from, n.version_state, n.erased_at
  from tracestore_data.document_version n
  where n.doc_key = d.doc_key and n.version_state in ('current', 'unknown')
  order by n.version_state = 'current' desc, n.effective_from desc, n.version_seq desc
  limit 1) v
where d.review_due < (now() at time zone 'UTC')::date and v.erased_at is null;
comment on view tracestore.overdue_reviews is 'Documents in use that somebody should have looked at again before today, UTC.';
