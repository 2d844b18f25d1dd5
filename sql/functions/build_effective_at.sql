create function tracestore.build_effective_at(
  collection text, recipe_id text, effective_at timestamptz, index_alias text default null)
returns bigint
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_build bigint;
  v_served bigint;
begin
  select b.index_id into v_served
  from tracestore_data.alias a
  join tracestore_data.recipe r using (recipe_key)
  join tracestore_data.build b using (build_id)
  where a.alias_name = index_alias and r.recipe_id = build_effective_at.recipe_id;
  select b.build_id into v_build
  from tracestore_data.collection c
  join tracestore_data.retrieval_index i using (collection_id)
  join tracestore_data.recipe r using (recipe_key)
  join tracestore_data.build b using (index_id)
  where c.slug = collection and r.recipe_id = build_effective_at.recipe_id and b.state = 'ready' and b.level = 'vectors'
    and b.cutoff_at <= effective_at
  -- Users of an alias compare with what it answers now, cut by the same rules.
  order by (b.index_id = v_served) is true desc, b.cutoff_at desc, b.build_id desc limit 1;
  if not found then
    raise exception using errcode = 'TS003',
      message = format('no searchable build of %s holds the corpus effective at %s', quote_literal(collection), effective_at),
      hint = 'tracestore build COLLECTION --effective-at TIME makes one.';
  end if;
  return v_build;
end
$$;
comment on function tracestore.build_effective_at(text, text, timestamptz, text) is
  'The searchable build whose corpus was cut off latest before a time on the effective axis: of the index an alias serves, where it has one.';

create function tracestore.history_cutoffs(collection text, period text)
returns setof timestamptz
language sql
stable
begin atomic
  -- Only times at which the corpus changed: a period without a change has the corpus of the one before.
  with change as (
    select v.effective_from as changed_at
    from tracestore_data.collection c join tracestore_data.document d using (collection_id)
    join tracestore_data.document_version v using (doc_key)
    where c.slug = history_cutoffs.collection
    union
    select s.effective_at
    from tracestore_data.collection c join tracestore_data.document d using (collection_id)
    join tracestore_data.supersession s using (doc_key)
    where c.slug = history_cutoffs.collection and s.accepted is not false
  )
  select distinct case
    when period <> 'month' then changed_at
    -- The present month is not over: what is in effect now stands for it.
    when date_trunc('month', changed_at at time zone 'UTC') < date_trunc('month', now() at time zone 'UTC')
      then (date_trunc('month', changed_at at time zone 'UTC') + interval '1 month') at time zone 'UTC' - interval '1 microsecond'
    end as cutoff
  from change where changed_at <= now()
  order by cutoff nulls last;
end;
comment on function tracestore.history_cutoffs(text, text) is
  'The cut-offs of a history: the last moment of each month in which something took effect (period month; null at the end stands for the present month, as it is now), or each moment at which something did (commit).';
