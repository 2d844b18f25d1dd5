-- Frozen. What is true now is in sql/schema/.
-- @vector@ stands for the schema that holds the pgvector extension.

-- The schema itself is made before the version table, which lives in it.
comment on schema tracestore_data is 'Tables, types and trigger functions of tracestore. Read through schema tracestore.';
comment on table tracestore_data.alembic_version is 'The newest migration that this database has.';
comment on column tracestore_data.alembic_version.version_num is 'Number of that migration.';

-- ---------------------------------------------------------------------------------------------------------
-- Rules used by CHECK constraints

-- PL/pgSQL, planned once a session: an SQL function in a CHECK is planned again for every statement, which made
-- registering a text take 235 us instead of 148.
create function tracestore_data.is_citable_id(label text)
returns boolean
language plpgsql
immutable
strict
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return octet_length(label) between 1 and 1024
    and label not in ('.', '..')
    and label is nfc normalized
    and label !~ '[\u0001-\u001f\u007f-\u009f]';
end
$$;
comment on function tracestore_data.is_citable_id(text) is
  'True for an id that a citation can carry: 1 to 1024 bytes, NFC, no control characters, not "." or "..".';

create function tracestore_data.is_page_map(pages jsonb, char_count integer)
returns boolean
language plpgsql
immutable
strict
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return jsonb_typeof(pages) = 'array' and not exists (
    select
    from (
      select entry, starts, lag(starts, 1, 0::numeric) over (order by place) as previous
      from (
        select entry, place, case jsonb_typeof(entry -> 0) when 'number' then (entry ->> 0)::numeric end as starts
        from jsonb_array_elements(case jsonb_typeof(pages) when 'array' then pages else '[]' end)
          with ordinality as entries (entry, place)) numbered) page
    where (
      jsonb_typeof(entry) = 'array' and jsonb_typeof(entry -> 1) = 'string' and entry -> 2 is null
      and starts = trunc(starts) and starts between previous and char_count) is not true);
end
$$;
comment on function tracestore_data.is_page_map(jsonb, integer) is
  'True for [[first code point, "label"], ...] whose numbers are whole, never fall and lie within the text.';

create function tracestore_data.refuse_change()
returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using
    errcode = 'TS005',
    message = format('%s on %I.%I is refused: its rows are a record', tg_op, tg_table_schema, tg_table_name),
    hint = 'Add a row instead. Nothing recorded is changed or deleted.';
end
$$;
comment on function tracestore_data.refuse_change() is 'Refuses UPDATE, DELETE and TRUNCATE on append-only tables.';

-- ---------------------------------------------------------------------------------------------------------
-- The store itself

create table tracestore_data.store (
  store_id uuid not null default gen_random_uuid(),
  singleton boolean not null default true primary key constraint store_is_one_row check (singleton),
  suppression_epoch bigint not null default 0,
  api_sha256 bytea constraint api_digest_is_sha256 check (octet_length(api_sha256) = 32),
  created_at timestamptz not null default now()
);
insert into tracestore_data.store default values;
comment on table tracestore_data.store is 'One row: what identifies this database as a store of its own.';
comment on column tracestore_data.store.store_id is 'Identity of the store, so that a build of another store is never taken for one of ours.';
comment on column tracestore_data.store.singleton is 'Always true; keeps the table to one row.';
comment on column tracestore_data.store.suppression_epoch is 'Grows by one with every withdrawal, restoration and erasure, in commit order.';
comment on column tracestore_data.store.api_sha256 is 'SHA-256 over the functions and views installed in schema tracestore.';
comment on column tracestore_data.store.created_at is 'When the schema was first installed.';

-- ---------------------------------------------------------------------------------------------------------
-- Sources: what was written

create table tracestore_data.collection (
  collection_id bigint generated always as identity primary key,
  slug text collate "C" not null unique
    constraint collection_slug_is_citable check (tracestore_data.is_citable_id(slug)),
  title text,
  created_at timestamptz not null default now()
);
comment on table tracestore_data.collection is 'A named corpus. The slug is in citations and never changes; the title may.';
comment on column tracestore_data.collection.collection_id is 'Surrogate key.';
comment on column tracestore_data.collection.slug is 'The name used in commands and citations.';
comment on column tracestore_data.collection.title is 'A name for people.';
comment on column tracestore_data.collection.created_at is 'When the collection was first named.';

create table tracestore_data.document (
  doc_key bigint generated always as identity primary key,
  collection_id bigint not null references tracestore_data.collection,
  doc_id text collate "C" not null
    constraint doc_id_is_citable check (tracestore_data.is_citable_id(doc_id)),
  family_id text collate "C" not null
    constraint family_id_is_citable check (tracestore_data.is_citable_id(family_id)),
  title text,
  class text collate "C",
  owner text,
  review_due date,
  labels text[] not null default '{}'
    constraint labels_have_no_null check (array_position(labels, null) is null),
  created_at timestamptz not null default now(),
  constraint document_is_once_in_its_collection unique (collection_id, doc_id)
);
-- The family first: with the collection first, a collection new to the statistics was read whole to find one doc_id.
create index document_by_family on tracestore_data.document (family_id, collection_id);
comment on table tracestore_data.document is 'A document under its stable id. Attributes are today''s; their history is in document_event.';
comment on column tracestore_data.document.doc_key is 'Surrogate key.';
comment on column tracestore_data.document.collection_id is 'The corpus it belongs to.';
comment on column tracestore_data.document.doc_id is 'The caller''s stable id, unique in the collection.';
comment on column tracestore_data.document.family_id is 'Documents that replace one another share it; the doc_id where nothing else was said.';
comment on column tracestore_data.document.title is 'Title for people.';
comment on column tracestore_data.document.class is 'Kind of document, such as policy or guide.';
comment on column tracestore_data.document.owner is 'Who answers for the content.';
comment on column tracestore_data.document.review_due is 'Day by which the owner has to look at it again.';
comment on column tracestore_data.document.labels is 'Access labels; empty means visible to every reader.';
comment on column tracestore_data.document.created_at is 'When the document was first registered.';

create table tracestore_data.document_event (
  document_event_id bigint generated always as identity primary key,
  doc_key bigint not null references tracestore_data.document,
  attribute text not null
    constraint document_event_names_an_attribute
      check (attribute in ('family_id', 'title', 'class', 'owner', 'review_due', 'labels')),
  old_value jsonb,
  new_value jsonb,
  occurred_at timestamptz not null default now(),
  actor text not null default session_user,
  reason text
);
create index document_event_by_document on tracestore_data.document_event (doc_key, document_event_id);
comment on table tracestore_data.document_event is 'Every change of a document''s attributes. Append-only; only the titles of an erased document are removed.';
comment on column tracestore_data.document_event.document_event_id is 'Surrogate key, in order of writing.';
comment on column tracestore_data.document_event.doc_key is 'The document.';
comment on column tracestore_data.document_event.attribute is 'Which attribute changed.';
comment on column tracestore_data.document_event.old_value is 'Value before; null where there was none.';
comment on column tracestore_data.document_event.new_value is 'Value after; null where it was taken away.';
comment on column tracestore_data.document_event.occurred_at is 'Start of the transaction that made the change.';
comment on column tracestore_data.document_event.actor is 'Who made the change.';
comment on column tracestore_data.document_event.reason is 'Why, where somebody said so.';

create table tracestore_data.document_version (
  version_key bigint generated always as identity primary key,
  doc_key bigint not null references tracestore_data.document,
  version_id text collate "C" not null
    constraint version_id_is_citable check (tracestore_data.is_citable_id(version_id)),
  version_seq integer not null constraint version_seq_starts_at_one check (version_seq >= 1),
  version_state text collate "C" not null default 'unknown'
    constraint version_state_is_known check (version_state in ('current', 'superseded', 'withdrawn', 'unknown')),
  content bytea,
  content_sha256 bytea not null,
  char_count integer not null constraint char_count_is_not_negative check (char_count >= 0),
  media_type text not null default 'text/markdown'
    constraint media_type_is_supported check (media_type in ('text/markdown', 'text/plain')),
  effective_from timestamptz not null,
  registered_at timestamptz not null default clock_timestamp(),
  registered_by text not null default session_user,
  in_place_of bigint references tracestore_data.document_version,
  source_uri text,
  parser text,
  pages jsonb constraint pages_is_a_page_map check (tracestore_data.is_page_map(pages, char_count)),
  attributes jsonb not null default '{}'
    constraint version_attributes_is_an_object check (jsonb_typeof(attributes) = 'object'),
  erased_at timestamptz,
  constraint version_label_is_once_in_its_document unique (doc_key, version_id),
  constraint version_seq_is_once_in_its_document unique (doc_key, version_seq),
  constraint content_hash_is_its_sha256
    check (octet_length(content_sha256) = 32 and (content is null or sha256(content) = content_sha256)),
  constraint content_is_utf8_of_char_count
    check (content is null or char_length(convert_from(content, 'UTF8')) = char_count),
  constraint content_is_absent_only_when_erased check ((content is null) = (erased_at is not null))
);
-- Uncompressed and out of line: a slice of a large text reads only the pages it lies on.
alter table tracestore_data.document_version alter column content set storage external;
-- Samples of the text must not land in pg_statistic, where erasure does not reach.
alter table tracestore_data.document_version alter column content set statistics 0;
create index document_version_in_effect
  on tracestore_data.document_version (doc_key, effective_from desc, version_seq desc);
create index document_version_in_place_of
  on tracestore_data.document_version (in_place_of) where in_place_of is not null;
comment on table tracestore_data.document_version is 'One immutable text of a document. Content leaves only through erasure.';
comment on column tracestore_data.document_version.version_key is 'Surrogate key.';
comment on column tracestore_data.document_version.doc_key is 'The document.';
comment on column tracestore_data.document_version.version_id is 'The caller''s label, unique in the document.';
comment on column tracestore_data.document_version.version_seq is '1, 2, 3 in order of registration.';
comment on column tracestore_data.document_version.version_state is
  'Today''s state, set only by rows of version_state_event. current: what the document says. superseded: replaced. withdrawn: taken down. unknown: not yet effective, or in doubt.';
comment on column tracestore_data.document_version.content is 'The text as it came, UTF-8 bytes with BOM and line ends kept; null after erasure.';
comment on column tracestore_data.document_version.content_sha256 is 'SHA-256 of the content; stays after erasure.';
comment on column tracestore_data.document_version.char_count is 'Length of the content in Unicode code points.';
comment on column tracestore_data.document_version.media_type is 'How the text is read: text/markdown or text/plain.';
comment on column tracestore_data.document_version.effective_from is 'When the source says it applies; registered_at where the source says nothing.';
comment on column tracestore_data.document_version.registered_at is 'When the store first had it.';
comment on column tracestore_data.document_version.registered_by is 'Who registered it.';
comment on column tracestore_data.document_version.in_place_of is 'The version whose label this text arrived under, although that label had another text: an edit in place upstream.';
comment on column tracestore_data.document_version.source_uri is 'Where the source is kept.';
comment on column tracestore_data.document_version.parser is 'What produced the text from the source.';
comment on column tracestore_data.document_version.pages is 'Offset-to-page map: [[first code point, "label"], ...] in ascending order.';
comment on column tracestore_data.document_version.attributes is 'Whatever else the caller sent with the version, by key.';
comment on column tracestore_data.document_version.erased_at is 'When the content was erased; null while it is kept.';

create table tracestore_data.version_state_event (
  version_state_event_id bigint generated always as identity primary key,
  version_key bigint not null references tracestore_data.document_version,
  old_state text collate "C",
  new_state text collate "C" not null
    constraint new_state_is_known check (new_state in ('current', 'superseded', 'withdrawn', 'unknown')),
  cause text not null
    constraint state_cause_is_known
      check (cause in ('registered', 'effective', 'replaced', 'declared', 'inferred', 'withdrawn', 'restored')),
  occurred_at timestamptz not null default clock_timestamp(),
  actor text not null default session_user,
  reason text
);
create index version_state_event_by_version
  on tracestore_data.version_state_event (version_key, version_state_event_id desc);
comment on table tracestore_data.version_state_event is 'Every change of a version''s state; writing a row is what changes it. Append-only.';
comment on column tracestore_data.version_state_event.version_state_event_id is 'Surrogate key, in order of writing.';
comment on column tracestore_data.version_state_event.version_key is 'The version.';
comment on column tracestore_data.version_state_event.old_state is 'State before; set by the store.';
comment on column tracestore_data.version_state_event.new_state is 'State after.';
comment on column tracestore_data.version_state_event.cause is
  'registered: first state. effective: its time has come. replaced: a later version came. declared: an owner said so. inferred: the store guessed. withdrawn, restored: take-down and its reversal.';
comment on column tracestore_data.version_state_event.occurred_at is 'When it happened.';
comment on column tracestore_data.version_state_event.actor is 'Who did it.';
comment on column tracestore_data.version_state_event.reason is 'Why.';

create table tracestore_data.suppression (
  suppression_id bigint generated always as identity primary key,
  doc_key bigint not null references tracestore_data.document,
  version_key bigint references tracestore_data.document_version,
  kind text not null constraint suppression_kind_is_known check (kind in ('withdrawn', 'erased')),
  epoch bigint not null unique,
  suppressed_at timestamptz not null default clock_timestamp(),
  actor text not null default session_user,
  reason text,
  lifted_epoch bigint unique,
  lifted_at timestamptz,
  lifted_by text,
  lift_reason text,
  constraint erasure_is_never_lifted check (kind = 'withdrawn' or lifted_at is null),
  constraint lifting_is_complete check (num_nulls(lifted_epoch, lifted_at, lifted_by) in (0, 3)),
  constraint lifted_after_suppressed check (lifted_epoch > epoch)
);
create index suppression_in_force on tracestore_data.suppression (doc_key, version_key) where lifted_at is null;
comment on table tracestore_data.suppression is 'Documents and versions that no search returns, from commit on, whatever the build.';
comment on column tracestore_data.suppression.suppression_id is 'Surrogate key.';
comment on column tracestore_data.suppression.doc_key is 'The document.';
comment on column tracestore_data.suppression.version_key is 'The one version meant; null means all of the document.';
comment on column tracestore_data.suppression.kind is 'withdrawn can be lifted, erased cannot.';
comment on column tracestore_data.suppression.epoch is 'Suppression epoch from which it holds.';
comment on column tracestore_data.suppression.suppressed_at is 'When.';
comment on column tracestore_data.suppression.actor is 'Who.';
comment on column tracestore_data.suppression.reason is 'Why.';
comment on column tracestore_data.suppression.lifted_epoch is 'Suppression epoch from which it no longer holds.';
comment on column tracestore_data.suppression.lifted_at is 'When it was lifted.';
comment on column tracestore_data.suppression.lifted_by is 'Who lifted it.';
comment on column tracestore_data.suppression.lift_reason is 'Why it was lifted.';

-- ---------------------------------------------------------------------------------------------------------
-- Indexes and builds: what was made of it

create table tracestore_data.recipe (
  recipe_key bigint generated always as identity primary key,
  recipe_id text collate "C" not null unique constraint recipe_id_is_not_empty check (recipe_id <> ''),
  model text not null,
  revision text not null,
  dimension integer not null constraint recipe_dimension_is_possible check (dimension between 1 and 16000),
  settings jsonb not null,
  probe_text text not null,
  probe @vector@.vector not null,
  created_at timestamptz not null default now(),
  constraint probe_has_the_dimension check (@vector@.vector_dims(probe) = dimension)
);
comment on table tracestore_data.recipe is 'Everything that makes two vectors comparable. Immutable.';
comment on column tracestore_data.recipe.recipe_key is 'Surrogate key.';
comment on column tracestore_data.recipe.recipe_id is 'Its name, as given to build and search.';
comment on column tracestore_data.recipe.model is 'The model.';
comment on column tracestore_data.recipe.revision is 'Revision of the model, where it has one.';
comment on column tracestore_data.recipe.dimension is 'Length of its vectors.';
comment on column tracestore_data.recipe.settings is 'The recipe in full: template, prefixes, normalisation, token limit.';
comment on column tracestore_data.recipe.probe_text is 'A fixed text.';
comment on column tracestore_data.recipe.probe is 'Vector of the fixed text when the recipe was first used: a model that changed behind its name shows here.';
comment on column tracestore_data.recipe.created_at is 'When it was first used.';

create table tracestore_data.retrieval_index (
  index_id bigint generated always as identity primary key,
  collection_id bigint not null references tracestore_data.collection,
  recipe_key bigint not null references tracestore_data.recipe,
  settings text not null,
  settings_json jsonb not null generated always as (settings::jsonb) stored,
  lexical text not null,
  created_at timestamptz not null default now(),
  constraint index_is_once_in_its_collection unique (collection_id, settings),
  constraint lexical_is_in_the_settings check (settings::jsonb ->> 'lexical' is not distinct from lexical)
);
comment on table tracestore_data.retrieval_index is 'A line of builds with the same recipe, chunking, ANN and lexical settings.';
comment on column tracestore_data.retrieval_index.index_id is 'Surrogate key; names the partitions of chunk and embedding.';
comment on column tracestore_data.retrieval_index.collection_id is 'The corpus.';
comment on column tracestore_data.retrieval_index.recipe_key is 'The recipe.';
comment on column tracestore_data.retrieval_index.settings is 'Canonical JSON of all settings: the text that is hashed.';
comment on column tracestore_data.retrieval_index.settings_json is 'The same, to query.';
comment on column tracestore_data.retrieval_index.lexical is 'Full-text configuration of the lexical leg.';
comment on column tracestore_data.retrieval_index.created_at is 'When it was made.';

create table tracestore_data.build (
  build_id bigint generated always as identity primary key,
  index_id bigint not null references tracestore_data.retrieval_index,
  parent_build_id bigint references tracestore_data.build,
  kind text not null default 'build' constraint build_kind_is_known check (kind in ('build', 'reindex')),
  state text not null default 'building' constraint build_state_is_known check (state in ('building', 'ready', 'failed')),
  level text not null default 'vectors' constraint build_level_is_known check (level in ('vectors', 'chunks', 'manifest')),
  started_at timestamptz not null default clock_timestamp(),
  cutoff_at timestamptz not null,
  committed_at timestamptz,
  chunker_version integer not null,
  manifest_header text not null,
  index_version bytea constraint index_version_is_sha256 check (octet_length(index_version) = 32),
  documents bigint,
  chunks bigint,
  not_embeddable bigint,
  embedding_calls bigint,
  reused bigint,
  split bigint,
  truncated bigint,
  actor text not null default session_user,
  failure text,
  lease_token uuid,
  lease_expires_at timestamptz,
  lease_pid integer,
  lease_backend_start timestamptz,
  constraint ready_build_is_complete check (
    state <> 'ready' or num_nulls(committed_at, index_version, documents, chunks, not_embeddable, embedding_calls, reused, split, truncated) = 0),
  constraint only_a_building_build_holds_the_lease check ((state = 'building') = (lease_token is not null)),
  constraint build_comes_after_its_parent check (parent_build_id < build_id)
);
-- The lease: at most one build of an index is in the making.
create unique index build_one_lease on tracestore_data.build (index_id) where state = 'building';
create index build_ready_line on tracestore_data.build (index_id, build_id desc) where state = 'ready';
comment on table tracestore_data.build is 'One event that produced a searchable state of an index.';
comment on column tracestore_data.build.build_id is 'Number; shown as B-1042.';
comment on column tracestore_data.build.index_id is 'The index.';
comment on column tracestore_data.build.parent_build_id is 'The latest ready build when this one was made; null for the first.';
comment on column tracestore_data.build.kind is 'build: the corpus may have changed. reindex: same corpus, new search graph.';
comment on column tracestore_data.build.state is 'building -> ready, or building -> failed. A ready build stays ready.';
comment on column tracestore_data.build.level is 'What is retained: vectors (searchable), chunks (resolvable), manifest (kept for ever).';
comment on column tracestore_data.build.started_at is 'When it began.';
comment on column tracestore_data.build.cutoff_at is 'Versions effective by then are its corpus.';
comment on column tracestore_data.build.committed_at is 'When it became ready.';
comment on column tracestore_data.build.chunker_version is 'Version of the chunker that cut it.';
comment on column tracestore_data.build.manifest_header is 'Canonical JSON of every setting that determines the content: the first part of what index_version hashes.';
comment on column tracestore_data.build.index_version is 'SHA-256 of the manifest: equal versions, equal inputs.';
comment on column tracestore_data.build.documents is 'Members: document versions searchable in it.';
comment on column tracestore_data.build.chunks is 'Chunks in it.';
comment on column tracestore_data.build.not_embeddable is 'Chunks in it without a vector.';
comment on column tracestore_data.build.embedding_calls is 'Texts handed to the embedder while making it.';
comment on column tracestore_data.build.reused is 'New chunks whose vector was known already.';
comment on column tracestore_data.build.split is 'Chunks in it that were cut at the hard limit.';
comment on column tracestore_data.build.truncated is 'Chunks in it of which the model saw only the beginning.';
comment on column tracestore_data.build.actor is 'Who made it.';
comment on column tracestore_data.build.failure is 'Why it failed.';
comment on column tracestore_data.build.lease_token is 'Held by the process that makes the build; checked again when it commits.';
comment on column tracestore_data.build.lease_expires_at is 'After this the lease may be taken over.';
comment on column tracestore_data.build.lease_pid is 'Server process of the holder''s connection: gone means the holder is gone.';
comment on column tracestore_data.build.lease_backend_start is 'Start of that server process, since numbers are used again.';

create table tracestore_data.manifest_entry (
  index_id bigint not null references tracestore_data.retrieval_index,
  version_key bigint not null references tracestore_data.document_version,
  added_build bigint not null references tracestore_data.build,
  removed_build bigint references tracestore_data.build,
  version_state text collate "C" not null
    constraint member_is_current_or_unknown check (version_state in ('current', 'unknown')),
  family_id text collate "C" not null,
  class text collate "C",
  chunk_count integer not null constraint chunk_count_is_not_negative check (chunk_count >= 0),
  constraint manifest_entry_pk primary key (index_id, version_key, added_build),
  constraint manifest_entry_ends_after_it_began check (removed_build > added_build)
);
create unique index manifest_entry_open on tracestore_data.manifest_entry (index_id, version_key) where removed_build is null;
create index manifest_entry_closed on tracestore_data.manifest_entry (index_id, removed_build) where removed_build is not null;
create index manifest_entry_of_version on tracestore_data.manifest_entry (version_key);
comment on table tracestore_data.manifest_entry is
  'A document version is a member of build b when added_build <= b and (removed_build is null or removed_build > b). Kept for ever.';
comment on column tracestore_data.manifest_entry.index_id is 'The index.';
comment on column tracestore_data.manifest_entry.version_key is 'The member.';
comment on column tracestore_data.manifest_entry.added_build is 'First build it is a member of.';
comment on column tracestore_data.manifest_entry.removed_build is 'First build it is no longer a member of; null while it is.';
comment on column tracestore_data.manifest_entry.version_state is 'State of the version at the commit of added_build.';
comment on column tracestore_data.manifest_entry.family_id is 'Family of the document at the commit of added_build.';
comment on column tracestore_data.manifest_entry.class is 'Class of the document at the commit of added_build.';
comment on column tracestore_data.manifest_entry.chunk_count is 'How many chunks were cut from it.';

create table tracestore_data.embedding (
  index_id bigint not null,
  content_key bytea not null constraint embedding_key_is_sha256 check (octet_length(content_key) = 32),
  vec @vector@.vector not null,
  vec_sha256 bytea not null constraint vec_hash_is_sha256 check (octet_length(vec_sha256) = 32),
  lexemes tsvector,
  live boolean not null default true,
  truncated boolean not null default false,
  constraint embedding_pk primary key (index_id, content_key)
) partition by list (index_id);
alter table tracestore_data.embedding alter column vec set statistics 0;
alter table tracestore_data.embedding alter column lexemes set statistics 0;
comment on table tracestore_data.embedding is 'One vector and one set of lexemes for each embedded text of an index.';
comment on column tracestore_data.embedding.index_id is 'The index; one partition each.';
comment on column tracestore_data.embedding.content_key is 'SHA-256 over recipe and embedded text.';
comment on column tracestore_data.embedding.vec is 'Unit vector of the recipe''s dimension.';
comment on column tracestore_data.embedding.vec_sha256 is 'SHA-256 of the vector as it was stored: what a later change cannot hide from.';
comment on column tracestore_data.embedding.lexemes is 'Lexemes of the embedded text in the index''s full-text configuration.';
comment on column tracestore_data.embedding.live is 'Member of a searchable build; cleared only by garbage collection.';
comment on column tracestore_data.embedding.truncated is 'The model saw only the beginning of the text.';

create table tracestore_data.chunk (
  index_id bigint not null,
  version_key bigint not null,
  ordinal integer not null constraint ordinal_is_not_negative check (ordinal >= 0),
  added_build bigint not null,
  removed_build bigint,
  alive boolean not null generated always as (removed_build is null) stored,
  span_start integer not null,
  span_end integer not null,
  byte_start integer not null,
  byte_end integer not null,
  context_start integer not null,
  context_end integer not null,
  words integer not null,
  split boolean not null,
  heading_path text[] not null,
  span_sha256 bytea not null constraint span_hash_is_sha256 check (octet_length(span_sha256) = 32),
  content_key bytea constraint chunk_key_is_sha256 check (octet_length(content_key) = 32),
  constraint chunk_pk primary key (index_id, version_key, ordinal, added_build),
  constraint chunk_span_is_not_empty check (0 <= span_start and span_start < span_end),
  constraint chunk_text_fills_its_span
    check (byte_end - byte_start between span_end - span_start and 4 * (span_end - span_start)),
  constraint chunk_bytes_start_where_its_characters_do check (byte_start between span_start and 4 * span_start),
  constraint chunk_context_contains_its_span check (0 <= context_start and context_start <= span_start and span_end <= context_end),
  constraint chunk_ends_after_it_began check (removed_build > added_build),
  constraint chunk_belongs_to_a_manifest_entry
    foreign key (index_id, version_key, added_build)
    references tracestore_data.manifest_entry (index_id, version_key, added_build),
  constraint chunk_has_its_embedding
    foreign key (index_id, content_key) references tracestore_data.embedding (index_id, content_key)
) partition by list (index_id);
alter table tracestore_data.chunk alter column heading_path set statistics 0;
create unique index chunk_ordinal_is_once_alive on tracestore_data.chunk (index_id, version_key, ordinal) where removed_build is null;
create index chunk_by_content on tracestore_data.chunk (index_id, content_key);
comment on table tracestore_data.chunk is
  'A claim about a version: an exact range of its text. In build b when added_build <= b and (removed_build is null or removed_build > b).';
comment on column tracestore_data.chunk.index_id is 'The index; one partition each.';
comment on column tracestore_data.chunk.version_key is 'The version it is a range of.';
comment on column tracestore_data.chunk.ordinal is 'Position in the version, from 0.';
comment on column tracestore_data.chunk.added_build is 'First build it is in.';
comment on column tracestore_data.chunk.removed_build is 'First build it is no longer in (the tombstone); null while alive.';
comment on column tracestore_data.chunk.alive is 'In the newest build of the index.';
comment on column tracestore_data.chunk.span_start is 'First code point.';
comment on column tracestore_data.chunk.span_end is 'Code point after the last.';
comment on column tracestore_data.chunk.byte_start is 'First byte of the UTF-8 content.';
comment on column tracestore_data.chunk.byte_end is 'Byte after the last.';
comment on column tracestore_data.chunk.context_start is 'First code point of the enclosing section.';
comment on column tracestore_data.chunk.context_end is 'Code point after the enclosing section.';
comment on column tracestore_data.chunk.words is 'Words separated by white space.';
comment on column tracestore_data.chunk.split is 'Cut inside a unit, at the hard limit.';
comment on column tracestore_data.chunk.heading_path is 'Headings above it, outermost first.';
comment on column tracestore_data.chunk.span_sha256 is 'SHA-256 of the range''s bytes.';
comment on column tracestore_data.chunk.content_key is 'Its embedding; null: not embeddable, in no search.';

-- ---------------------------------------------------------------------------------------------------------
-- Aliases: what is served

create table tracestore_data.alias_event (
  alias_event_id bigint generated always as identity primary key,
  alias_name text collate "C" not null
    constraint alias_event_name_is_an_id check (tracestore_data.is_citable_id(alias_name)),
  collection_id bigint not null references tracestore_data.collection,
  recipe_key bigint not null references tracestore_data.recipe,
  action text not null constraint alias_action_is_known check (action in ('publish', 'rollback', 'retire')),
  from_build_id bigint references tracestore_data.build,
  to_build_id bigint references tracestore_data.build,
  occurred_at timestamptz not null default clock_timestamp(),
  actor text not null default session_user,
  reason text,
  forced boolean not null default false,
  constraint alias_event_moves_somewhere check (to_build_id is distinct from from_build_id),
  constraint retiring_has_no_target check ((action = 'retire') = (to_build_id is null))
);
create index alias_event_by_alias on tracestore_data.alias_event (alias_name, alias_event_id desc);
comment on table tracestore_data.alias_event is 'Every switch of an alias. Append-only; times never run backwards for one alias.';
comment on column tracestore_data.alias_event.alias_event_id is 'Surrogate key, in order of switching for one alias.';
comment on column tracestore_data.alias_event.alias_name is 'The alias.';
comment on column tracestore_data.alias_event.collection_id is 'The corpus it serves.';
comment on column tracestore_data.alias_event.recipe_key is 'The recipe whose queries it answers.';
comment on column tracestore_data.alias_event.action is 'publish, rollback or retire.';
comment on column tracestore_data.alias_event.from_build_id is 'Build served before; null for the first.';
comment on column tracestore_data.alias_event.to_build_id is 'Build served from then on; null when retired.';
comment on column tracestore_data.alias_event.occurred_at is 'When, stamped under the lock of the alias.';
comment on column tracestore_data.alias_event.actor is 'Who.';
comment on column tracestore_data.alias_event.reason is 'Why.';
comment on column tracestore_data.alias_event.forced is 'Published although a gate was missing or failed.';

create table tracestore_data.alias (
  alias_name text collate "C" not null constraint alias_name_is_an_id check (tracestore_data.is_citable_id(alias_name)),
  recipe_key bigint not null references tracestore_data.recipe,
  collection_id bigint not null references tracestore_data.collection,
  build_id bigint not null references tracestore_data.build,
  alias_event_id bigint not null references tracestore_data.alias_event,
  constraint alias_serves_one_build_for_a_recipe primary key (alias_name, recipe_key)
);
create index alias_by_build on tracestore_data.alias (build_id);
comment on table tracestore_data.alias is 'What each alias serves now; one row for each recipe.';
comment on column tracestore_data.alias.alias_name is 'The name services query.';
comment on column tracestore_data.alias.recipe_key is 'The recipe whose queries it answers.';
comment on column tracestore_data.alias.collection_id is 'The corpus.';
comment on column tracestore_data.alias.build_id is 'The build served.';
comment on column tracestore_data.alias.alias_event_id is 'The switch that made it so.';

-- ---------------------------------------------------------------------------------------------------------
-- Triggers

create function tracestore_data.guard_document_version()
returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if tg_op = 'DELETE' then
    raise exception using
      errcode = 'TS005',
      message = format('version %s of a document cannot be deleted', old.version_id),
      hint = 'Use tracestore.erase() to remove its content; the record that it existed stays.';
  end if;
  if old.content is not null and new.content is null and new.erased_at is not null then
    if not exists (
      select from tracestore_data.suppression s
      where s.doc_key = old.doc_key and s.kind = 'erased' and (s.version_key is null or s.version_key = old.version_key))
    then
      raise exception using
        errcode = 'TS005',
        message = format('content of version %s can only be removed through tracestore.erase()', old.version_id),
        hint = 'tracestore.erase() also suppresses it in every build.';
    end if;
    -- What may change in an erasure: nothing else but the free-form fields that can repeat the text.
    new.version_state := old.version_state;
  elsif new.version_state is distinct from old.version_state and pg_trigger_depth() < 2 then
    raise exception using
      errcode = 'TS005',
      message = format('state of version %s changes only by an event', old.version_id),
      hint = 'Insert into tracestore_data.version_state_event.';
  elsif (new.content, new.attributes, new.pages, new.source_uri, new.erased_at)
        is distinct from (old.content, old.attributes, old.pages, old.source_uri, old.erased_at) then
    raise exception using
      errcode = 'TS005',
      message = format('version %s is immutable', old.version_id),
      hint = 'Register the new text as a new version; tracestore.erase() is the only way to remove content.';
  end if;
  if (new.version_key, new.doc_key, new.version_id, new.version_seq, new.content_sha256, new.char_count, new.media_type,
      new.effective_from, new.registered_at, new.registered_by, new.in_place_of, new.parser)
     is distinct from
     (old.version_key, old.doc_key, old.version_id, old.version_seq, old.content_sha256, old.char_count, old.media_type,
      old.effective_from, old.registered_at, old.registered_by, old.in_place_of, old.parser) then
    raise exception using
      errcode = 'TS005',
      message = format('version %s is immutable', old.version_id),
      hint = 'Register the new text as a new version.';
  end if;
  return new;
end
$$;
comment on function tracestore_data.guard_document_version() is 'Keeps versions immutable, except for erasure and for states set by events.';
create trigger document_version_is_immutable
  before update or delete on tracestore_data.document_version
  for each row execute function tracestore_data.guard_document_version();
create trigger document_version_is_not_truncated
  before truncate on tracestore_data.document_version
  for each statement execute function tracestore_data.refuse_change();

create function tracestore_data.apply_version_state_event()
returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_old text;
begin
  select v.version_state into v_old
  from tracestore_data.document_version v
  where v.version_key = new.version_key
  for no key update;
  if new.cause = 'registered' then
    new.old_state := null;
    if new.new_state = 'withdrawn' or exists (
         select from tracestore_data.version_state_event e where e.version_key = new.version_key) then
      raise exception using
        errcode = 'TS010',
        message = format('a version that is %s cannot become %s by being registered', v_old, new.new_state),
        hint = 'Only the first event of a version registers it.';
    end if;
  else
    new.old_state := v_old;
    if v_old = new.new_state
       or (v_old = 'withdrawn') <> (new.cause = 'restored')
       or (new.new_state = 'withdrawn') <> (new.cause = 'withdrawn') then
      raise exception using
        errcode = 'TS010',
        message = format('a version that is %s cannot become %s by %s', v_old, new.new_state, new.cause),
        hint = 'A withdrawn version is first restored.';
    end if;
  end if;
  update tracestore_data.document_version v
  set version_state = new.new_state
  where v.version_key = new.version_key and v.version_state <> new.new_state;
  return new;
end
$$;
comment on function tracestore_data.apply_version_state_event() is 'Checks the transition and sets the state of the version.';
create trigger version_state_event_is_applied
  before insert on tracestore_data.version_state_event
  for each row execute function tracestore_data.apply_version_state_event();

create trigger version_state_event_is_append_only
  before update or delete or truncate on tracestore_data.version_state_event
  for each statement execute function tracestore_data.refuse_change();
create function tracestore_data.guard_document_event()
returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if (new.document_event_id, new.doc_key, new.attribute, new.occurred_at, new.actor, new.reason)
       is distinct from (old.document_event_id, old.doc_key, old.attribute, old.occurred_at, old.actor, old.reason)
     or num_nonnulls(new.old_value, new.new_value) > 0
     or old.attribute <> 'title'
     or exists (select from tracestore_data.document_version v where v.doc_key = old.doc_key and v.erased_at is null) then
    raise exception using
      errcode = 'TS005',
      message = 'an event of a document cannot be changed',
      hint = 'Nothing recorded is changed; the titles of an erased document are removed by tracestore.erase().';
  end if;
  return new;
end
$$;
comment on function tracestore_data.guard_document_event() is 'Lets go only of the titles of a document of which nothing is left.';
create trigger document_event_is_immutable
  before update on tracestore_data.document_event
  for each row execute function tracestore_data.guard_document_event();
create trigger document_event_is_append_only
  before delete or truncate on tracestore_data.document_event
  for each statement execute function tracestore_data.refuse_change();
create trigger alias_event_is_append_only
  before update or delete or truncate on tracestore_data.alias_event
  for each statement execute function tracestore_data.refuse_change();
create trigger recipe_is_immutable
  before update or delete or truncate on tracestore_data.recipe
  for each statement execute function tracestore_data.refuse_change();
create trigger retrieval_index_is_immutable
  before update or delete or truncate on tracestore_data.retrieval_index
  for each statement execute function tracestore_data.refuse_change();

-- Names that citations and records of elsewhere carry.
create trigger store_keeps_its_identity
  before update of store_id, singleton, created_at on tracestore_data.store
  for each statement execute function tracestore_data.refuse_change();
create trigger store_is_not_deleted
  before delete or truncate on tracestore_data.store
  for each statement execute function tracestore_data.refuse_change();
create trigger collection_keeps_its_slug
  before update of collection_id, slug on tracestore_data.collection
  for each statement execute function tracestore_data.refuse_change();
create trigger document_keeps_its_id
  before update of doc_key, collection_id, doc_id on tracestore_data.document
  for each statement execute function tracestore_data.refuse_change();

-- Claims: an interval is closed once, nothing else about a row changes. Row triggers, since those of a partitioned
-- table hold for its partitions as well; named columns, so that closing an interval does not fire them.
create trigger manifest_entry_is_immutable
  before update of index_id, version_key, added_build, version_state, family_id, class, chunk_count
  on tracestore_data.manifest_entry
  for each row execute function tracestore_data.refuse_change();
create trigger manifest_entry_is_closed_once
  before update of removed_build on tracestore_data.manifest_entry
  for each row when (old.removed_build is not null) execute function tracestore_data.refuse_change();
create trigger manifest_entry_is_kept
  before delete or truncate on tracestore_data.manifest_entry
  for each statement execute function tracestore_data.refuse_change();
create trigger chunk_is_immutable
  before update of index_id, version_key, ordinal, added_build, span_start, span_end, byte_start, byte_end,
    context_start, context_end, words, split, heading_path, span_sha256, content_key
  on tracestore_data.chunk
  for each row execute function tracestore_data.refuse_change();
create trigger chunk_is_closed_once
  before update of removed_build on tracestore_data.chunk
  for each row when (old.removed_build is not null) execute function tracestore_data.refuse_change();
create trigger embedding_is_immutable
  before update of index_id, content_key, vec, vec_sha256, lexemes, truncated on tracestore_data.embedding
  for each row execute function tracestore_data.refuse_change();

create function tracestore_data.guard_suppression()
returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if tg_op <> 'UPDATE'
     or old.lifted_at is not null
     or (new.suppression_id, new.doc_key, new.version_key, new.kind, new.epoch, new.suppressed_at, new.actor, new.reason)
        is distinct from
        (old.suppression_id, old.doc_key, old.version_key, old.kind, old.epoch, old.suppressed_at, old.actor, old.reason) then
    raise exception using
      errcode = 'TS005',
      message = 'a suppression can be lifted once, not changed or deleted',
      hint = 'Use tracestore.restore().';
  end if;
  return new;
end
$$;
comment on function tracestore_data.guard_suppression() is 'A suppression can only be lifted.';
create trigger suppression_is_only_lifted
  before update or delete on tracestore_data.suppression
  for each row execute function tracestore_data.guard_suppression();
create trigger suppression_is_not_truncated
  before truncate on tracestore_data.suppression
  for each statement execute function tracestore_data.refuse_change();

create function tracestore_data.guard_build()
returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if tg_op = 'DELETE' then
    -- A build that found nothing to do leaves no trace; anything else is a record.
    if old.state = 'building' then
      return old;
    end if;
    raise exception using
      errcode = 'TS005',
      message = format('build B-%s cannot be deleted', old.build_id),
      hint = 'Builds are kept; garbage collection lowers their retention level.';
  end if;
  if old.state <> 'building'
     and (new.index_id, new.parent_build_id, new.kind, new.state, new.cutoff_at, new.committed_at, new.chunker_version,
          new.manifest_header, new.index_version, new.documents, new.chunks, new.not_embeddable)
         is distinct from
         (old.index_id, old.parent_build_id, old.kind, old.state, old.cutoff_at, old.committed_at, old.chunker_version,
          old.manifest_header, old.index_version, old.documents, old.chunks, old.not_embeddable) then
    raise exception using
      errcode = 'TS005',
      message = format('build B-%s is %s and cannot be changed', old.build_id, old.state),
      hint = 'Make a new build.';
  end if;
  if array_position(array['vectors', 'chunks', 'manifest'], new.level) < array_position(array['vectors', 'chunks', 'manifest'], old.level) then
    raise exception using
      errcode = 'TS005',
      message = format('build B-%s cannot go back from level %s to %s', old.build_id, old.level, new.level),
      hint = 'What was collected is gone. Make a new build.';
  end if;
  return new;
end
$$;
comment on function tracestore_data.guard_build() is 'A build that is ready or failed is a record.';
create trigger build_is_a_record
  before update or delete on tracestore_data.build
  for each row execute function tracestore_data.guard_build();
create trigger build_is_not_truncated
  before truncate on tracestore_data.build
  for each statement execute function tracestore_data.refuse_change();
