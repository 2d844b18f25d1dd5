-- Written by `just schema` from the newest migration, for people. Nothing reads it: change a table by a migration.

-- ----------------------------------------------------------------------------------------------------
-- collection

CREATE TABLE tracestore_data.collection (
    collection_id bigint NOT NULL,
    slug text NOT NULL COLLATE pg_catalog."C",
    title text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    policies jsonb,
    CONSTRAINT collection_slug_is_citable CHECK (tracestore_data.is_citable_id(slug))
);
COMMENT ON TABLE tracestore_data.collection IS 'A named corpus. The slug is in citations and never changes; the title may.';
COMMENT ON COLUMN tracestore_data.collection.collection_id IS 'Surrogate key.';
COMMENT ON COLUMN tracestore_data.collection.slug IS 'The name used in commands and citations.';
COMMENT ON COLUMN tracestore_data.collection.title IS 'A name for people.';
COMMENT ON COLUMN tracestore_data.collection.created_at IS 'When the collection was first named.';
COMMENT ON COLUMN tracestore_data.collection.policies IS 'The policies in force, as tracestore_data.policies_at() has them; null without any. Kept by a trigger on the decisions.';

ALTER TABLE tracestore_data.collection ALTER COLUMN collection_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME tracestore_data.collection_collection_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE ONLY tracestore_data.collection
    ADD CONSTRAINT collection_pkey PRIMARY KEY (collection_id);

ALTER TABLE ONLY tracestore_data.collection
    ADD CONSTRAINT collection_slug_key UNIQUE (slug);

CREATE TRIGGER collection_keeps_its_slug BEFORE UPDATE OF collection_id, slug ON tracestore_data.collection FOR EACH STATEMENT EXECUTE FUNCTION tracestore_data.refuse_change();

-- ----------------------------------------------------------------------------------------------------
-- document

CREATE TABLE tracestore_data.document (
    doc_key bigint NOT NULL,
    collection_id bigint NOT NULL,
    doc_id text NOT NULL COLLATE pg_catalog."C",
    family_id text NOT NULL COLLATE pg_catalog."C",
    title text,
    class text COLLATE pg_catalog."C",
    owner text,
    review_due date,
    labels text[] DEFAULT '{}'::text[] NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT doc_id_is_citable CHECK (tracestore_data.is_citable_id(doc_id)),
    CONSTRAINT family_id_is_citable CHECK (tracestore_data.is_citable_id(family_id)),
    CONSTRAINT labels_have_no_null CHECK ((array_position(labels, NULL::text) IS NULL))
);
ALTER TABLE ONLY tracestore_data.document ALTER COLUMN title SET STATISTICS 0;
COMMENT ON TABLE tracestore_data.document IS 'A document under its stable id. Attributes are today''s; their history is in document_event.';
COMMENT ON COLUMN tracestore_data.document.doc_key IS 'Surrogate key.';
COMMENT ON COLUMN tracestore_data.document.collection_id IS 'The corpus it belongs to.';
COMMENT ON COLUMN tracestore_data.document.doc_id IS 'The caller''s stable id, unique in the collection.';
COMMENT ON COLUMN tracestore_data.document.family_id IS 'Documents that replace one another share it; the doc_id where nothing else was said.';
COMMENT ON COLUMN tracestore_data.document.title IS 'Title for people.';
COMMENT ON COLUMN tracestore_data.document.class IS 'Kind of document, such as policy or guide.';
COMMENT ON COLUMN tracestore_data.document.owner IS 'Who answers for the content.';
COMMENT ON COLUMN tracestore_data.document.review_due IS 'Day by which the owner has to look at it again.';
COMMENT ON COLUMN tracestore_data.document.labels IS 'Access labels; empty means visible to every reader.';
COMMENT ON COLUMN tracestore_data.document.created_at IS 'When the document was first registered.';

ALTER TABLE tracestore_data.document ALTER COLUMN doc_key ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME tracestore_data.document_doc_key_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE ONLY tracestore_data.document
    ADD CONSTRAINT document_is_once_in_its_collection UNIQUE (collection_id, doc_id);

ALTER TABLE ONLY tracestore_data.document
    ADD CONSTRAINT document_pkey PRIMARY KEY (doc_key);

CREATE INDEX document_by_family ON tracestore_data.document USING btree (family_id, collection_id);

CREATE INDEX document_by_manifest_bucket ON tracestore_data.document USING btree (tracestore_data.manifest_bucket(doc_id), collection_id);

CREATE TRIGGER document_keeps_its_id BEFORE UPDATE OF doc_key, collection_id, doc_id ON tracestore_data.document FOR EACH STATEMENT EXECUTE FUNCTION tracestore_data.refuse_change();

CREATE TRIGGER document_labels_are_known AFTER INSERT OR UPDATE OF labels ON tracestore_data.document FOR EACH ROW WHEN ((new.labels <> '{}'::text[])) EXECUTE FUNCTION tracestore_data.note_labels();

ALTER TABLE tracestore_data.document ENABLE ALWAYS TRIGGER document_labels_are_known;

ALTER TABLE ONLY tracestore_data.document
    ADD CONSTRAINT document_collection_id_fkey FOREIGN KEY (collection_id) REFERENCES tracestore_data.collection(collection_id);

ALTER TABLE tracestore_data.document ENABLE ROW LEVEL SECURITY;

CREATE POLICY document_is_added ON tracestore_data.document FOR INSERT WITH CHECK (( SELECT tracestore_data.reads_everything() AS reads_everything));

CREATE POLICY document_is_changed ON tracestore_data.document FOR UPDATE USING (( SELECT tracestore_data.reads_everything() AS reads_everything));

CREATE POLICY document_is_deleted ON tracestore_data.document FOR DELETE USING (( SELECT tracestore_data.reads_everything() AS reads_everything));

CREATE POLICY document_is_read ON tracestore_data.document FOR SELECT USING ((( SELECT tracestore_data.sees_every_document() AS sees_every_document) OR (labels = '{}'::text[]) OR (labels && ( SELECT tracestore_data.readable_labels() AS readable_labels))));

-- ----------------------------------------------------------------------------------------------------
-- document_event

CREATE TABLE tracestore_data.document_event (
    document_event_id bigint NOT NULL,
    doc_key bigint NOT NULL,
    attribute text NOT NULL,
    old_value jsonb,
    new_value jsonb,
    occurred_at timestamp with time zone DEFAULT now() NOT NULL,
    actor text DEFAULT SESSION_USER NOT NULL,
    reason text,
    CONSTRAINT document_event_names_an_attribute CHECK ((attribute = ANY (ARRAY['family_id'::text, 'title'::text, 'class'::text, 'owner'::text, 'review_due'::text, 'labels'::text])))
);
ALTER TABLE ONLY tracestore_data.document_event ALTER COLUMN old_value SET STATISTICS 0;
ALTER TABLE ONLY tracestore_data.document_event ALTER COLUMN new_value SET STATISTICS 0;
COMMENT ON TABLE tracestore_data.document_event IS 'Every change of a document''s attributes. Append-only; only the titles of an erased document are removed.';
COMMENT ON COLUMN tracestore_data.document_event.document_event_id IS 'Surrogate key, in order of writing.';
COMMENT ON COLUMN tracestore_data.document_event.doc_key IS 'The document.';
COMMENT ON COLUMN tracestore_data.document_event.attribute IS 'Which attribute changed.';
COMMENT ON COLUMN tracestore_data.document_event.old_value IS 'Value before; null where there was none.';
COMMENT ON COLUMN tracestore_data.document_event.new_value IS 'Value after; null where it was taken away.';
COMMENT ON COLUMN tracestore_data.document_event.occurred_at IS 'Start of the transaction that made the change.';
COMMENT ON COLUMN tracestore_data.document_event.actor IS 'Who made the change.';
COMMENT ON COLUMN tracestore_data.document_event.reason IS 'Why, where somebody said so.';

ALTER TABLE tracestore_data.document_event ALTER COLUMN document_event_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME tracestore_data.document_event_document_event_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE ONLY tracestore_data.document_event
    ADD CONSTRAINT document_event_pkey PRIMARY KEY (document_event_id);

CREATE INDEX document_event_by_document ON tracestore_data.document_event USING btree (doc_key, document_event_id);

CREATE TRIGGER document_event_is_append_only BEFORE DELETE OR TRUNCATE ON tracestore_data.document_event FOR EACH STATEMENT EXECUTE FUNCTION tracestore_data.refuse_change();

CREATE TRIGGER document_event_is_immutable BEFORE UPDATE ON tracestore_data.document_event FOR EACH ROW EXECUTE FUNCTION tracestore_data.guard_document_event();

ALTER TABLE ONLY tracestore_data.document_event
    ADD CONSTRAINT document_event_doc_key_fkey FOREIGN KEY (doc_key) REFERENCES tracestore_data.document(doc_key);

ALTER TABLE tracestore_data.document_event ENABLE ROW LEVEL SECURITY;

CREATE POLICY document_event_is_added ON tracestore_data.document_event FOR INSERT WITH CHECK (( SELECT tracestore_data.reads_everything() AS reads_everything));

CREATE POLICY document_event_is_changed ON tracestore_data.document_event FOR UPDATE USING (( SELECT tracestore_data.reads_everything() AS reads_everything));

CREATE POLICY document_event_is_deleted ON tracestore_data.document_event FOR DELETE USING (( SELECT tracestore_data.reads_everything() AS reads_everything));

CREATE POLICY document_event_is_read ON tracestore_data.document_event FOR SELECT USING ((( SELECT tracestore_data.sees_every_document() AS sees_every_document) OR (EXISTS ( SELECT
   FROM tracestore_data.visible_document d
  WHERE (d.doc_key = document_event.doc_key)))));

-- ----------------------------------------------------------------------------------------------------
-- document_version

CREATE TABLE tracestore_data.document_version (
    version_key bigint NOT NULL,
    doc_key bigint NOT NULL,
    version_id text NOT NULL COLLATE pg_catalog."C",
    version_seq integer NOT NULL,
    version_state text DEFAULT 'unknown'::text NOT NULL COLLATE pg_catalog."C",
    content bytea,
    content_sha256 bytea NOT NULL,
    char_count integer NOT NULL,
    media_type text DEFAULT 'text/markdown'::text NOT NULL,
    effective_from timestamp with time zone NOT NULL,
    registered_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    registered_by text DEFAULT SESSION_USER NOT NULL,
    in_place_of bigint,
    source_uri text,
    parser text,
    pages jsonb,
    attributes jsonb DEFAULT '{}'::jsonb NOT NULL,
    erased_at timestamp with time zone,
    CONSTRAINT char_count_is_not_negative CHECK ((char_count >= 0)),
    CONSTRAINT content_hash_is_its_sha256 CHECK (((octet_length(content_sha256) = 32) AND ((content IS NULL) OR (sha256(content) = content_sha256)))),
    CONSTRAINT content_is_absent_only_when_erased CHECK (((content IS NULL) = (erased_at IS NOT NULL))),
    CONSTRAINT content_is_utf8_of_char_count CHECK (((content IS NULL) OR (char_length(convert_from(content, 'UTF8'::name)) = char_count))),
    CONSTRAINT media_type_is_supported CHECK ((media_type = ANY (ARRAY['text/markdown'::text, 'text/plain'::text]))),
    CONSTRAINT pages_is_a_page_map CHECK (tracestore_data.is_page_map(pages, char_count)),
    CONSTRAINT version_attributes_is_an_object CHECK ((jsonb_typeof(attributes) = 'object'::text)),
    CONSTRAINT version_id_is_citable CHECK (tracestore_data.is_citable_id(version_id)),
    CONSTRAINT version_seq_starts_at_one CHECK ((version_seq >= 1)),
    CONSTRAINT version_state_is_known CHECK ((version_state = ANY (ARRAY['current'::text, 'superseded'::text, 'withdrawn'::text, 'unknown'::text])))
);
ALTER TABLE ONLY tracestore_data.document_version ALTER COLUMN content SET STATISTICS 0;
ALTER TABLE ONLY tracestore_data.document_version ALTER COLUMN content SET STORAGE EXTERNAL;
ALTER TABLE ONLY tracestore_data.document_version ALTER COLUMN source_uri SET STATISTICS 0;
ALTER TABLE ONLY tracestore_data.document_version ALTER COLUMN pages SET STATISTICS 0;
ALTER TABLE ONLY tracestore_data.document_version ALTER COLUMN attributes SET STATISTICS 0;
COMMENT ON TABLE tracestore_data.document_version IS 'One immutable text of a document. Content leaves only through erasure.';
COMMENT ON COLUMN tracestore_data.document_version.version_key IS 'Surrogate key.';
COMMENT ON COLUMN tracestore_data.document_version.doc_key IS 'The document.';
COMMENT ON COLUMN tracestore_data.document_version.version_id IS 'The caller''s label, unique in the document.';
COMMENT ON COLUMN tracestore_data.document_version.version_seq IS '1, 2, 3 in order of registration.';
COMMENT ON COLUMN tracestore_data.document_version.version_state IS 'Today''s state, set only by rows of version_state_event. current: what the document says. superseded: replaced. withdrawn: taken down. unknown: not yet effective, or in doubt.';
COMMENT ON COLUMN tracestore_data.document_version.content IS 'The text as it came, UTF-8 bytes with BOM and line ends kept; null after erasure.';
COMMENT ON COLUMN tracestore_data.document_version.content_sha256 IS 'SHA-256 of the content; stays after erasure.';
COMMENT ON COLUMN tracestore_data.document_version.char_count IS 'Length of the content in Unicode code points.';
COMMENT ON COLUMN tracestore_data.document_version.media_type IS 'How the text is read: text/markdown or text/plain.';
COMMENT ON COLUMN tracestore_data.document_version.effective_from IS 'When the source says it applies; registered_at where the source says nothing.';
COMMENT ON COLUMN tracestore_data.document_version.registered_at IS 'When the store first had it.';
COMMENT ON COLUMN tracestore_data.document_version.registered_by IS 'Who registered it.';
COMMENT ON COLUMN tracestore_data.document_version.in_place_of IS 'The version whose label this text arrived under, although that label had another text: an edit in place upstream.';
COMMENT ON COLUMN tracestore_data.document_version.source_uri IS 'Where the source is kept.';
COMMENT ON COLUMN tracestore_data.document_version.parser IS 'What produced the text from the source.';
COMMENT ON COLUMN tracestore_data.document_version.pages IS 'Offset-to-page map: [[first code point, "label"], ...] in ascending order.';
COMMENT ON COLUMN tracestore_data.document_version.attributes IS 'Whatever else the caller sent with the version, by key.';
COMMENT ON COLUMN tracestore_data.document_version.erased_at IS 'When the content was erased; null while it is kept.';

ALTER TABLE tracestore_data.document_version ALTER COLUMN version_key ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME tracestore_data.document_version_version_key_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE ONLY tracestore_data.document_version
    ADD CONSTRAINT document_version_pkey PRIMARY KEY (version_key);

ALTER TABLE ONLY tracestore_data.document_version
    ADD CONSTRAINT version_label_is_once_in_its_document UNIQUE (doc_key, version_id);

ALTER TABLE ONLY tracestore_data.document_version
    ADD CONSTRAINT version_seq_is_once_in_its_document UNIQUE (doc_key, version_seq);

CREATE INDEX document_version_in_effect ON tracestore_data.document_version USING btree (doc_key, effective_from DESC, version_seq DESC);

CREATE INDEX document_version_in_place_of ON tracestore_data.document_version USING btree (in_place_of) WHERE (in_place_of IS NOT NULL);

CREATE TRIGGER document_version_is_immutable BEFORE DELETE OR UPDATE ON tracestore_data.document_version FOR EACH ROW EXECUTE FUNCTION tracestore_data.guard_document_version();

CREATE TRIGGER document_version_is_not_truncated BEFORE TRUNCATE ON tracestore_data.document_version FOR EACH STATEMENT EXECUTE FUNCTION tracestore_data.refuse_change();

ALTER TABLE ONLY tracestore_data.document_version
    ADD CONSTRAINT document_version_doc_key_fkey FOREIGN KEY (doc_key) REFERENCES tracestore_data.document(doc_key);

ALTER TABLE ONLY tracestore_data.document_version
    ADD CONSTRAINT document_version_in_place_of_fkey FOREIGN KEY (in_place_of) REFERENCES tracestore_data.document_version(version_key);

ALTER TABLE tracestore_data.document_version ENABLE ROW LEVEL SECURITY;

CREATE POLICY document_version_is_added ON tracestore_data.document_version FOR INSERT WITH CHECK (( SELECT tracestore_data.reads_everything() AS reads_everything));

CREATE POLICY document_version_is_changed ON tracestore_data.document_version FOR UPDATE USING (( SELECT tracestore_data.reads_everything() AS reads_everything));

CREATE POLICY document_version_is_deleted ON tracestore_data.document_version FOR DELETE USING (( SELECT tracestore_data.reads_everything() AS reads_everything));

CREATE POLICY document_version_is_read ON tracestore_data.document_version FOR SELECT USING ((( SELECT tracestore_data.sees_every_document() AS sees_every_document) OR (EXISTS ( SELECT
   FROM tracestore_data.visible_document d
  WHERE (d.doc_key = document_version.doc_key)))));

-- ----------------------------------------------------------------------------------------------------
-- version_state_event

CREATE TABLE tracestore_data.version_state_event (
    version_state_event_id bigint NOT NULL,
    version_key bigint NOT NULL,
    old_state text COLLATE pg_catalog."C",
    new_state text NOT NULL COLLATE pg_catalog."C",
    cause text NOT NULL,
    occurred_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    actor text DEFAULT SESSION_USER NOT NULL,
    reason text,
    CONSTRAINT new_state_is_known CHECK ((new_state = ANY (ARRAY['current'::text, 'superseded'::text, 'withdrawn'::text, 'unknown'::text]))),
    CONSTRAINT state_cause_is_known CHECK ((cause = ANY (ARRAY['registered'::text, 'effective'::text, 'replaced'::text, 'declared'::text, 'inferred'::text, 'withdrawn'::text, 'restored'::text])))
);
COMMENT ON TABLE tracestore_data.version_state_event IS 'Every change of a version''s state; writing a row is what changes it. Append-only.';
COMMENT ON COLUMN tracestore_data.version_state_event.version_state_event_id IS 'Surrogate key, in order of writing.';
COMMENT ON COLUMN tracestore_data.version_state_event.version_key IS 'The version.';
COMMENT ON COLUMN tracestore_data.version_state_event.old_state IS 'State before; set by the store.';
COMMENT ON COLUMN tracestore_data.version_state_event.new_state IS 'State after.';
COMMENT ON COLUMN tracestore_data.version_state_event.cause IS 'registered: first state. effective: its time has come. replaced: a later version came. declared: an owner said so. inferred: the store guessed. withdrawn, restored: take-down and its reversal.';
COMMENT ON COLUMN tracestore_data.version_state_event.occurred_at IS 'When it happened.';
COMMENT ON COLUMN tracestore_data.version_state_event.actor IS 'Who did it.';
COMMENT ON COLUMN tracestore_data.version_state_event.reason IS 'Why.';

ALTER TABLE tracestore_data.version_state_event ALTER COLUMN version_state_event_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME tracestore_data.version_state_event_version_state_event_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE ONLY tracestore_data.version_state_event
    ADD CONSTRAINT version_state_event_pkey PRIMARY KEY (version_state_event_id);

CREATE INDEX version_state_event_by_version ON tracestore_data.version_state_event USING btree (version_key, version_state_event_id DESC);

CREATE INDEX version_state_event_superseded ON tracestore_data.version_state_event USING btree (occurred_at) WHERE (new_state = 'superseded'::text);

CREATE TRIGGER version_state_event_is_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON tracestore_data.version_state_event FOR EACH STATEMENT EXECUTE FUNCTION tracestore_data.refuse_change();

CREATE TRIGGER version_state_event_is_applied BEFORE INSERT ON tracestore_data.version_state_event FOR EACH ROW EXECUTE FUNCTION tracestore_data.apply_version_state_event();

ALTER TABLE ONLY tracestore_data.version_state_event
    ADD CONSTRAINT version_state_event_version_key_fkey FOREIGN KEY (version_key) REFERENCES tracestore_data.document_version(version_key);

ALTER TABLE tracestore_data.version_state_event ENABLE ROW LEVEL SECURITY;

CREATE POLICY version_state_event_is_added ON tracestore_data.version_state_event FOR INSERT WITH CHECK (( SELECT tracestore_data.reads_everything() AS reads_everything));

CREATE POLICY version_state_event_is_changed ON tracestore_data.version_state_event FOR UPDATE USING (( SELECT tracestore_data.reads_everything() AS reads_everything));

CREATE POLICY version_state_event_is_deleted ON tracestore_data.version_state_event FOR DELETE USING (( SELECT tracestore_data.reads_everything() AS reads_everything));

CREATE POLICY version_state_event_is_read ON tracestore_data.version_state_event FOR SELECT USING ((( SELECT tracestore_data.sees_every_document() AS sees_every_document) OR (EXISTS ( SELECT
   FROM tracestore_data.visible_version v
  WHERE (v.version_key = version_state_event.version_key)))));

-- ----------------------------------------------------------------------------------------------------
-- suppression

CREATE TABLE tracestore_data.suppression (
    suppression_id bigint NOT NULL,
    doc_key bigint NOT NULL,
    version_key bigint,
    kind text NOT NULL,
    epoch bigint NOT NULL,
    suppressed_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    actor text DEFAULT SESSION_USER NOT NULL,
    reason text,
    lifted_epoch bigint,
    lifted_at timestamp with time zone,
    lifted_by text,
    lift_reason text,
    CONSTRAINT erasure_is_never_lifted CHECK (((kind = 'withdrawn'::text) OR (lifted_at IS NULL))),
    CONSTRAINT lifted_after_suppressed CHECK ((lifted_epoch > epoch)),
    CONSTRAINT lifting_is_complete CHECK ((num_nulls(lifted_epoch, lifted_at, lifted_by) = ANY (ARRAY[0, 3]))),
    CONSTRAINT suppression_kind_is_known CHECK ((kind = ANY (ARRAY['withdrawn'::text, 'erased'::text])))
);
COMMENT ON TABLE tracestore_data.suppression IS 'Documents and versions that no search returns, from commit on, whatever the build.';
COMMENT ON COLUMN tracestore_data.suppression.suppression_id IS 'Surrogate key.';
COMMENT ON COLUMN tracestore_data.suppression.doc_key IS 'The document.';
COMMENT ON COLUMN tracestore_data.suppression.version_key IS 'The one version meant; null means all of the document.';
COMMENT ON COLUMN tracestore_data.suppression.kind IS 'withdrawn can be lifted, erased cannot.';
COMMENT ON COLUMN tracestore_data.suppression.epoch IS 'Suppression epoch from which it holds.';
COMMENT ON COLUMN tracestore_data.suppression.suppressed_at IS 'When.';
COMMENT ON COLUMN tracestore_data.suppression.actor IS 'Who.';
COMMENT ON COLUMN tracestore_data.suppression.reason IS 'Why.';
COMMENT ON COLUMN tracestore_data.suppression.lifted_epoch IS 'Suppression epoch from which it no longer holds.';
COMMENT ON COLUMN tracestore_data.suppression.lifted_at IS 'When it was lifted.';
COMMENT ON COLUMN tracestore_data.suppression.lifted_by IS 'Who lifted it.';
COMMENT ON COLUMN tracestore_data.suppression.lift_reason IS 'Why it was lifted.';

ALTER TABLE tracestore_data.suppression ALTER COLUMN suppression_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME tracestore_data.suppression_suppression_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE ONLY tracestore_data.suppression
    ADD CONSTRAINT suppression_epoch_key UNIQUE (epoch);

ALTER TABLE ONLY tracestore_data.suppression
    ADD CONSTRAINT suppression_lifted_epoch_key UNIQUE (lifted_epoch);

ALTER TABLE ONLY tracestore_data.suppression
    ADD CONSTRAINT suppression_pkey PRIMARY KEY (suppression_id);

CREATE INDEX suppression_in_force ON tracestore_data.suppression USING btree (doc_key, version_key) WHERE (lifted_at IS NULL);

CREATE TRIGGER suppression_is_not_truncated BEFORE TRUNCATE ON tracestore_data.suppression FOR EACH STATEMENT EXECUTE FUNCTION tracestore_data.refuse_change();

CREATE TRIGGER suppression_is_only_lifted BEFORE DELETE OR UPDATE ON tracestore_data.suppression FOR EACH ROW EXECUTE FUNCTION tracestore_data.guard_suppression();

ALTER TABLE ONLY tracestore_data.suppression
    ADD CONSTRAINT suppression_doc_key_fkey FOREIGN KEY (doc_key) REFERENCES tracestore_data.document(doc_key);

ALTER TABLE ONLY tracestore_data.suppression
    ADD CONSTRAINT suppression_version_key_fkey FOREIGN KEY (version_key) REFERENCES tracestore_data.document_version(version_key);

ALTER TABLE tracestore_data.suppression ENABLE ROW LEVEL SECURITY;

CREATE POLICY suppression_is_added ON tracestore_data.suppression FOR INSERT WITH CHECK (( SELECT tracestore_data.reads_everything() AS reads_everything));

CREATE POLICY suppression_is_changed ON tracestore_data.suppression FOR UPDATE USING (( SELECT tracestore_data.reads_everything() AS reads_everything));

CREATE POLICY suppression_is_deleted ON tracestore_data.suppression FOR DELETE USING (( SELECT tracestore_data.reads_everything() AS reads_everything));

CREATE POLICY suppression_is_lifted_by_its_lifter ON tracestore_data.suppression AS RESTRICTIVE FOR UPDATE USING (true) WITH CHECK (((lifted_by IS NULL) OR (lifted_by = SESSION_USER)));

CREATE POLICY suppression_is_read ON tracestore_data.suppression FOR SELECT USING ((( SELECT tracestore_data.sees_every_document() AS sees_every_document) OR (EXISTS ( SELECT
   FROM tracestore_data.visible_document d
  WHERE (d.doc_key = suppression.doc_key)))));
