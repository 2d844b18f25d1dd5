create function tracestore.lexemes(configuration regconfig, embedded_text text)
returns tsvector
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  -- Anything but Latin, Cyrillic and common punctuation in their normal form, with which there is nothing to be done.
  c_other constant text := '[^\u0001-\u007e\u00a1-\u00a7\u00a9\u00ab\u00ac\u00ae\u00b0\u00b1\u00b6\u00b7\u00bb\u00bf-\u0131\u0134-\u013e\u0141-\u0148\u014a-\u017e\u0400-\u0481\u048a-\u052f\u2010\u2012-\u2016\u2018-\u2023\u20ac]';
  v_text text := embedded_text;
begin
  if octet_length(v_text) = length(v_text) or v_text !~ c_other then
    if length(v_text) <= 500 then
      return to_tsvector(configuration, v_text);
    end if;
  else
    -- Soft hyphens, directions, joiners and variants are not seen, so they are not words' letters either.
    v_text := replace(regexp_replace(v_text, '[\u00ad\u034f\u061c\u180b-\u180f\u200c-\u200f\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff\U000e0100-\U000e01ef]+', '', 'g'), chr(8203), ' ');
    if v_text is not nfkc normalized then
      v_text := normalize(v_text, nfkc);
    end if;
  end if;
  if length(v_text) > 500 then
    -- to_tsvector drops a word of more than 2,046 bytes, and takes 12 s for one of 50,000 characters of `a_a_a_`.
    -- What ordinary text lacks is asked first: 8 us for 1,300 characters, where the second takes 28 and to_tsvector 130.
    if v_text ~ E'\\S{50}' and v_text ~ E'\\S{250}\\S{251}' then
      v_text := regexp_replace(v_text, E'(\\S{250}\\S{250})', E'\\1 ', 'g');
    end if;
    if length(v_text) > 50000 then
      return tracestore.lexemes_of_parts(configuration, v_text);
    end if;
  end if;
  return tracestore.lexemes_of_part(configuration, v_text);
end
$$;
comment on function tracestore.lexemes(regconfig, text) is
  'The words of a text as the lexical leg knows them: Postgres full text, with pairs of characters for scripts without spaces. The same for texts and queries.';

create function tracestore.lexemes_of_part(configuration regconfig, part text)
returns tsvector
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  -- Han, kana, bopomofo, Yi, Hangul (whose particles are written to the word), Thai, Lao, Burmese, Khmer, Tai, Javanese,
  -- Balinese: letters and marks, without digits and punctuation.
  c_run constant text := '[\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u0edc-\u0edf\u1000-\u103f\u104c-\u108f\u109a-\u109f\u1100-\u11ff\u1780-\u17d3\u17d7\u17dc\u17dd\u1950-\u19c9\u1a20-\u1a7c\u1b05-\u1b4b\u2e80-\u2fd5\u3005-\u3007\u3021-\u3029\u3031-\u3035\u303b\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua48c\ua960-\ua97c\ua980-\ua9c0\ua9e0-\ua9ef\uaa60-\uaadf\uac00-\ud7fb\uf900-\ufaff\U0001aff0-\U0001b16f\U00020000-\U000323af]+';
  -- A character with the marks written on it counts as one: in Thai questions hit@5 0.976 and hit@1 0.90, by single code
  -- points 0.961 and 0.86. No more than eight, so that no pair is too long for a lexeme.
  c_character constant text := '.[\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u1056-\u1059\u105e-\u1060\u1062-\u1064\u1067-\u106d\u1071-\u1074\u1082-\u108d\u108f\u109a-\u109d\u17b4-\u17d3\u17dd\u1a55-\u1a7c\u1b34-\u1b44\u3099\u309a\ua980-\ua983\ua9b3-\ua9c0]{0,8}';
  v_pairs tsvector;
begin
  if part !~ c_run then
    return to_tsvector(configuration, part);
  end if;
  select string_agg(pair || ':' || least(place, 16383), ' ')::tsvector into v_pairs
  from (
    select pair, row_number() over (order by run, place) as place
    from (
      -- The last character of a run makes no pair, unless it is the only one.
      select r.run, c.place, case
          when lead(c.letter[1]) over next is not null then c.letter[1] || lead(c.letter[1]) over next
          when c.place = 1 then c.letter[1]
        end as pair
      from regexp_matches(part, c_run, 'g') with ordinality as r (letters, run)
      cross join lateral regexp_matches(r.letters[1], c_character, 'g') with ordinality as c (letter, place)
      window next as (partition by r.run order by c.place)
    ) with_last
    where pair is not null
  ) pairs;
  return to_tsvector(configuration, regexp_replace(part, c_run, ' ', 'g')) || v_pairs;
end
$$;
comment on function tracestore.lexemes_of_part(regconfig, text) is
  'Internal to lexemes: the lexemes of a text of at most 50,000 characters in normal form.';

create function tracestore.lexemes_of_parts(configuration regconfig, whole text)
returns tsvector
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_lexemes tsvector := '';
  v_rest text := whole;
  v_part text;
begin
  -- A tsvector holds 1 MB. A part makes at most 0.7 MB, so another one always fits.
  while v_rest <> '' and pg_column_size(v_lexemes) < 300000 loop
    v_part := left(v_rest, 50000);
    if length(v_rest) > 50000 then
      v_part := coalesce(substring(v_part from E'^.*\\s'), v_part);
    end if;
    v_lexemes := v_lexemes || tracestore.lexemes_of_part(configuration, v_part);
    v_rest := right(v_rest, - length(v_part));
  end loop;
  return v_lexemes;
end
$$;
comment on function tracestore.lexemes_of_parts(regconfig, text) is
  'Internal to lexemes: the lexemes of a text of any length, part by part, up to what a tsvector holds.';

create function tracestore.query_lexemes(configuration regconfig, query_text text)
returns text[]
language sql
immutable
parallel safe
begin atomic
  -- The first 64 different ones: a question has about ten, a page that was pasted in is no question.
  select coalesce(array_agg(q.lexeme order by q.place), '{}')
  from (
    select u.lexeme, u.positions[1] as place
    from unnest(tracestore.lexemes(configuration, left(query_text, 10000))) as u (lexeme, positions, weights)
    order by u.positions[1], u.lexeme collate "C"
    limit 64
  ) q;
end;
comment on function tracestore.query_lexemes(regconfig, text) is
  'The lexemes by which a question is looked up, in its order: at most 64, of its first 10,000 characters. None: only stop words.';
