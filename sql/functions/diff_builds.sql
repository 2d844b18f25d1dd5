-- requires: build_difference, manifest, diff_chunks
create function tracestore.flat_settings(settings jsonb)
returns table (setting text, value jsonb)
language sql
immutable
parallel safe
begin atomic
  select part.key || coalesce('.' || inner_part.key, ''), coalesce(inner_part.value, part.value)
  from jsonb_each(settings) as part
  left join lateral jsonb_each(case jsonb_typeof(part.value) when 'object' then part.value else '{}' end) as inner_part on true;
end;
comment on function tracestore.flat_settings(jsonb) is 'Settings of a manifest header, one row each, such as chunking.max_words.';

create function tracestore.diff_builds(a bigint, b bigint)
returns setof tracestore.build_difference
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_a tracestore_data.build;
  v_b tracestore_data.build;
begin
  select x.* into v_a from tracestore_data.build x where x.build_id = a and x.state = 'ready';
  select x.* into v_b from tracestore_data.build x where x.build_id = b and x.state = 'ready';
  if v_a.build_id is null or v_b.build_id is null then
    raise exception using errcode = 'TS003', message = format('there is no ready build B-%s', case when v_a.build_id is null then a else b end),
      hint = 'View tracestore.builds lists builds.';
  end if;
  return query
  select 'setting', 'changed', null::text, null::text, coalesce(x.setting, y.setting), x.value, y.value, 1::bigint
  from tracestore.flat_settings(v_a.manifest_header::jsonb) x
  full join tracestore.flat_settings(v_b.manifest_header::jsonb) y on y.setting = x.setting
  where x.value is distinct from y.value
  order by 5;
  return query
  with member_a as (select * from tracestore.manifest(a)),
  member_b as (select * from tracestore.manifest(b)),
  version as (
    select coalesce(x.doc_id, y.doc_id) as doc_id, coalesce(x.version_id, y.version_id) as version_id,
      case when x.doc_id is null then 'added' else 'removed' end as change
    from member_a x full join member_b y on y.doc_id = x.doc_id and y.version_id = x.version_id
    where x.doc_id is null or y.doc_id is null
  ),
  document as (
    select doc_id, case when count(*) = 2 then 'changed' else min(change) end as change from version group by doc_id
  )
  select 'version', change, doc_id, version_id, null::text, null::jsonb, null::jsonb, 1::bigint from version
  union all
  select 'document', change, doc_id, null, null, null, null, 1 from document
  order by 1 desc, 2, 3, 4;
  if 'manifest' not in (v_a.level, v_b.level) then
    return query select * from tracestore.diff_chunks(v_a, v_b);
  end if;
end
$$;
comment on function tracestore.diff_builds(bigint, bigint) is
  'What changed from build a to build b: settings, members, documents, and chunks by distinct content key while both builds keep their chunks.';
