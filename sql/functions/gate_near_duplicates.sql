-- requires: gate_outcome
create function tracestore.near_duplicates(build tracestore_data.build, similarity double precision)
returns table (family_id text, a text, b text, shared double precision)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  -- Words, not chunks: a revision changes a word in each chunk and keeps the words. Only families with more than one
  -- member are looked at.
  return query execute format(
    $query$
    with member as (
      select m.family_id, m.version_key, count(*) over (partition by m.family_id) as members
      from tracestore_data.manifest_entry m join tracestore_data.document_version v using (version_key)
      where m.index_id = %1$s and m.added_build <= $1 and (m.removed_build is null or m.removed_build > $1)
        and not exists (
          select from tracestore_data.suppression s
          where s.doc_key = v.doc_key and s.lifted_at is null and (s.version_key is null or s.version_key = v.version_key))
    ),
    word as materialized (
      select distinct m.family_id, m.version_key, w.lexeme
      from member m
      join tracestore_data.chunk c on c.index_id = %1$s and c.version_key = m.version_key
        and c.added_build <= $1 and (c.removed_build is null or c.removed_build > $1)
      join tracestore_data.embedding e on e.index_id = %1$s and e.content_key = c.content_key
      cross join lateral unnest(e.lexemes) w
      where m.members > 1
    ),
    total as (select version_key, count(*) as words from word group by version_key),
    pair as (
      select x.family_id, x.version_key as a, y.version_key as b, count(*) as words
      from word x join word y on y.family_id = x.family_id and y.lexeme = x.lexeme and y.version_key > x.version_key
      group by 1, 2, 3
    )
    select p.family_id, da.doc_id || ' ' || va.version_id, db.doc_id || ' ' || vb.version_id,
      p.words::double precision / (ta.words + tb.words - p.words)
    from pair p
    join total ta on ta.version_key = p.a
    join total tb on tb.version_key = p.b
    join tracestore_data.document_version va on va.version_key = p.a
    join tracestore_data.document da on da.doc_key = va.doc_key
    join tracestore_data.document_version vb on vb.version_key = p.b
    join tracestore_data.document db on db.doc_key = vb.doc_key
    where p.words::double precision / (ta.words + tb.words - p.words) >= $2
    order by 4 desc, 2, 3
    $query$, build.index_id)
  using build.build_id, similarity;
end
$$;
comment on function tracestore.near_duplicates(tracestore_data.build, double precision) is
  'Pairs of members of one family that share at least this part of their words (Jaccard), most alike first.';

create function tracestore.gate_near_duplicates(build_id bigint, floor double precision default null)
returns setof tracestore.gate_outcome
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_build tracestore_data.build := tracestore.build_to_check(build_id);
  v_floor double precision := coalesce(floor, 0.8);
begin
  return query
  with pair as materialized (select * from tracestore.near_duplicates(v_build, v_floor))
  select 'near_duplicates', 'likeness in a family', '', '', null::bigint, count(*) = 0, max(p.shared), v_floor,
    (select string_agg(format('%s and %s, %s', f.a, f.b, round(f.shared::numeric, 3)), '; ') from (select * from pair limit 5) f)
      || case when count(*) > 5 then format('; and %s more pairs', count(*) - 5) else '' end,
    null::bigint
  from pair p;
end
$$;
comment on function tracestore.gate_near_duplicates(bigint, double precision) is
  'The gate near_duplicates: no two members of one family share as much of their words as revisions of one text do (0.8).';
