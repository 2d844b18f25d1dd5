-- requires: switch_alias, gates_open
create function tracestore.publish(
  index_alias text, build_id bigint, expected_build_id bigint default null, reason text default null, force boolean default false,
  beside boolean default false)
returns bigint
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_build tracestore_data.build;
  v_index tracestore_data.retrieval_index;
  v_served tracestore_data.alias;
  v_replaced tracestore_data.alias;
  v_other text;
  v_forced boolean;
begin
  if not coalesce(tracestore_data.is_citable_id(index_alias), false) then
    raise exception using errcode = 'TS008', message = 'the alias cannot be a name', detail = left(quote_nullable(index_alias), 200),
      hint = 'Names have 1 to 1024 bytes, are NFC and hold no control characters.';
  end if;
  perform tracestore.lock_alias(index_alias);
  -- Locked before its level is read: garbage collection lowers it under the same lock, and sees the alias or is seen.
  select b.* into v_build from tracestore_data.build b where b.build_id = publish.build_id for key share;
  if not found then
    raise exception using errcode = 'TS003', message = format('there is no build B-%s', publish.build_id),
      hint = 'View tracestore.builds lists builds.';
  end if;
  if v_build.state <> 'ready' or v_build.level <> 'vectors' then
    raise exception using errcode = 'TS004',
      message = format('build B-%s cannot be served', v_build.build_id),
      detail = format('state %s, retained %s', v_build.state, v_build.level), hint = 'Publish a ready build whose level is vectors.';
  end if;
  if v_build.chunks - v_build.not_embeddable = 0 then
    raise exception using errcode = 'TS007', message = format('build B-%s has nothing to search', v_build.build_id),
      detail = format('%s documents, %s chunks, %s of them not embeddable', v_build.documents, v_build.chunks, v_build.not_embeddable),
      hint = 'Ingest documents and build again.';
  end if;
  select i.* into v_index from tracestore_data.retrieval_index i where i.index_id = v_build.index_id;
  select c.slug into v_other
  from tracestore_data.alias_event e join tracestore_data.collection c using (collection_id)
  where e.alias_name = index_alias and e.collection_id <> v_index.collection_id limit 1;
  if found then
    raise exception using errcode = 'TS004', message = format('alias %s serves collection %s', quote_ident(index_alias), quote_literal(v_other)),
      hint = 'Use another alias for another collection.';
  end if;
  select a.* into v_served from tracestore_data.alias a
  where a.alias_name = index_alias and a.recipe_key = v_index.recipe_key;
  if not found then
    -- A build of another recipe: what it replaces is compared with what was expected.
    select a.* into v_replaced from tracestore_data.alias a where a.alias_name = index_alias
    order by a.build_id = expected_build_id desc limit 1;
  end if;
  if expected_build_id is distinct from coalesce(v_served.build_id, v_replaced.build_id) and expected_build_id is not null then
    raise exception using errcode = 'TS006',
      message = format('alias %s serves %s, not B-%s', quote_ident(index_alias),
        coalesce('B-' || coalesce(v_served.build_id, v_replaced.build_id), 'nothing'), expected_build_id),
      hint = 'Somebody switched it meanwhile; look again, then publish.';
  end if;
  if v_served.build_id = v_build.build_id then
    return v_served.alias_event_id;
  end if;
  v_forced := tracestore.refuse_open_gates(
    v_build.build_id, coalesce(v_served.build_id, v_replaced.build_id), coalesce(publish.force, false), publish.reason);
  -- A build of another recipe replaces what the alias served, unless it is published beside it.
  return tracestore.switch_alias(
    index_alias,
    v_build.build_id || array(
      select a.build_id from tracestore_data.alias a
      where publish.beside and a.alias_name = index_alias and a.recipe_key <> v_index.recipe_key),
    'publish', publish.reason, v_forced);
end
$$;
comment on function tracestore.publish(text, bigint, bigint, text, boolean, boolean) is
  'Lets an alias serve a build: one row and one event. With expected_build_id only if that is what it serves now; beside keeps what it serves for other recipes. Returns the event; the same build again changes nothing. Refused while gates of the collection are open, unless forced with a reason, which is logged.';
