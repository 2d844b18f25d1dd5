-- Written by `just schema` from the newest migration, for people. Nothing reads it: change a table by a migration.

-- ----------------------------------------------------------------------------------------------------
-- log_policy

CREATE TABLE tracestore_data.log_policy (
    log_policy_id bigint NOT NULL,
    collection_id bigint NOT NULL,
    keep_query_text boolean NOT NULL,
    keep_query_vector boolean NOT NULL,
    decided_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    actor text DEFAULT SESSION_USER NOT NULL,
    reason text
);
COMMENT ON TABLE tracestore_data.log_policy IS 'What the log of a collection keeps of a question, by the newest row; without one, text and vector. Append-only.';
COMMENT ON COLUMN tracestore_data.log_policy.log_policy_id IS 'Surrogate key, in order of deciding.';
COMMENT ON COLUMN tracestore_data.log_policy.collection_id IS 'The corpus.';
COMMENT ON COLUMN tracestore_data.log_policy.keep_query_text IS 'Keep the words of the question; else only their SHA-256.';
COMMENT ON COLUMN tracestore_data.log_policy.keep_query_vector IS 'Keep its vector, without which no ranking can be replayed.';
COMMENT ON COLUMN tracestore_data.log_policy.decided_at IS 'When.';
COMMENT ON COLUMN tracestore_data.log_policy.actor IS 'Who decided.';
COMMENT ON COLUMN tracestore_data.log_policy.reason IS 'Why.';

ALTER TABLE tracestore_data.log_policy ALTER COLUMN log_policy_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME tracestore_data.log_policy_log_policy_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE ONLY tracestore_data.log_policy
    ADD CONSTRAINT log_policy_pkey PRIMARY KEY (log_policy_id);

CREATE INDEX log_policy_of_collection ON tracestore_data.log_policy USING btree (collection_id, log_policy_id DESC);

CREATE TRIGGER log_policy_is_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON tracestore_data.log_policy FOR EACH STATEMENT EXECUTE FUNCTION tracestore_data.refuse_change();

ALTER TABLE ONLY tracestore_data.log_policy
    ADD CONSTRAINT log_policy_collection_id_fkey FOREIGN KEY (collection_id) REFERENCES tracestore_data.collection(collection_id);

ALTER TABLE tracestore_data.log_policy ENABLE ROW LEVEL SECURITY;

CREATE POLICY log_policy_is_added ON tracestore_data.log_policy FOR INSERT WITH CHECK (( SELECT tracestore_data.reads_everything() AS reads_everything));

CREATE POLICY log_policy_is_read ON tracestore_data.log_policy FOR SELECT USING (( SELECT tracestore_data.reads_everything() AS reads_everything));

-- ----------------------------------------------------------------------------------------------------
-- api_release

CREATE TABLE tracestore_data.api_release (
    api_key integer NOT NULL,
    api_sha256 bytea NOT NULL,
    first_logged_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT api_release_is_sha256 CHECK ((octet_length(api_sha256) = 32))
);
COMMENT ON TABLE tracestore_data.api_release IS 'The functions that logged searches ran with, each by its digest. Append-only.';
COMMENT ON COLUMN tracestore_data.api_release.api_key IS 'Surrogate key.';
COMMENT ON COLUMN tracestore_data.api_release.api_sha256 IS 'SHA-256 over the functions and views of schema tracestore.';
COMMENT ON COLUMN tracestore_data.api_release.first_logged_at IS 'When a search of them was first logged.';

ALTER TABLE tracestore_data.api_release ALTER COLUMN api_key ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME tracestore_data.api_release_api_key_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE ONLY tracestore_data.api_release
    ADD CONSTRAINT api_release_api_sha256_key UNIQUE (api_sha256);

ALTER TABLE ONLY tracestore_data.api_release
    ADD CONSTRAINT api_release_pkey PRIMARY KEY (api_key);

CREATE TRIGGER api_release_is_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON tracestore_data.api_release FOR EACH STATEMENT EXECUTE FUNCTION tracestore_data.refuse_change();

-- ----------------------------------------------------------------------------------------------------
-- retrieval

CREATE TABLE tracestore_data.retrieval (
    logged_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    retrieval_id bigint NOT NULL,
    retrieved_at timestamp with time zone,
    build_id bigint NOT NULL,
    alias_event_id bigint,
    suppression_epoch bigint NOT NULL,
    version_keys bigint[] NOT NULL,
    scores double precision[] NOT NULL,
    span_starts integer[] NOT NULL,
    span_ends integer[] NOT NULL,
    context_starts integer[],
    context_ends integer[],
    dense_ranks smallint[],
    lexical_ranks smallint[],
    span_hashes bytea NOT NULL,
    context_hashes bytea,
    api_key integer NOT NULL,
    query_sha256 bytea,
    index_alias text COLLATE pg_catalog."C",
    settings jsonb NOT NULL,
    dense_path text,
    path text,
    logged_by text NOT NULL COLLATE pg_catalog."C",
    caller text NOT NULL COLLATE pg_catalog."C",
    caller_labels text[],
    query_text text,
    query_vec public.vector,
    CONSTRAINT hits_are_complete CHECK (((cardinality(scores) = cardinality(version_keys)) AND (cardinality(span_starts) = cardinality(version_keys)) AND (cardinality(span_ends) = cardinality(version_keys)) AND (COALESCE(cardinality(context_starts), cardinality(version_keys)) = cardinality(version_keys)) AND (COALESCE(cardinality(context_ends), cardinality(version_keys)) = cardinality(version_keys)) AND (num_nulls(context_starts, context_ends, context_hashes) = ANY (ARRAY[0, 3])) AND (COALESCE(cardinality(dense_ranks), cardinality(version_keys)) = cardinality(version_keys)) AND (COALESCE(cardinality(lexical_ranks), cardinality(version_keys)) = cardinality(version_keys)) AND (octet_length(span_hashes) = (32 * cardinality(version_keys))) AND (COALESCE(octet_length(context_hashes), octet_length(span_hashes)) = octet_length(span_hashes)))),
    CONSTRAINT query_digest_is_sha256 CHECK ((octet_length(query_sha256) = 32))
)
PARTITION BY RANGE (logged_at);
ALTER TABLE ONLY tracestore_data.retrieval ALTER COLUMN span_hashes SET STATISTICS 0;
ALTER TABLE ONLY tracestore_data.retrieval ALTER COLUMN context_hashes SET STATISTICS 0;
ALTER TABLE ONLY tracestore_data.retrieval ALTER COLUMN query_sha256 SET STATISTICS 0;
ALTER TABLE ONLY tracestore_data.retrieval ALTER COLUMN settings SET STATISTICS 0;
ALTER TABLE ONLY tracestore_data.retrieval ALTER COLUMN query_text SET STATISTICS 0;
ALTER TABLE ONLY tracestore_data.retrieval ALTER COLUMN query_vec SET STATISTICS 0;
COMMENT ON TABLE tracestore_data.retrieval IS 'Every logged search: what was asked of which build by whom, and what came back, by rank. Append-only; whole months are dropped. Holds no text of a document.';
COMMENT ON COLUMN tracestore_data.retrieval.logged_at IS 'When it was written: decides the month.';
COMMENT ON COLUMN tracestore_data.retrieval.retrieval_id IS 'Surrogate key.';
COMMENT ON COLUMN tracestore_data.retrieval.retrieved_at IS 'When the search ran; null where it is logged_at.';
COMMENT ON COLUMN tracestore_data.retrieval.build_id IS 'The build that answered.';
COMMENT ON COLUMN tracestore_data.retrieval.alias_event_id IS 'The switch that made the alias serve it; null for a search of a build.';
COMMENT ON COLUMN tracestore_data.retrieval.suppression_epoch IS 'What was withdrawn and erased then.';
COMMENT ON COLUMN tracestore_data.retrieval.version_keys IS 'The versions of the hits.';
COMMENT ON COLUMN tracestore_data.retrieval.scores IS 'Their scores.';
COMMENT ON COLUMN tracestore_data.retrieval.span_starts IS 'Where the passages start.';
COMMENT ON COLUMN tracestore_data.retrieval.span_ends IS 'Where they end.';
COMMENT ON COLUMN tracestore_data.retrieval.context_starts IS 'Where the contexts start that the search was asked for; null where it was asked for none.';
COMMENT ON COLUMN tracestore_data.retrieval.context_ends IS 'Where these contexts end.';
COMMENT ON COLUMN tracestore_data.retrieval.dense_ranks IS 'Their ranks by vector; null where that is the order they are in, or without that leg.';
COMMENT ON COLUMN tracestore_data.retrieval.lexical_ranks IS 'Their ranks by words; null without that leg.';
COMMENT ON COLUMN tracestore_data.retrieval.span_hashes IS 'The SHA-256 of the passages, 32 bytes each.';
COMMENT ON COLUMN tracestore_data.retrieval.context_hashes IS 'The SHA-256 of the texts of the contexts, 32 bytes each, where the search was asked for them.';
COMMENT ON COLUMN tracestore_data.retrieval.api_key IS 'The functions that searched.';
COMMENT ON COLUMN tracestore_data.retrieval.query_sha256 IS 'SHA-256 of the words of the question; null where none were given.';
COMMENT ON COLUMN tracestore_data.retrieval.index_alias IS 'The alias asked; null where a build was named.';
COMMENT ON COLUMN tracestore_data.retrieval.settings IS 'mode, match_count, filter, options and as-of of the search.';
COMMENT ON COLUMN tracestore_data.retrieval.dense_path IS 'exact, hnsw or ivfflat.';
COMMENT ON COLUMN tracestore_data.retrieval.path IS 'What the search did.';
COMMENT ON COLUMN tracestore_data.retrieval.logged_by IS 'The role that logged it, and may read it.';
COMMENT ON COLUMN tracestore_data.retrieval.caller IS 'The role that searched.';
COMMENT ON COLUMN tracestore_data.retrieval.caller_labels IS 'The labels that role could read; null: nothing was hidden from it.';
COMMENT ON COLUMN tracestore_data.retrieval.query_text IS 'The words of the question, by the policy of the collection.';
COMMENT ON COLUMN tracestore_data.retrieval.query_vec IS 'Its vector, by the policy of the collection.';

ALTER TABLE tracestore_data.retrieval ALTER COLUMN retrieval_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME tracestore_data.retrieval_retrieval_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE ONLY tracestore_data.retrieval ATTACH PARTITION tracestore_data.retrieval_default DEFAULT;

ALTER TABLE ONLY tracestore_data.retrieval
    ADD CONSTRAINT retrieval_pk PRIMARY KEY (retrieval_id, logged_at);

CREATE TRIGGER retrieval_is_append_only BEFORE DELETE OR UPDATE ON tracestore_data.retrieval FOR EACH ROW EXECUTE FUNCTION tracestore_data.refuse_change();

CREATE TRIGGER retrieval_is_not_truncated BEFORE TRUNCATE ON tracestore_data.retrieval FOR EACH STATEMENT EXECUTE FUNCTION tracestore_data.refuse_change();

ALTER TABLE tracestore_data.retrieval
    ADD CONSTRAINT retrieval_api_key_fkey FOREIGN KEY (api_key) REFERENCES tracestore_data.api_release(api_key);

ALTER TABLE tracestore_data.retrieval ENABLE ROW LEVEL SECURITY;

CREATE POLICY retrieval_is_read ON tracestore_data.retrieval FOR SELECT USING ((( SELECT tracestore_data.reads_everything() AS reads_everything) OR tracestore_data.has_role(logged_by)));

-- ----------------------------------------------------------------------------------------------------
-- retrieval_default

CREATE TABLE tracestore_data.retrieval_default (
    logged_at timestamp with time zone DEFAULT clock_timestamp() CONSTRAINT retrieval_logged_at_not_null NOT NULL,
    retrieval_id bigint CONSTRAINT retrieval_retrieval_id_not_null NOT NULL,
    retrieved_at timestamp with time zone,
    build_id bigint CONSTRAINT retrieval_build_id_not_null NOT NULL,
    alias_event_id bigint,
    suppression_epoch bigint CONSTRAINT retrieval_suppression_epoch_not_null NOT NULL,
    version_keys bigint[] CONSTRAINT retrieval_version_keys_not_null NOT NULL,
    scores double precision[] CONSTRAINT retrieval_scores_not_null NOT NULL,
    span_starts integer[] CONSTRAINT retrieval_span_starts_not_null NOT NULL,
    span_ends integer[] CONSTRAINT retrieval_span_ends_not_null NOT NULL,
    context_starts integer[],
    context_ends integer[],
    dense_ranks smallint[],
    lexical_ranks smallint[],
    span_hashes bytea CONSTRAINT retrieval_span_hashes_not_null NOT NULL,
    context_hashes bytea,
    api_key integer CONSTRAINT retrieval_api_key_not_null NOT NULL,
    query_sha256 bytea,
    index_alias text COLLATE pg_catalog."C",
    settings jsonb CONSTRAINT retrieval_settings_not_null NOT NULL,
    dense_path text,
    path text,
    logged_by text CONSTRAINT retrieval_logged_by_not_null NOT NULL COLLATE pg_catalog."C",
    caller text CONSTRAINT retrieval_caller_not_null NOT NULL COLLATE pg_catalog."C",
    caller_labels text[],
    query_text text,
    query_vec public.vector,
    CONSTRAINT hits_are_complete CHECK (((cardinality(scores) = cardinality(version_keys)) AND (cardinality(span_starts) = cardinality(version_keys)) AND (cardinality(span_ends) = cardinality(version_keys)) AND (COALESCE(cardinality(context_starts), cardinality(version_keys)) = cardinality(version_keys)) AND (COALESCE(cardinality(context_ends), cardinality(version_keys)) = cardinality(version_keys)) AND (num_nulls(context_starts, context_ends, context_hashes) = ANY (ARRAY[0, 3])) AND (COALESCE(cardinality(dense_ranks), cardinality(version_keys)) = cardinality(version_keys)) AND (COALESCE(cardinality(lexical_ranks), cardinality(version_keys)) = cardinality(version_keys)) AND (octet_length(span_hashes) = (32 * cardinality(version_keys))) AND (COALESCE(octet_length(context_hashes), octet_length(span_hashes)) = octet_length(span_hashes)))),
    CONSTRAINT query_digest_is_sha256 CHECK ((octet_length(query_sha256) = 32))
);
ALTER TABLE ONLY tracestore_data.retrieval_default ALTER COLUMN span_hashes SET STATISTICS 0;
ALTER TABLE ONLY tracestore_data.retrieval_default ALTER COLUMN context_hashes SET STATISTICS 0;
ALTER TABLE ONLY tracestore_data.retrieval_default ALTER COLUMN query_sha256 SET STATISTICS 0;
ALTER TABLE ONLY tracestore_data.retrieval_default ALTER COLUMN settings SET STATISTICS 0;
ALTER TABLE ONLY tracestore_data.retrieval_default ALTER COLUMN query_text SET STATISTICS 0;
ALTER TABLE ONLY tracestore_data.retrieval_default ALTER COLUMN query_vec SET STATISTICS 0;
COMMENT ON TABLE tracestore_data.retrieval_default IS 'Searches of months without a partition: run `tracestore db upgrade`.';

ALTER TABLE ONLY tracestore_data.retrieval_default
    ADD CONSTRAINT retrieval_default_pkey PRIMARY KEY (retrieval_id, logged_at);

CREATE TRIGGER retrieval_default_is_not_truncated BEFORE TRUNCATE ON tracestore_data.retrieval_default FOR EACH STATEMENT EXECUTE FUNCTION tracestore_data.refuse_change();

ALTER TABLE tracestore_data.retrieval_default ENABLE ROW LEVEL SECURITY;

-- ----------------------------------------------------------------------------------------------------
-- answer_key

CREATE TABLE tracestore_data.answer_key (
    logged_at timestamp with time zone NOT NULL,
    answer_key bigint NOT NULL,
    answer_id text NOT NULL COLLATE pg_catalog."C",
    CONSTRAINT answer_id_fits CHECK (((octet_length(answer_id) >= 1) AND (octet_length(answer_id) <= 1024)))
);
COMMENT ON TABLE tracestore_data.answer_key IS 'The ids of all answers, in one table, so that one is logged once, also over the end of a month. A row goes only after its answer.';
COMMENT ON COLUMN tracestore_data.answer_key.logged_at IS 'When the answer was written: the month it is in.';
COMMENT ON COLUMN tracestore_data.answer_key.answer_key IS 'Surrogate key of the answer.';
COMMENT ON COLUMN tracestore_data.answer_key.answer_id IS 'The caller''s id of the answer.';

ALTER TABLE tracestore_data.answer_key ALTER COLUMN answer_key ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME tracestore_data.answer_key_answer_key_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE ONLY tracestore_data.answer_key
    ADD CONSTRAINT answer_key_pk PRIMARY KEY (answer_id);

CREATE UNIQUE INDEX answer_key_is_once ON tracestore_data.answer_key USING btree (answer_key);

CREATE TRIGGER answer_key_is_not_truncated BEFORE TRUNCATE ON tracestore_data.answer_key FOR EACH STATEMENT EXECUTE FUNCTION tracestore_data.refuse_change();

CREATE TRIGGER answer_key_outlives_its_answer BEFORE DELETE OR UPDATE ON tracestore_data.answer_key FOR EACH ROW EXECUTE FUNCTION tracestore_data.guard_answer_key();

ALTER TABLE tracestore_data.answer_key ENABLE ROW LEVEL SECURITY;

CREATE POLICY answer_key_is_read ON tracestore_data.answer_key FOR SELECT USING ((( SELECT tracestore_data.reads_everything() AS reads_everything) OR (EXISTS ( SELECT
   FROM tracestore_data.answer a
  WHERE ((a.answer_key = answer_key.answer_key) AND (a.logged_at = answer_key.logged_at))))));

-- ----------------------------------------------------------------------------------------------------
-- answer

CREATE TABLE tracestore_data.answer (
    logged_at timestamp with time zone NOT NULL,
    answer_key bigint NOT NULL,
    answered_at timestamp with time zone NOT NULL,
    build_id bigint,
    retrieval_ids bigint[] NOT NULL,
    cited_versions bigint[] NOT NULL,
    cited bigint NOT NULL,
    logged_by text NOT NULL COLLATE pg_catalog."C",
    record jsonb NOT NULL,
    other_builds bigint[],
    implied smallint DEFAULT 0 NOT NULL,
    digests bytea,
    CONSTRAINT answer_record_is_an_object CHECK ((jsonb_typeof(record) = 'object'::text)),
    CONSTRAINT cited_versions_are_cited CHECK ((cited >= cardinality(cited_versions)))
)
PARTITION BY RANGE (logged_at);
ALTER TABLE ONLY tracestore_data.answer ALTER COLUMN record SET STATISTICS 0;
ALTER TABLE ONLY tracestore_data.answer ALTER COLUMN digests SET STATISTICS 0;
COMMENT ON TABLE tracestore_data.answer IS 'Every logged answer and the evidence it used. Append-only; whole months are dropped. Holds no text of a document but what its record was given.';
COMMENT ON COLUMN tracestore_data.answer.logged_at IS 'When it was written: decides the month.';
COMMENT ON COLUMN tracestore_data.answer.answer_key IS 'Surrogate key.';
COMMENT ON COLUMN tracestore_data.answer.answered_at IS 'When the answer was given; of a record that does not say so, when it was written.';
COMMENT ON COLUMN tracestore_data.answer.build_id IS 'The build that answered, if it is one of this store.';
COMMENT ON COLUMN tracestore_data.answer.retrieval_ids IS 'The logged searches it used.';
COMMENT ON COLUMN tracestore_data.answer.cited_versions IS 'The versions of this store that it cited, each citation for itself.';
COMMENT ON COLUMN tracestore_data.answer.cited IS 'How many citations there are, also of what is not known here.';
COMMENT ON COLUMN tracestore_data.answer.logged_by IS 'The role that logged it, and may read it.';
COMMENT ON COLUMN tracestore_data.answer.record IS 'The record, without what follows from its retrievals: tracestore.answer_record() gives it as it was given.';
COMMENT ON COLUMN tracestore_data.answer.other_builds IS 'Builds of its retrievals that are not build_id; null without any.';
COMMENT ON COLUMN tracestore_data.answer.implied IS 'What is left out of record since it follows from the columns, added up: 1 store_id, 2 index_build_id, 4 retrieval_ids, 8 answered_at, 16 conflict_policy_fired, 32 retriever_config_hash.';
COMMENT ON COLUMN tracestore_data.answer.digests IS 'SHA-256 hashes and UUIDs of the record, one behind the other in the order in which it names them; null without any.';

ALTER TABLE ONLY tracestore_data.answer ATTACH PARTITION tracestore_data.answer_default DEFAULT;

ALTER TABLE ONLY tracestore_data.answer
    ADD CONSTRAINT answer_pk PRIMARY KEY (answer_key, logged_at);

CREATE INDEX answer_by_build ON ONLY tracestore_data.answer USING btree (build_id) WHERE (build_id IS NOT NULL);

CREATE INDEX answer_in_time ON ONLY tracestore_data.answer USING brin (answered_at);

CREATE INDEX answer_of_several_builds ON ONLY tracestore_data.answer USING btree (other_builds) WHERE (other_builds IS NOT NULL);

CREATE TRIGGER answer_is_append_only BEFORE DELETE OR UPDATE ON tracestore_data.answer FOR EACH ROW EXECUTE FUNCTION tracestore_data.refuse_change();

CREATE TRIGGER answer_is_not_truncated BEFORE TRUNCATE ON tracestore_data.answer FOR EACH STATEMENT EXECUTE FUNCTION tracestore_data.refuse_change();

ALTER TABLE tracestore_data.answer ENABLE ROW LEVEL SECURITY;

CREATE POLICY answer_is_read ON tracestore_data.answer FOR SELECT USING ((( SELECT tracestore_data.reads_everything() AS reads_everything) OR tracestore_data.has_role(logged_by)));

-- ----------------------------------------------------------------------------------------------------
-- answer_default

CREATE TABLE tracestore_data.answer_default (
    logged_at timestamp with time zone CONSTRAINT answer_logged_at_not_null NOT NULL,
    answer_key bigint CONSTRAINT answer_answer_key_not_null NOT NULL,
    answered_at timestamp with time zone CONSTRAINT answer_answered_at_not_null NOT NULL,
    build_id bigint,
    retrieval_ids bigint[] CONSTRAINT answer_retrieval_ids_not_null NOT NULL,
    cited_versions bigint[] CONSTRAINT answer_cited_versions_not_null NOT NULL,
    cited bigint CONSTRAINT answer_cited_not_null NOT NULL,
    logged_by text CONSTRAINT answer_logged_by_not_null NOT NULL COLLATE pg_catalog."C",
    record jsonb CONSTRAINT answer_record_not_null NOT NULL,
    other_builds bigint[],
    implied smallint DEFAULT 0 CONSTRAINT answer_implied_not_null NOT NULL,
    digests bytea,
    CONSTRAINT answer_record_is_an_object CHECK ((jsonb_typeof(record) = 'object'::text)),
    CONSTRAINT cited_versions_are_cited CHECK ((cited >= cardinality(cited_versions)))
);
ALTER TABLE ONLY tracestore_data.answer_default ALTER COLUMN record SET STATISTICS 0;
ALTER TABLE ONLY tracestore_data.answer_default ALTER COLUMN digests SET STATISTICS 0;
COMMENT ON TABLE tracestore_data.answer_default IS 'Answers of months without a partition: run `tracestore db upgrade`.';

ALTER TABLE ONLY tracestore_data.answer_default
    ADD CONSTRAINT answer_default_pkey PRIMARY KEY (answer_key, logged_at);

CREATE INDEX answer_default_answered_at_idx ON tracestore_data.answer_default USING brin (answered_at);

CREATE INDEX answer_default_build_id_idx ON tracestore_data.answer_default USING btree (build_id) WHERE (build_id IS NOT NULL);

CREATE INDEX answer_default_other_builds_idx ON tracestore_data.answer_default USING btree (other_builds) WHERE (other_builds IS NOT NULL);

CREATE TRIGGER answer_default_is_not_truncated BEFORE TRUNCATE ON tracestore_data.answer_default FOR EACH STATEMENT EXECUTE FUNCTION tracestore_data.refuse_change();

ALTER TABLE tracestore_data.answer_default ENABLE ROW LEVEL SECURITY;
