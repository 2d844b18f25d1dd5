-- Written by `just schema` from the newest migration, for people. Nothing reads it: change a table by a migration.

-- ----------------------------------------------------------------------------------------------------
-- store

CREATE TABLE tracestore_data.store (
    store_id uuid DEFAULT gen_random_uuid() NOT NULL,
    singleton boolean DEFAULT true NOT NULL,
    suppression_epoch bigint DEFAULT 0 NOT NULL,
    api_sha256 bytea,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT api_digest_is_sha256 CHECK ((octet_length(api_sha256) = 32)),
    CONSTRAINT store_is_one_row CHECK (singleton)
);
COMMENT ON TABLE tracestore_data.store IS 'One row: what identifies this database as a store of its own.';
COMMENT ON COLUMN tracestore_data.store.store_id IS 'Identity of the store, so that a build of another store is never taken for one of ours.';
COMMENT ON COLUMN tracestore_data.store.singleton IS 'Always true; keeps the table to one row.';
COMMENT ON COLUMN tracestore_data.store.suppression_epoch IS 'Grows by one with every withdrawal, restoration and erasure, in commit order.';
COMMENT ON COLUMN tracestore_data.store.api_sha256 IS 'SHA-256 over the functions and views installed in schema tracestore.';
COMMENT ON COLUMN tracestore_data.store.created_at IS 'When the schema was first installed.';

ALTER TABLE ONLY tracestore_data.store
    ADD CONSTRAINT store_pkey PRIMARY KEY (singleton);

CREATE TRIGGER store_is_not_deleted BEFORE DELETE OR TRUNCATE ON tracestore_data.store FOR EACH STATEMENT EXECUTE FUNCTION tracestore_data.refuse_change();

CREATE TRIGGER store_keeps_its_identity BEFORE UPDATE OF store_id, singleton, created_at ON tracestore_data.store FOR EACH STATEMENT EXECUTE FUNCTION tracestore_data.refuse_change();

-- ----------------------------------------------------------------------------------------------------
-- alembic_version

CREATE TABLE tracestore_data.alembic_version (
    version_num character varying(32) NOT NULL
);
COMMENT ON TABLE tracestore_data.alembic_version IS 'The newest migration that this database has.';
COMMENT ON COLUMN tracestore_data.alembic_version.version_num IS 'Number of that migration.';

ALTER TABLE ONLY tracestore_data.alembic_version
    ADD CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num);
