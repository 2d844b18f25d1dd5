create function tracestore.indexes_of(collection text)
returns table (index_id bigint, settings jsonb)
language sql
stable
begin atomic
  select i.index_id, i.settings_json
  from tracestore_data.collection c
  left join tracestore_data.retrieval_index i using (collection_id)
  where c.slug = indexes_of.collection
  order by i.index_id;
end;
comment on function tracestore.indexes_of(text) is
  'The indexes of a collection; one row of nulls for a collection without any, none for an unknown one.';
