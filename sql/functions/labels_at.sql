create function tracestore.labels_at(doc_key bigint, at timestamptz)
returns text[]
language sql
stable
begin atomic
  select array(select jsonb_array_elements_text(coalesce(nullif(e.old_value, 'null'), case when e.doc_key is null then to_jsonb(d.labels) else '[]' end)))
  from tracestore_data.document d
  left join lateral (
    select e.old_value, e.doc_key from tracestore_data.document_event e
    where e.doc_key = d.doc_key and e.attribute = 'labels' and e.occurred_at > at
    order by e.document_event_id limit 1) e on true
  where d.doc_key = labels_at.doc_key;
end;
comment on function tracestore.labels_at(bigint, timestamptz) is 'The access labels a document had at a time.';
