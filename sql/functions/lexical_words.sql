create type tracestore.lexical_word as (
  lexeme text,
  query tsquery,
  texts numeric,
  chosen boolean,
  weight numeric
);
comment on type tracestore.lexical_word is
  'A word of a question: in how many texts of the build it is, if they are many; whether texts are looked up by it; what it weighs.';

create function tracestore.member_of_build(index_id bigint, only_chunks boolean, also text default '')
returns text
language sql
immutable
parallel safe
begin atomic
  -- $1 is the build; $2 the labels that limit what is seen, for the one caller whose row-level security is not applied.
  select format(
    case when only_chunks then
      'from tracestore_data.chunk c
       where c.index_id = %1$s and c.content_key = t.content_key
         and c.added_build <= $1 and (c.removed_build is null or c.removed_build > $1)'
    else
      'from tracestore_data.chunk c
       join tracestore_data.document_version v on v.version_key = c.version_key
       join tracestore_data.document d on d.doc_key = v.doc_key
       where c.index_id = %1$s and c.content_key = t.content_key
         and c.added_build <= $1 and (c.removed_build is null or c.removed_build > $1)
         and ($2 is null or d.labels = ''{}'' or d.labels && $2)
         and not exists (
           select from tracestore_data.suppression s
           where s.doc_key = v.doc_key and s.lifted_at is null and (s.version_key is null or s.version_key = v.version_key))
       %2$s'
    end, index_id, also);
end;
comment on function tracestore.member_of_build(bigint, boolean, text) is
  'Internal to the lexical leg: from and where of the chunks of text t in build $1 that its caller sees; only_chunks where nothing is hidden.';

create function tracestore.nothing_is_hidden(readable text[])
returns boolean
language sql
stable
parallel safe
begin atomic
  select readable is null and not exists (select from tracestore_data.suppression s where s.lifted_at is null);
end;
comment on function tracestore.nothing_is_hidden(text[]) is
  'Whether a chunk of a build is seen by everybody, so that its document need not be looked at. Row-level security hides chunks themselves.';

create function tracestore.lexical_words(index_id bigint, build_id bigint, lexemes text[], readable text[])
returns tracestore.lexical_word[]
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_words tracestore.lexical_word[];
  v_texts bigint;
begin
  v_words := array(
    -- Quoted, each alone: nothing of a question is ever read as an operator.
    select row(w.lexeme, ('''' || replace(replace(w.lexeme, chr(92), chr(92) || chr(92)), '''', '''''') || '''')::tsquery, null, true, null)::tracestore.lexical_word
    from unnest(lexemes) as w (lexeme));
  select b.chunks - b.not_embeddable into v_texts from tracestore_data.build b where b.build_id = lexical_words.build_id;
  if v_texts < 10000 then
    return v_words;
  end if;
  -- The lists of frequent words are nearly all that a search would read: 1.8 s of processor time for 100k texts and nine
  -- words, three of them in most texts, and 0.06 s without these. How frequent a word is shows in the first 500 texts of
  -- the build by their hashes: a sample, but the same one each time.
  execute format(
    $query$
    with sample as materialized (
      select t.lexemes from tracestore_data.embedding t
      where t.index_id = %1$s and t.live and (select true %2$s limit 1)
      order by t.content_key
      limit 500
    )
    select array_agg(
      row(w.lexeme, w.query, case when f.found >= 8 then round(f.found * $3 / f.of, 6) end, f.found < 8, null)::tracestore.lexical_word
      order by f.found, w.n)
    from unnest($4) with ordinality as w (lexeme, query, texts, chosen, weight, n)
    cross join lateral (select count(*) filter (where s.lexemes @@ w.query), count(*)::numeric from sample s) as f (found, of)
    $query$, index_id, tracestore.member_of_build(index_id, tracestore.nothing_is_hidden(readable)))
  into v_words
  using build_id, readable, v_texts, v_words;
  return v_words;
end
$$;
comment on function tracestore.lexical_words(bigint, bigint, text[], text[]) is
  'Internal to the lexical leg: the words of a question, the rarest first. All texts of a small build are looked up, of a large one those with rare words.';
