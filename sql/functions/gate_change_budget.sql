-- requires: gate_outcome, diff_builds
create function tracestore.gate_change_budget(
  build_id bigint, against_build_id bigint, documents double precision default null, parsed_anew double precision default null)
returns setof tracestore.gate_outcome
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_build tracestore_data.build := tracestore.build_to_check(build_id);
  v_served tracestore_data.build;
  v_changed bigint;
  v_added bigint;
  v_upstream bigint;
  v_examples text[];
  v_settings text;
  v_parsed bigint;
  v_parsed_examples text;
  v_share double precision;
begin
  select b.* into v_served from tracestore_data.build b where b.build_id = gate_change_budget.against_build_id and b.state = 'ready';
  if not found then
    raise exception using errcode = 'TS003', message = format('there is no ready build B-%s', gate_change_budget.against_build_id),
      hint = 'View tracestore.builds lists builds.';
  end if;
  select count(*) filter (where d.part = 'document' and d.change <> 'added'), count(*) filter (where d.part = 'document' and d.change = 'added'),
    coalesce(sum(d.count) filter (where d.change = 'upstream'), 0),
    (array_agg(d.doc_id || ' ' || d.version_id order by d.doc_id) filter (where d.change = 'upstream'))[:5],
    string_agg(d.setting, ', ' order by d.setting) filter (where d.part = 'setting')
  into v_changed, v_added, v_upstream, v_examples, v_settings
  from tracestore.diff_builds(v_served.build_id, v_build.build_id) d;
  v_share := v_changed::double precision / greatest(v_served.documents, 1);
  return next row('change_budget', 'documents changed or gone', '', '', v_served.build_id, v_share <= coalesce(documents, 0.5), v_share,
    coalesce(documents, 0.5), format('%s of %s changed or gone, %s new', v_changed, v_served.documents, v_added), null)::tracestore.gate_outcome;

  -- The same document, read by another parser or changed under its label: what changed may be the reading, not the source.
  select count(*), string_agg(d.doc_id, ', ' order by d.doc_id) filter (where place <= 5) into v_parsed, v_parsed_examples
  from (
    select n.doc_key, row_number() over (order by n.doc_key) as place
    from tracestore_data.manifest_entry me
    join tracestore_data.document_version n on n.version_key = me.version_key
    join tracestore_data.document_version o on o.doc_key = n.doc_key and o.version_key <> n.version_key
    join tracestore_data.manifest_entry mo on mo.version_key = o.version_key
    where me.index_id = v_build.index_id and me.added_build <= v_build.build_id
      and (me.removed_build is null or me.removed_build > v_build.build_id)
      and mo.index_id = v_served.index_id and mo.added_build <= v_served.build_id
      and (mo.removed_build is null or mo.removed_build > v_served.build_id)
      and (n.parser is distinct from o.parser or n.in_place_of is not null)
    group by n.doc_key) x
  join tracestore_data.document d using (doc_key);
  v_share := v_parsed::double precision / greatest(v_served.documents, 1);
  return next row('change_budget', 'documents read anew', '', '', v_served.build_id, v_share <= coalesce(parsed_anew, 0), v_share,
    coalesce(parsed_anew, 0), case when v_parsed > 0 then format('%s by another parser or under their old label: %s', v_parsed, v_parsed_examples)
      || case when v_parsed > 5 then ', ...' else '' end end, null)::tracestore.gate_outcome;

  if v_served.level <> 'manifest' then
    return next row('change_budget', 'chunks that changed without their document', '', '', v_served.build_id,
      v_upstream = 0 or v_settings is not null, v_upstream, 0,
      coalesce('as settings changed: ' || v_settings, 'first: ' || array_to_string(v_examples, ', ')), null)::tracestore.gate_outcome;
  end if;
end
$$;
comment on function tracestore.gate_change_budget(bigint, bigint, double precision, double precision) is
  'The gate change_budget: against a served build, at most this share of documents changed (0.5), this share was read anew (0), and no chunk changed whose document did not, unless a setting did.';
