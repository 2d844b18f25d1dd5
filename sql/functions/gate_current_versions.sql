-- requires: gate_outcome
create function tracestore.outdated_members(build tracestore_data.build)
returns table (doc_id text, version_id text, fault text)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  -- A reindex has the corpus of the build before it, whatever came since.
  v_known_at timestamptz := (
    select max(b.started_at) from tracestore_data.build b
    where b.index_id = build.index_id and b.build_id <= build.build_id and b.kind = 'build' and b.state = 'ready');
begin
  -- Judged by what was known when the build began, so that what came since does no harm; and from the records
  -- themselves, not by the plan that the build was made by.
  return query
  with member as (
    select v.doc_key, v.version_key, v.version_id, v.version_seq, v.effective_from,
      row_number() over (partition by v.doc_key order by v.effective_from desc, v.version_seq desc) as place
    from tracestore_data.manifest_entry m join tracestore_data.document_version v using (version_key)
    where m.index_id = build.index_id and m.added_build <= build.build_id and (m.removed_build is null or m.removed_build > build.build_id)
  ),
  withdrawn as (
    select e.version_key
    from (
      select distinct on (e.version_key) e.version_key, e.new_state
      from tracestore_data.version_state_event e
      where e.occurred_at < v_known_at
      order by e.version_key, e.version_state_event_id desc) e
    where e.new_state = 'withdrawn'
  ),
  judged as (
    select m.doc_key, m.version_id,
      case
        when m.place > 1 then 'another version is a member as well'
        when m.version_key in (select w.version_key from withdrawn w) then 'withdrawn before the build'
        when exists (
          select from tracestore_data.suppression s
          where s.doc_key = m.doc_key and (s.version_key is null or s.version_key = m.version_key)
            and s.suppressed_at < v_known_at and (s.lifted_at is null or s.lifted_at > v_known_at)) then 'taken down before the build'
        when exists (
          select from tracestore_data.supersession s
          where s.doc_key = m.doc_key and s.effective_at <= build.cutoff_at
            and (s.version_key = m.version_key or s.version_key is null and m.effective_from <= s.effective_at)
            and (not s.inferred and s.declared_at < v_known_at or s.accepted and s.decided_at < v_known_at)) then 'superseded before the build'
        when exists (
          select from tracestore_data.document_version n
          where n.doc_key = m.doc_key and n.registered_at < v_known_at and n.effective_from <= build.cutoff_at
            and (n.effective_from, n.version_seq) > (m.effective_from, m.version_seq)
            and n.version_key not in (select w.version_key from withdrawn w)
            and not exists (
              select from tracestore_data.suppression s
              where s.doc_key = n.doc_key and s.version_key = n.version_key and s.suppressed_at < v_known_at)) then 'a newer version was in effect'
      end as fault
    from member m
  )
  select d.doc_id, j.version_id, j.fault
  from judged j join tracestore_data.document d using (doc_key)
  where j.fault is not null
  order by d.doc_id, j.version_id;
end
$$;
comment on function tracestore.outdated_members(tracestore_data.build) is
  'The members of a build that should not have been, by what was known when it began, and why.';

create function tracestore.gate_current_versions(build_id bigint)
returns setof tracestore.gate_outcome
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_build tracestore_data.build := tracestore.build_to_check(build_id);
begin
  return query
  with outdated as materialized (select * from tracestore.outdated_members(v_build))
  select 'current_versions', 'members that should not be', '', '', null::bigint, count(*) = 0, count(*)::double precision,
    0::double precision,
    (select string_agg(format('%s %s: %s', f.doc_id, f.version_id, f.fault), '; ') from (select * from outdated limit 5) f)
      || case when count(*) > 5 then format('; and %s more', count(*) - 5) else '' end,
    null::bigint
  from outdated;
end
$$;
comment on function tracestore.gate_current_versions(bigint) is
  'The gate current_versions: every member is the version of its document that was in effect.';
