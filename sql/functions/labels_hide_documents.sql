create function tracestore.labels_hide_documents()
returns boolean
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return row_security_active('tracestore_data.document') and not tracestore_data.sees_every_document();
end
$$;
comment on function tracestore.labels_hide_documents() is 'Whether there are documents that the current role may not see.';
