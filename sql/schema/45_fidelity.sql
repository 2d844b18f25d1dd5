-- Written by `just schema` from the newest migration, for people. Nothing reads it: change a table by a migration.

-- ----------------------------------------------------------------------------------------------------
-- probe_set

CREATE TABLE tracestore_data.probe_set (
    probe_set_id bigint NOT NULL,
    index_id bigint NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    seed bigint DEFAULT 0 NOT NULL,
    made_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    actor text DEFAULT SESSION_USER NOT NULL,
    CONSTRAINT probe_set_name_is_not_empty CHECK ((name <> ''::text))
);
COMMENT ON TABLE tracestore_data.probe_set IS 'Questions with which the approximate index of an index is measured, the same ones each time.';
COMMENT ON COLUMN tracestore_data.probe_set.probe_set_id IS 'Surrogate key.';
COMMENT ON COLUMN tracestore_data.probe_set.index_id IS 'The index.';
COMMENT ON COLUMN tracestore_data.probe_set.name IS 'Its name: what it was sampled from, or the name and hash of a file.';
COMMENT ON COLUMN tracestore_data.probe_set.seed IS 'What the sample and the noise on it were drawn with.';
COMMENT ON COLUMN tracestore_data.probe_set.made_at IS 'When it was made.';
COMMENT ON COLUMN tracestore_data.probe_set.actor IS 'Who made it.';

ALTER TABLE tracestore_data.probe_set ALTER COLUMN probe_set_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME tracestore_data.probe_set_probe_set_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE ONLY tracestore_data.probe_set
    ADD CONSTRAINT probe_set_is_once_in_its_index UNIQUE (index_id, name);

ALTER TABLE ONLY tracestore_data.probe_set
    ADD CONSTRAINT probe_set_pkey PRIMARY KEY (probe_set_id);

CREATE TRIGGER probe_set_is_immutable BEFORE DELETE OR UPDATE OR TRUNCATE ON tracestore_data.probe_set FOR EACH STATEMENT EXECUTE FUNCTION tracestore_data.refuse_change();

ALTER TABLE ONLY tracestore_data.probe_set
    ADD CONSTRAINT probe_set_index_id_fkey FOREIGN KEY (index_id) REFERENCES tracestore_data.retrieval_index(index_id);

-- ----------------------------------------------------------------------------------------------------
-- probe_query

CREATE TABLE tracestore_data.probe_query (
    probe_set_id bigint NOT NULL,
    ordinal integer NOT NULL,
    kind text NOT NULL,
    query_text text,
    query_vector public.vector,
    version_key bigint,
    chunk_ordinal integer,
    CONSTRAINT probe_query_has_one_source CHECK (((num_nonnulls(query_text, query_vector, version_key) = 1) AND ((version_key IS NULL) = (chunk_ordinal IS NULL)) AND ((version_key IS NULL) = (kind = 'given'::text)))),
    CONSTRAINT probe_query_kind_is_known CHECK ((kind = ANY (ARRAY['given'::text, 'near'::text, 'recent'::text, 'far'::text])))
);
COMMENT ON TABLE tracestore_data.probe_query IS 'A question of a probe set. A sampled one names a chunk and holds no vector: what is erased is gone from it too.';
COMMENT ON COLUMN tracestore_data.probe_query.probe_set_id IS 'The set.';
COMMENT ON COLUMN tracestore_data.probe_query.ordinal IS 'Its place in the set, from 1.';
COMMENT ON COLUMN tracestore_data.probe_query.kind IS 'given: from a file. near: a chunk''s vector with some noise. recent: of a chunk that came after the approximate index was made. far: with so much noise that it is near nothing.';
COMMENT ON COLUMN tracestore_data.probe_query.query_text IS 'The words of a given question; embedded anew for each measurement.';
COMMENT ON COLUMN tracestore_data.probe_query.query_vector IS 'The vector of a question given as one.';
COMMENT ON COLUMN tracestore_data.probe_query.version_key IS 'Version of the chunk that was sampled.';
COMMENT ON COLUMN tracestore_data.probe_query.chunk_ordinal IS 'Ordinal of the chunk that was sampled.';

ALTER TABLE ONLY tracestore_data.probe_query
    ADD CONSTRAINT probe_query_pk PRIMARY KEY (probe_set_id, ordinal);

CREATE INDEX probe_query_of_version ON tracestore_data.probe_query USING btree (version_key) WHERE (version_key IS NOT NULL);

CREATE TRIGGER probe_query_is_immutable BEFORE UPDATE OR TRUNCATE ON tracestore_data.probe_query FOR EACH STATEMENT EXECUTE FUNCTION tracestore_data.refuse_change();

ALTER TABLE ONLY tracestore_data.probe_query
    ADD CONSTRAINT probe_query_probe_set_id_fkey FOREIGN KEY (probe_set_id) REFERENCES tracestore_data.probe_set(probe_set_id);

ALTER TABLE ONLY tracestore_data.probe_query
    ADD CONSTRAINT probe_query_version_key_fkey FOREIGN KEY (version_key) REFERENCES tracestore_data.document_version(version_key);

ALTER TABLE tracestore_data.probe_query ENABLE ROW LEVEL SECURITY;

CREATE POLICY probe_query_is_added ON tracestore_data.probe_query FOR INSERT WITH CHECK (( SELECT tracestore_data.reads_everything() AS reads_everything));

CREATE POLICY probe_query_is_deleted ON tracestore_data.probe_query FOR DELETE USING (( SELECT tracestore_data.reads_everything() AS reads_everything));

CREATE POLICY probe_query_is_read ON tracestore_data.probe_query FOR SELECT USING (( SELECT tracestore_data.reads_everything() AS reads_everything));

-- ----------------------------------------------------------------------------------------------------
-- fidelity_measurement

CREATE TABLE tracestore_data.fidelity_measurement (
    fidelity_measurement_id bigint NOT NULL,
    build_id bigint NOT NULL,
    probe_set_id bigint NOT NULL,
    graph_event_id bigint,
    mode text NOT NULL,
    effort integer,
    match_count integer NOT NULL,
    filter jsonb,
    queries integer NOT NULL,
    skipped integer NOT NULL,
    recall double precision NOT NULL,
    recall_worst_decile double precision NOT NULL,
    recall_least double precision NOT NULL,
    recall_by jsonb NOT NULL,
    same_order double precision NOT NULL,
    by_index double precision NOT NULL,
    candidates double precision,
    candidates_most bigint,
    pages double precision,
    ms double precision NOT NULL,
    exact_ms double precision NOT NULL,
    recall_floor double precision NOT NULL,
    measured_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    actor text DEFAULT SESSION_USER NOT NULL,
    CONSTRAINT measured_mode_is_known CHECK ((mode = ANY (ARRAY['auto'::text, 'ann'::text, 'scan'::text]))),
    CONSTRAINT measured_queries_are_positive CHECK (((queries > 0) AND (skipped >= 0))),
    CONSTRAINT measured_shares_are_shares CHECK (((LEAST(recall, recall_worst_decile, recall_least, same_order, by_index, recall_floor) >= (0)::double precision) AND (GREATEST(recall, recall_worst_decile, recall_least, same_order, by_index, recall_floor) <= (1)::double precision))),
    CONSTRAINT only_a_scan_has_an_effort CHECK (((mode = 'scan'::text) = (effort IS NOT NULL)))
);
COMMENT ON TABLE tracestore_data.fidelity_measurement IS 'How close to exact the answers of a build were, in one mode, for one probe set. Append-only.';
COMMENT ON COLUMN tracestore_data.fidelity_measurement.fidelity_measurement_id IS 'Surrogate key.';
COMMENT ON COLUMN tracestore_data.fidelity_measurement.build_id IS 'The build that was asked.';
COMMENT ON COLUMN tracestore_data.fidelity_measurement.probe_set_id IS 'The questions.';
COMMENT ON COLUMN tracestore_data.fidelity_measurement.graph_event_id IS 'The making of the approximate index that was measured.';
COMMENT ON COLUMN tracestore_data.fidelity_measurement.mode IS 'auto and ann: as search does. scan: the bare index, with one effort.';
COMMENT ON COLUMN tracestore_data.fidelity_measurement.effort IS 'ef_search or probes of a scan.';
COMMENT ON COLUMN tracestore_data.fidelity_measurement.match_count IS 'How many hits were asked for: the k of the measures.';
COMMENT ON COLUMN tracestore_data.fidelity_measurement.filter IS 'The filter asked with.';
COMMENT ON COLUMN tracestore_data.fidelity_measurement.queries IS 'How many questions were asked.';
COMMENT ON COLUMN tracestore_data.fidelity_measurement.skipped IS 'Questions of the set that could not be asked: their chunk is no member any more.';
COMMENT ON COLUMN tracestore_data.fidelity_measurement.recall IS 'Mean ann_recall@k against exact search.';
COMMENT ON COLUMN tracestore_data.fidelity_measurement.recall_worst_decile IS 'Mean of its worst tenth.';
COMMENT ON COLUMN tracestore_data.fidelity_measurement.recall_least IS 'The least of any question.';
COMMENT ON COLUMN tracestore_data.fidelity_measurement.recall_by IS 'Means for kinds of questions (kind) and thirds by the score of the exact best hit (hardness).';
COMMENT ON COLUMN tracestore_data.fidelity_measurement.same_order IS 'Share of questions with exactly the exact answer, in its order.';
COMMENT ON COLUMN tracestore_data.fidelity_measurement.by_index IS 'Share of questions answered by the approximate index.';
COMMENT ON COLUMN tracestore_data.fidelity_measurement.candidates IS 'Rows that the index gave for a question of a scan, in the mean: with IVFFlat all of the lists it looked into.';
COMMENT ON COLUMN tracestore_data.fidelity_measurement.candidates_most IS 'The most of any question.';
COMMENT ON COLUMN tracestore_data.fidelity_measurement.pages IS 'Pages read for a question of a scan, in the mean: what HNSW visits.';
COMMENT ON COLUMN tracestore_data.fidelity_measurement.ms IS 'Median milliseconds of a question, without its evidence rows.';
COMMENT ON COLUMN tracestore_data.fidelity_measurement.exact_ms IS 'The same of the exact baseline.';
COMMENT ON COLUMN tracestore_data.fidelity_measurement.recall_floor IS 'What recall was wanted.';
COMMENT ON COLUMN tracestore_data.fidelity_measurement.measured_at IS 'When.';
COMMENT ON COLUMN tracestore_data.fidelity_measurement.actor IS 'Who measured.';

ALTER TABLE tracestore_data.fidelity_measurement ALTER COLUMN fidelity_measurement_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME tracestore_data.fidelity_measurement_fidelity_measurement_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE ONLY tracestore_data.fidelity_measurement
    ADD CONSTRAINT fidelity_measurement_pkey PRIMARY KEY (fidelity_measurement_id);

CREATE INDEX fidelity_measurement_of_graph ON tracestore_data.fidelity_measurement USING btree (graph_event_id, fidelity_measurement_id DESC);

CREATE TRIGGER fidelity_measurement_is_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON tracestore_data.fidelity_measurement FOR EACH STATEMENT EXECUTE FUNCTION tracestore_data.refuse_change();

ALTER TABLE ONLY tracestore_data.fidelity_measurement
    ADD CONSTRAINT fidelity_measurement_build_id_fkey FOREIGN KEY (build_id) REFERENCES tracestore_data.build(build_id);

ALTER TABLE ONLY tracestore_data.fidelity_measurement
    ADD CONSTRAINT fidelity_measurement_graph_event_id_fkey FOREIGN KEY (graph_event_id) REFERENCES tracestore_data.graph_event(graph_event_id);

ALTER TABLE ONLY tracestore_data.fidelity_measurement
    ADD CONSTRAINT fidelity_measurement_probe_set_id_fkey FOREIGN KEY (probe_set_id) REFERENCES tracestore_data.probe_set(probe_set_id);

ALTER TABLE tracestore_data.fidelity_measurement ENABLE ROW LEVEL SECURITY;

CREATE POLICY fidelity_measurement_is_added ON tracestore_data.fidelity_measurement FOR INSERT WITH CHECK (( SELECT tracestore_data.reads_everything() AS reads_everything));

CREATE POLICY fidelity_measurement_is_read ON tracestore_data.fidelity_measurement FOR SELECT USING (((filter IS NULL) OR ( SELECT tracestore_data.reads_everything() AS reads_everything)));
