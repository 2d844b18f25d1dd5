-- Written by `just schema` from the newest migration, for people. Nothing reads it: change a table by a migration.

-- ----------------------------------------------------------------------------------------------------
-- gate_floor

CREATE TABLE tracestore_data.gate_floor (
    gate_floor_id bigint NOT NULL,
    collection_id bigint NOT NULL,
    gate text NOT NULL COLLATE pg_catalog."C",
    measure text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    slice text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    gold_set text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    floor double precision,
    settings jsonb DEFAULT '{}'::jsonb NOT NULL,
    in_force boolean DEFAULT true NOT NULL,
    set_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    actor text DEFAULT SESSION_USER NOT NULL,
    reason text,
    CONSTRAINT gate_floor_is_a_number CHECK ((floor <> 'NaN'::double precision)),
    CONSTRAINT gate_of_a_floor_is_known CHECK ((gate = ANY (ARRAY['structure'::text, 'coverage'::text, 'current_versions'::text, 'canaries'::text, 'near_duplicates'::text, 'model'::text, 'gold'::text, 'ann_recall'::text, 'change_budget'::text, 'no_regression'::text]))),
    CONSTRAINT gate_settings_is_an_object CHECK ((jsonb_typeof(settings) = 'object'::text))
);
COMMENT ON TABLE tracestore_data.gate_floor IS 'What builds of a collection have to pass. The latest row of a (gate, measure, slice, gold_set) is in force, if it says so. Append-only.';
COMMENT ON COLUMN tracestore_data.gate_floor.gate_floor_id IS 'Surrogate key, and the version of the floor: a result names the one it was judged by.';
COMMENT ON COLUMN tracestore_data.gate_floor.collection_id IS 'The corpus.';
COMMENT ON COLUMN tracestore_data.gate_floor.gate IS 'What is looked at.';
COMMENT ON COLUMN tracestore_data.gate_floor.measure IS 'Which figure of it, such as hit@5; empty: all that the gate has.';
COMMENT ON COLUMN tracestore_data.gate_floor.slice IS 'Label of the questions it is about; empty: all questions together; *: each label by itself.';
COMMENT ON COLUMN tracestore_data.gate_floor.gold_set IS 'The questions, for a gate that asks some; else empty.';
COMMENT ON COLUMN tracestore_data.gate_floor.floor IS 'The figure that is just good enough, for a budget the largest; null: the gate''s own.';
COMMENT ON COLUMN tracestore_data.gate_floor.settings IS 'How the gate looks, such as the mode of its searches.';
COMMENT ON COLUMN tracestore_data.gate_floor.in_force IS 'False: the gate is switched off by this row.';
COMMENT ON COLUMN tracestore_data.gate_floor.set_at IS 'Since when.';
COMMENT ON COLUMN tracestore_data.gate_floor.actor IS 'Who set it.';
COMMENT ON COLUMN tracestore_data.gate_floor.reason IS 'Why.';

ALTER TABLE tracestore_data.gate_floor ALTER COLUMN gate_floor_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME tracestore_data.gate_floor_gate_floor_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE ONLY tracestore_data.gate_floor
    ADD CONSTRAINT gate_floor_pkey PRIMARY KEY (gate_floor_id);

CREATE INDEX gate_floor_of_collection ON tracestore_data.gate_floor USING btree (collection_id, gate, measure, slice, gold_set, gate_floor_id DESC);

CREATE TRIGGER gate_floor_is_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON tracestore_data.gate_floor FOR EACH STATEMENT EXECUTE FUNCTION tracestore_data.refuse_change();

ALTER TABLE ONLY tracestore_data.gate_floor
    ADD CONSTRAINT gate_floor_collection_id_fkey FOREIGN KEY (collection_id) REFERENCES tracestore_data.collection(collection_id);

ALTER TABLE tracestore_data.gate_floor ENABLE ROW LEVEL SECURITY;

CREATE POLICY gate_floor_is_added ON tracestore_data.gate_floor FOR INSERT WITH CHECK (( SELECT tracestore_data.reads_everything() AS reads_everything));

CREATE POLICY gate_floor_is_read ON tracestore_data.gate_floor FOR SELECT USING (( SELECT tracestore_data.reads_everything() AS reads_everything));

-- ----------------------------------------------------------------------------------------------------
-- gate_check

CREATE TABLE tracestore_data.gate_check (
    gate_check_id bigint NOT NULL,
    build_id bigint NOT NULL,
    suppression_epoch bigint NOT NULL,
    api_sha256 bytea NOT NULL,
    started_at timestamp with time zone NOT NULL,
    checked_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    actor text DEFAULT SESSION_USER NOT NULL,
    CONSTRAINT gate_check_digest_is_sha256 CHECK ((octet_length(api_sha256) = 32))
);
COMMENT ON TABLE tracestore_data.gate_check IS 'Each time a build was checked. Append-only.';
COMMENT ON COLUMN tracestore_data.gate_check.gate_check_id IS 'Surrogate key, in order of checking.';
COMMENT ON COLUMN tracestore_data.gate_check.build_id IS 'The build.';
COMMENT ON COLUMN tracestore_data.gate_check.suppression_epoch IS 'Which documents were suppressed.';
COMMENT ON COLUMN tracestore_data.gate_check.api_sha256 IS 'Which SQL functions looked.';
COMMENT ON COLUMN tracestore_data.gate_check.started_at IS 'When it began.';
COMMENT ON COLUMN tracestore_data.gate_check.checked_at IS 'When it was recorded.';
COMMENT ON COLUMN tracestore_data.gate_check.actor IS 'Who checked.';

ALTER TABLE tracestore_data.gate_check ALTER COLUMN gate_check_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME tracestore_data.gate_check_gate_check_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE ONLY tracestore_data.gate_check
    ADD CONSTRAINT gate_check_pkey PRIMARY KEY (gate_check_id);

CREATE INDEX gate_check_of_build ON tracestore_data.gate_check USING btree (build_id, gate_check_id DESC);

CREATE TRIGGER gate_check_is_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON tracestore_data.gate_check FOR EACH STATEMENT EXECUTE FUNCTION tracestore_data.refuse_change();

ALTER TABLE ONLY tracestore_data.gate_check
    ADD CONSTRAINT gate_check_build_id_fkey FOREIGN KEY (build_id) REFERENCES tracestore_data.build(build_id);

ALTER TABLE tracestore_data.gate_check ENABLE ROW LEVEL SECURITY;

CREATE POLICY gate_check_is_added ON tracestore_data.gate_check FOR INSERT WITH CHECK (( SELECT tracestore_data.reads_everything() AS reads_everything));

CREATE POLICY gate_check_is_read ON tracestore_data.gate_check FOR SELECT USING (( SELECT tracestore_data.reads_everything() AS reads_everything));

-- ----------------------------------------------------------------------------------------------------
-- gate_result

CREATE TABLE tracestore_data.gate_result (
    gate_check_id bigint NOT NULL,
    place integer NOT NULL,
    gate_floor_id bigint,
    gate text NOT NULL COLLATE pg_catalog."C",
    measure text NOT NULL COLLATE pg_catalog."C",
    slice text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    gold_set text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    against_build_id bigint,
    ok boolean NOT NULL,
    value double precision,
    floor double precision,
    detail text,
    CONSTRAINT gate_result_place_starts_at_one CHECK ((place >= 1))
);
COMMENT ON TABLE tracestore_data.gate_result IS 'What a check of a build found, a figure a row. Append-only.';
COMMENT ON COLUMN tracestore_data.gate_result.gate_check_id IS 'The check.';
COMMENT ON COLUMN tracestore_data.gate_result.place IS 'Its place in the check, from 1.';
COMMENT ON COLUMN tracestore_data.gate_result.gate_floor_id IS 'The floor it was judged by; null: by the gate''s own.';
COMMENT ON COLUMN tracestore_data.gate_result.gate IS 'The gate.';
COMMENT ON COLUMN tracestore_data.gate_result.measure IS 'The figure.';
COMMENT ON COLUMN tracestore_data.gate_result.slice IS 'Label of the questions; empty: all, or none are asked.';
COMMENT ON COLUMN tracestore_data.gate_result.gold_set IS 'The questions; empty where none are asked.';
COMMENT ON COLUMN tracestore_data.gate_result.against_build_id IS 'The served build it was compared with.';
COMMENT ON COLUMN tracestore_data.gate_result.ok IS 'Whether it is good enough.';
COMMENT ON COLUMN tracestore_data.gate_result.value IS 'The figure, where it is a number.';
COMMENT ON COLUMN tracestore_data.gate_result.floor IS 'What is just good enough.';
COMMENT ON COLUMN tracestore_data.gate_result.detail IS 'Numbers and ids, never words of a document.';

ALTER TABLE ONLY tracestore_data.gate_result
    ADD CONSTRAINT gate_result_pkey PRIMARY KEY (gate_check_id, place);

CREATE INDEX gate_result_by_floor ON tracestore_data.gate_result USING btree (gate_floor_id);

CREATE TRIGGER gate_result_is_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON tracestore_data.gate_result FOR EACH STATEMENT EXECUTE FUNCTION tracestore_data.refuse_change();

ALTER TABLE ONLY tracestore_data.gate_result
    ADD CONSTRAINT gate_result_against_build_id_fkey FOREIGN KEY (against_build_id) REFERENCES tracestore_data.build(build_id);

ALTER TABLE ONLY tracestore_data.gate_result
    ADD CONSTRAINT gate_result_gate_check_id_fkey FOREIGN KEY (gate_check_id) REFERENCES tracestore_data.gate_check(gate_check_id);

ALTER TABLE ONLY tracestore_data.gate_result
    ADD CONSTRAINT gate_result_gate_floor_id_fkey FOREIGN KEY (gate_floor_id) REFERENCES tracestore_data.gate_floor(gate_floor_id);

ALTER TABLE tracestore_data.gate_result ENABLE ROW LEVEL SECURITY;

CREATE POLICY gate_result_is_added ON tracestore_data.gate_result FOR INSERT WITH CHECK (( SELECT tracestore_data.reads_everything() AS reads_everything));

CREATE POLICY gate_result_is_read ON tracestore_data.gate_result FOR SELECT USING (( SELECT tracestore_data.reads_everything() AS reads_everything));

-- ----------------------------------------------------------------------------------------------------
-- canary

CREATE TABLE tracestore_data.canary (
    canary_id bigint NOT NULL,
    doc_key bigint NOT NULL,
    version_key bigint,
    query text,
    added_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    actor text DEFAULT SESSION_USER NOT NULL,
    reason text,
    retired_at timestamp with time zone,
    retired_by text,
    retire_reason text,
    CONSTRAINT canary_query_is_not_empty CHECK ((query <> ''::text)),
    CONSTRAINT canary_retirement_is_complete CHECK ((num_nulls(retired_at, retired_by) = ANY (ARRAY[0, 2])))
);
ALTER TABLE ONLY tracestore_data.canary ALTER COLUMN query SET STATISTICS 0;
COMMENT ON TABLE tracestore_data.canary IS 'A document, or a version of one, that no search may ever return. It is kept apart from withdrawals, so that it notices one that was undone or never happened.';
COMMENT ON COLUMN tracestore_data.canary.canary_id IS 'Surrogate key.';
COMMENT ON COLUMN tracestore_data.canary.doc_key IS 'The document.';
COMMENT ON COLUMN tracestore_data.canary.version_key IS 'The version; null: every version of the document.';
COMMENT ON COLUMN tracestore_data.canary.query IS 'A question that it would answer; null: its own passages are asked for. Removed when the document is erased.';
COMMENT ON COLUMN tracestore_data.canary.added_at IS 'Since when.';
COMMENT ON COLUMN tracestore_data.canary.actor IS 'Who added it.';
COMMENT ON COLUMN tracestore_data.canary.reason IS 'Why.';
COMMENT ON COLUMN tracestore_data.canary.retired_at IS 'Since when it is not asked any more; null while it is.';
COMMENT ON COLUMN tracestore_data.canary.retired_by IS 'Who retired it.';
COMMENT ON COLUMN tracestore_data.canary.retire_reason IS 'Why it was retired.';

ALTER TABLE tracestore_data.canary ALTER COLUMN canary_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME tracestore_data.canary_canary_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE ONLY tracestore_data.canary
    ADD CONSTRAINT canary_pkey PRIMARY KEY (canary_id);

CREATE INDEX canary_of_document ON tracestore_data.canary USING btree (doc_key);

CREATE TRIGGER canary_is_not_truncated BEFORE TRUNCATE ON tracestore_data.canary FOR EACH STATEMENT EXECUTE FUNCTION tracestore_data.refuse_change();

CREATE TRIGGER canary_is_only_retired BEFORE DELETE OR UPDATE ON tracestore_data.canary FOR EACH ROW EXECUTE FUNCTION tracestore_data.guard_canary();

ALTER TABLE ONLY tracestore_data.canary
    ADD CONSTRAINT canary_doc_key_fkey FOREIGN KEY (doc_key) REFERENCES tracestore_data.document(doc_key);

ALTER TABLE ONLY tracestore_data.canary
    ADD CONSTRAINT canary_version_key_fkey FOREIGN KEY (version_key) REFERENCES tracestore_data.document_version(version_key);

ALTER TABLE tracestore_data.canary ENABLE ROW LEVEL SECURITY;

CREATE POLICY canary_is_added ON tracestore_data.canary FOR INSERT WITH CHECK (( SELECT tracestore_data.reads_everything() AS reads_everything));

CREATE POLICY canary_is_changed ON tracestore_data.canary FOR UPDATE USING (( SELECT tracestore_data.reads_everything() AS reads_everything));

CREATE POLICY canary_is_read ON tracestore_data.canary FOR SELECT USING (( SELECT tracestore_data.reads_everything() AS reads_everything));
