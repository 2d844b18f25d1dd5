-- Written by `just schema` from the newest migration, for people. Nothing reads it: change a table by a migration.

-- ----------------------------------------------------------------------------------------------------
-- supersession

CREATE TABLE tracestore_data.supersession (
    supersession_id bigint NOT NULL,
    doc_key bigint NOT NULL,
    version_key bigint,
    by_doc_key bigint,
    by_version_key bigint,
    effective_at timestamp with time zone NOT NULL,
    inferred boolean DEFAULT false NOT NULL,
    declared_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    actor text DEFAULT SESSION_USER NOT NULL,
    reason text,
    accepted boolean,
    decided_at timestamp with time zone,
    decided_by text,
    CONSTRAINT decision_is_complete CHECK ((num_nulls(accepted, decided_at, decided_by) = ANY (ARRAY[0, 3]))),
    CONSTRAINT only_a_guess_is_decided CHECK ((inferred OR (accepted IS NULL))),
    CONSTRAINT supersession_is_not_by_itself CHECK (((by_doc_key IS DISTINCT FROM doc_key) OR (by_version_key IS DISTINCT FROM version_key)))
);
COMMENT ON TABLE tracestore_data.supersession IS 'What replaces what, and from when. It ends the membership of the versions in effect by then, at the first build after it.';
COMMENT ON COLUMN tracestore_data.supersession.supersession_id IS 'Surrogate key.';
COMMENT ON COLUMN tracestore_data.supersession.doc_key IS 'The document that is replaced.';
COMMENT ON COLUMN tracestore_data.supersession.version_key IS 'The one version meant; null: whatever of the document is in effect by then.';
COMMENT ON COLUMN tracestore_data.supersession.by_doc_key IS 'The document that replaces it; null: nothing does, it ended.';
COMMENT ON COLUMN tracestore_data.supersession.by_version_key IS 'The version that replaces it, where one was named.';
COMMENT ON COLUMN tracestore_data.supersession.effective_at IS 'From when.';
COMMENT ON COLUMN tracestore_data.supersession.inferred IS 'Guessed from a family with two current documents; counts only when accepted.';
COMMENT ON COLUMN tracestore_data.supersession.declared_at IS 'When it was written.';
COMMENT ON COLUMN tracestore_data.supersession.actor IS 'Who declared it, or whose build guessed it.';
COMMENT ON COLUMN tracestore_data.supersession.reason IS 'Why.';
COMMENT ON COLUMN tracestore_data.supersession.accepted IS 'Of a guess: true or false once somebody decided.';
COMMENT ON COLUMN tracestore_data.supersession.decided_at IS 'When somebody decided.';
COMMENT ON COLUMN tracestore_data.supersession.decided_by IS 'Who decided.';

ALTER TABLE tracestore_data.supersession ALTER COLUMN supersession_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME tracestore_data.supersession_supersession_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE ONLY tracestore_data.supersession
    ADD CONSTRAINT supersession_pkey PRIMARY KEY (supersession_id);

CREATE INDEX supersession_by_document ON tracestore_data.supersession USING btree (doc_key);

CREATE UNIQUE INDEX supersession_guess_is_once ON tracestore_data.supersession USING btree (doc_key, version_key, by_doc_key, by_version_key) WHERE inferred;

CREATE TRIGGER supersession_is_a_record BEFORE DELETE OR UPDATE ON tracestore_data.supersession FOR EACH ROW EXECUTE FUNCTION tracestore_data.guard_supersession();

CREATE TRIGGER supersession_is_not_truncated BEFORE TRUNCATE ON tracestore_data.supersession FOR EACH STATEMENT EXECUTE FUNCTION tracestore_data.refuse_change();

ALTER TABLE ONLY tracestore_data.supersession
    ADD CONSTRAINT supersession_by_doc_key_fkey FOREIGN KEY (by_doc_key) REFERENCES tracestore_data.document(doc_key);

ALTER TABLE ONLY tracestore_data.supersession
    ADD CONSTRAINT supersession_by_version_key_fkey FOREIGN KEY (by_version_key) REFERENCES tracestore_data.document_version(version_key);

ALTER TABLE ONLY tracestore_data.supersession
    ADD CONSTRAINT supersession_doc_key_fkey FOREIGN KEY (doc_key) REFERENCES tracestore_data.document(doc_key);

ALTER TABLE ONLY tracestore_data.supersession
    ADD CONSTRAINT supersession_version_key_fkey FOREIGN KEY (version_key) REFERENCES tracestore_data.document_version(version_key);

ALTER TABLE tracestore_data.supersession ENABLE ROW LEVEL SECURITY;

CREATE POLICY supersession_is_added ON tracestore_data.supersession FOR INSERT WITH CHECK (( SELECT tracestore_data.reads_everything() AS reads_everything));

CREATE POLICY supersession_is_changed ON tracestore_data.supersession FOR UPDATE USING (( SELECT tracestore_data.reads_everything() AS reads_everything));

CREATE POLICY supersession_is_decided_by_its_decider ON tracestore_data.supersession AS RESTRICTIVE FOR UPDATE USING (true) WITH CHECK (((decided_by IS NULL) OR (decided_by = SESSION_USER)));

CREATE POLICY supersession_is_deleted ON tracestore_data.supersession FOR DELETE USING (( SELECT tracestore_data.reads_everything() AS reads_everything));

CREATE POLICY supersession_is_read ON tracestore_data.supersession FOR SELECT USING ((( SELECT tracestore_data.sees_every_document() AS sees_every_document) OR ((EXISTS ( SELECT
   FROM tracestore_data.visible_document d
  WHERE (d.doc_key = supersession.doc_key))) AND ((by_doc_key IS NULL) OR (EXISTS ( SELECT
   FROM tracestore_data.visible_document d
  WHERE (d.doc_key = supersession.by_doc_key)))))));

-- ----------------------------------------------------------------------------------------------------
-- build_hold

CREATE TABLE tracestore_data.build_hold (
    build_hold_id bigint NOT NULL,
    build_id bigint NOT NULL,
    placed_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    actor text DEFAULT SESSION_USER NOT NULL,
    reason text NOT NULL,
    released_at timestamp with time zone,
    released_by text,
    release_reason text,
    CONSTRAINT release_is_complete CHECK ((num_nulls(released_at, released_by) = ANY (ARRAY[0, 2])))
);
COMMENT ON TABLE tracestore_data.build_hold IS 'Builds that garbage collection must leave searchable.';
COMMENT ON COLUMN tracestore_data.build_hold.build_hold_id IS 'Surrogate key.';
COMMENT ON COLUMN tracestore_data.build_hold.build_id IS 'The build.';
COMMENT ON COLUMN tracestore_data.build_hold.placed_at IS 'When the hold was placed.';
COMMENT ON COLUMN tracestore_data.build_hold.actor IS 'Who placed it.';
COMMENT ON COLUMN tracestore_data.build_hold.reason IS 'Why.';
COMMENT ON COLUMN tracestore_data.build_hold.released_at IS 'When it was released.';
COMMENT ON COLUMN tracestore_data.build_hold.released_by IS 'Who released it.';
COMMENT ON COLUMN tracestore_data.build_hold.release_reason IS 'Why it was released.';

ALTER TABLE tracestore_data.build_hold ALTER COLUMN build_hold_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME tracestore_data.build_hold_build_hold_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE ONLY tracestore_data.build_hold
    ADD CONSTRAINT build_hold_pkey PRIMARY KEY (build_hold_id);

CREATE UNIQUE INDEX build_hold_in_force ON tracestore_data.build_hold USING btree (build_id) WHERE (released_at IS NULL);

CREATE TRIGGER build_hold_is_not_truncated BEFORE TRUNCATE ON tracestore_data.build_hold FOR EACH STATEMENT EXECUTE FUNCTION tracestore_data.refuse_change();

CREATE TRIGGER build_hold_is_only_released BEFORE DELETE OR UPDATE ON tracestore_data.build_hold FOR EACH ROW EXECUTE FUNCTION tracestore_data.guard_build_hold();

ALTER TABLE ONLY tracestore_data.build_hold
    ADD CONSTRAINT build_hold_build_id_fkey FOREIGN KEY (build_id) REFERENCES tracestore_data.build(build_id);

ALTER TABLE tracestore_data.build_hold ENABLE ROW LEVEL SECURITY;

CREATE POLICY build_hold_is_added ON tracestore_data.build_hold FOR INSERT WITH CHECK (( SELECT tracestore_data.reads_everything() AS reads_everything));

CREATE POLICY build_hold_is_changed ON tracestore_data.build_hold FOR UPDATE USING (( SELECT tracestore_data.reads_everything() AS reads_everything));

CREATE POLICY build_hold_is_deleted ON tracestore_data.build_hold FOR DELETE USING (( SELECT tracestore_data.reads_everything() AS reads_everything));

CREATE POLICY build_hold_is_read ON tracestore_data.build_hold FOR SELECT USING (true);

CREATE POLICY build_hold_is_released_by_its_releaser ON tracestore_data.build_hold AS RESTRICTIVE FOR UPDATE USING (true) WITH CHECK (((released_by IS NULL) OR (released_by = SESSION_USER)));
