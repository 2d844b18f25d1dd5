-- requires: chunk_faults, count_build, next_digests, begin_build, add_embeddings
create function tracestore.close_members(build_id bigint, version_keys bigint[], keep_chunks boolean)
returns bigint
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_index bigint;
  v_count bigint;
begin
  select b.index_id into strict v_index
  from tracestore_data.build b where b.build_id = close_members.build_id and b.state = 'building';
  update tracestore_data.manifest_entry m
  set removed_build = close_members.build_id
  where m.index_id = v_index and m.removed_build is null and m.version_key = any (version_keys);
  if keep_chunks then
    return 0;
  end if;
  execute format(
    'update tracestore_data.chunk c set removed_build = $1
     where c.index_id = %s and c.removed_build is null and c.version_key = any ($2)', v_index)
  using build_id, version_keys;
  get diagnostics v_count = row_count;
  return v_count;
end
$$;
comment on function tracestore.close_members(bigint, bigint[], boolean) is
  'Ends the membership of versions from this build on, and unless keep_chunks tombstones their chunks; returns how many.';

create function tracestore.finish_build(build_id bigint, lease_token uuid, embedding_calls bigint, reused bigint)
returns tracestore_data.build
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_build tracestore_data.build;
  v_fault tracestore.chunk_fault;
  v_counts tracestore.build_counts;
  v_digests bytea[];
  v_erased text;
begin
  perform tracestore.renew_lease(finish_build.build_id, finish_build.lease_token);
  select b.* into strict v_build from tracestore_data.build b where b.build_id = finish_build.build_id;
  -- An erasure that was faster is seen here; one that comes now waits for the lock on the build, and then removes what
  -- this transaction has written. A member of the parent that was erased meanwhile leaves, its chunks are gone already.
  update tracestore_data.manifest_entry m set removed_build = v_build.build_id
  from tracestore_data.document_version v
  where m.index_id = v_build.index_id and m.removed_build is null and m.added_build < v_build.build_id
    and v.version_key = m.version_key and v.erased_at is not null
    and v.doc_key in (select s.doc_key from tracestore_data.suppression s where s.kind = 'erased');
  select min(d.doc_id) into v_erased
  from tracestore_data.manifest_entry m
  join tracestore_data.document_version v using (version_key)
  join tracestore_data.document d using (doc_key)
  where m.index_id = v_build.index_id and m.added_build = v_build.build_id and v.erased_at is not null;
  if v_erased is not null then
    raise exception using errcode = 'TS006',
      message = format('document %s was erased while it was being built', quote_literal(v_erased)),
      hint = 'Nothing was changed. Run the build again.';
  end if;
  -- The gate of every build: each new span is what it claims to be.
  select f.* into v_fault from tracestore.chunk_faults(v_build.index_id, v_build.build_id, true) f limit 1;
  if found then
    raise exception using errcode = 'TS007',
      message = format('build B-%s has a chunk whose %s', v_build.build_id, v_fault.fault),
      detail = (select format('document %s version %s ordinal %s', d.doc_id, v.version_id, v_fault.ordinal)
                from tracestore_data.document_version v join tracestore_data.document d using (doc_key)
                where v.version_key = v_fault.version_key),
      hint = 'Nothing was changed. The chunker and the stored text disagree.';
  end if;
  v_counts := tracestore.count_build(v_build);
  if v_counts.chunks <> v_counts.expected then
    raise exception using errcode = 'TS007', message = format('build B-%s has %s chunks, its manifest says %s',
      v_build.build_id, v_counts.chunks, v_counts.expected), hint = 'Nothing was changed. Run the build again.';
  end if;
  if exists (select from tracestore_data.build b
             where b.index_id = v_build.index_id and b.build_id > coalesce(v_build.parent_build_id, 0) and b.state = 'failed') then
    perform tracestore.drop_unused_embeddings(v_build.index_id);
  end if;
  v_digests := tracestore.next_digests(v_build);
  insert into tracestore_data.newest_manifest (index_id, build_id, digests) values (v_build.index_id, v_build.build_id, v_digests)
  on conflict (index_id) do update set build_id = excluded.build_id, digests = excluded.digests;
  update tracestore_data.build b
  set state = 'ready', committed_at = clock_timestamp(), lease_token = null, documents = v_counts.documents,
    chunks = v_counts.chunks, not_embeddable = v_counts.not_embeddable, split = v_counts.split,
    truncated = v_counts.truncated, embedding_calls = finish_build.embedding_calls, reused = finish_build.reused,
    index_version = tracestore.combine_digests(v_build.manifest_header, v_digests)
  where b.build_id = v_build.build_id
  returning b.* into v_build;
  return v_build;
end
$$;
comment on function tracestore.finish_build(bigint, uuid, bigint, bigint) is
  'Checks what a build wrote, counts it, names it by its manifest and marks it ready. The last statement of its transaction.';
