create type tracestore.swept as (
  chunks bigint,
  vectors bigint,
  embeddings bigint
);
comment on type tracestore.swept is 'Chunk rows deleted, vectors emptied and embedding rows deleted by one batch.';

create function tracestore.sweep_index(index_id bigint, batch integer default 10000)
returns tracestore.swept
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_swept tracestore.swept;
begin
  -- Not while a build of this index is in the making: its new vectors have no chunks yet.
  perform from tracestore_data.retrieval_index i where i.index_id = sweep_index.index_id for no key update;
  if exists (select from tracestore_data.build b where b.index_id = sweep_index.index_id and b.state = 'building') then
    raise exception using errcode = 'TS006', message = format('a build of index %s is in the making', sweep_index.index_id),
      hint = 'Run it again when the build is done.';
  end if;
  execute format(
    $query$
    with kept as (
      select build_id from tracestore_data.build where index_id = %1$s and state = 'ready' and level <> 'manifest'
    ),
    doomed as (
      select c.version_key, c.ordinal, c.added_build
      from tracestore_data.chunk c
      where c.index_id = %1$s and c.removed_build is not null
        and not exists (select from kept k where k.build_id >= c.added_build and k.build_id < c.removed_build)
      limit $1
    )
    delete from tracestore_data.chunk c using doomed d
    where c.index_id = %1$s and c.version_key = d.version_key and c.ordinal = d.ordinal and c.added_build = d.added_build
    $query$, index_id) using batch;
  get diagnostics v_swept.chunks = row_count;
  execute format(
    $query$
    with doomed as (
      select e.content_key from tracestore_data.embedding e
      where e.index_id = %1$s and not exists (select from tracestore_data.chunk c where c.index_id = %1$s and c.content_key = e.content_key)
      limit $1
    )
    delete from tracestore_data.embedding e using doomed d where e.index_id = %1$s and e.content_key = d.content_key
    $query$, index_id) using batch;
  get diagnostics v_swept.embeddings = row_count;
  execute format(
    $query$
    with searchable as (
      select build_id from tracestore_data.build where index_id = %1$s and state = 'ready' and level = 'vectors'
    ),
    doomed as (
      select e.content_key from tracestore_data.embedding e
      where e.index_id = %1$s and e.live and not exists (
        select from tracestore_data.chunk c join searchable s
          on s.build_id >= c.added_build and (c.removed_build is null or s.build_id < c.removed_build)
        where c.index_id = %1$s and c.content_key = e.content_key)
      limit $1
    )
    update tracestore_data.embedding e set vec = null, lexemes = null, live = false
    from doomed d where e.index_id = %1$s and e.content_key = d.content_key
    $query$, index_id) using batch;
  get diagnostics v_swept.vectors = row_count;
  return v_swept;
end
$$;
comment on function tracestore.sweep_index(bigint, integer) is
  'Removes one batch of what no retained build of an index needs: chunk rows, vectors, embedding rows. All zero: nothing is left to remove.';
