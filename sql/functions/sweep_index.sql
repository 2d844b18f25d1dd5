-- requires: begin_build
create type tracestore.swept as (
  chunks bigint,
  vectors bigint,
  embeddings bigint,
  next_version bigint,
  next_key bytea
);
comment on type tracestore.swept is
  'Chunk rows deleted, vectors emptied and embedding rows deleted by one batch, and where the next one begins; null when all was looked at.';

create function tracestore.lock_line(index_id bigint)
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_held tracestore_data.build;
begin
  -- Not while a build of this index is in the making: its new vectors have no chunks yet. None can begin meanwhile.
  perform from tracestore_data.retrieval_index i where i.index_id = lock_line.index_id for no key update;
  select b.* into v_held from tracestore_data.build b where b.index_id = lock_line.index_id and b.state = 'building';
  if found then
    perform tracestore.take_over(v_held);
  end if;
end
$$;
comment on function tracestore.lock_line(bigint) is
  'Holds off builds of an index to the end of the transaction; an error while one is in the making, unless its process is gone.';

create function tracestore.retained_line(index_id bigint)
returns table (build_id bigint, next_listable bigint, next_searchable bigint)
language sql
stable
begin atomic
  -- From a build on, the first that still needs its chunks, and its vectors: a chunk added in build a and removed in
  -- build r is needed if the first one from a on comes before r. One comparison a chunk, however many builds there are.
  select b.build_id,
    min(b.build_id) filter (where b.level <> 'manifest') over onwards,
    min(b.build_id) filter (where b.level = 'vectors') over onwards
  from tracestore_data.build b
  where b.index_id = retained_line.index_id and b.state = 'ready'
  window onwards as (order by b.build_id desc);
end;
comment on function tracestore.retained_line(bigint) is
  'For each ready build of an index the first build, from it on, whose chunks are retained, and the first that can be searched.';

create function tracestore.sweep_chunks(index_id bigint, after_version bigint default 0, batch integer default 2000)
returns tracestore.swept
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_swept tracestore.swept;
begin
  perform tracestore.lock_line(index_id);
  -- A chunk is tombstoned only with a membership of its version that ended.
  select max(version_key) into v_swept.next_version
  from (
    select distinct m.version_key from tracestore_data.manifest_entry m
    where m.index_id = sweep_chunks.index_id and m.version_key > after_version and m.removed_build is not null
    order by m.version_key limit batch) seen;
  execute format(
    $query$
    with line as materialized (select * from tracestore.retained_line(%1$s))
    delete from tracestore_data.chunk c using line
    where c.index_id = %1$s and c.version_key > $1 and c.version_key <= $2 and c.removed_build is not null
      and line.build_id = c.added_build and (line.next_listable < c.removed_build) is not true
    $query$, index_id)
  using after_version, v_swept.next_version;
  get diagnostics v_swept.chunks = row_count;
  return v_swept;
end
$$;
comment on function tracestore.sweep_chunks(bigint, bigint, integer) is
  'Deletes the chunk rows that no retained build needs, of the next batch of versions that ever left a build.';

create function tracestore.sweep_embeddings(index_id bigint, after_key bytea default '', batch integer default 10000)
returns tracestore.swept
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_swept tracestore.swept;
  v_interrupted boolean;
begin
  perform tracestore.lock_line(index_id);
  -- What an interrupted build embedded is paid for: its next run takes it, and deletes the rest when it is done.
  v_interrupted := coalesce((
    select b.state = 'failed' from tracestore_data.build b
    where b.index_id = sweep_embeddings.index_id order by b.build_id desc limit 1), false);
  execute format(
    $query$
    with line as materialized (select * from tracestore.retained_line(%1$s)),
    seen as materialized (
      select e.content_key, e.live from tracestore_data.embedding e
      where e.index_id = %1$s and e.content_key > $1 order by e.content_key limit $2
    ),
    judged as (
      select s.content_key, s.live, count(c.version_key) > 0 as is_named,
        coalesce(bool_or(line.next_searchable < c.removed_build or (c.removed_build is null and line.next_searchable > 0)), false)
          as is_searchable
      from seen s
      left join tracestore_data.chunk c on c.index_id = %1$s and c.content_key = s.content_key
      left join line on line.build_id = c.added_build
      group by s.content_key, s.live
    ),
    deleted as (
      delete from tracestore_data.embedding e using judged j
      where e.index_id = %1$s and e.content_key = j.content_key and not j.is_named and not $3
      returning 1
    ),
    -- The chunks of a build that is only listed keep the name of their vector, not the vector.
    emptied as (
      update tracestore_data.embedding e set vec = null, lexemes = null, live = false
      from judged j
      where e.index_id = %1$s and e.content_key = j.content_key and j.is_named and j.live and not j.is_searchable
      returning 1
    )
    select (select count(*) from emptied), (select count(*) from deleted),
      (select s.content_key from seen s order by s.content_key desc limit 1)
    $query$, index_id)
  into v_swept.vectors, v_swept.embeddings, v_swept.next_key
  using after_key, batch, v_interrupted;
  return v_swept;
end
$$;
comment on function tracestore.sweep_embeddings(bigint, bytea, integer) is
  'Empties the vectors that no searchable build needs and deletes the embeddings that no chunk names, of the next batch by content key. After sweep_chunks.';
