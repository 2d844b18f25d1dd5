create function tracestore.stage_embeddings()
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
set client_min_messages = warning
as $$
begin
  create temporary table if not exists pending_embedding (
    content_key bytea not null,
    vec @vector@.vector not null,
    embedded_text text not null,
    truncated boolean not null
  ) on commit delete rows;
end
$$;
comment on function tracestore.stage_embeddings() is
  'Makes the temporary table pending_embedding, to be filled by COPY and emptied at commit.';

create function tracestore.add_embeddings(index_id bigint)
returns bigint
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_lexical regconfig;
  v_count bigint;
begin
  select i.lexical::regconfig into strict v_lexical
  from tracestore_data.retrieval_index i where i.index_id = add_embeddings.index_id;
  insert into tracestore_data.embedding as known (index_id, content_key, vec, lexemes, truncated)
  select add_embeddings.index_id, p.content_key, p.vec, to_tsvector(v_lexical, p.embedded_text), p.truncated
  from pg_temp.pending_embedding p
  -- A row whose vector was collected gets one again.
  on conflict (index_id, content_key) do update
  set vec = excluded.vec, lexemes = excluded.lexemes, truncated = excluded.truncated, live = true
  where not known.live;
  get diagnostics v_count = row_count;
  return v_count;
end
$$;
comment on function tracestore.add_embeddings(bigint) is
  'Adds the rows of pending_embedding to an index, with the lexemes of their text; returns how many were new.';

create function tracestore.drop_unused_embeddings(index_id bigint)
returns bigint
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_count bigint;
begin
  execute format(
    'delete from tracestore_data.embedding e
     where e.index_id = %1$s
       and not exists (select from tracestore_data.chunk c where c.index_id = %1$s and c.content_key = e.content_key)', index_id);
  get diagnostics v_count = row_count;
  return v_count;
end
$$;
comment on function tracestore.drop_unused_embeddings(bigint) is
  'Deletes what failed builds embedded and no chunk refers to, such as the words of a text erased meanwhile; returns how many. For the holder of the lease, or when there is none.';
