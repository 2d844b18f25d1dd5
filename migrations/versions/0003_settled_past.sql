-- A switch writes the row of its alias before it reads the clock. Whoever reads the row in a snapshot that does not know the
-- switch finds the switch in the row's xmax, however old the snapshot is, on a standby too.
create table tracestore_data.alias_turn (
  alias_name text collate "C" constraint alias_turn_pkey primary key,
  switches bigint not null,
  constraint alias_turn_counts_from_one check (switches >= 1)
);
comment on table tracestore_data.alias_turn is 'One row for each alias that was ever switched. Written by switches alone, and locked by nobody else: the xmax of its rows tells readers of switches that they do not see.';
comment on column tracestore_data.alias_turn.alias_name is 'The alias.';
comment on column tracestore_data.alias_turn.switches is 'How often it was switched.';
create trigger alias_turn_is_kept
  before delete or truncate on tracestore_data.alias_turn
  for each statement execute function tracestore_data.refuse_change();

-- Waits for switches by the functions of the release before.
lock table tracestore_data.alias_event in share row exclusive mode;
insert into tracestore_data.alias_turn (alias_name, switches)
select e.alias_name, count(distinct e.occurred_at) from tracestore_data.alias_event e group by e.alias_name;

-- What a build costs beyond reading what changed: the hash of its manifest has two levels, so only buckets that changed
-- are hashed again.
create table tracestore_data.newest_manifest (
  index_id bigint constraint newest_manifest_pkey primary key references tracestore_data.retrieval_index,
  build_id bigint not null references tracestore_data.build,
  digests bytea[] not null,
  constraint newest_manifest_has_256_digests check (array_ndims(digests) = 1 and array_lower(digests, 1) = 1 and cardinality(digests) = 256)
);
comment on table tracestore_data.newest_manifest is 'The first level of the manifest hash of the newest build of each index, from which the next build computes its own; it can be deleted and is then computed from the manifest.';
comment on column tracestore_data.newest_manifest.index_id is 'The index.';
comment on column tracestore_data.newest_manifest.build_id is 'The build whose manifest it is.';
comment on column tracestore_data.newest_manifest.digests is 'SHA-256 of the members of each bucket, bucket 0 first; null for a bucket without members.';

create function tracestore_data.manifest_bucket(doc_id text)
returns integer
language sql
immutable
strict
parallel safe
-- IMMUTABLE, as convert_to is where the database has the encoding it converts to: a store is in UTF8.
return get_byte(sha256(convert_to(doc_id, 'UTF8')), 0);
comment on function tracestore_data.manifest_bucket(text) is 'The bucket of the manifest hash that a document belongs to, 0 to 255.';
create index document_by_manifest_bucket on tracestore_data.document (tracestore_data.manifest_bucket(doc_id), collection_id);
-- With the version at its end, so that it serves the foreign key of chunk as well as the primary key does: of an empty table the
-- planner may choose either, and keeps to it. Without, a first build of 60,000 documents read 60,000 entries for each chunk.
create index manifest_entry_added on tracestore_data.manifest_entry (index_id, added_build, version_key);
