-- requires: gate_outcome
create function tracestore.canary_questions(build_id bigint, automatic integer)
returns table (canary_id bigint, doc_id text, version_id text, given text, passages text[])
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_build tracestore_data.build := tracestore.build_to_check(build_id);
begin
  return query
  with watched as (
    select c.canary_id, c.doc_key, c.version_key, c.query
    from tracestore_data.canary c
    join tracestore_data.document d using (doc_key)
    join tracestore_data.retrieval_index i on i.collection_id = d.collection_id
    where i.index_id = v_build.index_id and c.retired_at is null
    union all
    -- What was withdrawn latest, if nobody keeps watch over it: the members of the build first, which a search that forgot
    -- the withdrawal would return.
    (
      select null, s.doc_key, null, null
      from tracestore_data.suppression s
      join tracestore_data.document d using (doc_key)
      join tracestore_data.retrieval_index i on i.collection_id = d.collection_id
      where i.index_id = v_build.index_id and s.kind = 'withdrawn' and s.version_key is null and s.lifted_at is null
        and not exists (
          select from tracestore_data.canary c where c.doc_key = s.doc_key and c.version_key is null and c.retired_at is null)
      order by exists (
          select from tracestore_data.manifest_entry m join tracestore_data.document_version v using (version_key)
          where m.index_id = v_build.index_id and v.doc_key = s.doc_key
            and m.added_build <= v_build.build_id and (m.removed_build is null or m.removed_build > v_build.build_id)) desc,
        s.epoch desc
      limit automatic
    )
  )
  select w.canary_id, d.doc_id, v.version_id, w.query, p.passages
  from watched w
  join tracestore_data.document d using (doc_key)
  left join tracestore_data.document_version v using (version_key)
  cross join lateral (
    -- The beginning of its newest text, which has its title, and for a canary a passage from its middle. Short, since a
    -- search by words takes its time for each: 400 characters of common words took 1 s in 100k chunks.
    select array_agg(btrim(substr(t.content, at.place, 120)) order by at.place) filter (where substr(t.content, at.place, 120) ~ E'\\w') as passages
    from (
      select convert_from(n.content, 'UTF8') as content, n.char_count
      from tracestore_data.document_version n
      where n.doc_key = w.doc_key and n.content is not null and (w.version_key is null or n.version_key = w.version_key)
      order by n.version_seq desc limit 1) t
    cross join lateral (
      select 1 as place
      union select t.char_count / 2 where w.canary_id is not null and t.char_count > 240) at
  ) p
  order by w.canary_id nulls last, d.doc_id;
end
$$;
comment on function tracestore.canary_questions(bigint, integer) is
  'What has to be asked of a build to see that no withdrawn document comes back: every canary of its collection, and some of the documents withdrawn latest. passages are of the document itself.';
