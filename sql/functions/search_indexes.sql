-- requires: search_graph
create type tracestore.search_index as (
  name text,
  purpose text,
  definition text,
  valid boolean,
  memory_kb bigint,
  vectors bigint,
  refusal text
);
comment on type tracestore.search_index is
  'An index that the searches of one tracestore index use: its name in tracestore_data, what for (ann or lexical), how to make it (%I stands for its name, after create index), whether it is there and usable (null: not there), the memory that making it takes, over how many live vectors it would be made, and why it cannot be made now.';

create function tracestore.search_indexes(index_id bigint, count_vectors boolean default true)
returns setof tracestore.search_index
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_ann jsonb;
  v_dimension integer;
  v_live bigint;
  v_bytes bigint;
  v_with text;
begin
  select nullif(i.settings_json -> 'ann', 'null'), r.dimension into v_ann, v_dimension
  from tracestore_data.retrieval_index i join tracestore_data.recipe r using (recipe_key)
  where i.index_id = search_indexes.index_id and i.dropped_at is null;
  if not found then
    raise exception using errcode = 'TS003', message = format('there is no index %s', index_id),
      hint = 'View tracestore.builds lists builds with their index.';
  end if;
  -- A build that changes little must not read all vectors to find that nothing is to be made.
  if count_vectors then
    execute format('select count(*) from tracestore_data.embedding e where e.index_id = %s and e.live', index_id) into v_live;
  end if;
  if v_ann is not null then
    v_bytes := case v_ann ->> 'type' when 'halfvec' then 2 else 4 end * v_dimension;
    if v_ann ->> 'kind' = 'hnsw' then
      v_with := format('m = %s, ef_construction = %s', v_ann ->> 'm', v_ann ->> 'ef_construction');
      -- The graph is built in memory: vector, element and the neighbours of about two layers.
      v_bytes := v_live * (v_bytes + 200 + 48 * (v_ann ->> 'm')::integer);
    else
      -- pgvector's advice: rows / 1000 up to a million rows, then the square root.
      v_with := format('lists = %s', coalesce((v_ann ->> 'lists')::bigint,
        greatest(10, case when v_live <= 1000000 then v_live / 1000 else sqrt(v_live)::bigint end)));
      -- Its training holds 50 sampled vectors a list.
      v_bytes := least(v_live, 50 * 32768) * v_bytes;
    end if;
    return query select
      format('embedding_%s_ann', index_id), 'ann',
      format('on tracestore_data.%I using %s ((vec::@vector@.%s(%s)) @vector@.%s_%s_ops) with (%s) where live',
        'embedding_' || index_id, v_ann ->> 'kind', v_ann ->> 'type', v_dimension, v_ann ->> 'type',
        case tracestore.ann_operator(v_ann ->> 'type') when '<->' then 'l2' else 'ip' end, v_with),
      tracestore.index_is_valid(format('embedding_%s_ann', index_id)), v_bytes / 1024, v_live,
      -- Lists trained on few vectors, or none, hide what comes later: recall near 0.
      case when v_ann ->> 'kind' = 'ivfflat' and v_live < greatest(1000, 10 * (v_ann ->> 'lists')::bigint) then
        format('an IVFFlat index is trained on at least %s vectors, and there are %s', greatest(1000, 10 * (v_ann ->> 'lists')::bigint), v_live) end;
  end if;
  return query select
    format('embedding_%s_lexemes', index_id), 'lexical',
    format('on tracestore_data.%I using gin (lexemes) where live', 'embedding_' || index_id),
    tracestore.index_is_valid(format('embedding_%s_lexemes', index_id)), v_live / 4, v_live, null;
end
$$;
comment on function tracestore.search_indexes(bigint, boolean) is
  'The indexes over the vectors and lexemes of an index that its searches want, and their state. With count_vectors also what making them takes.';

create function tracestore.index_is_valid(name text)
returns boolean
language sql
stable
begin atomic
  select x.indisvalid from pg_catalog.pg_index x where x.indexrelid = pg_catalog.to_regclass(pg_catalog.format('tracestore_data.%I', name));
end;
comment on function tracestore.index_is_valid(text) is 'Whether an index of tracestore_data can be used; null where there is none.';

create function tracestore.indexes_left_over(index_id bigint)
returns setof text
language sql
stable
begin atomic
  -- What a maker that was killed left: built beside the one in use, or not finished.
  select c.relname
  from pg_catalog.pg_index x
  join pg_catalog.pg_class c on c.oid = x.indexrelid
  where x.indrelid = pg_catalog.to_regclass('tracestore_data.embedding_' || index_id)
    and (c.relname in ('embedding_' || index_id || '_ann_new', 'embedding_' || index_id || '_ann_old',
        'embedding_' || index_id || '_lexemes_new', 'embedding_' || index_id || '_lexemes_old')
      or (not x.indisvalid and c.relname in ('embedding_' || index_id || '_ann', 'embedding_' || index_id || '_lexemes')))
    and not exists (select from pg_catalog.pg_stat_progress_create_index g where g.relid = x.indrelid);
end;
comment on function tracestore.indexes_left_over(bigint) is
  'Search indexes that nobody is making, and that are not in use: to be dropped. Empty while one is being made.';

create function tracestore.record_graph(index_id bigint, definition text, vectors bigint, seconds double precision)
returns void
language sql
volatile
begin atomic
  insert into tracestore_data.graph_event (index_id, build_id, definition, vectors, seconds)
  select record_graph.index_id, max(b.build_id), record_graph.definition, record_graph.vectors, record_graph.seconds
  from tracestore_data.build b where b.index_id = record_graph.index_id and b.state <> 'failed';
end;
comment on function tracestore.record_graph(bigint, text, bigint, double precision) is
  'Records that an approximate index was made over so many vectors: what its drift is measured from.';

-- As the owner: who writes builds need not own the tables. It makes an index that searches want and lack, and nothing else.
create function tracestore.make_search_index(index_id bigint, name text)
returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_definition text;
begin
  select i.definition into v_definition
  from tracestore.search_indexes(index_id) i
  where i.name = make_search_index.name and i.valid is null and i.refusal is null;
  if not found then
    raise exception using errcode = 'TS003', message = format('index %s lacks no search index %s', index_id, quote_nullable(name)),
      hint = 'tracestore.search_indexes() lists those it wants.';
  end if;
  execute format('create index %I %s', name, v_definition);
end
$$;
comment on function tracestore.make_search_index(bigint, text) is
  'Makes one of search_indexes that is missing, for whoever does not own the tables; builds of the index wait meanwhile, searches do not.';
