-- Written by `just schema` from the newest migration, for people. Nothing reads it: change a table by a migration.

-- ----------------------------------------------------------------------------------------------------
-- gold_set

CREATE TABLE tracestore_data.gold_set (
    gold_set_id bigint NOT NULL,
    collection_id bigint NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    actor text DEFAULT SESSION_USER NOT NULL,
    CONSTRAINT gold_set_name_is_an_id CHECK (tracestore_data.is_citable_id(name))
);
COMMENT ON TABLE tracestore_data.gold_set IS 'Questions whose answers are known, to measure builds of a collection with.';
COMMENT ON COLUMN tracestore_data.gold_set.gold_set_id IS 'Surrogate key.';
COMMENT ON COLUMN tracestore_data.gold_set.collection_id IS 'The corpus that answers.';
COMMENT ON COLUMN tracestore_data.gold_set.name IS 'The name used in commands.';
COMMENT ON COLUMN tracestore_data.gold_set.created_at IS 'When it was first imported.';
COMMENT ON COLUMN tracestore_data.gold_set.actor IS 'Who imported it.';

ALTER TABLE tracestore_data.gold_set ALTER COLUMN gold_set_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME tracestore_data.gold_set_gold_set_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE ONLY tracestore_data.gold_set
    ADD CONSTRAINT gold_set_is_once_in_its_collection UNIQUE (collection_id, name);

ALTER TABLE ONLY tracestore_data.gold_set
    ADD CONSTRAINT gold_set_pkey PRIMARY KEY (gold_set_id);

CREATE TRIGGER gold_set_is_a_record BEFORE DELETE OR UPDATE OR TRUNCATE ON tracestore_data.gold_set FOR EACH STATEMENT EXECUTE FUNCTION tracestore_data.refuse_change();

ALTER TABLE ONLY tracestore_data.gold_set
    ADD CONSTRAINT gold_set_collection_id_fkey FOREIGN KEY (collection_id) REFERENCES tracestore_data.collection(collection_id);

ALTER TABLE tracestore_data.gold_set ENABLE ROW LEVEL SECURITY;

CREATE POLICY gold_set_is_added ON tracestore_data.gold_set FOR INSERT WITH CHECK (( SELECT tracestore_data.reads_everything() AS reads_everything));

CREATE POLICY gold_set_is_locked ON tracestore_data.gold_set FOR UPDATE USING (( SELECT tracestore_data.reads_everything() AS reads_everything));

CREATE POLICY gold_set_is_read ON tracestore_data.gold_set FOR SELECT USING (( SELECT tracestore_data.reads_everything() AS reads_everything));

-- ----------------------------------------------------------------------------------------------------
-- gold_item

CREATE TABLE tracestore_data.gold_item (
    gold_item_id bigint NOT NULL,
    gold_set_id bigint NOT NULL,
    question_id text NOT NULL COLLATE pg_catalog."C",
    query text,
    slices text[] DEFAULT '{}'::text[] NOT NULL,
    split text DEFAULT 'test'::text NOT NULL COLLATE pg_catalog."C",
    added_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    actor text DEFAULT SESSION_USER NOT NULL,
    retired_at timestamp with time zone,
    retired_by text,
    retire_reason text,
    CONSTRAINT gold_split_is_known CHECK ((split = ANY (ARRAY['tune'::text, 'test'::text]))),
    CONSTRAINT query_is_not_empty CHECK ((query <> ''::text)),
    CONSTRAINT question_id_is_citable CHECK (tracestore_data.is_citable_id(question_id)),
    CONSTRAINT retirement_is_complete CHECK ((num_nulls(retired_at, retired_by, retire_reason) = ANY (ARRAY[0, 3]))),
    CONSTRAINT slices_are_named CHECK (((array_position(slices, NULL::text) IS NULL) AND (array_position(slices, ''::text) IS NULL)))
);
ALTER TABLE ONLY tracestore_data.gold_item ALTER COLUMN query SET STATISTICS 0;
COMMENT ON TABLE tracestore_data.gold_item IS 'A question. It never changes: another wording or answer is another item under the same question_id, and the old one is retired. Its words leave through erasure.';
COMMENT ON COLUMN tracestore_data.gold_item.gold_item_id IS 'Surrogate key.';
COMMENT ON COLUMN tracestore_data.gold_item.gold_set_id IS 'The set.';
COMMENT ON COLUMN tracestore_data.gold_item.question_id IS 'The caller''s name for the question, unique among those in use.';
COMMENT ON COLUMN tracestore_data.gold_item.query IS 'The question as it is asked; null once all its anchors were erased.';
COMMENT ON COLUMN tracestore_data.gold_item.slices IS 'Labels to break figures down by.';
COMMENT ON COLUMN tracestore_data.gold_item.split IS 'tune: settings may be chosen by it; test: kept for judging.';
COMMENT ON COLUMN tracestore_data.gold_item.added_at IS 'When it was imported.';
COMMENT ON COLUMN tracestore_data.gold_item.actor IS 'Who imported it.';
COMMENT ON COLUMN tracestore_data.gold_item.retired_at IS 'Since when it is not asked any more; null while it is.';
COMMENT ON COLUMN tracestore_data.gold_item.retired_by IS 'Who retired it.';
COMMENT ON COLUMN tracestore_data.gold_item.retire_reason IS 'Why it was retired.';

ALTER TABLE tracestore_data.gold_item ALTER COLUMN gold_item_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME tracestore_data.gold_item_gold_item_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE ONLY tracestore_data.gold_item
    ADD CONSTRAINT gold_item_pkey PRIMARY KEY (gold_item_id);

CREATE UNIQUE INDEX gold_item_is_once_in_use ON tracestore_data.gold_item USING btree (gold_set_id, question_id) WHERE (retired_at IS NULL);

CREATE INDEX gold_item_of_set ON tracestore_data.gold_item USING btree (gold_set_id);

CREATE TRIGGER gold_item_is_not_truncated BEFORE TRUNCATE ON tracestore_data.gold_item FOR EACH STATEMENT EXECUTE FUNCTION tracestore_data.refuse_change();

CREATE TRIGGER gold_item_is_only_retired BEFORE DELETE OR UPDATE ON tracestore_data.gold_item FOR EACH ROW EXECUTE FUNCTION tracestore_data.guard_gold_item();

ALTER TABLE ONLY tracestore_data.gold_item
    ADD CONSTRAINT gold_item_gold_set_id_fkey FOREIGN KEY (gold_set_id) REFERENCES tracestore_data.gold_set(gold_set_id);

ALTER TABLE tracestore_data.gold_item ENABLE ROW LEVEL SECURITY;

CREATE POLICY gold_item_is_added ON tracestore_data.gold_item FOR INSERT WITH CHECK (( SELECT tracestore_data.reads_everything() AS reads_everything));

CREATE POLICY gold_item_is_changed ON tracestore_data.gold_item FOR UPDATE USING (( SELECT tracestore_data.reads_everything() AS reads_everything));

CREATE POLICY gold_item_is_read ON tracestore_data.gold_item FOR SELECT USING (( SELECT tracestore_data.reads_everything() AS reads_everything));

-- ----------------------------------------------------------------------------------------------------
-- gold_anchor

CREATE TABLE tracestore_data.gold_anchor (
    gold_anchor_id bigint NOT NULL,
    gold_item_id bigint NOT NULL,
    doc_key bigint,
    family_id text COLLATE pg_catalog."C",
    quote text,
    prefix text,
    suffix text,
    quote_position integer,
    valid_from timestamp with time zone,
    valid_to timestamp with time zone,
    CONSTRAINT anchor_context_goes_with_its_quote CHECK (((quote IS NOT NULL) OR (num_nonnulls(prefix, suffix) = 0))),
    CONSTRAINT anchor_ends_after_it_began CHECK ((valid_to > valid_from)),
    CONSTRAINT anchor_is_in_a_document_or_a_family CHECK ((num_nonnulls(doc_key, family_id) = 1)),
    CONSTRAINT anchor_position_is_not_negative CHECK ((quote_position >= 0)),
    CONSTRAINT anchor_quote_is_not_empty CHECK ((quote <> ''::text))
);
ALTER TABLE ONLY tracestore_data.gold_anchor ALTER COLUMN quote SET STATISTICS 0;
ALTER TABLE ONLY tracestore_data.gold_anchor ALTER COLUMN prefix SET STATISTICS 0;
ALTER TABLE ONLY tracestore_data.gold_anchor ALTER COLUMN suffix SET STATISTICS 0;
COMMENT ON TABLE tracestore_data.gold_anchor IS 'A passage that answers a question: words in a document, never a chunk, so that it survives re-chunking (W3C TextQuoteSelector).';
COMMENT ON COLUMN tracestore_data.gold_anchor.gold_anchor_id IS 'Surrogate key.';
COMMENT ON COLUMN tracestore_data.gold_anchor.gold_item_id IS 'The question.';
COMMENT ON COLUMN tracestore_data.gold_anchor.doc_key IS 'The document that has the words; null where it may be any of a family.';
COMMENT ON COLUMN tracestore_data.gold_anchor.family_id IS 'The family of which a document has the words; null where the document is named.';
COMMENT ON COLUMN tracestore_data.gold_anchor.quote IS 'The exact words; null after erasure.';
COMMENT ON COLUMN tracestore_data.gold_anchor.prefix IS 'The words before it, where the quote stands more than once.';
COMMENT ON COLUMN tracestore_data.gold_anchor.suffix IS 'The words after it, where the quote stands more than once.';
COMMENT ON COLUMN tracestore_data.gold_anchor.quote_position IS 'About where it starts, in code points: the nearest place is meant.';
COMMENT ON COLUMN tracestore_data.gold_anchor.valid_from IS 'From when on it is the answer, by the effective time of the corpus; null: always was.';
COMMENT ON COLUMN tracestore_data.gold_anchor.valid_to IS 'From when on it no longer is; null: it still is.';

ALTER TABLE tracestore_data.gold_anchor ALTER COLUMN gold_anchor_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME tracestore_data.gold_anchor_gold_anchor_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE ONLY tracestore_data.gold_anchor
    ADD CONSTRAINT gold_anchor_pkey PRIMARY KEY (gold_anchor_id);

CREATE INDEX gold_anchor_in_document ON tracestore_data.gold_anchor USING btree (doc_key);

CREATE INDEX gold_anchor_in_family ON tracestore_data.gold_anchor USING btree (family_id) WHERE (family_id IS NOT NULL);

CREATE INDEX gold_anchor_of_item ON tracestore_data.gold_anchor USING btree (gold_item_id);

CREATE TRIGGER gold_anchor_is_a_record BEFORE DELETE OR UPDATE ON tracestore_data.gold_anchor FOR EACH ROW EXECUTE FUNCTION tracestore_data.guard_gold_anchor();

CREATE TRIGGER gold_anchor_is_not_truncated BEFORE TRUNCATE ON tracestore_data.gold_anchor FOR EACH STATEMENT EXECUTE FUNCTION tracestore_data.refuse_change();

ALTER TABLE ONLY tracestore_data.gold_anchor
    ADD CONSTRAINT gold_anchor_doc_key_fkey FOREIGN KEY (doc_key) REFERENCES tracestore_data.document(doc_key);

ALTER TABLE ONLY tracestore_data.gold_anchor
    ADD CONSTRAINT gold_anchor_gold_item_id_fkey FOREIGN KEY (gold_item_id) REFERENCES tracestore_data.gold_item(gold_item_id);

ALTER TABLE tracestore_data.gold_anchor ENABLE ROW LEVEL SECURITY;

CREATE POLICY gold_anchor_is_added ON tracestore_data.gold_anchor FOR INSERT WITH CHECK (( SELECT tracestore_data.reads_everything() AS reads_everything));

CREATE POLICY gold_anchor_is_changed ON tracestore_data.gold_anchor FOR UPDATE USING (( SELECT tracestore_data.reads_everything() AS reads_everything));

CREATE POLICY gold_anchor_is_read ON tracestore_data.gold_anchor FOR SELECT USING (( SELECT tracestore_data.reads_everything() AS reads_everything));

-- ----------------------------------------------------------------------------------------------------
-- evaluation

CREATE TABLE tracestore_data.evaluation (
    evaluation_id bigint NOT NULL,
    build_id bigint NOT NULL,
    gold_set_id bigint NOT NULL,
    mode text NOT NULL COLLATE pg_catalog."C",
    hybrid boolean NOT NULL,
    depth integer NOT NULL,
    options jsonb DEFAULT '{}'::jsonb NOT NULL,
    split text COLLATE pg_catalog."C",
    paths jsonb NOT NULL,
    suppression_epoch bigint NOT NULL,
    api_sha256 bytea NOT NULL,
    started_at timestamp with time zone NOT NULL,
    evaluated_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    search_seconds double precision NOT NULL,
    actor text DEFAULT SESSION_USER NOT NULL,
    CONSTRAINT evaluation_depth_is_possible CHECK (((depth >= 1) AND (depth <= 10000))),
    CONSTRAINT evaluation_digest_is_sha256 CHECK ((octet_length(api_sha256) = 32)),
    CONSTRAINT evaluation_mode_is_known CHECK ((mode = ANY (ARRAY['auto'::text, 'exact'::text, 'ann'::text, 'lexical'::text]))),
    CONSTRAINT evaluation_options_is_an_object CHECK ((jsonb_typeof(options) = 'object'::text)),
    CONSTRAINT evaluation_paths_is_an_object CHECK ((jsonb_typeof(paths) = 'object'::text)),
    CONSTRAINT evaluation_split_is_known CHECK ((split = ANY (ARRAY['tune'::text, 'test'::text])))
);
COMMENT ON TABLE tracestore_data.evaluation IS 'A gold set asked of a build, once, in one way. Append-only.';
COMMENT ON COLUMN tracestore_data.evaluation.evaluation_id IS 'Surrogate key, in order of evaluation.';
COMMENT ON COLUMN tracestore_data.evaluation.build_id IS 'The build that answered.';
COMMENT ON COLUMN tracestore_data.evaluation.gold_set_id IS 'The questions.';
COMMENT ON COLUMN tracestore_data.evaluation.mode IS 'The mode of the search.';
COMMENT ON COLUMN tracestore_data.evaluation.hybrid IS 'Whether the words of a question were looked for as well.';
COMMENT ON COLUMN tracestore_data.evaluation.depth IS 'How many ranks were looked at.';
COMMENT ON COLUMN tracestore_data.evaluation.options IS 'Options of the search.';
COMMENT ON COLUMN tracestore_data.evaluation.split IS 'The part of the set that was asked; null: all.';
COMMENT ON COLUMN tracestore_data.evaluation.paths IS 'What the searches did, and how many did it.';
COMMENT ON COLUMN tracestore_data.evaluation.suppression_epoch IS 'Which documents were suppressed while it ran.';
COMMENT ON COLUMN tracestore_data.evaluation.api_sha256 IS 'Which SQL functions answered.';
COMMENT ON COLUMN tracestore_data.evaluation.started_at IS 'When it began.';
COMMENT ON COLUMN tracestore_data.evaluation.evaluated_at IS 'When it was recorded.';
COMMENT ON COLUMN tracestore_data.evaluation.search_seconds IS 'How long the searches took, without embedding and judging.';
COMMENT ON COLUMN tracestore_data.evaluation.actor IS 'Who evaluated.';

ALTER TABLE tracestore_data.evaluation ALTER COLUMN evaluation_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME tracestore_data.evaluation_evaluation_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE ONLY tracestore_data.evaluation
    ADD CONSTRAINT evaluation_pkey PRIMARY KEY (evaluation_id);

CREATE INDEX evaluation_of_build ON tracestore_data.evaluation USING btree (build_id, evaluation_id DESC);

CREATE TRIGGER evaluation_is_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON tracestore_data.evaluation FOR EACH STATEMENT EXECUTE FUNCTION tracestore_data.refuse_change();

ALTER TABLE ONLY tracestore_data.evaluation
    ADD CONSTRAINT evaluation_build_id_fkey FOREIGN KEY (build_id) REFERENCES tracestore_data.build(build_id);

ALTER TABLE ONLY tracestore_data.evaluation
    ADD CONSTRAINT evaluation_gold_set_id_fkey FOREIGN KEY (gold_set_id) REFERENCES tracestore_data.gold_set(gold_set_id);

ALTER TABLE tracestore_data.evaluation ENABLE ROW LEVEL SECURITY;

CREATE POLICY evaluation_is_added ON tracestore_data.evaluation FOR INSERT WITH CHECK (( SELECT tracestore_data.reads_everything() AS reads_everything));

CREATE POLICY evaluation_is_read ON tracestore_data.evaluation FOR SELECT USING (( SELECT tracestore_data.reads_everything() AS reads_everything));

-- ----------------------------------------------------------------------------------------------------
-- evaluation_item

CREATE TABLE tracestore_data.evaluation_item (
    evaluation_id bigint NOT NULL,
    gold_item_id bigint NOT NULL,
    outcome text NOT NULL COLLATE pg_catalog."C",
    occurrences integer DEFAULT 0 NOT NULL,
    context_lost boolean DEFAULT false NOT NULL,
    border text COLLATE pg_catalog."C",
    relevant_versions bigint[] DEFAULT '{}'::bigint[] NOT NULL,
    relevant_ordinals integer[] DEFAULT '{}'::integer[] NOT NULL,
    tied_beyond integer DEFAULT 0 NOT NULL,
    relevant_beyond integer DEFAULT 0 NOT NULL,
    in_context_beyond integer DEFAULT 0 NOT NULL,
    tie_is_open boolean DEFAULT false NOT NULL,
    miss text COLLATE pg_catalog."C",
    CONSTRAINT beyond_is_part_of_the_tie CHECK ((((relevant_beyond >= 0) AND (relevant_beyond <= tied_beyond)) AND ((in_context_beyond >= 0) AND (in_context_beyond <= tied_beyond)))),
    CONSTRAINT border_is_known CHECK ((border = ANY (ARRAY['crossed'::text, 'not_chunked'::text]))),
    CONSTRAINT miss_is_known CHECK ((miss = ANY (ARRAY['other_document'::text, 'same_document'::text, 'nothing_found'::text]))),
    CONSTRAINT occurrences_is_not_negative CHECK ((occurrences >= 0)),
    CONSTRAINT outcome_is_known CHECK ((outcome = ANY (ARRAY['asked'::text, 'not_embeddable'::text, 'gone'::text, 'withdrawn'::text, 'absent'::text, 'erased'::text, 'not_in_force'::text]))),
    CONSTRAINT relevant_chunks_have_version_and_ordinal CHECK ((cardinality(relevant_versions) = cardinality(relevant_ordinals)))
);
COMMENT ON TABLE tracestore_data.evaluation_item IS 'A question of an evaluation: where its answer stood in the build, and what of its last tie lay beyond the ranks looked at. Append-only.';
COMMENT ON COLUMN tracestore_data.evaluation_item.evaluation_id IS 'The evaluation.';
COMMENT ON COLUMN tracestore_data.evaluation_item.gold_item_id IS 'The question.';
COMMENT ON COLUMN tracestore_data.evaluation_item.outcome IS 'asked: its hits count. not_embeddable: the recipe has no vector for it, counts as nothing found. The others were not asked and do not count: gone: no anchor stands in the build''s versions; withdrawn, erased: nor can it; absent: no version is in the build; not_in_force: the anchors answer another time.';
COMMENT ON COLUMN tracestore_data.evaluation_item.occurrences IS 'At how many places its anchors stood.';
COMMENT ON COLUMN tracestore_data.evaluation_item.context_lost IS 'The quote stood there, but not between its prefix and suffix.';
COMMENT ON COLUMN tracestore_data.evaluation_item.border IS 'crossed: no chunk held all of an anchor, the one that held most of it counts; not_chunked: no searchable chunk held any of it.';
COMMENT ON COLUMN tracestore_data.evaluation_item.relevant_versions IS 'Versions of the chunks of the build that answer it.';
COMMENT ON COLUMN tracestore_data.evaluation_item.relevant_ordinals IS 'Ordinals of those chunks.';
COMMENT ON COLUMN tracestore_data.evaluation_item.tied_beyond IS 'Hits beyond the depth that tie with the last one within.';
COMMENT ON COLUMN tracestore_data.evaluation_item.relevant_beyond IS 'How many of these answer it.';
COMMENT ON COLUMN tracestore_data.evaluation_item.in_context_beyond IS 'In the context of how many of these the answer stands.';
COMMENT ON COLUMN tracestore_data.evaluation_item.tie_is_open IS 'The last tie could not be seen whole: worst and best are those of what was seen.';
COMMENT ON COLUMN tracestore_data.evaluation_item.miss IS 'What stood at rank 1 instead of the answer: a chunk of another document, another chunk of the same document, nothing; null: the answer did.';

ALTER TABLE ONLY tracestore_data.evaluation_item
    ADD CONSTRAINT evaluation_item_pkey PRIMARY KEY (evaluation_id, gold_item_id);

CREATE INDEX evaluation_item_of_gold ON tracestore_data.evaluation_item USING btree (gold_item_id);

CREATE TRIGGER evaluation_item_is_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON tracestore_data.evaluation_item FOR EACH STATEMENT EXECUTE FUNCTION tracestore_data.refuse_change();

ALTER TABLE ONLY tracestore_data.evaluation_item
    ADD CONSTRAINT evaluation_item_evaluation_id_fkey FOREIGN KEY (evaluation_id) REFERENCES tracestore_data.evaluation(evaluation_id);

ALTER TABLE ONLY tracestore_data.evaluation_item
    ADD CONSTRAINT evaluation_item_gold_item_id_fkey FOREIGN KEY (gold_item_id) REFERENCES tracestore_data.gold_item(gold_item_id);

ALTER TABLE tracestore_data.evaluation_item ENABLE ROW LEVEL SECURITY;

CREATE POLICY evaluation_item_is_added ON tracestore_data.evaluation_item FOR INSERT WITH CHECK (( SELECT tracestore_data.reads_everything() AS reads_everything));

CREATE POLICY evaluation_item_is_read ON tracestore_data.evaluation_item FOR SELECT USING (( SELECT tracestore_data.reads_everything() AS reads_everything));

-- ----------------------------------------------------------------------------------------------------
-- evaluation_hit

CREATE TABLE tracestore_data.evaluation_hit (
    evaluation_id bigint NOT NULL,
    gold_item_id bigint NOT NULL,
    rank integer NOT NULL,
    version_key bigint NOT NULL,
    ordinal integer NOT NULL,
    span_start integer NOT NULL,
    span_end integer NOT NULL,
    context_start integer NOT NULL,
    context_end integer NOT NULL,
    score double precision NOT NULL,
    is_relevant boolean NOT NULL,
    in_context boolean NOT NULL,
    CONSTRAINT hit_rank_starts_at_one CHECK ((rank >= 1))
);
COMMENT ON TABLE tracestore_data.evaluation_hit IS 'What a question of an evaluation found, down to its depth. No words: they are where the versions are. Append-only.';
COMMENT ON COLUMN tracestore_data.evaluation_hit.evaluation_id IS 'The evaluation.';
COMMENT ON COLUMN tracestore_data.evaluation_hit.gold_item_id IS 'The question.';
COMMENT ON COLUMN tracestore_data.evaluation_hit.rank IS 'Its place, from 1.';
COMMENT ON COLUMN tracestore_data.evaluation_hit.version_key IS 'The version it is a range of.';
COMMENT ON COLUMN tracestore_data.evaluation_hit.ordinal IS 'Its position in the version.';
COMMENT ON COLUMN tracestore_data.evaluation_hit.span_start IS 'First code point.';
COMMENT ON COLUMN tracestore_data.evaluation_hit.span_end IS 'Code point after the last.';
COMMENT ON COLUMN tracestore_data.evaluation_hit.context_start IS 'First code point of the enclosing section.';
COMMENT ON COLUMN tracestore_data.evaluation_hit.context_end IS 'Code point after the enclosing section.';
COMMENT ON COLUMN tracestore_data.evaluation_hit.score IS 'Its score; equal scores are a tie.';
COMMENT ON COLUMN tracestore_data.evaluation_hit.is_relevant IS 'Whether it answers the question.';
COMMENT ON COLUMN tracestore_data.evaluation_hit.in_context IS 'Whether the answer stands in its enclosing section.';

ALTER TABLE ONLY tracestore_data.evaluation_hit
    ADD CONSTRAINT evaluation_hit_pkey PRIMARY KEY (evaluation_id, gold_item_id, rank);

CREATE TRIGGER evaluation_hit_is_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON tracestore_data.evaluation_hit FOR EACH STATEMENT EXECUTE FUNCTION tracestore_data.refuse_change();

ALTER TABLE ONLY tracestore_data.evaluation_hit
    ADD CONSTRAINT evaluation_hit_version_key_fkey FOREIGN KEY (version_key) REFERENCES tracestore_data.document_version(version_key);

ALTER TABLE ONLY tracestore_data.evaluation_hit
    ADD CONSTRAINT hit_is_of_an_asked_question FOREIGN KEY (evaluation_id, gold_item_id) REFERENCES tracestore_data.evaluation_item(evaluation_id, gold_item_id);

ALTER TABLE tracestore_data.evaluation_hit ENABLE ROW LEVEL SECURITY;

CREATE POLICY evaluation_hit_is_added ON tracestore_data.evaluation_hit FOR INSERT WITH CHECK (( SELECT tracestore_data.reads_everything() AS reads_everything));

CREATE POLICY evaluation_hit_is_read ON tracestore_data.evaluation_hit FOR SELECT USING (( SELECT tracestore_data.reads_everything() AS reads_everything));

-- ----------------------------------------------------------------------------------------------------
-- evaluation_metric

CREATE TABLE tracestore_data.evaluation_metric (
    evaluation_id bigint NOT NULL,
    slice text NOT NULL COLLATE pg_catalog."C",
    metric text NOT NULL COLLATE pg_catalog."C",
    questions integer NOT NULL,
    value double precision NOT NULL,
    worst double precision NOT NULL,
    expected double precision NOT NULL,
    best double precision NOT NULL,
    low double precision NOT NULL,
    high double precision NOT NULL,
    CONSTRAINT metric_interval_is_in_order CHECK ((low <= high)),
    CONSTRAINT metric_is_of_questions CHECK ((questions >= 1)),
    CONSTRAINT metric_lies_in_its_tie_interval CHECK (((worst <= value) AND (value <= best)))
);
COMMENT ON TABLE tracestore_data.evaluation_metric IS 'A figure of an evaluation, over all questions or those of a slice. Append-only.';
COMMENT ON COLUMN tracestore_data.evaluation_metric.evaluation_id IS 'The evaluation.';
COMMENT ON COLUMN tracestore_data.evaluation_metric.slice IS 'The label of the questions; empty: all.';
COMMENT ON COLUMN tracestore_data.evaluation_metric.metric IS 'Its name, such as hit@5.';
COMMENT ON COLUMN tracestore_data.evaluation_metric.questions IS 'Over how many questions.';
COMMENT ON COLUMN tracestore_data.evaluation_metric.value IS 'The mean in the store''s order.';
COMMENT ON COLUMN tracestore_data.evaluation_metric.worst IS 'The mean had all ties been lost.';
COMMENT ON COLUMN tracestore_data.evaluation_metric.expected IS 'The mean over random orders of ties.';
COMMENT ON COLUMN tracestore_data.evaluation_metric.best IS 'The mean had all ties been won.';
COMMENT ON COLUMN tracestore_data.evaluation_metric.low IS 'Lower end of the 95 % interval of value over samples of questions.';
COMMENT ON COLUMN tracestore_data.evaluation_metric.high IS 'Upper end of that interval.';

ALTER TABLE ONLY tracestore_data.evaluation_metric
    ADD CONSTRAINT evaluation_metric_pkey PRIMARY KEY (evaluation_id, slice, metric);

CREATE TRIGGER evaluation_metric_is_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON tracestore_data.evaluation_metric FOR EACH STATEMENT EXECUTE FUNCTION tracestore_data.refuse_change();

ALTER TABLE ONLY tracestore_data.evaluation_metric
    ADD CONSTRAINT evaluation_metric_evaluation_id_fkey FOREIGN KEY (evaluation_id) REFERENCES tracestore_data.evaluation(evaluation_id);

ALTER TABLE tracestore_data.evaluation_metric ENABLE ROW LEVEL SECURITY;

CREATE POLICY evaluation_metric_is_added ON tracestore_data.evaluation_metric FOR INSERT WITH CHECK (( SELECT tracestore_data.reads_everything() AS reads_everything));

CREATE POLICY evaluation_metric_is_read ON tracestore_data.evaluation_metric FOR SELECT USING (( SELECT tracestore_data.reads_everything() AS reads_everything));
