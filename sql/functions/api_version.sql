create function tracestore.api_version()
returns text
language sql
stable
parallel safe
begin atomic
  select encode(s.api_sha256, 'hex') from tracestore_data.store s;
end;
comment on function tracestore.api_version() is 'SHA-256 over the functions and views of this schema, in hex.';

create function tracestore.store_id()
returns uuid
language sql
stable
parallel safe
begin atomic
  select s.store_id from tracestore_data.store s;
end;
comment on function tracestore.store_id() is 'Identity of this store.';
