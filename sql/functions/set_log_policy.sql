create function tracestore.set_log_policy(
  collection text, keep_query_text boolean, keep_query_vector boolean, reason text default null)
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  if keep_query_text is null or keep_query_vector is null then
    raise exception using errcode = 'TS001', message = 'keep_query_text or keep_query_vector is null', hint = 'Say true or false of each.';
  end if;
  insert into tracestore_data.log_policy (collection_id, keep_query_text, keep_query_vector, reason)
  select c.collection_id, set_log_policy.keep_query_text, set_log_policy.keep_query_vector, set_log_policy.reason
  from tracestore_data.collection c where c.slug = set_log_policy.collection;
  if not found then
    raise exception using errcode = 'TS003', message = format('there is no collection %s', quote_nullable(collection)),
      hint = 'View tracestore.documents lists documents with their collection.';
  end if;
end
$$;
comment on function tracestore.set_log_policy(text, boolean, boolean, text) is
  'Decides what the log of a collection keeps of questions from now on: their words, or only a hash of these; their vectors. What is logged already stays.';
