create function tracestore.open_gold_set(collection text, name text)
returns bigint
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_collection bigint;
  v_set bigint;
begin
  select c.collection_id into v_collection from tracestore_data.collection c where c.slug = open_gold_set.collection;
  if not found then
    raise exception using errcode = 'TS003', message = format('there is no collection %L', open_gold_set.collection),
      hint = 'A gold set asks about documents: ingest them first.';
  end if;
  insert into tracestore_data.gold_set (collection_id, name) values (v_collection, open_gold_set.name) on conflict do nothing;
  -- Until the transaction ends: two imports into one set would both take the next free question_id.
  select g.gold_set_id into v_set from tracestore_data.gold_set g
  where g.collection_id = v_collection and g.name = open_gold_set.name for no key update;
  return v_set;
end
$$;
comment on function tracestore.open_gold_set(text, text) is 'Makes a gold set if it is new, and locks it against other imports until the transaction ends.';

create function tracestore.add_gold_items(gold_set_id bigint, items jsonb)
returns bigint
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_collection bigint;
  v_unknown text;
  v_more bigint;
  v_added bigint;
begin
  select g.collection_id into v_collection from tracestore_data.gold_set g where g.gold_set_id = add_gold_items.gold_set_id;
  select min(named), count(distinct named) - 1 into v_unknown, v_more
  from (
    select quote_literal(coalesce(a.doc_id, a.family_id)) as named
    from jsonb_array_elements(items) as item
    cross join jsonb_to_recordset(item -> 'anchors') as a (doc_id text, family_id text)
    where not exists (
      select from tracestore_data.document d
      where d.collection_id = v_collection and (d.doc_id = a.doc_id or d.family_id = a.family_id))) unknown;
  if v_unknown is not null then
    raise exception using errcode = 'TS003',
      message = format('the collection has no document or family %s%s', v_unknown, case when v_more > 0 then format(' and %s more', v_more) else '' end),
      hint = 'Ingest the documents first, or correct the ids.';
  end if;
  insert into tracestore_data.gold_item (gold_set_id, question_id, query, slices, split)
  select add_gold_items.gold_set_id, i.question_id, i.query, i.slices, i.split
  from jsonb_to_recordset(items) as i (question_id text, query text, slices text[], split text);
  get diagnostics v_added = row_count;
  insert into tracestore_data.gold_anchor (gold_item_id, doc_key, family_id, quote, prefix, suffix, quote_position, valid_from, valid_to)
  select i.gold_item_id, d.doc_key, a.family_id, a.anchor, a.prefix, a.suffix, a.position, a.valid_from, a.valid_to
  from jsonb_array_elements(items) with ordinality as given (item, place)
  join tracestore_data.gold_item i
    on i.gold_set_id = add_gold_items.gold_set_id and i.question_id = item ->> 'question_id' and i.retired_at is null
  cross join jsonb_to_recordset(item -> 'anchors')
    as a (doc_id text, family_id text, anchor text, prefix text, suffix text, "position" integer, valid_from timestamptz, valid_to timestamptz)
  left join tracestore_data.document d on d.collection_id = v_collection and d.doc_id = a.doc_id
  order by given.place;
  return v_added;
end
$$;
comment on function tracestore.add_gold_items(bigint, jsonb) is 'Adds questions with their anchors to a gold set, all or none; returns how many.';

create function tracestore.retire_gold(gold_item_ids bigint[], reason text)
returns bigint
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_retired bigint;
begin
  update tracestore_data.gold_item i
  set retired_at = clock_timestamp(), retired_by = session_user, retire_reason = reason
  where i.gold_item_id = any (gold_item_ids) and i.retired_at is null;
  get diagnostics v_retired = row_count;
  return v_retired;
end
$$;
comment on function tracestore.retire_gold(bigint[], text) is 'Asks questions no longer; what was evaluated with them stays. Returns how many were still asked.';
