-- Written by `just schema` from the newest migration, for people. Nothing reads it: change a table by a migration.

-- ----------------------------------------------------------------------------------------------------
-- role_label

CREATE TABLE tracestore_data.role_label (
    role_label_id bigint NOT NULL,
    role text NOT NULL COLLATE pg_catalog."C",
    label text NOT NULL COLLATE pg_catalog."C",
    granted_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    granted_by text DEFAULT SESSION_USER NOT NULL,
    reason text,
    revoked_at timestamp with time zone,
    revoked_by text,
    revoke_reason text,
    CONSTRAINT revoking_is_complete CHECK ((num_nulls(revoked_at, revoked_by) = ANY (ARRAY[0, 2]))),
    CONSTRAINT role_label_names_a_role CHECK (((octet_length(role) >= 1) AND (octet_length(role) <= 63)))
);
COMMENT ON TABLE tracestore_data.role_label IS 'Which access labels a role may read. A document is visible to whoever has one of its labels; without labels, to everybody.';
COMMENT ON COLUMN tracestore_data.role_label.role_label_id IS 'Surrogate key, in order of granting.';
COMMENT ON COLUMN tracestore_data.role_label.role IS 'The role, by name: its members read with it. One that no longer exists grants nothing.';
COMMENT ON COLUMN tracestore_data.role_label.label IS 'The label.';
COMMENT ON COLUMN tracestore_data.role_label.granted_at IS 'When.';
COMMENT ON COLUMN tracestore_data.role_label.granted_by IS 'Who granted it.';
COMMENT ON COLUMN tracestore_data.role_label.reason IS 'Why.';
COMMENT ON COLUMN tracestore_data.role_label.revoked_at IS 'When it was revoked; null while it holds.';
COMMENT ON COLUMN tracestore_data.role_label.revoked_by IS 'Who revoked it.';
COMMENT ON COLUMN tracestore_data.role_label.revoke_reason IS 'Why it was revoked.';

ALTER TABLE tracestore_data.role_label ALTER COLUMN role_label_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME tracestore_data.role_label_role_label_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE ONLY tracestore_data.role_label
    ADD CONSTRAINT role_label_pkey PRIMARY KEY (role_label_id);

CREATE UNIQUE INDEX role_label_in_force ON tracestore_data.role_label USING btree (role, label) WHERE (revoked_at IS NULL);

CREATE TRIGGER role_label_is_not_truncated BEFORE TRUNCATE ON tracestore_data.role_label FOR EACH STATEMENT EXECUTE FUNCTION tracestore_data.refuse_change();

CREATE TRIGGER role_label_is_only_revoked BEFORE DELETE OR UPDATE ON tracestore_data.role_label FOR EACH ROW EXECUTE FUNCTION tracestore_data.guard_role_label();

ALTER TABLE tracestore_data.role_label ENABLE ROW LEVEL SECURITY;

CREATE POLICY role_label_is_read ON tracestore_data.role_label FOR SELECT USING ((( SELECT tracestore_data.reads_everything() AS reads_everything) OR tracestore_data.has_role(role)));

-- ----------------------------------------------------------------------------------------------------
-- known_label

CREATE TABLE tracestore_data.known_label (
    label text NOT NULL COLLATE pg_catalog."C",
    first_used_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);
COMMENT ON TABLE tracestore_data.known_label IS 'Every label a document ever had. Whoever may read all of these sees every document, and no row needs a look.';
COMMENT ON COLUMN tracestore_data.known_label.label IS 'The label.';
COMMENT ON COLUMN tracestore_data.known_label.first_used_at IS 'When a document first had it.';

ALTER TABLE ONLY tracestore_data.known_label
    ADD CONSTRAINT known_label_pkey PRIMARY KEY (label);

CREATE TRIGGER known_label_is_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON tracestore_data.known_label FOR EACH STATEMENT EXECUTE FUNCTION tracestore_data.refuse_change();

ALTER TABLE tracestore_data.known_label ENABLE ROW LEVEL SECURITY;

-- ----------------------------------------------------------------------------------------------------
-- caller_key

CREATE TABLE tracestore_data.caller_key (
    singleton boolean DEFAULT true NOT NULL,
    secret bytea NOT NULL,
    CONSTRAINT caller_key_is_one_row CHECK (singleton)
);
COMMENT ON TABLE tracestore_data.caller_key IS 'One row that nobody but the owner reads: what makes a caller_pass impossible to forge.';
COMMENT ON COLUMN tracestore_data.caller_key.singleton IS 'Always true; keeps the table to one row.';
COMMENT ON COLUMN tracestore_data.caller_key.secret IS 'Random bytes.';

ALTER TABLE ONLY tracestore_data.caller_key
    ADD CONSTRAINT caller_key_pkey PRIMARY KEY (singleton);

ALTER TABLE tracestore_data.caller_key ENABLE ROW LEVEL SECURITY;

-- ----------------------------------------------------------------------------------------------------
-- caller_pass

CREATE VIEW tracestore_data.caller_pass WITH (security_barrier='true') AS
 SELECT CURRENT_USER AS role,
    tracestore_data.pass_of(CURRENT_USER, secret) AS pass
   FROM tracestore_data.caller_key k;
COMMENT ON VIEW tracestore_data.caller_pass IS 'The current role and the proof that it is.';

-- ----------------------------------------------------------------------------------------------------
-- visible_document

CREATE VIEW tracestore_data.visible_document WITH (security_barrier='true') AS
 SELECT doc_key
   FROM tracestore_data.document d
  WHERE ((labels = '{}'::text[]) OR (labels && ( SELECT tracestore_data.readable_labels() AS readable_labels)));
COMMENT ON VIEW tracestore_data.visible_document IS 'The documents the current role may see by their labels.';

-- ----------------------------------------------------------------------------------------------------
-- visible_version

CREATE VIEW tracestore_data.visible_version WITH (security_barrier='true') AS
 SELECT v.version_key
   FROM (tracestore_data.document_version v
     JOIN tracestore_data.document d USING (doc_key))
  WHERE ((d.labels = '{}'::text[]) OR (d.labels && ( SELECT tracestore_data.readable_labels() AS readable_labels)));
COMMENT ON VIEW tracestore_data.visible_version IS 'The versions of documents the current role may see by their labels.';

-- ----------------------------------------------------------------------------------------------------
-- visible_content

CREATE VIEW tracestore_data.visible_content WITH (security_barrier='true') AS
 SELECT c.index_id,
    c.content_key
   FROM ((tracestore_data.chunk c
     JOIN tracestore_data.document_version v USING (version_key))
     JOIN tracestore_data.document d USING (doc_key))
  WHERE ((d.labels = '{}'::text[]) OR (d.labels && ( SELECT tracestore_data.readable_labels() AS readable_labels)));
COMMENT ON VIEW tracestore_data.visible_content IS 'The content keys of chunks of documents the current role may see by their labels, once for each chunk.';

-- ----------------------------------------------------------------------------------------------------
-- visible_member

CREATE VIEW tracestore_data.visible_member WITH (security_barrier='true') AS
 SELECT c.index_id,
    c.version_key,
    c.ordinal,
    c.span_start,
    c.added_build,
    c.removed_build,
    m.added_build AS member_from,
    m.removed_build AS member_until,
    m.family_id,
    m.class,
    d.doc_key,
    d.doc_id,
    d.labels,
    v.version_seq,
    e.vec
   FROM ((((tracestore_data.manifest_entry m
     JOIN tracestore_data.document_version v USING (version_key))
     JOIN tracestore_data.document d USING (doc_key))
     JOIN tracestore_data.chunk c ON (((c.index_id = m.index_id) AND (c.version_key = m.version_key))))
     JOIN tracestore_data.embedding e ON (((e.index_id = c.index_id) AND (e.content_key = c.content_key))))
  WHERE ((d.labels = '{}'::text[]) OR (d.labels && ( SELECT tracestore_data.readable_labels() AS readable_labels)));
COMMENT ON VIEW tracestore_data.visible_member IS 'The chunks and vectors of documents the current role may see by their labels, once for each membership of their version: what an exact search of a reader reads.';

-- ----------------------------------------------------------------------------------------------------
-- visible_vector

CREATE VIEW tracestore_data.visible_vector WITH (security_barrier='true') AS
 SELECT index_id,
    content_key,
    vec
   FROM tracestore_data.embedding e
  WHERE (( SELECT tracestore_data.sees_every_document() AS sees_every_document) OR (EXISTS ( SELECT
           FROM tracestore_data.visible_content c
          WHERE ((c.index_id = e.index_id) AND (c.content_key = e.content_key)))));
COMMENT ON VIEW tracestore_data.visible_vector IS 'The vectors that a chunk has that the current role may see, for who reads all of an index: looked up or hashed, as the planner sees fit.';
