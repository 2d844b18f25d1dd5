-- Who reads may call what is STABLE or IMMUTABLE, and log; who writes, what is VOLATILE as well, but what is left to the owner:
-- who may read which labels, removing for good, and what needs the ownership of tables.
revoke all on all functions in schema tracestore, tracestore_data from public;
do $$
declare
  v_owners constant text[] := array[
    'grant_label', 'revoke_label', 'labels_visible_to', 'labels_of_caller', 'admit_readers', 'drop_searcher',
    'drop_index', 'drop_partitions', 'lower_levels', 'sweep_chunks', 'sweep_embeddings',
    'forget_samples_of_empty_tables', 'make_log_partitions', 'drop_logs'];
  -- Who searches may put it on record: these write the log and nothing else.
  v_loggers constant text[] := array['retrieve', 'log_retrieval', 'write_retrieval', 'log_answer'];
  v_function record;
  v_role text;
begin
  for v_function in
    select p.oid::pg_catalog.regprocedure as name, p.provolatile = 'v' as writes,
      p.proname = any (v_owners) or p.prorettype = 'pg_catalog.trigger'::pg_catalog.regtype as is_the_owners,
      p.proname = any (v_loggers) and p.pronamespace = 'tracestore'::pg_catalog.regnamespace as logs
    from pg_catalog.pg_proc p
    where p.pronamespace in ('tracestore'::pg_catalog.regnamespace, 'tracestore_data'::pg_catalog.regnamespace)
  loop
    foreach v_role in array array['tracestore_reader', 'tracestore_writer', 'tracestore_auditor'] loop
      continue when pg_catalog.to_regrole(v_role) is null;
      execute pg_catalog.format('revoke all on function %s from %I', v_function.name, v_role);
      if not v_function.is_the_owners and (
        v_role = 'tracestore_writer' or not v_function.writes or v_function.logs and v_role = 'tracestore_reader') then
        execute pg_catalog.format('grant execute on function %s to %I', v_function.name, v_role);
      end if;
    end loop;
  end loop;
end
$$;

-- What runs as its owner runs as the owner of the tables, also after an upgrade by a superuser.
do $$
declare
  v_function pg_catalog.regprocedure;
  v_owner pg_catalog.oid := (select c.relowner from pg_catalog.pg_class c where c.oid = 'tracestore_data.document'::pg_catalog.regclass);
begin
  for v_function in
    select p.oid from pg_catalog.pg_proc p
    where p.pronamespace in ('tracestore'::pg_catalog.regnamespace, 'tracestore_data'::pg_catalog.regnamespace)
      and p.prosecdef and p.proowner <> v_owner
  loop
    execute pg_catalog.format('alter function %s owner to %s', v_function, v_owner::pg_catalog.regrole);
  end loop;
end
$$;
