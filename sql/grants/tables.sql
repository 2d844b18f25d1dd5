-- Through a parent only: partitions get no grant, since a query of a partition is not under the policies of its parent.
do $$
declare
  v_statement text;
  v_role text;
  v_table record;
begin
  foreach v_role in array array['tracestore_reader', 'tracestore_writer', 'tracestore_auditor'] loop
    continue when pg_catalog.to_regrole(v_role) is null;
    execute pg_catalog.format('revoke all on all tables in schema tracestore, tracestore_data from %I', v_role);
    execute pg_catalog.format('grant select on all tables in schema tracestore to %I', v_role);
  end loop;
  for v_table in
    select c.oid::pg_catalog.regclass as name, c.relkind = 'v' as is_view, pg_catalog.string_agg(pg_catalog.quote_ident(a.attname), ', ') filter (
        -- These default to whoever it is.
        where a.attname not in ('actor', 'registered_by') and a.attgenerated = '') as columns
    from pg_catalog.pg_class c
    join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relnamespace = 'tracestore_data'::pg_catalog.regnamespace and c.relkind in ('r', 'p', 'v') and not c.relispartition
      and c.relname <> 'caller_key'
    group by c.oid, c.relkind
  loop
    if pg_catalog.to_regrole('tracestore_auditor') is not null then
      execute pg_catalog.format('grant select on %s to tracestore_auditor', v_table.name);
    end if;
    if pg_catalog.to_regrole('tracestore_writer') is not null then
      execute pg_catalog.format('grant select on %s to tracestore_writer', v_table.name);
      if not v_table.is_view and v_table.name::text not in (
        'tracestore_data.store', 'tracestore_data.alembic_version', 'tracestore_data.role_label', 'tracestore_data.known_label',
        -- Functions of the owner write the logs.
        'tracestore_data.retrieval', 'tracestore_data.answer', 'tracestore_data.answer_key', 'tracestore_data.api_release') then
        execute pg_catalog.format('grant insert (%s) on %s to tracestore_writer', v_table.columns, v_table.name);
      end if;
    end if;
  end loop;
  foreach v_statement in array array[
    'select on tracestore_data.store, tracestore_data.collection, tracestore_data.document, tracestore_data.document_version,
       tracestore_data.recipe, tracestore_data.retrieval_index, tracestore_data.build, tracestore_data.manifest_entry,
       tracestore_data.chunk, tracestore_data.alias, tracestore_data.alias_event, tracestore_data.alias_turn, tracestore_data.supersession,
       tracestore_data.graph_event, tracestore_data.probe_set, tracestore_data.fidelity_measurement, tracestore_data.role_label,
       tracestore_data.conflict_policy, tracestore_data.recency_policy
       to tracestore_reader',
    -- What they logged themselves.
    'select on tracestore_data.retrieval, tracestore_data.answer, tracestore_data.answer_key, tracestore_data.api_release to tracestore_reader',
    -- What the policies ask.
    'select on tracestore_data.visible_document, tracestore_data.visible_version, tracestore_data.visible_content,
       tracestore_data.visible_vector, tracestore_data.visible_member, tracestore_data.caller_pass to tracestore_reader',
    -- Not why, nor by whom.
    'select (suppression_id, doc_key, version_key, kind, epoch, suppressed_at, lifted_epoch, lifted_at)
       on tracestore_data.suppression to tracestore_reader',
    -- Policies show a reader no row of these; without the privilege a view over them would be an error and not empty.
    'select on tracestore_data.gold_set, tracestore_data.gold_item, tracestore_data.gold_anchor, tracestore_data.evaluation,
       tracestore_data.evaluation_item, tracestore_data.evaluation_hit, tracestore_data.evaluation_metric to tracestore_reader',
    -- Not the words.
    'select (index_id, content_key, vec, vec_sha256, live, truncated) on tracestore_data.embedding to tracestore_reader',
    -- What is updated, or locked, which needs the same.
    'update (suppression_epoch) on tracestore_data.store to tracestore_writer',
    'update (title) on tracestore_data.collection to tracestore_writer',
    'update (family_id, title, class, owner, review_due, labels) on tracestore_data.document to tracestore_writer',
    'update (old_value, new_value) on tracestore_data.document_event to tracestore_writer',
    'update (version_state, content, erased_at, pages, source_uri, attributes) on tracestore_data.document_version to tracestore_writer',
    'update (lifted_epoch, lifted_at, lifted_by, lift_reason) on tracestore_data.suppression to tracestore_writer',
    'update (accepted, decided_at, decided_by, reason) on tracestore_data.supersession to tracestore_writer',
    'update (drop_reason) on tracestore_data.retrieval_index to tracestore_writer',
    'update (state, committed_at, index_version, documents, chunks, not_embeddable, embedding_calls, reused, split, truncated,
       failure, lease_token, lease_expires_at) on tracestore_data.build to tracestore_writer',
    'update (released_at, released_by, release_reason) on tracestore_data.build_hold to tracestore_writer',
    'update (query, retired_at, retired_by, retire_reason) on tracestore_data.canary to tracestore_writer',
    'update (removed_build) on tracestore_data.manifest_entry to tracestore_writer',
    'update (build_id, digests) on tracestore_data.newest_manifest to tracestore_writer',
    'update (removed_build) on tracestore_data.chunk to tracestore_writer',
    'update (vec, vec_sha256, lexemes, live, truncated) on tracestore_data.embedding to tracestore_writer',
    'update (build_id, alias_event_id) on tracestore_data.alias to tracestore_writer',
    'update (switches) on tracestore_data.alias_turn to tracestore_writer',
    'update (name) on tracestore_data.gold_set to tracestore_writer',
    'update (query, retired_at, retired_by, retire_reason) on tracestore_data.gold_item to tracestore_writer',
    'update (quote, prefix, suffix) on tracestore_data.gold_anchor to tracestore_writer',
    'delete on tracestore_data.build, tracestore_data.chunk, tracestore_data.embedding, tracestore_data.alias to tracestore_writer']
  loop
    if pg_catalog.to_regrole((pg_catalog.regexp_match(v_statement, '\w+$'))[1]) is not null then
      execute 'grant ' || v_statement;
    end if;
  end loop;
end
$$;
