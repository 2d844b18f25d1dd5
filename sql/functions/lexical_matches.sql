-- requires: near_chunk, search_filter
create function tracestore.lexical_matches(
  index_id bigint, build_id bigint, lexemes text[], match_count integer, wanted tracestore.search_filter, readable text[])
returns tracestore.near_chunk[]
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_nearest tracestore.near_chunk[];
  -- A chunk of the build that the caller may see; readable is for the one caller whose row-level security is not applied.
  c_member constant text :=
    'from tracestore_data.chunk c
     join tracestore_data.document_version v on v.version_key = c.version_key
     join tracestore_data.document d on d.doc_key = v.doc_key
     where c.index_id = %1$s and c.content_key = t.content_key
       and c.added_build <= $2 and (c.removed_build is null or c.removed_build > $2)
       and ($8 is null or d.labels = ''{}'' or d.labels && $8)
       and not exists (
         select from tracestore_data.suppression s
         where s.doc_key = v.doc_key and s.lifted_at is null and (s.version_key is null or s.version_key = v.version_key))';
  c_wanted constant text :=
    'and ($4 is null or d.doc_id = any ($4)) and ($7 is null or d.labels && $7)
     and (num_nulls($5, $6) = 2 or exists (
       select from tracestore_data.manifest_entry m
       where m.index_id = %1$s and m.version_key = c.version_key
         and m.added_build <= $2 and (m.removed_build is null or m.removed_build > $2)
         and ($5 is null or m.family_id = any ($5)) and ($6 is null or m.class = any ($6))))';
begin
  if num_nulls(index_id, build_id, lexemes) > 0 or match_count is null or match_count not between 1 and 10000 then
    raise exception using errcode = 'TS001', message = 'match_count is not between 1 and 10000, or an argument is null',
      detail = format('match_count = %s', match_count), hint = 'Call tracestore.search.';
  end if;
  execute format(
    $query$
    with word as materialized (
      -- Quoted, each alone: nothing of a question is ever read as an operator.
      select w.n, w.lexeme, ('''' || replace(replace(w.lexeme, '\', '\\'), '''', '''''') || '''')::tsquery as query
      from unnest($1) with ordinality as w (lexeme, n)
    ),
    posting as materialized (
      select w.n, e.content_key
      from word w
      -- OFFSET 0: word by word, through the index on the lexemes.
      cross join lateral (
        select e.content_key from tracestore_data.embedding e
        where e.index_id = %1$s and e.live and e.lexemes @@ w.query
        offset 0) e
    ),
    held as materialized (
      -- How rare a word is is counted among the texts that the caller sees in this build, and nowhere else: what is
      -- hidden, suppressed or of another build moves no rank.
      select t.content_key from (select distinct content_key from posting) t where exists (select %2$s)
    ),
    weight as materialized (
      -- The rarer, the heavier: the weight of Robertson and Sparck Jones in Lucene's form, which is never below nought.
      select w.n, w.lexeme, round(ln(1 + (b.texts - f.texts + 0.5) / (f.texts + 0.5)), 6) as weight
      from word w
      join (select p.n, count(*)::numeric as texts from posting p join held using (content_key) group by p.n) f using (n)
      cross join (
        select greatest(b.chunks - b.not_embeddable, (select count(*) from held))::numeric as texts
        from tracestore_data.build b where b.build_id = $2) b
    ),
    weighed as materialized (
      select t.content_key, sum(w.weight) as weight
      from posting t join held using (content_key) join weight w using (n)
      where $9 or exists (select %2$s %3$s)
      group by t.content_key
    ),
    promising as materialized (
      select t.content_key
      from weighed t
      -- Ties go in the order of the answer, so that more that are asked for come after those that were.
      cross join lateral (
        select d.doc_id, v.version_seq, c.ordinal %2$s %3$s
        order by d.doc_id collate "C", v.version_seq, c.ordinal
        limit 1) c
      where t.weight >= coalesce(
        (select x.weight from weighed x order by x.weight desc offset greatest(400, 4 * $3) - 1 limit 1), 0)
      order by t.weight desc, c.doc_id collate "C", c.version_seq, c.ordinal
      limit greatest(400, 4 * $3)
    ),
    ranked as materialized (
      -- Once counts nearly as much as often (BM25 with k1 = 0.6), and a text of more than 64 lexemes has to say it more often.
      select p.content_key,
        round(sum(w.weight * 1.6 * cardinality(u.positions)
          / (cardinality(u.positions) + 0.6 * greatest(1, length(e.lexemes) / 64.0))), 6) as rank
      from promising p
      cross join lateral (
        select e.lexemes from tracestore_data.embedding e where e.index_id = %1$s and e.content_key = p.content_key
        offset 0) e
      cross join lateral unnest(e.lexemes) as u (lexeme, positions, weights)
      join weight w on w.lexeme = u.lexeme
      group by p.content_key
    )
    select array(
      select row(c.version_key, c.ordinal, c.added_build, - t.rank)::tracestore.near_chunk
      from ranked t
      cross join lateral (
        select c.version_key, c.ordinal, c.added_build, c.span_start, d.doc_id, v.version_seq %2$s %3$s
        -- Boilerplate shares a text: no more of it than can be returned.
        order by d.doc_id collate "C", v.version_seq, c.ordinal, c.span_start
        limit $3) c
      order by t.rank desc, c.doc_id collate "C", c.version_seq, c.ordinal, c.span_start
      limit $3)
    $query$, index_id, format(c_member, index_id), format(c_wanted, index_id))
  into v_nearest
  using lexemes, build_id, match_count, wanted.doc_id, wanted.family_id, wanted.class, wanted.labels, readable, wanted is null;
  return v_nearest;
end
$$;
comment on function tracestore.lexical_matches(bigint, bigint, text[], integer, tracestore.search_filter, text[]) is
  'Internal to the lexical leg: the chunks of a build that hold any of the lexemes, by the weight of those they hold, as far as the current role and the labels see them.';
