-- The part of a database administrator, run once as superuser on a new server. Everything after it,
-- `tracestore db upgrade` included, needs only the role made here, which is no superuser.
\set ON_ERROR_STOP on
\getenv password TRACESTORE_PASSWORD

create role tracestore login password :'password';
create database tracestore owner tracestore encoding 'UTF8' template template0;

\connect tracestore
-- pgvector is not a trusted extension: an owner of a database may use it, only a superuser creates it.
create extension vector;
