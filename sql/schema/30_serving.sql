-- Written by `just schema` from the newest migration, for people. Nothing reads it: change a table by a migration.

-- ----------------------------------------------------------------------------------------------------
-- alias

CREATE TABLE tracestore_data.alias (
    alias_name text NOT NULL COLLATE pg_catalog."C",
    recipe_key bigint NOT NULL,
    collection_id bigint NOT NULL,
    build_id bigint NOT NULL,
    alias_event_id bigint NOT NULL,
    CONSTRAINT alias_name_is_an_id CHECK (tracestore_data.is_citable_id(alias_name))
);
COMMENT ON TABLE tracestore_data.alias IS 'What each alias serves now; one row for each recipe.';
COMMENT ON COLUMN tracestore_data.alias.alias_name IS 'The name services query.';
COMMENT ON COLUMN tracestore_data.alias.recipe_key IS 'The recipe whose queries it answers.';
COMMENT ON COLUMN tracestore_data.alias.collection_id IS 'The corpus.';
COMMENT ON COLUMN tracestore_data.alias.build_id IS 'The build served.';
COMMENT ON COLUMN tracestore_data.alias.alias_event_id IS 'The switch that made it so.';

ALTER TABLE ONLY tracestore_data.alias
    ADD CONSTRAINT alias_serves_one_build_for_a_recipe PRIMARY KEY (alias_name, recipe_key);

CREATE INDEX alias_by_build ON tracestore_data.alias USING btree (build_id);

ALTER TABLE ONLY tracestore_data.alias
    ADD CONSTRAINT alias_alias_event_id_fkey FOREIGN KEY (alias_event_id) REFERENCES tracestore_data.alias_event(alias_event_id);

ALTER TABLE ONLY tracestore_data.alias
    ADD CONSTRAINT alias_build_id_fkey FOREIGN KEY (build_id) REFERENCES tracestore_data.build(build_id);

ALTER TABLE ONLY tracestore_data.alias
    ADD CONSTRAINT alias_collection_id_fkey FOREIGN KEY (collection_id) REFERENCES tracestore_data.collection(collection_id);

ALTER TABLE ONLY tracestore_data.alias
    ADD CONSTRAINT alias_recipe_key_fkey FOREIGN KEY (recipe_key) REFERENCES tracestore_data.recipe(recipe_key);

-- ----------------------------------------------------------------------------------------------------
-- alias_event

CREATE TABLE tracestore_data.alias_event (
    alias_event_id bigint NOT NULL,
    alias_name text NOT NULL COLLATE pg_catalog."C",
    collection_id bigint NOT NULL,
    recipe_key bigint NOT NULL,
    action text NOT NULL,
    from_build_id bigint,
    to_build_id bigint,
    occurred_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    actor text DEFAULT SESSION_USER NOT NULL,
    reason text,
    forced boolean DEFAULT false NOT NULL,
    CONSTRAINT alias_action_is_known CHECK ((action = ANY (ARRAY['publish'::text, 'rollback'::text, 'retire'::text]))),
    CONSTRAINT alias_event_moves_somewhere CHECK ((to_build_id IS DISTINCT FROM from_build_id)),
    CONSTRAINT alias_event_name_is_an_id CHECK (tracestore_data.is_citable_id(alias_name)),
    CONSTRAINT publishing_has_a_target_and_retiring_none CHECK (
CASE action
    WHEN 'publish'::text THEN (to_build_id IS NOT NULL)
    WHEN 'retire'::text THEN (to_build_id IS NULL)
    ELSE true
END)
);
COMMENT ON TABLE tracestore_data.alias_event IS 'Every switch of an alias. Append-only; times never run backwards for one alias.';
COMMENT ON COLUMN tracestore_data.alias_event.alias_event_id IS 'Surrogate key, in order of switching for one alias.';
COMMENT ON COLUMN tracestore_data.alias_event.alias_name IS 'The alias.';
COMMENT ON COLUMN tracestore_data.alias_event.collection_id IS 'The corpus it serves.';
COMMENT ON COLUMN tracestore_data.alias_event.recipe_key IS 'The recipe whose queries it answers.';
COMMENT ON COLUMN tracestore_data.alias_event.action IS 'publish, rollback or retire.';
COMMENT ON COLUMN tracestore_data.alias_event.from_build_id IS 'Build served before; null for the first.';
COMMENT ON COLUMN tracestore_data.alias_event.to_build_id IS 'Build served from then on; null when retired.';
COMMENT ON COLUMN tracestore_data.alias_event.occurred_at IS 'When, stamped under the lock of the alias.';
COMMENT ON COLUMN tracestore_data.alias_event.actor IS 'Who.';
COMMENT ON COLUMN tracestore_data.alias_event.reason IS 'Why.';
COMMENT ON COLUMN tracestore_data.alias_event.forced IS 'Published although a gate was missing or failed.';

ALTER TABLE tracestore_data.alias_event ALTER COLUMN alias_event_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME tracestore_data.alias_event_alias_event_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE ONLY tracestore_data.alias_event
    ADD CONSTRAINT alias_event_pkey PRIMARY KEY (alias_event_id);

CREATE INDEX alias_event_by_alias ON tracestore_data.alias_event USING btree (alias_name, alias_event_id DESC);

CREATE TRIGGER alias_event_is_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON tracestore_data.alias_event FOR EACH STATEMENT EXECUTE FUNCTION tracestore_data.refuse_change();

ALTER TABLE ONLY tracestore_data.alias_event
    ADD CONSTRAINT alias_event_collection_id_fkey FOREIGN KEY (collection_id) REFERENCES tracestore_data.collection(collection_id);

ALTER TABLE ONLY tracestore_data.alias_event
    ADD CONSTRAINT alias_event_from_build_id_fkey FOREIGN KEY (from_build_id) REFERENCES tracestore_data.build(build_id);

ALTER TABLE ONLY tracestore_data.alias_event
    ADD CONSTRAINT alias_event_recipe_key_fkey FOREIGN KEY (recipe_key) REFERENCES tracestore_data.recipe(recipe_key);

ALTER TABLE ONLY tracestore_data.alias_event
    ADD CONSTRAINT alias_event_to_build_id_fkey FOREIGN KEY (to_build_id) REFERENCES tracestore_data.build(build_id);

-- ----------------------------------------------------------------------------------------------------
-- alias_turn

CREATE TABLE tracestore_data.alias_turn (
    alias_name text NOT NULL COLLATE pg_catalog."C",
    switches bigint NOT NULL,
    CONSTRAINT alias_turn_counts_from_one CHECK ((switches >= 1))
);
COMMENT ON TABLE tracestore_data.alias_turn IS 'One row for each alias that was ever switched. Written by switches and by decisions about policies, and locked by nobody else: the xmax of its rows tells readers of switches and decisions that they do not see.';
COMMENT ON COLUMN tracestore_data.alias_turn.alias_name IS 'The alias.';
COMMENT ON COLUMN tracestore_data.alias_turn.switches IS 'How often it was switched.';

ALTER TABLE ONLY tracestore_data.alias_turn
    ADD CONSTRAINT alias_turn_pkey PRIMARY KEY (alias_name);

CREATE TRIGGER alias_turn_is_kept BEFORE DELETE OR TRUNCATE ON tracestore_data.alias_turn FOR EACH STATEMENT EXECUTE FUNCTION tracestore_data.refuse_change();

-- ----------------------------------------------------------------------------------------------------
-- conflict_policy

CREATE TABLE tracestore_data.conflict_policy (
    conflict_policy_id bigint NOT NULL,
    collection_id bigint NOT NULL,
    class text COLLATE pg_catalog."C",
    policy text COLLATE pg_catalog."C",
    decided_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    actor text DEFAULT SESSION_USER NOT NULL,
    reason text,
    CONSTRAINT conflict_policy_is_known CHECK ((policy = ANY (ARRAY['prefer_current'::text, 'prefer_latest_effective'::text, 'return_both_flagged'::text, 'refuse'::text])))
);
COMMENT ON TABLE tracestore_data.conflict_policy IS 'What a search does when two revisions of a family are among its candidates, by class. The newest row of a class is in force. Append-only.';
COMMENT ON COLUMN tracestore_data.conflict_policy.conflict_policy_id IS 'Surrogate key, in the order of deciding; hits name the newest of their collection.';
COMMENT ON COLUMN tracestore_data.conflict_policy.collection_id IS 'The corpus.';
COMMENT ON COLUMN tracestore_data.conflict_policy.class IS 'The class it is for; null: every class without a policy of its own, and documents without class.';
COMMENT ON COLUMN tracestore_data.conflict_policy.policy IS 'prefer_current drops what is not current where one is; prefer_latest_effective keeps the latest; return_both_flagged names them; refuse is an error; null: no policy any more.';
COMMENT ON COLUMN tracestore_data.conflict_policy.decided_at IS 'Since when; of a collection, later than every decision before it.';
COMMENT ON COLUMN tracestore_data.conflict_policy.actor IS 'Who decided.';
COMMENT ON COLUMN tracestore_data.conflict_policy.reason IS 'Why.';

ALTER TABLE tracestore_data.conflict_policy ALTER COLUMN conflict_policy_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME tracestore_data.conflict_policy_conflict_policy_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE ONLY tracestore_data.conflict_policy
    ADD CONSTRAINT conflict_policy_pkey PRIMARY KEY (conflict_policy_id);

CREATE INDEX conflict_policy_of_collection ON tracestore_data.conflict_policy USING btree (collection_id, conflict_policy_id DESC);

CREATE TRIGGER conflict_policy_is_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON tracestore_data.conflict_policy FOR EACH STATEMENT EXECUTE FUNCTION tracestore_data.refuse_change();

CREATE TRIGGER conflict_policy_is_noted AFTER INSERT ON tracestore_data.conflict_policy FOR EACH ROW EXECUTE FUNCTION tracestore_data.note_policy();

ALTER TABLE ONLY tracestore_data.conflict_policy
    ADD CONSTRAINT conflict_policy_collection_id_fkey FOREIGN KEY (collection_id) REFERENCES tracestore_data.collection(collection_id);

-- ----------------------------------------------------------------------------------------------------
-- recency_policy

CREATE TABLE tracestore_data.recency_policy (
    recency_policy_id bigint NOT NULL,
    collection_id bigint NOT NULL,
    class text NOT NULL COLLATE pg_catalog."C",
    state text NOT NULL COLLATE pg_catalog."C",
    half_life_days double precision,
    weight double precision,
    decided_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    actor text DEFAULT SESSION_USER NOT NULL,
    reason text,
    CONSTRAINT half_life_is_some_days CHECK (((half_life_days >= (0.001)::double precision) AND (half_life_days < (1000000)::double precision))),
    CONSTRAINT recency_has_its_numbers CHECK ((num_nulls(half_life_days, weight) =
CASE state
    WHEN 'off'::text THEN 2
    ELSE 0
END)),
    CONSTRAINT recency_state_is_known CHECK ((state = ANY (ARRAY['off'::text, 'shadow'::text, 'on'::text]))),
    CONSTRAINT recency_weight_is_a_share CHECK (((weight > (0)::double precision) AND (weight <= (1)::double precision)))
);
COMMENT ON TABLE tracestore_data.recency_policy IS 'How much the age of a passage costs it in the ranking, for classes that ask for it. The newest row of a class is in force. Append-only.';
COMMENT ON COLUMN tracestore_data.recency_policy.recency_policy_id IS 'Surrogate key, in the order of deciding; hits name the newest of their collection.';
COMMENT ON COLUMN tracestore_data.recency_policy.collection_id IS 'The corpus.';
COMMENT ON COLUMN tracestore_data.recency_policy.class IS 'The class it is for.';
COMMENT ON COLUMN tracestore_data.recency_policy.state IS 'off -> shadow: retrieve logs what would change; shadow -> on: searches rank by it, with the numbers that were in the shadow; off again from either.';
COMMENT ON COLUMN tracestore_data.recency_policy.half_life_days IS 'After so many days half of the weight is lost; null: off.';
COMMENT ON COLUMN tracestore_data.recency_policy.weight IS 'What a passage of no recency at all loses, in units of the score; null: off.';
COMMENT ON COLUMN tracestore_data.recency_policy.decided_at IS 'Since when; of a collection, later than every decision before it.';
COMMENT ON COLUMN tracestore_data.recency_policy.actor IS 'Who decided.';
COMMENT ON COLUMN tracestore_data.recency_policy.reason IS 'Why.';

ALTER TABLE tracestore_data.recency_policy ALTER COLUMN recency_policy_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME tracestore_data.recency_policy_recency_policy_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE ONLY tracestore_data.recency_policy
    ADD CONSTRAINT recency_policy_pkey PRIMARY KEY (recency_policy_id);

CREATE INDEX recency_policy_of_collection ON tracestore_data.recency_policy USING btree (collection_id, recency_policy_id DESC);

CREATE TRIGGER recency_policy_is_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON tracestore_data.recency_policy FOR EACH STATEMENT EXECUTE FUNCTION tracestore_data.refuse_change();

CREATE TRIGGER recency_policy_is_noted AFTER INSERT ON tracestore_data.recency_policy FOR EACH ROW EXECUTE FUNCTION tracestore_data.note_policy();

ALTER TABLE ONLY tracestore_data.recency_policy
    ADD CONSTRAINT recency_policy_collection_id_fkey FOREIGN KEY (collection_id) REFERENCES tracestore_data.collection(collection_id);
