create function tracestore.gold_places(gold_set_id bigint, build_id bigint default null)
returns table (gold_item_id bigint, gold_anchor_id bigint, outcome text, version_keys bigint[])
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_index bigint;
  v_at timestamptz := statement_timestamp();
begin
  if build_id is not null then
    select b.index_id, b.cutoff_at into v_index, v_at from tracestore_data.build b
    where b.build_id = gold_places.build_id and b.state = 'ready';
    if not found then
      raise exception using errcode = 'TS003', message = format('there is no ready build B-%s', build_id), hint = 'View tracestore.builds lists builds.';
    end if;
  end if;
  return query
  with member as materialized (
    -- What the build holds, or, without one, what its next build would.
    select v.version_key, v.doc_key, m.family_id
    from tracestore_data.manifest_entry m join tracestore_data.document_version v using (version_key)
    where m.index_id = v_index
      and m.added_build <= gold_places.build_id and (m.removed_build is null or m.removed_build > gold_places.build_id)
    union all
    select v.version_key, v.doc_key, d.family_id
    from tracestore_data.gold_set g
    join tracestore_data.document d using (collection_id)
    join tracestore_data.document_version v using (doc_key)
    where v_index is null and g.gold_set_id = gold_places.gold_set_id and v.version_state = 'current'
  ),
  place as (
    select a.gold_anchor_id, m.version_key, m.doc_key
    from tracestore_data.gold_item i
    join tracestore_data.gold_anchor a using (gold_item_id)
    join member m on m.doc_key = a.doc_key
    where i.gold_set_id = gold_places.gold_set_id and i.retired_at is null
    union all
    select a.gold_anchor_id, m.version_key, m.doc_key
    from tracestore_data.gold_item i
    join tracestore_data.gold_anchor a using (gold_item_id)
    join member m on m.family_id = a.family_id
    where i.gold_set_id = gold_places.gold_set_id and i.retired_at is null
  ),
  standing as (
    select p.gold_anchor_id,
      array_agg(p.version_key order by p.version_key) filter (where not exists (
        select from tracestore_data.suppression s
        where s.doc_key = p.doc_key and s.lifted_at is null
          and (s.version_key is null or s.version_key = p.version_key))) as version_keys
    from place p
    group by p.gold_anchor_id
  )
  select a.gold_item_id, a.gold_anchor_id,
    case
      when a.quote is null then 'erased'
      when v_at < a.valid_from or v_at >= a.valid_to then 'not_in_force'
      when s.version_keys is not null then 'asked'
      when s.gold_anchor_id is not null or exists (
        select from tracestore_data.suppression x where x.doc_key = a.doc_key and x.lifted_at is null) then 'withdrawn'
      else 'absent'
    end,
    s.version_keys
  from tracestore_data.gold_item i
  join tracestore_data.gold_anchor a using (gold_item_id)
  left join standing s using (gold_anchor_id)
  where i.gold_set_id = gold_places.gold_set_id and i.retired_at is null
  order by a.gold_item_id, a.gold_anchor_id;
end
$$;
comment on function tracestore.gold_places(bigint, bigint) is
  'In which versions each anchor in use can stand: those of a build, or the current ones; outcome says why nowhere. Whether it does stand there is for the reader of the text to find.';

create function tracestore.version_texts(version_keys bigint[])
returns table (version_key bigint, doc_id text, version_id text, content text)
language sql
stable
begin atomic
  select v.version_key, d.doc_id, v.version_id, convert_from(v.content, 'UTF8')
  from tracestore_data.document_version v join tracestore_data.document d using (doc_key)
  where v.version_key = any (version_keys) and v.content is not null;
end;
comment on function tracestore.version_texts(bigint[]) is 'The texts of versions by key, without those that were erased.';

create function tracestore.chunk_places(build_id bigint, version_keys bigint[])
returns table (version_key bigint, ordinal integer, span_start integer, span_end integer)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_index bigint;
begin
  select b.index_id into v_index from tracestore_data.build b where b.build_id = chunk_places.build_id;
  return query execute format(
    $query$
    select c.version_key, c.ordinal, c.span_start, c.span_end
    from tracestore_data.chunk c
    where c.index_id = %s and c.version_key = any ($2) and c.content_key is not null
      and c.added_build <= $1 and (c.removed_build is null or c.removed_build > $1)
    order by c.version_key, c.ordinal
    $query$, v_index)
  using build_id, version_keys;
end
$$;
comment on function tracestore.chunk_places(bigint, bigint[]) is 'The searchable chunks that a build cut from some versions.';
