-- requires: length_prefixed, labels_hide_documents
create type tracestore.manifest_row as (
  doc_id text,
  version_id text,
  version_seq integer,
  version_state text,
  content_sha256 text
);
comment on type tracestore.manifest_row is 'A member of a build, with its state in that build.';

create function tracestore.manifest(build_id bigint)
returns setof tracestore.manifest_row
language sql
stable
parallel safe
begin atomic
  select d.doc_id, v.version_id, v.version_seq, m.version_state, encode(v.content_sha256, 'hex')
  from tracestore_data.build b
  join tracestore_data.manifest_entry m
    on m.index_id = b.index_id and m.added_build <= b.build_id and (m.removed_build is null or m.removed_build > b.build_id)
  join tracestore_data.document_version v on v.version_key = m.version_key
  join tracestore_data.document d on d.doc_key = v.doc_key
  where b.build_id = manifest.build_id and b.state = 'ready'
  order by d.doc_id collate "C", v.version_seq;
end;
comment on function tracestore.manifest(bigint) is 'Every document version that is a member of a build, in order of doc_id and version_seq.';

create function tracestore.encode_member(doc_id text, version_id text, version_state text, media_type text, content_sha256 bytea)
returns bytea
language sql
stable
parallel safe
return
  tracestore.length_prefixed(doc_id) || tracestore.length_prefixed(version_id) || tracestore.length_prefixed(version_state)
  || tracestore.length_prefixed(media_type) || tracestore.length_prefixed(content_sha256);
comment on function tracestore.encode_member(text, text, text, text, bytea) is 'What a manifest hash reads of a member; injective.';

create function tracestore.combine_digests(manifest_header text, digests bytea[])
returns bytea
language sql
stable
parallel safe
begin atomic
  select sha256(
    tracestore.length_prefixed(manifest_header)
    || coalesce(string_agg(substring(int4send(place::integer - 1) from 4) || digest, ''::bytea order by place), ''))
  from unnest(digests) with ordinality as bucket (digest, place)
  where digest is not null;
end;
comment on function tracestore.combine_digests(text, bytea[]) is
  'The manifest hash: SHA-256 of a header and of the digests of the 256 buckets, null for one without members.';

create function tracestore.manifest_digests(build_id bigint)
returns bytea[]
language sql
stable
parallel safe
begin atomic
  -- Two levels, by the first byte of sha256(doc_id): no aggregate comes near 1 GB.
  with entry as (
    select d.doc_id, v.version_id, get_byte(sha256(convert_to(d.doc_id, 'UTF8')), 0) as bucket,
      tracestore.encode_member(d.doc_id, v.version_id, m.version_state, v.media_type, v.content_sha256) as encoded
    from tracestore_data.build b
    join tracestore_data.manifest_entry m
      on m.index_id = b.index_id and m.added_build <= b.build_id and (m.removed_build is null or m.removed_build > b.build_id)
    join tracestore_data.document_version v on v.version_key = m.version_key
    join tracestore_data.document d on d.doc_key = v.doc_key
    where b.build_id = manifest_digests.build_id
  ),
  level_one as (
    select bucket, sha256(string_agg(encoded, ''::bytea order by doc_id collate "C", version_id collate "C")) as digest
    from entry group by bucket
  )
  select array_agg(l.digest order by bucket) from generate_series(0, 255) as bucket left join level_one l using (bucket);
end;
comment on function tracestore.manifest_digests(bigint) is
  'SHA-256 of the members of each of the 256 buckets of a build''s manifest, computed from the rows.';

create function tracestore.manifest_sha256(build_id bigint)
returns bytea
language sql
stable
parallel safe
begin atomic
  select tracestore.combine_digests(b.manifest_header, tracestore.manifest_digests(b.build_id))
  from tracestore_data.build b
  where b.build_id = manifest_sha256.build_id;
end;
comment on function tracestore.manifest_sha256(bigint) is 'SHA-256 of a build''s manifest, computed from the rows.';

create function tracestore.require_whole_view()
returns void
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  if tracestore.labels_hide_documents() then
    raise exception using errcode = 'TS009', message = 'a part of the store is hidden from this role, and this needs all of it',
      detail = format('role %s', current_user), hint = 'Ask a member of tracestore_auditor.';
  end if;
end
$$;
comment on function tracestore.require_whole_view() is
  'An error for a role from which labels hide documents: what is computed from all members of a build would come out wrong.';

create function tracestore.manifest_hash(build_id bigint)
returns text
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  perform tracestore.require_whole_view();
  return encode(tracestore.manifest_sha256(build_id), 'hex');
end
$$;
comment on function tracestore.manifest_hash(bigint) is 'The manifest hash computed from the rows, in hex; must equal the build''s index_version.';
