-- requires: log_answer, answer_record, parse_citation, percent_encode, retrieval_record, check_fields
create type tracestore.dispute as (
  answer_id text,
  answered_at timestamptz,
  build_id bigint,
  index_id bigint,
  collection_id bigint,
  level text,
  retrieval tracestore_data.retrieval,
  index_alias text,
  items jsonb,
  item jsonb,
  version_key bigint,
  wanted text,
  expected jsonb,
  expected_key bigint,
  starts integer[],
  ends integer[],
  retrieval_ids bigint[],
  found jsonb
);
comment on type tracestore.dispute is
  'What an explanation is about: the answer and the build it came from, the disputed item of its record, and the passage it should have used: wanted says where that is from, given or successor; starts and ends are its spans, null: the whole version; found are the items of the record that are it or have a part of it.';

create function tracestore.disputed_item(items jsonb, disputed text)
returns jsonb
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_found jsonb;
begin
  select jsonb_agg(item order by place) into v_found
  from jsonb_array_elements(items) with ordinality as listed (item, place)
  where case when disputed is null then item -> 'cited' = 'true'
    else disputed in (item ->> 'chunk_id', item ->> 'citation', item ->> 'citation_number') end;
  if disputed is null and jsonb_array_length(v_found) > 1 then
    raise exception using errcode = 'TS001', message = format('the answer has %s citations', jsonb_array_length(v_found)),
      hint = 'Say in disputed which is disputed: its citation, its chunk_id or its number.';
  end if;
  if v_found is null and disputed is null then
    raise exception using errcode = 'TS001', message = 'the record does not say what the answer cited', hint = 'Give disputed.';
  end if;
  if v_found is null and not starts_with(disputed, 'tracestore:') then
    raise exception using errcode = 'TS003', message = format('the answer has no citation %L', disputed),
      hint = 'tracestore.answer_record(answer_id) lists what was retrieved.';
  end if;
  return coalesce(v_found -> 0, jsonb_build_object('chunk_id', disputed));
end
$$;
comment on function tracestore.disputed_item(jsonb, text) is
  'Internal to explain_answer: the item of a record that is disputed, by citation, chunk_id or citation number; without either the only one cited.';

create function tracestore.successor_of(version_key bigint, at timestamptz)
returns bigint
language sql
stable
begin atomic
  -- What replaced it by declaration, in its document or in its family: as it was in effect then, else the newest since.
  select v.version_key
  from tracestore_data.document_version old
  join tracestore_data.document o on o.doc_key = old.doc_key
  -- Each by its index: joined by an OR, every document of the collection was looked at.
  cross join lateral (
    select d.doc_key from tracestore_data.document d where d.family_id = o.family_id and d.collection_id = o.collection_id
    union
    select d.doc_key from tracestore_data.supersession s join tracestore_data.document d on d.doc_key = s.by_doc_key
    where s.doc_key = o.doc_key and d.collection_id = o.collection_id and s.accepted is not false
      and (s.version_key is null or s.version_key = old.version_key) and s.effective_at <= now()) d
  join tracestore_data.document_version v on v.doc_key = d.doc_key
  where old.version_key = successor_of.version_key and v.version_key <> old.version_key
    and v.version_state <> 'withdrawn' and v.effective_from <= now()
    and (v.effective_from, v.version_seq * (v.doc_key = old.doc_key)::integer, v.version_key)
      > (old.effective_from, old.version_seq * (v.doc_key = old.doc_key)::integer, old.version_key)
  order by v.effective_from <= at desc, v.effective_from desc, v.version_key desc
  limit 1;
end;
comment on function tracestore.successor_of(bigint, timestamptz) is
  'The version that should have been used at a time instead of another: in effect later, of the same document or family, or declared; null where none is known.';

create function tracestore.items_dropped(items jsonb, fired jsonb)
returns jsonb
language sql
immutable
parallel safe
begin atomic
  -- Of one search an object, of several a list; of another system anything.
  select coalesce(jsonb_agg(
    jsonb_build_object('chunk_id', d.item -> 'citation', 'content_hash', 'sha256:' || (d.item ->> 'span_sha256'), 'score', d.item -> 'score',
      'candidate_rank', d.item -> 'candidate_rank', 'given_to_model', false, 'dropped_by', 'conflict_policy')), '[]')
  from jsonb_path_query(fired, 'lax $.dropped[*] ? (@.citation.type() == "string")') as d (item)
  -- What the record lists itself, it knows better.
  where not exists (
    select from jsonb_array_elements(items) as known (item)
    where d.item ->> 'citation' in (known.item ->> 'chunk_id', known.item ->> 'citation'));
end;
comment on function tracestore.items_dropped(jsonb, jsonb) is
  'Internal to explain_answer: what policies for conflicts dropped, as items of a record that the model was not given.';

create function tracestore.answer_row(answer_id text)
returns tracestore_data.answer
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_answer tracestore_data.answer;
begin
  select a.* into v_answer
  from tracestore_data.answer_key k join tracestore_data.answer a on a.answer_key = k.answer_key and a.logged_at = k.logged_at
  where k.answer_id = answer_row.answer_id;
  return v_answer;
end
$$;
comment on function tracestore.answer_row(text) is 'Internal: an answer as it is kept, in the month of the log in which its key says it is.';

create function tracestore.items_of_answer(record jsonb, retrieval_ids bigint[])
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_items jsonb := coalesce(nullif(record -> 'retrieved', 'null'), tracestore.retrieval_items(retrieval_ids));
begin
  return v_items || tracestore.items_dropped(v_items,
    coalesce(nullif(tracestore.policies_fired(retrieval_ids), 'null'), record -> 'conflict_policy_fired'));
end
$$;
comment on function tracestore.items_of_answer(jsonb, bigint[]) is
  'What came back for an answer: as its record says, or else its searches, and what policies dropped of it.';

create function tracestore.dispute_of(answer_id text, disputed text, expected jsonb)
returns tracestore.dispute
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_record jsonb := tracestore.answer_record(answer_id);
  v_answer tracestore_data.answer := tracestore.answer_row(answer_id);
  v tracestore.dispute;
begin
  v.answer_id := answer_id;
  v.retrieval_ids := v_answer.retrieval_ids;
  -- Without a search of ours and a word of the record nobody knows what came back: null.
  if v_answer.retrieval_ids <> '{}' or nullif(v_record -> 'retrieved', 'null') is not null then
    v.items := tracestore.items_of_answer(v_record, v_answer.retrieval_ids);
  end if;
  v.item := tracestore.disputed_item(v.items, disputed);
  v.version_key := tracestore.version_of_item(v.item);
  -- The search that found it; where several did, or none, the last.
  select r into v.retrieval from tracestore_data.retrieval r
  where r.retrieval_id = any (v_answer.retrieval_ids)
  order by r.retrieval_id::text = v.item ->> 'retrieval_id' desc nulls last, v.version_key = any (r.version_keys) desc nulls last,
    array_position(v_answer.retrieval_ids, r.retrieval_id) desc
  limit 1;
  v.build_id := coalesce((v.retrieval).build_id, v_answer.build_id);
  v.answered_at := coalesce(tracestore.field_as_time(v_record, 'answered_at'), (v.retrieval).retrieved_at, (v.retrieval).logged_at);
  v.index_alias := coalesce((v.retrieval).index_alias, v_record ->> 'index_alias');
  select b.index_id, b.level, i.collection_id into v.index_id, v.level, v.collection_id
  from tracestore_data.build b join tracestore_data.retrieval_index i using (index_id) where b.build_id = v.build_id;
  v := tracestore.expect(v, expected);
  v.found := tracestore.expected_items(v);
  return v;
end
$$;
comment on function tracestore.dispute_of(text, text, jsonb) is 'Internal to explain_answer: what its arguments stand for.';

create function tracestore.expect(about tracestore.dispute, expected jsonb)
returns tracestore.dispute
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v tracestore.dispute := about;
  v_parts tracestore.citation_parts;
  v_text text;
begin
  if coalesce(expected, 'null') = 'null' then
    v.expected_key := tracestore.successor_of(v.version_key, coalesce(v.answered_at, now()));
    v.wanted := case when v.expected_key is not null then 'successor' end;
    return v;
  end if;
  perform tracestore.check_fields(expected, '{"citation": "string", "doc_id": "string", "version_id": "string", "anchor": "string", "collection": "string"}', 'expected.');
  v.wanted := 'given';
  v.expected := expected;
  if starts_with(expected ->> 'citation', 'tracestore:') then
    v_parts := tracestore.parse_citation(expected ->> 'citation');
    v.starts := array[v_parts.span_start];
    v.ends := array[v_parts.span_end];
  elsif expected ->> 'doc_id' is null and expected ->> 'citation' is null then
    raise exception using errcode = 'TS001', message = 'expected names no document',
      hint = 'For example {"doc_id": "travel", "version_id": "2025", "anchor": "five days"}.';
  end if;
  select v2.version_key, convert_from(v2.content, 'UTF8') into v.expected_key, v_text
  from tracestore_data.document d join tracestore_data.collection c using (collection_id) join tracestore_data.document_version v2 using (doc_key)
  where d.doc_id = coalesce(v_parts.doc_id, expected ->> 'doc_id')
    and case when coalesce(v_parts.collection, expected ->> 'collection') is null then d.collection_id = coalesce(v.collection_id, d.collection_id)
      else c.slug = coalesce(v_parts.collection, expected ->> 'collection') end
    and v2.version_id = coalesce(v_parts.version_id, expected ->> 'version_id', v2.version_id)
  -- Of a document without a version: what was in effect when the answer was given, else the newest.
  order by v2.effective_from <= coalesce(v.answered_at, now()) desc, v2.effective_from desc, v2.version_seq desc
  limit 1;
  if expected ->> 'anchor' <> '' and v_text is not null then
    -- A whole text between two anchors is one place more than there are anchors.
    select array_agg(ends - char_length(expected ->> 'anchor')), array_agg(ends) into v.starts, v.ends
    from (select sum(char_length(part) + char_length(expected ->> 'anchor')) over (order by place)::integer as ends,
        count(*) over () - place as rest
      from unnest(string_to_array(v_text, expected ->> 'anchor')) with ordinality as parts (part, place)) found
    where rest > 0;
    if v.starts is null then
      raise exception using errcode = 'TS001', message = 'expected.anchor does not occur in that version', detail = left(expected ->> 'anchor', 200),
        hint = 'Copy the words as they stand in the text.';
    end if;
  end if;
  return v;
end
$$;
comment on function tracestore.expect(tracestore.dispute, jsonb) is
  'Internal to explain_answer: which version, and where in it, should have been used: as given, else the successor of the disputed one.';

create type tracestore.fact as (
  value boolean,
  missing text,
  detail jsonb
);
comment on type tracestore.fact is 'Whether something was so, or which field is missing to know it, and the rows that say so.';

create function tracestore.in_expected(about tracestore.dispute, span_start bigint, span_end bigint)
returns boolean
language sql
immutable
parallel safe
return (about).starts is null or exists (
  select from unnest((about).starts, (about).ends) as place (place_start, place_end)
  where in_expected.span_start < place_end and in_expected.span_end > place_start);
comment on function tracestore.in_expected(tracestore.dispute, bigint, bigint) is 'Internal to explain_answer: whether a span has a part of the expected passage.';

create function tracestore.is_expected(about tracestore.dispute, item jsonb, prefix text)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_citation text := coalesce(item ->> 'citation', item ->> 'chunk_id');
  v_parts tracestore.citation_parts;
begin
  if about.expected ->> 'citation' in (item ->> 'chunk_id', item ->> 'citation') then
    return true;
  end if;
  if about.expected_key is null then
    -- Unknown here: by the names that the record uses.
    return coalesce(about.expected ->> 'citation' is null and item ->> 'doc_id' = about.expected ->> 'doc_id'
      and item ->> 'doc_version' = coalesce(about.expected ->> 'version_id', item ->> 'doc_version'), false);
  end if;
  -- Most items are of other versions: their citation says so, unless an id in it could be written in another way.
  if not starts_with(v_citation, prefix)
    and v_citation ~ '^tracestore:[^/@#%]+/[^/@#%]+@[^/@#%]+#char=[0-9]{1,10},[0-9]{1,10};sha256=[0-9a-f]{16}$' then
    return false;
  end if;
  if tracestore.version_of_item(item) is distinct from about.expected_key then
    return false;
  end if;
  v_parts := tracestore.parts_of_item(item);
  if v_parts.doc_id is not null then
    return tracestore.in_expected(about, v_parts.span_start, v_parts.span_end);
  end if;
  return true;
end
$$;
comment on function tracestore.is_expected(tracestore.dispute, jsonb, text) is
  'Internal to explain_answer: whether an item of a record is the expected passage, or has a part of it; prefix begins the citations of its version.';

create function tracestore.expected_items(about tracestore.dispute)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_prefix text;
begin
  if about.wanted is null or about.items is null then
    return null;
  end if;
  select 'tracestore:' || tracestore.percent_encode(c.slug) || '/' || tracestore.percent_encode(d.doc_id) || '@'
    || tracestore.percent_encode(v.version_id) || '#'
  into v_prefix
  from tracestore_data.document_version v join tracestore_data.document d using (doc_key) join tracestore_data.collection c using (collection_id)
  where v.version_key = about.expected_key;
  return coalesce((
    select jsonb_agg(item order by place) from jsonb_array_elements(about.items) with ordinality as listed (item, place)
    where tracestore.is_expected(about, item, v_prefix)), '[]');
end
$$;
comment on function tracestore.expected_items(tracestore.dispute) is
  'Internal to explain_answer: the items of the record that are the expected passage or have a part of it, in their order; null where nothing is expected, or the record has none.';
