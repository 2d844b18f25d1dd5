-- requires: near_chunk, search_filter, lexical_words
create type tracestore.lexical_texts as (
  content_keys bytea[],
  words tracestore.lexical_word[]
);
comment on type tracestore.lexical_texts is 'Texts with words of a question, the most promising of them, and the words with their weights.';

create function tracestore.promising_texts(
  index_id bigint, build_id bigint, words tracestore.lexical_word[], text_count integer, readable text[], filter_condition text,
  wanted tracestore.search_filter)
returns tracestore.lexical_texts
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_promising tracestore.lexical_texts;
begin
  execute format(
    $query$
    with word as materialized (
      select w.n, w.lexeme, w.query, w.texts, w.chosen
      from unnest($3) with ordinality as w (lexeme, query, texts, chosen, weight, n)
    ),
    posting as materialized (
      select w.n, e.content_key
      from word w
      -- OFFSET 0: word by word, through the index on the lexemes.
      cross join lateral (
        select e.content_key from tracestore_data.embedding e
        where e.index_id = %1$s and e.live and e.lexemes @@ w.query
        offset 0) e
      where w.chosen and w.texts is null
      union all
      %4$s
    ),
    held as materialized (
      -- How rare a word is is counted among the texts that the caller sees in this build, and nowhere else: what is
      -- hidden, suppressed or of another build moves no rank. With the words of a text beside it: how many texts a word
      -- has is not known when this is planned, and two lists of 6,000 joined by key were compared row by row, in 1.3 s.
      select t.content_key, t.words
      from (select p.content_key, array_agg(p.n) as words from posting p group by p.content_key) t
      where (select true %2$s limit 1)
    ),
    weight as materialized (
      -- The rarer, the heavier: the weight of Robertson and Sparck Jones in Lucene's form, which is never below nought.
      select w.n, w.lexeme, w.query, w.texts, w.chosen, round(ln(1 + (b.texts - f.texts + 0.5) / (f.texts + 0.5)), 6) as weight
      from word w
      left join (select p.n, count(*)::numeric as texts from held cross join unnest(held.words) as p (n) group by p.n) p using (n)
      cross join lateral (select coalesce(w.texts, p.texts) as texts) f
      cross join (
        select greatest(b.chunks - b.not_embeddable, (select count(*) from held))::numeric as texts
        from tracestore_data.build b where b.build_id = $1) b
      where f.texts is not null
    ),
    weighed as materialized (
      select t.content_key, t.weight + coalesce(others.weight, 0) as weight
      from (
        select t.content_key, (select sum(w.weight) from weight w where w.n = any (t.words)) as weight
        from held t
        where $5 is null or (select true %3$s limit 1)
      ) t
      left join lateral (
        select sum(w.weight) as weight
        from tracestore_data.embedding e cross join weight w
        where $6 and not w.chosen and e.index_id = %1$s and e.content_key = t.content_key and e.lexemes @@ w.query
      ) others on true
    ),
    promising as materialized (
      select t.content_key
      from weighed t
      -- Ties go in the order of the answer, so that more that are asked for come after those that were.
      cross join lateral (
        select d.doc_id, v.version_seq, c.ordinal %3$s
        order by d.doc_id collate "C", v.version_seq, c.ordinal
        limit 1) c
      where t.weight >= coalesce((select x.weight from weighed x order by x.weight desc offset $4 - 1 limit 1), 0)
      order by t.weight desc, c.doc_id collate "C", c.version_seq, c.ordinal
      limit $4
    )
    select array(select content_key from promising),
      array(select row(w.lexeme, w.query, w.texts, w.chosen, w.weight)::tracestore.lexical_word from weight w order by w.n)
    $query$, index_id, tracestore.member_of_build(index_id, tracestore.nothing_is_hidden(readable)),
    tracestore.member_of_build(index_id, false, filter_condition),
    case when wanted is null then format(
      -- A word that is in so many texts tells little of them: any 5,000 will do, as long as they are the same ones.
      'select w.n, e.content_key
       from word w
       cross join lateral (
         select t.content_key
         from (
           select e.content_key from tracestore_data.embedding e
           where e.index_id = %1$s and e.live and e.lexemes @@ w.query
           order by e.content_key
           offset 0) t
         where (select true %2$s limit 1)
         limit greatest(5000, $4)) e
       where w.chosen and w.texts is not null', index_id,
       tracestore.member_of_build(index_id, tracestore.nothing_is_hidden(readable)))
    else format(
      -- Too few that the filter keeps have the rare words: what it keeps first, then the words.
      'select w.n, e.content_key
       from (
         select distinct c.content_key
         from tracestore_data.manifest_entry m
         join tracestore_data.document_version v on v.version_key = m.version_key
         join tracestore_data.document d on d.doc_key = v.doc_key
         join tracestore_data.chunk c on c.index_id = %1$s and c.version_key = m.version_key
         where m.index_id = %1$s and exists (select from word w where w.chosen and w.texts is not null)
           and m.added_build <= $1 and (m.removed_build is null or m.removed_build > $1)
           and c.added_build <= $1 and (c.removed_build is null or c.removed_build > $1) %2$s
         offset 0) k
       join tracestore_data.embedding e on e.index_id = %1$s and e.content_key = k.content_key
       join word w on w.chosen and w.texts is not null and e.lexemes @@ w.query', index_id, filter_condition)
    end)
  into v_promising
  using build_id, readable, words, text_count, wanted, (select bool_or(not w.chosen) from unnest(words) w);
  return v_promising;
end
$$;
comment on function tracestore.promising_texts(bigint, bigint, tracestore.lexical_word[], integer, text[], text, tracestore.search_filter) is
  'Internal to the lexical leg: the texts of a build with the chosen words, by the weight of all words that they hold.';

create function tracestore.rank_texts(
  index_id bigint, build_id bigint, texts tracestore.lexical_texts, match_count integer, readable text[], filter_condition text,
  wanted tracestore.search_filter)
returns tracestore.near_chunk[]
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_nearest tracestore.near_chunk[];
begin
  execute format(
    $query$
    with ranked as materialized (
      -- Once counts nearly as much as often (BM25 with k1 = 0.6), and a text of more than 64 lexemes has to say it more often.
      select p.content_key,
        round(sum(w.weight * 1.6 * cardinality(u.positions)
          / (cardinality(u.positions) + 0.6 * greatest(1, length(e.lexemes) / 64.0))), 6) as rank
      from unnest($6) as p (content_key)
      -- OFFSET 0: text by text through its key.
      cross join lateral (
        select e.lexemes from tracestore_data.embedding e where e.index_id = %1$s and e.content_key = p.content_key
        offset 0) e
      cross join lateral unnest(e.lexemes) as u (lexeme, positions, weights)
      join unnest($3) as w (lexeme, query, texts, chosen, weight) on w.lexeme = u.lexeme
      group by p.content_key
    )
    select array(
      select row(c.version_key, c.ordinal, c.added_build, - t.rank)::tracestore.near_chunk
      from ranked t
      cross join lateral (
        select c.version_key, c.ordinal, c.added_build, c.span_start, d.doc_id, v.version_seq %2$s
        -- Boilerplate shares a text: no more of it than can be returned.
        order by d.doc_id collate "C", v.version_seq, c.ordinal, c.span_start
        limit $4) c
      order by t.rank desc, c.doc_id collate "C", c.version_seq, c.ordinal, c.span_start
      limit $4)
    $query$, index_id, tracestore.member_of_build(index_id, false, filter_condition))
  into v_nearest
  using build_id, readable, texts.words, match_count, wanted, texts.content_keys;
  return v_nearest;
end
$$;
comment on function tracestore.rank_texts(bigint, bigint, tracestore.lexical_texts, integer, text[], text, tracestore.search_filter) is
  'Internal to the lexical leg: the chunks of texts, by rank, in total order.';

create function tracestore.lexical_matches(
  index_id bigint, build_id bigint, lexemes text[], match_count integer, wanted tracestore.search_filter, readable text[])
returns tracestore.near_chunk[]
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_words tracestore.lexical_word[];
  v_texts tracestore.lexical_texts;
  v_nearest tracestore.near_chunk[];
  v_condition text := case when wanted is null then '' else format(
    'and (($5).doc_id is null or d.doc_id = any (($5).doc_id))
     and (($5).labels is null or d.labels && ($5).labels)
     and (num_nulls(($5).family_id, ($5).class) = 2 or exists (
       select from tracestore_data.manifest_entry m
       where m.index_id = %s and m.version_key = c.version_key
         and m.added_build <= $1 and (m.removed_build is null or m.removed_build > $1)
         and (($5).family_id is null or m.family_id = any (($5).family_id))
         and (($5).class is null or m.class = any (($5).class))))', index_id) end;
begin
  if num_nulls(index_id, build_id, lexemes) > 0 or match_count is null or match_count not between 1 and 100000 then
    raise exception using errcode = 'TS001', message = 'match_count is not between 1 and 100000, or an argument is null',
      detail = format('match_count = %s', match_count), hint = 'Call tracestore.search.';
  end if;
  if cardinality(lexemes) = 0 then
    return '{}';
  end if;
  v_words := tracestore.lexical_words(index_id, build_id, lexemes, readable);
  loop
    v_texts := tracestore.promising_texts(
      index_id, build_id, v_words, greatest(400, 4 * match_count), readable, v_condition, wanted);
    v_nearest := tracestore.rank_texts(index_id, build_id, v_texts, match_count, readable, v_condition, wanted);
    exit when cardinality(v_nearest) >= match_count or not exists (select from unnest(v_words) w where not w.chosen);
    -- Too few with the rare words: the next of the frequent ones as well, under a filter all of them.
    v_words := array(
      select row(w.lexeme, w.query, w.texts, w.chosen or wanted is not null or w.n = min(w.n) filter (where not w.chosen) over (), null)::tracestore.lexical_word
      from unnest(v_words) with ordinality as w (lexeme, query, texts, chosen, weight, n) order by w.n);
  end loop;
  return v_nearest;
end
$$;
comment on function tracestore.lexical_matches(bigint, bigint, text[], integer, tracestore.search_filter, text[]) is
  'Internal to the lexical leg: the chunks of a build that hold any of the lexemes, by the weight of those they hold, as far as the current role and the labels see them.';
