-- requires: dispute, resolve, answer_record, retrieval_record, log_answer
create type tracestore.answer_evidence as (
  place integer,
  role text,
  item jsonb,
  status text,
  reason text,
  collection text,
  doc_id text,
  version_id text,
  title text,
  heading_path text[],
  page text,
  span_start bigint,
  span_end bigint,
  citation text,
  recorded_sha256 text,
  sha256_now text,
  content_sha256 text,
  state_then text,
  state_now text,
  effective_from timestamptz,
  registered_at timestamptz,
  was_member boolean,
  is_served boolean
);
comment on type tracestore.answer_evidence is
  'A passage of an answer''s record, then and now. role: cited, given (to the model), dropped, or retrieved where the record does not say; status: that of resolve, or unknown where no version here is meant.';

create function tracestore.place_of_item(item jsonb, version_key bigint)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_hash bytea := decode((regexp_match(item ->> 'content_hash', '^sha256:([0-9a-f]{64})$'))[1], 'hex');
  v_citation text;
begin
  if (tracestore.parts_of_item(item)).doc_id is not null then
    return coalesce(item ->> 'citation', item ->> 'chunk_id');
  end if;
  -- Another system's id: a chunk of that version with the same words is where they stand.
  select tracestore.citation(c.slug, d.doc_id, v.version_id, k.span_start, k.span_end, v_hash) into v_citation
  from tracestore_data.document_version v
  join tracestore_data.document d using (doc_key)
  join tracestore_data.collection c using (collection_id)
  join tracestore_data.manifest_entry m on m.version_key = v.version_key
  join tracestore_data.chunk k on k.index_id = m.index_id and k.version_key = v.version_key and k.span_sha256 = v_hash
  where v.version_key = place_of_item.version_key
  order by k.span_start limit 1;
  return v_citation;
end
$$;
comment on function tracestore.place_of_item(jsonb, bigint) is
  'Internal to answer_evidence: the citation of an item, its own or one found by document and hash; null where it cannot be told.';

create function tracestore.last_retrieval(retrieval_ids bigint[])
returns tracestore_data.retrieval
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_retrieval tracestore_data.retrieval;
begin
  select r.* into v_retrieval from tracestore_data.retrieval r
  where r.retrieval_id = any (retrieval_ids) order by array_position(retrieval_ids, r.retrieval_id) desc limit 1;
  return v_retrieval;
end
$$;
comment on function tracestore.last_retrieval(bigint[]) is 'Internal to the page of an answer: the last of its searches that is on record.';

create function tracestore.answer_evidence(answer_id text)
returns setof tracestore.answer_evidence
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_record jsonb := tracestore.answer_record(answer_id);
  v_answer tracestore_data.answer := tracestore.answer_row(answer_id);
  v_items jsonb := tracestore.items_of_answer(v_record, v_answer.retrieval_ids);
  v_retrieval tracestore_data.retrieval := tracestore.last_retrieval(v_answer.retrieval_ids);
  v_index bigint;
  v_recipe bigint;
  v_build bigint;
  v_served bigint;
begin
  v_build := coalesce(v_retrieval.build_id, v_answer.build_id);
  select b.index_id, i.recipe_key into v_index, v_recipe
  from tracestore_data.build b join tracestore_data.retrieval_index i using (index_id) where b.build_id = v_build;
  select a.build_id into v_served from tracestore_data.alias a
  where a.alias_name = coalesce(v_retrieval.index_alias, v_record ->> 'index_alias') and a.recipe_key = v_recipe;
  return query
  select
    listed.place::integer,
    case when listed.item -> 'cited' = 'true' then 'cited'
      when listed.item -> 'given_to_model' = 'true' then 'given'
      when listed.item -> 'given_to_model' = 'false' or listed.item ->> 'dropped_by' is not null then 'dropped'
      else 'retrieved' end,
    listed.item,
    coalesce((found.passage).status, 'unknown'),
    (found.passage).reason,
    c.slug, d.doc_id, v.version_id, d.title,
    (found.passage).heading_path, (found.passage).page, (found.passage).span_start, (found.passage).span_end,
    place.citation,
    (regexp_match(listed.item ->> 'content_hash', '^sha256:([0-9a-f]{64})$'))[1],
    (found.passage).span_sha256,
    encode(v.content_sha256, 'hex'),
    coalesce(listed.item ->> 'version_state_at_answer', then_member.version_state),
    v.version_state, v.effective_from, v.registered_at,
    case when v_build is not null and v.version_key is not null then then_member.version_key is not null end,
    case when v_served is not null and v.version_key is not null then v.content is not null and exists (
      select from tracestore_data.build b join tracestore_data.manifest_entry m using (index_id)
      where b.build_id = v_served and m.version_key = v.version_key
        and m.added_build <= v_served and (m.removed_build is null or m.removed_build > v_served)) and not exists (
      select from tracestore_data.suppression s
      where s.doc_key = v.doc_key and s.lifted_at is null and (s.version_key is null or s.version_key = v.version_key)) end
  from jsonb_array_elements(v_items) with ordinality as listed (item, place)
  cross join lateral (select tracestore.version_of_item(listed.item) as version_key offset 0) known
  left join tracestore_data.document_version v on v.version_key = known.version_key
  left join tracestore_data.document d on d.doc_key = v.doc_key
  left join tracestore_data.collection c on c.collection_id = d.collection_id
  cross join lateral (select tracestore.place_of_item(listed.item, v.version_key) as citation offset 0) place
  cross join lateral (select case when place.citation is not null then tracestore.resolve(place.citation) end as passage offset 0) found
  left join tracestore_data.manifest_entry then_member on then_member.index_id = v_index and then_member.version_key = v.version_key
    and then_member.added_build <= v_build and (then_member.removed_build is null or then_member.removed_build > v_build)
  order by listed.place;
end
$$;
comment on function tracestore.answer_evidence(text) is
  'The passages of an answer''s record, by place: where each stands, whether it still reads the same, and its state in the answering build and today.';

create type tracestore.disputed_passage as (
  role text,
  collection text,
  doc_id text,
  version_id text,
  starts integer[],
  ends integer[]
);
comment on type tracestore.disputed_passage is
  'A passage that a dispute is about. role: disputed or expected; starts and ends are its spans, null: the whole version, or not known.';

create function tracestore.disputed_passages(answer_id text, disputed text default null, expected jsonb default null)
returns setof tracestore.disputed_passage
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_about tracestore.dispute := tracestore.dispute_of(answer_id, disputed, expected);
begin
  return query
  select named.role, c.slug, d.doc_id, v.version_id, named.starts, named.ends
  from (values
    (1, 'disputed', v_about.version_key, array[((tracestore.parts_of_item(v_about.item)).span_start)::integer],
      array[((tracestore.parts_of_item(v_about.item)).span_end)::integer]),
    (2, 'expected', v_about.expected_key, v_about.starts, v_about.ends)) as named (place, role, version_key, starts, ends)
  join tracestore_data.document_version v on v.version_key = named.version_key
  join tracestore_data.document d using (doc_key)
  join tracestore_data.collection c using (collection_id)
  order by named.place;
end
$$;
comment on function tracestore.disputed_passages(text, text, jsonb) is
  'Where the passages stand that explain_answer with these arguments speaks of: the disputed one, and what should have been used.';
