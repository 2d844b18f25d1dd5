-- Written by `just schema` from the newest migration, for people. Nothing reads it: change a table by a migration.

-- ----------------------------------------------------------------------------------------------------
-- recipe

CREATE TABLE tracestore_data.recipe (
    recipe_key bigint NOT NULL,
    recipe_id text NOT NULL COLLATE pg_catalog."C",
    model text NOT NULL,
    revision text NOT NULL,
    dimension integer NOT NULL,
    settings jsonb NOT NULL,
    probe_text text NOT NULL,
    probe public.vector NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT probe_has_the_dimension CHECK ((public.vector_dims(probe) = dimension)),
    CONSTRAINT recipe_dimension_is_possible CHECK (((dimension >= 1) AND (dimension <= 16000))),
    CONSTRAINT recipe_id_is_not_empty CHECK ((recipe_id <> ''::text))
);
COMMENT ON TABLE tracestore_data.recipe IS 'Everything that makes two vectors comparable. Immutable.';
COMMENT ON COLUMN tracestore_data.recipe.recipe_key IS 'Surrogate key.';
COMMENT ON COLUMN tracestore_data.recipe.recipe_id IS 'Its name, as given to build and search.';
COMMENT ON COLUMN tracestore_data.recipe.model IS 'The model.';
COMMENT ON COLUMN tracestore_data.recipe.revision IS 'Revision of the model, where it has one.';
COMMENT ON COLUMN tracestore_data.recipe.dimension IS 'Length of its vectors.';
COMMENT ON COLUMN tracestore_data.recipe.settings IS 'The recipe in full: template, prefixes, normalisation, token limit.';
COMMENT ON COLUMN tracestore_data.recipe.probe_text IS 'A fixed text.';
COMMENT ON COLUMN tracestore_data.recipe.probe IS 'Vector of the fixed text when the recipe was first used: a model that changed behind its name shows here.';
COMMENT ON COLUMN tracestore_data.recipe.created_at IS 'When it was first used.';

ALTER TABLE tracestore_data.recipe ALTER COLUMN recipe_key ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME tracestore_data.recipe_recipe_key_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE ONLY tracestore_data.recipe
    ADD CONSTRAINT recipe_pkey PRIMARY KEY (recipe_key);

ALTER TABLE ONLY tracestore_data.recipe
    ADD CONSTRAINT recipe_recipe_id_key UNIQUE (recipe_id);

CREATE TRIGGER recipe_is_immutable BEFORE DELETE OR UPDATE OR TRUNCATE ON tracestore_data.recipe FOR EACH STATEMENT EXECUTE FUNCTION tracestore_data.refuse_change();

-- ----------------------------------------------------------------------------------------------------
-- retrieval_index

CREATE TABLE tracestore_data.retrieval_index (
    index_id bigint NOT NULL,
    collection_id bigint NOT NULL,
    recipe_key bigint NOT NULL,
    settings text NOT NULL,
    settings_json jsonb GENERATED ALWAYS AS ((settings)::jsonb) STORED NOT NULL,
    lexical text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    dropped_at timestamp with time zone,
    dropped_by text,
    drop_reason text,
    CONSTRAINT dropping_is_complete CHECK ((num_nulls(dropped_at, dropped_by, drop_reason) = ANY (ARRAY[0, 3]))),
    CONSTRAINT lexical_is_in_the_settings CHECK ((NOT (((settings)::jsonb ->> 'lexical'::text) IS DISTINCT FROM lexical)))
);
COMMENT ON TABLE tracestore_data.retrieval_index IS 'A line of builds with the same recipe, chunking, ANN and lexical settings.';
COMMENT ON COLUMN tracestore_data.retrieval_index.index_id IS 'Surrogate key; names the partitions of chunk and embedding.';
COMMENT ON COLUMN tracestore_data.retrieval_index.collection_id IS 'The corpus.';
COMMENT ON COLUMN tracestore_data.retrieval_index.recipe_key IS 'The recipe.';
COMMENT ON COLUMN tracestore_data.retrieval_index.settings IS 'Canonical JSON of all settings: the text that is hashed.';
COMMENT ON COLUMN tracestore_data.retrieval_index.settings_json IS 'The same, to query.';
COMMENT ON COLUMN tracestore_data.retrieval_index.lexical IS 'Full-text configuration of the lexical leg.';
COMMENT ON COLUMN tracestore_data.retrieval_index.created_at IS 'When it was made.';
COMMENT ON COLUMN tracestore_data.retrieval_index.dropped_at IS 'When its chunks and vectors were removed for good; null while it is in use.';
COMMENT ON COLUMN tracestore_data.retrieval_index.dropped_by IS 'Who dropped it.';
COMMENT ON COLUMN tracestore_data.retrieval_index.drop_reason IS 'Why it was dropped.';

ALTER TABLE tracestore_data.retrieval_index ALTER COLUMN index_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME tracestore_data.retrieval_index_index_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE ONLY tracestore_data.retrieval_index
    ADD CONSTRAINT retrieval_index_pkey PRIMARY KEY (index_id);

CREATE UNIQUE INDEX index_is_once_in_its_collection ON tracestore_data.retrieval_index USING btree (collection_id, settings) WHERE (dropped_at IS NULL);

CREATE TRIGGER retrieval_index_is_immutable BEFORE UPDATE ON tracestore_data.retrieval_index FOR EACH ROW WHEN (((old.dropped_at IS NOT NULL) OR ((((((old.index_id IS DISTINCT FROM new.index_id) OR (old.collection_id IS DISTINCT FROM new.collection_id)) OR (old.recipe_key IS DISTINCT FROM new.recipe_key)) OR (old.settings IS DISTINCT FROM new.settings)) OR (old.lexical IS DISTINCT FROM new.lexical)) OR (old.created_at IS DISTINCT FROM new.created_at)))) EXECUTE FUNCTION tracestore_data.refuse_change();

CREATE TRIGGER retrieval_index_is_never_deleted BEFORE DELETE OR TRUNCATE ON tracestore_data.retrieval_index FOR EACH STATEMENT EXECUTE FUNCTION tracestore_data.refuse_change();

ALTER TABLE ONLY tracestore_data.retrieval_index
    ADD CONSTRAINT retrieval_index_collection_id_fkey FOREIGN KEY (collection_id) REFERENCES tracestore_data.collection(collection_id);

ALTER TABLE ONLY tracestore_data.retrieval_index
    ADD CONSTRAINT retrieval_index_recipe_key_fkey FOREIGN KEY (recipe_key) REFERENCES tracestore_data.recipe(recipe_key);

-- ----------------------------------------------------------------------------------------------------
-- build

CREATE TABLE tracestore_data.build (
    build_id bigint NOT NULL,
    index_id bigint NOT NULL,
    parent_build_id bigint,
    kind text DEFAULT 'build'::text NOT NULL,
    state text DEFAULT 'building'::text NOT NULL,
    level text DEFAULT 'vectors'::text NOT NULL,
    started_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    cutoff_at timestamp with time zone NOT NULL,
    committed_at timestamp with time zone,
    chunker_version integer NOT NULL,
    manifest_header text NOT NULL,
    index_version bytea,
    documents bigint,
    chunks bigint,
    not_embeddable bigint,
    embedding_calls bigint,
    reused bigint,
    split bigint,
    truncated bigint,
    actor text DEFAULT SESSION_USER NOT NULL,
    failure text,
    lease_token uuid,
    lease_expires_at timestamp with time zone,
    lease_pid integer,
    lease_backend_start timestamp with time zone,
    CONSTRAINT build_comes_after_its_parent CHECK ((parent_build_id < build_id)),
    CONSTRAINT build_kind_is_known CHECK ((kind = ANY (ARRAY['build'::text, 'reindex'::text]))),
    CONSTRAINT build_level_is_known CHECK ((level = ANY (ARRAY['vectors'::text, 'chunks'::text, 'manifest'::text]))),
    CONSTRAINT build_state_is_known CHECK ((state = ANY (ARRAY['building'::text, 'ready'::text, 'failed'::text]))),
    CONSTRAINT index_version_is_sha256 CHECK ((octet_length(index_version) = 32)),
    CONSTRAINT only_a_building_build_holds_the_lease CHECK (((state = 'building'::text) = (lease_token IS NOT NULL))),
    CONSTRAINT ready_build_is_complete CHECK (((state <> 'ready'::text) OR (num_nulls(committed_at, index_version, documents, chunks, not_embeddable, embedding_calls, reused, split, truncated) = 0)))
);
ALTER TABLE ONLY tracestore_data.build ALTER COLUMN failure SET STATISTICS 0;
COMMENT ON TABLE tracestore_data.build IS 'One event that produced a searchable state of an index.';
COMMENT ON COLUMN tracestore_data.build.build_id IS 'Number; shown as B-1042.';
COMMENT ON COLUMN tracestore_data.build.index_id IS 'The index.';
COMMENT ON COLUMN tracestore_data.build.parent_build_id IS 'The latest ready build when this one was made; null for the first.';
COMMENT ON COLUMN tracestore_data.build.kind IS 'build: the corpus may have changed. reindex: same corpus, new search graph.';
COMMENT ON COLUMN tracestore_data.build.state IS 'building -> ready, or building -> failed. A ready build stays ready.';
COMMENT ON COLUMN tracestore_data.build.level IS 'What is retained: vectors (searchable), chunks (resolvable), manifest (kept for ever).';
COMMENT ON COLUMN tracestore_data.build.started_at IS 'When it began.';
COMMENT ON COLUMN tracestore_data.build.cutoff_at IS 'Versions effective by then are its corpus.';
COMMENT ON COLUMN tracestore_data.build.committed_at IS 'When it became ready.';
COMMENT ON COLUMN tracestore_data.build.chunker_version IS 'Version of the chunker that cut it.';
COMMENT ON COLUMN tracestore_data.build.manifest_header IS 'Canonical JSON of every setting that determines the content: the first part of what index_version hashes.';
COMMENT ON COLUMN tracestore_data.build.index_version IS 'SHA-256 of the manifest: equal versions, equal inputs.';
COMMENT ON COLUMN tracestore_data.build.documents IS 'Members: document versions searchable in it.';
COMMENT ON COLUMN tracestore_data.build.chunks IS 'Chunks in it.';
COMMENT ON COLUMN tracestore_data.build.not_embeddable IS 'Chunks in it without a vector.';
COMMENT ON COLUMN tracestore_data.build.embedding_calls IS 'Texts handed to the embedder while making it.';
COMMENT ON COLUMN tracestore_data.build.reused IS 'New chunks whose vector was known already.';
COMMENT ON COLUMN tracestore_data.build.split IS 'Chunks in it that were cut at the hard limit.';
COMMENT ON COLUMN tracestore_data.build.truncated IS 'Chunks in it of which the model saw only the beginning.';
COMMENT ON COLUMN tracestore_data.build.actor IS 'Who made it.';
COMMENT ON COLUMN tracestore_data.build.failure IS 'Why it failed.';
COMMENT ON COLUMN tracestore_data.build.lease_token IS 'Held by the process that makes the build; checked again when it commits.';
COMMENT ON COLUMN tracestore_data.build.lease_expires_at IS 'After this the lease may be taken over.';
COMMENT ON COLUMN tracestore_data.build.lease_pid IS 'Server process of the holder''s connection: gone means the holder is gone.';
COMMENT ON COLUMN tracestore_data.build.lease_backend_start IS 'Start of that server process, since numbers are used again.';

ALTER TABLE tracestore_data.build ALTER COLUMN build_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME tracestore_data.build_build_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE ONLY tracestore_data.build
    ADD CONSTRAINT build_pkey PRIMARY KEY (build_id);

CREATE INDEX build_by_cutoff ON tracestore_data.build USING btree (index_id, cutoff_at DESC, build_id DESC) WHERE (state = 'ready'::text);

CREATE UNIQUE INDEX build_one_lease ON tracestore_data.build USING btree (index_id) WHERE (state = 'building'::text);

CREATE INDEX build_ready_line ON tracestore_data.build USING btree (index_id, build_id DESC) WHERE (state = 'ready'::text);

CREATE TRIGGER build_is_a_record BEFORE DELETE OR UPDATE ON tracestore_data.build FOR EACH ROW EXECUTE FUNCTION tracestore_data.guard_build();

CREATE TRIGGER build_is_not_truncated BEFORE TRUNCATE ON tracestore_data.build FOR EACH STATEMENT EXECUTE FUNCTION tracestore_data.refuse_change();

ALTER TABLE ONLY tracestore_data.build
    ADD CONSTRAINT build_index_id_fkey FOREIGN KEY (index_id) REFERENCES tracestore_data.retrieval_index(index_id);

ALTER TABLE ONLY tracestore_data.build
    ADD CONSTRAINT build_parent_build_id_fkey FOREIGN KEY (parent_build_id) REFERENCES tracestore_data.build(build_id);

ALTER TABLE tracestore_data.build ENABLE ROW LEVEL SECURITY;

CREATE POLICY build_is_added ON tracestore_data.build FOR INSERT WITH CHECK (( SELECT tracestore_data.reads_everything() AS reads_everything));

CREATE POLICY build_is_changed ON tracestore_data.build FOR UPDATE USING (( SELECT tracestore_data.reads_everything() AS reads_everything));

CREATE POLICY build_is_deleted ON tracestore_data.build FOR DELETE USING (( SELECT tracestore_data.reads_everything() AS reads_everything));

CREATE POLICY build_is_read ON tracestore_data.build FOR SELECT USING (((state = 'ready'::text) OR ( SELECT tracestore_data.reads_everything() AS reads_everything)));

-- ----------------------------------------------------------------------------------------------------
-- manifest_entry

CREATE TABLE tracestore_data.manifest_entry (
    index_id bigint NOT NULL,
    version_key bigint NOT NULL,
    added_build bigint NOT NULL,
    removed_build bigint,
    version_state text NOT NULL COLLATE pg_catalog."C",
    family_id text NOT NULL COLLATE pg_catalog."C",
    class text COLLATE pg_catalog."C",
    chunk_count integer NOT NULL,
    CONSTRAINT chunk_count_is_not_negative CHECK ((chunk_count >= 0)),
    CONSTRAINT manifest_entry_ends_after_it_began CHECK ((removed_build > added_build)),
    CONSTRAINT member_is_current_or_unknown CHECK ((version_state = ANY (ARRAY['current'::text, 'unknown'::text])))
);
COMMENT ON TABLE tracestore_data.manifest_entry IS 'A document version is a member of build b when added_build <= b and (removed_build is null or removed_build > b). Kept for ever.';
COMMENT ON COLUMN tracestore_data.manifest_entry.index_id IS 'The index.';
COMMENT ON COLUMN tracestore_data.manifest_entry.version_key IS 'The member.';
COMMENT ON COLUMN tracestore_data.manifest_entry.added_build IS 'First build it is a member of.';
COMMENT ON COLUMN tracestore_data.manifest_entry.removed_build IS 'First build it is no longer a member of; null while it is.';
COMMENT ON COLUMN tracestore_data.manifest_entry.version_state IS 'State of the version at the commit of added_build.';
COMMENT ON COLUMN tracestore_data.manifest_entry.family_id IS 'Family of the document at the commit of added_build.';
COMMENT ON COLUMN tracestore_data.manifest_entry.class IS 'Class of the document at the commit of added_build.';
COMMENT ON COLUMN tracestore_data.manifest_entry.chunk_count IS 'How many chunks were cut from it.';

ALTER TABLE ONLY tracestore_data.manifest_entry
    ADD CONSTRAINT manifest_entry_pk PRIMARY KEY (index_id, version_key, added_build);

CREATE INDEX manifest_entry_added ON tracestore_data.manifest_entry USING btree (index_id, added_build, version_key);

CREATE INDEX manifest_entry_closed ON tracestore_data.manifest_entry USING btree (index_id, removed_build) WHERE (removed_build IS NOT NULL);

CREATE INDEX manifest_entry_of_version ON tracestore_data.manifest_entry USING btree (version_key);

CREATE UNIQUE INDEX manifest_entry_open ON tracestore_data.manifest_entry USING btree (index_id, version_key) WHERE (removed_build IS NULL);

CREATE TRIGGER manifest_entry_is_closed_once BEFORE UPDATE OF removed_build ON tracestore_data.manifest_entry FOR EACH ROW WHEN ((old.removed_build IS NOT NULL)) EXECUTE FUNCTION tracestore_data.refuse_change();

CREATE TRIGGER manifest_entry_is_immutable BEFORE UPDATE OF index_id, version_key, added_build, version_state, family_id, class, chunk_count ON tracestore_data.manifest_entry FOR EACH ROW EXECUTE FUNCTION tracestore_data.refuse_change();

CREATE TRIGGER manifest_entry_is_kept BEFORE DELETE OR TRUNCATE ON tracestore_data.manifest_entry FOR EACH STATEMENT EXECUTE FUNCTION tracestore_data.refuse_change();

ALTER TABLE ONLY tracestore_data.manifest_entry
    ADD CONSTRAINT manifest_entry_added_build_fkey FOREIGN KEY (added_build) REFERENCES tracestore_data.build(build_id);

ALTER TABLE ONLY tracestore_data.manifest_entry
    ADD CONSTRAINT manifest_entry_index_id_fkey FOREIGN KEY (index_id) REFERENCES tracestore_data.retrieval_index(index_id);

ALTER TABLE ONLY tracestore_data.manifest_entry
    ADD CONSTRAINT manifest_entry_removed_build_fkey FOREIGN KEY (removed_build) REFERENCES tracestore_data.build(build_id);

ALTER TABLE ONLY tracestore_data.manifest_entry
    ADD CONSTRAINT manifest_entry_version_key_fkey FOREIGN KEY (version_key) REFERENCES tracestore_data.document_version(version_key);

ALTER TABLE tracestore_data.manifest_entry ENABLE ROW LEVEL SECURITY;

CREATE POLICY manifest_entry_is_added ON tracestore_data.manifest_entry FOR INSERT WITH CHECK (( SELECT tracestore_data.reads_everything() AS reads_everything));

CREATE POLICY manifest_entry_is_changed ON tracestore_data.manifest_entry FOR UPDATE USING (( SELECT tracestore_data.reads_everything() AS reads_everything));

CREATE POLICY manifest_entry_is_deleted ON tracestore_data.manifest_entry FOR DELETE USING (( SELECT tracestore_data.reads_everything() AS reads_everything));

CREATE POLICY manifest_entry_is_read ON tracestore_data.manifest_entry FOR SELECT USING ((( SELECT tracestore_data.sees_every_document() AS sees_every_document) OR (EXISTS ( SELECT
   FROM tracestore_data.visible_version v
  WHERE (v.version_key = manifest_entry.version_key)))));

-- ----------------------------------------------------------------------------------------------------
-- newest_manifest

CREATE TABLE tracestore_data.newest_manifest (
    index_id bigint NOT NULL,
    build_id bigint NOT NULL,
    digests bytea[] NOT NULL,
    CONSTRAINT newest_manifest_has_256_digests CHECK (((array_ndims(digests) = 1) AND (array_lower(digests, 1) = 1) AND (cardinality(digests) = 256)))
);
COMMENT ON TABLE tracestore_data.newest_manifest IS 'The first level of the manifest hash of the newest build of each index, from which the next build computes its own; it can be deleted and is then computed from the manifest.';
COMMENT ON COLUMN tracestore_data.newest_manifest.index_id IS 'The index.';
COMMENT ON COLUMN tracestore_data.newest_manifest.build_id IS 'The build whose manifest it is.';
COMMENT ON COLUMN tracestore_data.newest_manifest.digests IS 'SHA-256 of the members of each bucket, bucket 0 first; null for a bucket without members.';

ALTER TABLE ONLY tracestore_data.newest_manifest
    ADD CONSTRAINT newest_manifest_pkey PRIMARY KEY (index_id);

ALTER TABLE ONLY tracestore_data.newest_manifest
    ADD CONSTRAINT newest_manifest_build_id_fkey FOREIGN KEY (build_id) REFERENCES tracestore_data.build(build_id);

ALTER TABLE ONLY tracestore_data.newest_manifest
    ADD CONSTRAINT newest_manifest_index_id_fkey FOREIGN KEY (index_id) REFERENCES tracestore_data.retrieval_index(index_id);

ALTER TABLE tracestore_data.newest_manifest ENABLE ROW LEVEL SECURITY;

CREATE POLICY newest_manifest_is_added ON tracestore_data.newest_manifest FOR INSERT WITH CHECK (( SELECT tracestore_data.reads_everything() AS reads_everything));

CREATE POLICY newest_manifest_is_changed ON tracestore_data.newest_manifest FOR UPDATE USING (( SELECT tracestore_data.reads_everything() AS reads_everything));

CREATE POLICY newest_manifest_is_deleted ON tracestore_data.newest_manifest FOR DELETE USING (( SELECT tracestore_data.reads_everything() AS reads_everything));

CREATE POLICY newest_manifest_is_read ON tracestore_data.newest_manifest FOR SELECT USING (( SELECT tracestore_data.reads_everything() AS reads_everything));

-- ----------------------------------------------------------------------------------------------------
-- embedding

CREATE TABLE tracestore_data.embedding (
    index_id bigint NOT NULL,
    content_key bytea NOT NULL,
    vec public.vector,
    vec_sha256 bytea NOT NULL,
    lexemes tsvector,
    live boolean DEFAULT true NOT NULL,
    truncated boolean DEFAULT false NOT NULL,
    CONSTRAINT embedding_is_live_or_without_vector CHECK (((vec IS NOT NULL) = live)),
    CONSTRAINT embedding_key_is_sha256 CHECK ((octet_length(content_key) = 32)),
    CONSTRAINT vec_hash_is_sha256 CHECK ((octet_length(vec_sha256) = 32))
)
PARTITION BY LIST (index_id);
ALTER TABLE ONLY tracestore_data.embedding ALTER COLUMN vec SET STATISTICS 0;
ALTER TABLE ONLY tracestore_data.embedding ALTER COLUMN lexemes SET STATISTICS 0;
COMMENT ON TABLE tracestore_data.embedding IS 'One vector and one set of lexemes for each embedded text of an index.';
COMMENT ON COLUMN tracestore_data.embedding.index_id IS 'The index; one partition each.';
COMMENT ON COLUMN tracestore_data.embedding.content_key IS 'SHA-256 over recipe and embedded text.';
COMMENT ON COLUMN tracestore_data.embedding.vec IS 'Unit vector of the recipe''s dimension; null where only the record of it is retained.';
COMMENT ON COLUMN tracestore_data.embedding.vec_sha256 IS 'SHA-256 of the vector as it was stored: what a later change cannot hide from.';
COMMENT ON COLUMN tracestore_data.embedding.lexemes IS 'Lexemes of the embedded text in the index''s full-text configuration.';
COMMENT ON COLUMN tracestore_data.embedding.live IS 'Member of a searchable build; cleared only by garbage collection.';
COMMENT ON COLUMN tracestore_data.embedding.truncated IS 'The model saw only the beginning of the text.';

ALTER TABLE ONLY tracestore_data.embedding
    ADD CONSTRAINT embedding_pk PRIMARY KEY (index_id, content_key);

CREATE TRIGGER embedding_is_immutable BEFORE UPDATE OF index_id, content_key, vec, vec_sha256, lexemes, truncated ON tracestore_data.embedding FOR EACH ROW WHEN ((((old.index_id IS DISTINCT FROM new.index_id) OR (old.content_key IS DISTINCT FROM new.content_key)) OR (old.live = new.live) OR ((NOT new.live) AND (new.lexemes IS NOT NULL)) OR ((NOT new.live) AND ((old.vec_sha256 IS DISTINCT FROM new.vec_sha256) OR (old.truncated IS DISTINCT FROM new.truncated))))) EXECUTE FUNCTION tracestore_data.refuse_change();

ALTER TABLE tracestore_data.embedding ENABLE ROW LEVEL SECURITY;

CREATE POLICY embedding_is_added ON tracestore_data.embedding FOR INSERT WITH CHECK (( SELECT tracestore_data.reads_everything() AS reads_everything));

CREATE POLICY embedding_is_changed ON tracestore_data.embedding FOR UPDATE USING (( SELECT tracestore_data.reads_everything() AS reads_everything));

CREATE POLICY embedding_is_deleted ON tracestore_data.embedding FOR DELETE USING (( SELECT tracestore_data.reads_everything() AS reads_everything));

CREATE POLICY embedding_is_read ON tracestore_data.embedding FOR SELECT USING ((( SELECT tracestore_data.sees_every_document() AS sees_every_document) OR (EXISTS ( SELECT
   FROM tracestore_data.visible_content c
  WHERE ((c.index_id = embedding.index_id) AND (c.content_key = embedding.content_key))
 OFFSET 0))));

-- ----------------------------------------------------------------------------------------------------
-- chunk

CREATE TABLE tracestore_data.chunk (
    index_id bigint NOT NULL,
    version_key bigint NOT NULL,
    ordinal integer NOT NULL,
    added_build bigint NOT NULL,
    removed_build bigint,
    alive boolean GENERATED ALWAYS AS ((removed_build IS NULL)) STORED NOT NULL,
    span_start integer NOT NULL,
    span_end integer NOT NULL,
    byte_start integer NOT NULL,
    byte_end integer NOT NULL,
    context_start integer NOT NULL,
    context_end integer NOT NULL,
    words integer NOT NULL,
    split boolean NOT NULL,
    heading_path text[] NOT NULL,
    span_sha256 bytea NOT NULL,
    content_key bytea,
    CONSTRAINT chunk_bytes_start_where_its_characters_do CHECK (((byte_start >= span_start) AND (byte_start <= (4 * span_start)))),
    CONSTRAINT chunk_context_contains_its_span CHECK (((0 <= context_start) AND (context_start <= span_start) AND (span_end <= context_end))),
    CONSTRAINT chunk_ends_after_it_began CHECK ((removed_build > added_build)),
    CONSTRAINT chunk_key_is_sha256 CHECK ((octet_length(content_key) = 32)),
    CONSTRAINT chunk_span_is_not_empty CHECK (((0 <= span_start) AND (span_start < span_end))),
    CONSTRAINT chunk_text_fills_its_span CHECK ((((byte_end - byte_start) >= (span_end - span_start)) AND ((byte_end - byte_start) <= (4 * (span_end - span_start))))),
    CONSTRAINT ordinal_is_not_negative CHECK ((ordinal >= 0)),
    CONSTRAINT span_hash_is_sha256 CHECK ((octet_length(span_sha256) = 32))
)
PARTITION BY LIST (index_id);
ALTER TABLE ONLY tracestore_data.chunk ALTER COLUMN heading_path SET STATISTICS 0;
COMMENT ON TABLE tracestore_data.chunk IS 'A claim about a version: an exact range of its text. In build b when added_build <= b and (removed_build is null or removed_build > b).';
COMMENT ON COLUMN tracestore_data.chunk.index_id IS 'The index; one partition each.';
COMMENT ON COLUMN tracestore_data.chunk.version_key IS 'The version it is a range of.';
COMMENT ON COLUMN tracestore_data.chunk.ordinal IS 'Position in the version, from 0.';
COMMENT ON COLUMN tracestore_data.chunk.added_build IS 'First build it is in.';
COMMENT ON COLUMN tracestore_data.chunk.removed_build IS 'First build it is no longer in (the tombstone); null while alive.';
COMMENT ON COLUMN tracestore_data.chunk.alive IS 'In the newest build of the index.';
COMMENT ON COLUMN tracestore_data.chunk.span_start IS 'First code point.';
COMMENT ON COLUMN tracestore_data.chunk.span_end IS 'Code point after the last.';
COMMENT ON COLUMN tracestore_data.chunk.byte_start IS 'First byte of the UTF-8 content.';
COMMENT ON COLUMN tracestore_data.chunk.byte_end IS 'Byte after the last.';
COMMENT ON COLUMN tracestore_data.chunk.context_start IS 'First code point of the enclosing section.';
COMMENT ON COLUMN tracestore_data.chunk.context_end IS 'Code point after the enclosing section.';
COMMENT ON COLUMN tracestore_data.chunk.words IS 'Words separated by white space.';
COMMENT ON COLUMN tracestore_data.chunk.split IS 'Cut inside a unit, at the hard limit.';
COMMENT ON COLUMN tracestore_data.chunk.heading_path IS 'Headings above it, outermost first.';
COMMENT ON COLUMN tracestore_data.chunk.span_sha256 IS 'SHA-256 of the range''s bytes.';
COMMENT ON COLUMN tracestore_data.chunk.content_key IS 'Its embedding; null: not embeddable, in no search.';

ALTER TABLE ONLY tracestore_data.chunk
    ADD CONSTRAINT chunk_pk PRIMARY KEY (index_id, version_key, ordinal, added_build);

CREATE INDEX chunk_by_content ON ONLY tracestore_data.chunk USING btree (index_id, content_key);

CREATE UNIQUE INDEX chunk_ordinal_is_once_alive ON ONLY tracestore_data.chunk USING btree (index_id, version_key, ordinal) WHERE (removed_build IS NULL);

CREATE TRIGGER chunk_is_closed_once BEFORE UPDATE OF removed_build ON tracestore_data.chunk FOR EACH ROW WHEN ((old.removed_build IS NOT NULL)) EXECUTE FUNCTION tracestore_data.refuse_change();

CREATE TRIGGER chunk_is_immutable BEFORE UPDATE OF index_id, version_key, ordinal, added_build, span_start, span_end, byte_start, byte_end, context_start, context_end, words, split, heading_path, span_sha256, content_key ON tracestore_data.chunk FOR EACH ROW EXECUTE FUNCTION tracestore_data.refuse_change();

ALTER TABLE tracestore_data.chunk
    ADD CONSTRAINT chunk_belongs_to_a_manifest_entry FOREIGN KEY (index_id, version_key, added_build) REFERENCES tracestore_data.manifest_entry(index_id, version_key, added_build);

ALTER TABLE tracestore_data.chunk
    ADD CONSTRAINT chunk_has_its_embedding FOREIGN KEY (index_id, content_key) REFERENCES tracestore_data.embedding(index_id, content_key);

ALTER TABLE tracestore_data.chunk ENABLE ROW LEVEL SECURITY;

CREATE POLICY chunk_is_added ON tracestore_data.chunk FOR INSERT WITH CHECK (( SELECT tracestore_data.reads_everything() AS reads_everything));

CREATE POLICY chunk_is_changed ON tracestore_data.chunk FOR UPDATE USING (( SELECT tracestore_data.reads_everything() AS reads_everything));

CREATE POLICY chunk_is_deleted ON tracestore_data.chunk FOR DELETE USING (( SELECT tracestore_data.reads_everything() AS reads_everything));

CREATE POLICY chunk_is_read ON tracestore_data.chunk FOR SELECT USING ((( SELECT tracestore_data.sees_every_document() AS sees_every_document) OR (EXISTS ( SELECT
   FROM tracestore_data.visible_version v
  WHERE (v.version_key = chunk.version_key)))));

-- ----------------------------------------------------------------------------------------------------
-- graph_event

CREATE TABLE tracestore_data.graph_event (
    graph_event_id bigint NOT NULL,
    index_id bigint NOT NULL,
    build_id bigint,
    made_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    definition text NOT NULL,
    vectors bigint NOT NULL,
    seconds double precision NOT NULL,
    actor text DEFAULT SESSION_USER NOT NULL,
    CONSTRAINT graph_vectors_is_not_negative CHECK ((vectors >= 0))
);
COMMENT ON TABLE tracestore_data.graph_event IS 'Each time the approximate index of an index was made: what its drift is measured from. Append-only.';
COMMENT ON COLUMN tracestore_data.graph_event.graph_event_id IS 'Surrogate key, in order of making for one index.';
COMMENT ON COLUMN tracestore_data.graph_event.index_id IS 'The index.';
COMMENT ON COLUMN tracestore_data.graph_event.build_id IS 'Its latest build when the approximate index was made.';
COMMENT ON COLUMN tracestore_data.graph_event.made_at IS 'When it was finished.';
COMMENT ON COLUMN tracestore_data.graph_event.definition IS 'How it was made: method, type and parameters.';
COMMENT ON COLUMN tracestore_data.graph_event.vectors IS 'Over how many vectors.';
COMMENT ON COLUMN tracestore_data.graph_event.seconds IS 'How long it took.';
COMMENT ON COLUMN tracestore_data.graph_event.actor IS 'Who made it.';

ALTER TABLE tracestore_data.graph_event ALTER COLUMN graph_event_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME tracestore_data.graph_event_graph_event_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE ONLY tracestore_data.graph_event
    ADD CONSTRAINT graph_event_pkey PRIMARY KEY (graph_event_id);

CREATE INDEX graph_event_of_index ON tracestore_data.graph_event USING btree (index_id, graph_event_id DESC);

CREATE TRIGGER graph_event_is_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON tracestore_data.graph_event FOR EACH STATEMENT EXECUTE FUNCTION tracestore_data.refuse_change();

ALTER TABLE ONLY tracestore_data.graph_event
    ADD CONSTRAINT graph_event_build_id_fkey FOREIGN KEY (build_id) REFERENCES tracestore_data.build(build_id);

ALTER TABLE ONLY tracestore_data.graph_event
    ADD CONSTRAINT graph_event_index_id_fkey FOREIGN KEY (index_id) REFERENCES tracestore_data.retrieval_index(index_id);
