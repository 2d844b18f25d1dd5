-- requires: manifest
create function tracestore.manifest_hashes(index_id bigint)
returns table (build_id bigint, manifest_hash text)
language sql
stable
parallel safe
begin atomic
  -- As manifest_sha256 does it for one build, but the digest of a bucket is computed only for the builds in which the
  -- bucket changed: 400 builds of 5,000 documents at 0.1 % churn take 0.4 s, one after the other 12 s.
  with entry as materialized (
    select m.added_build, m.removed_build, d.doc_id, v.version_id, get_byte(sha256(convert_to(d.doc_id, 'UTF8')), 0) as bucket,
      tracestore.encode_member(d.doc_id, v.version_id, m.version_state, v.media_type, v.content_sha256) as encoded
    from tracestore_data.manifest_entry m
    join tracestore_data.document_version v on v.version_key = m.version_key
    join tracestore_data.document d on d.doc_key = v.doc_key
    where m.index_id = manifest_hashes.index_id
  ),
  change as (
    select e.bucket, e.added_build as build_id from entry e
    union
    select e.bucket, e.removed_build from entry e where e.removed_build is not null
  ),
  level_one as (
    -- Null: the bucket became empty.
    select c.bucket, c.build_id,
      sha256(string_agg(e.encoded, ''::bytea order by e.doc_id collate "C", e.version_id collate "C")) as digest
    from change c
    left join entry e
      on e.bucket = c.bucket and e.added_build <= c.build_id and (e.removed_build is null or e.removed_build > c.build_id)
    group by c.bucket, c.build_id
  ),
  in_force as materialized (
    select l.bucket, l.digest, l.build_id as from_build, lead(l.build_id) over (partition by l.bucket order by l.build_id) as to_build
    from level_one l
  )
  select b.build_id, encode(sha256(
    tracestore.length_prefixed(b.manifest_header)
    || coalesce(string_agg(substring(int4send(f.bucket) from 4) || f.digest, ''::bytea order by f.bucket), '')), 'hex')
  from tracestore_data.build b
  left join in_force f
    on f.from_build <= b.build_id and (f.to_build is null or f.to_build > b.build_id) and f.digest is not null
  where b.index_id = manifest_hashes.index_id and b.state = 'ready'
  group by b.build_id, b.manifest_header
  order by b.build_id;
end;
comment on function tracestore.manifest_hashes(bigint) is
  'manifest_hash of every ready build of an index, computed from the rows in one pass.';
