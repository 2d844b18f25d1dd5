-- requires: make_searcher
create function tracestore.register_recipe(
  recipe_id text, model text, revision text, dimension integer, settings jsonb, probe_text text, probe @vector@.vector)
returns @vector@.vector
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_recipe tracestore_data.recipe;
begin
  insert into tracestore_data.recipe (recipe_id, model, revision, dimension, settings, probe_text, probe)
  values (register_recipe.recipe_id, register_recipe.model, register_recipe.revision, register_recipe.dimension,
    register_recipe.settings, register_recipe.probe_text, register_recipe.probe)
  on conflict do nothing;
  select r.* into v_recipe from tracestore_data.recipe r where r.recipe_id = register_recipe.recipe_id;
  if (v_recipe.dimension, v_recipe.revision, v_recipe.settings)
     is distinct from (register_recipe.dimension, register_recipe.revision, register_recipe.settings) then
    raise exception using errcode = 'TS002',
      message = format('recipe %L is not what it was when it was first used', register_recipe.recipe_id),
      detail = format('recorded %s dimensions, revision %L, %s; now %s, %L, %s', v_recipe.dimension, v_recipe.revision,
        v_recipe.settings, register_recipe.dimension, register_recipe.revision, register_recipe.settings),
      hint = 'Restore the model, or build with a recipe of another name.';
  end if;
  return v_recipe.probe;
end
$$;
comment on function tracestore.register_recipe(text, text, text, integer, jsonb, text, @vector@.vector) is
  'Records a recipe on first use and returns its recorded probe vector; refuses a recipe that changed.';

create function tracestore.create_index(collection text, recipe_id text, settings text)
returns bigint
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_collection bigint;
  v_recipe tracestore_data.recipe;
  v_index bigint;
begin
  -- The lock closes the race of two processes that make the same index.
  select c.collection_id into v_collection
  from tracestore_data.collection c where c.slug = collection for no key update;
  if not found then
    raise exception using errcode = 'TS003', message = format('there is no collection %s', quote_literal(collection)),
      hint = 'tracestore ingest makes a collection.';
  end if;
  select i.index_id into v_index from tracestore_data.retrieval_index i
  where i.collection_id = v_collection and i.settings = create_index.settings and i.dropped_at is null;
  if found then
    return v_index;
  end if;
  select r.* into strict v_recipe from tracestore_data.recipe r where r.recipe_id = create_index.recipe_id;
  insert into tracestore_data.retrieval_index (collection_id, recipe_key, settings, lexical)
  values (v_collection, v_recipe.recipe_key, create_index.settings, create_index.settings::jsonb ->> 'lexical')
  returning index_id into v_index;
  perform tracestore.create_partitions(v_index);
  perform tracestore.make_searcher(v_index);
  return v_index;
end
$$;
comment on function tracestore.create_index(text, text, text) is
  'Returns the index of a collection with these settings (canonical JSON), making it if need be.';

-- As the owner: who writes builds need not own the tables. It makes what an index needs and lacks, and nothing else.
create function tracestore.create_partitions(index_id bigint)
returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '2s'
as $$
#variable_conflict use_column
declare
  -- Two seconds a lock: whoever writes next queues behind a lock that is waited for.
  v_embedding text := format('tracestore_data.%I', 'embedding_' || index_id);
  v_chunk text := format('tracestore_data.%I', 'chunk_' || index_id);
  v_dimension integer;
begin
  select r.dimension into v_dimension
  from tracestore_data.retrieval_index i join tracestore_data.recipe r using (recipe_key)
  where i.index_id = create_partitions.index_id and i.dropped_at is null and to_regclass(v_chunk) is null;
  if not found then
    raise exception using errcode = 'TS003', message = format('there is no index %s without partitions', index_id),
      hint = 'tracestore.create_index() makes an index and its partitions.';
  end if;
  -- Made alone, then attached: `create table .. partition of` would lock the parent against searches.
  execute format('create table %s (like tracestore_data.embedding including all)', v_embedding);
  execute format(
    'alter table %1$s add constraint embedding_has_the_dimension check (@vector@.vector_dims(vec) = %2$s),'
    ' add constraint embedding_is_a_unit_vector check (abs(@vector@.vector_norm(vec) - 1) < 1e-4),'
    ' add constraint %3$I check (index_id = %4$s)',
    v_embedding, v_dimension, 'embedding_is_of_index_' || index_id, index_id);
  if v_dimension <= 1900 then
    -- Up to a page: kept in the row, since an exact search would read every one from the side table.
    execute format('alter table %s alter column vec set storage plain', v_embedding);
  end if;
  execute format('alter table %s alter column vec set statistics 0, alter column lexemes set statistics 0', v_embedding);
  -- Almost always empty; every build counts these, and must not read all vectors for it.
  execute format('create index %I on %s (content_key) where truncated', 'embedding_truncated_' || index_id, v_embedding);
  execute format('comment on table %s is %L', v_embedding, format('Embeddings of index %s.', index_id));
  -- Without a policy of its own a partition gives nothing, read directly; the policies of its parent hold through it.
  execute format('alter table %s enable row level security', v_embedding);
  execute format('alter table tracestore_data.embedding attach partition %s for values in (%s)', v_embedding, index_id);

  execute format('create table %s (like tracestore_data.chunk including all)', v_chunk);
  execute format('alter table %s add constraint %I check (index_id = %s)', v_chunk, 'chunk_is_of_index_' || index_id, index_id);
  execute format('alter table %s alter column heading_path set statistics 0', v_chunk);
  execute format('comment on table %s is %L', v_chunk, format('Chunks of index %s.', index_id));
  execute format('alter table %s enable row level security', v_chunk);
  execute format('alter table tracestore_data.chunk attach partition %s for values in (%s)', v_chunk, index_id);
exception when lock_not_available then
  raise exception using errcode = 'TS006', message = 'an index cannot be made while another build writes',
    hint = 'Nothing was changed. Run the build again.';
end
$$;
comment on function tracestore.create_partitions(bigint) is
  'Internal to create_index: the partitions of chunk and embedding, for an index that has none.';
