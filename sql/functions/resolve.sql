-- requires: citation, parse_citation, page_of, labels_hide_documents
create type tracestore.resolution as (
  status text,
  reason text,
  text text,
  heading_path text[],
  page text,
  source text,
  title text,
  collection text,
  doc_id text,
  version_id text,
  version_seq integer,
  version_state text,
  effective_from timestamptz,
  span_start bigint,
  span_end bigint,
  context_start bigint,
  context_end bigint,
  span_sha256 text,
  content_sha256 text,
  citation text,
  context text
);
comment on type tracestore.resolution is
  'What a citation stands for. status ok: text is the passage. span_mismatch: the stored text is not what was cited (reason text_differs, context_differs, out_of_range). version_missing: reason erased, never_existed, or not_visible for a role from which labels hide documents: it never existed, or is one of these.';

create function tracestore.resolve_span(wanted tracestore.citation_parts)
returns tracestore.resolution
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_found tracestore.resolution;
  v_version tracestore_data.document_version;
  v_text text;
begin
  v_found.collection := wanted.collection;
  v_found.doc_id := wanted.doc_id;
  v_found.version_id := wanted.version_id;
  v_found.span_start := wanted.span_start;
  v_found.span_end := wanted.span_end;
  select v.* into v_version
  from tracestore_data.collection c
  join tracestore_data.document d using (collection_id)
  join tracestore_data.document_version v using (doc_key)
  where c.slug = wanted.collection and d.doc_id = wanted.doc_id and v.version_id = wanted.version_id;
  if not found then
    v_found.status := 'version_missing';
    -- The same for what is hidden and for what is not there: neither is confirmed.
    v_found.reason := case when tracestore.labels_hide_documents() then 'not_visible' else 'never_existed' end;
    return v_found;
  end if;
  v_found.version_seq := v_version.version_seq;
  v_found.version_state := v_version.version_state;
  v_found.effective_from := v_version.effective_from;
  v_found.content_sha256 := encode(v_version.content_sha256, 'hex');
  if v_version.content is null then
    v_found.status := 'version_missing';
    v_found.reason := 'erased';
    return v_found;
  end if;
  if wanted.span_end > v_version.char_count then
    v_found.status := 'span_mismatch';
    v_found.reason := 'out_of_range';
    return v_found;
  end if;
  v_text := substr(convert_from(v_version.content, 'UTF8'), (wanted.span_start + 1)::integer,
    (wanted.span_end - wanted.span_start)::integer);
  v_found.span_sha256 := encode(sha256(convert_to(v_text, 'UTF8')), 'hex');
  if not starts_with(v_found.span_sha256, wanted.sha256_prefix) then
    v_found.status := 'span_mismatch';
    v_found.reason := 'text_differs';
    v_found.span_sha256 := null;
    return v_found;
  end if;
  v_found.status := 'ok';
  v_found.text := v_text;
  v_found.page := tracestore.page_of(v_version.pages, wanted.span_start);
  v_found.source := v_version.source_uri;
  select d.title into v_found.title from tracestore_data.document d where d.doc_key = v_version.doc_key;
  v_found.citation := tracestore.citation(wanted.collection, wanted.doc_id, wanted.version_id, wanted.span_start,
    wanted.span_end, sha256(convert_to(v_text, 'UTF8')));
  -- The cited chunk if any index still has it, else one that holds the beginning of the passage.
  select c.heading_path, least(c.context_start, wanted.span_start), greatest(c.context_end, wanted.span_end)
  into v_found.heading_path, v_found.context_start, v_found.context_end
  -- By the manifest, so that only the partitions of indexes that had the version are read, by their key.
  from (select distinct m.index_id from tracestore_data.manifest_entry m where m.version_key = v_version.version_key) i
  join tracestore_data.chunk c on c.index_id = i.index_id and c.version_key = v_version.version_key
  where c.span_start <= wanted.span_start and c.span_end > wanted.span_start
  order by (c.span_start, c.span_end) = (wanted.span_start, wanted.span_end) desc, c.added_build desc
  limit 1;
  return v_found;
end
$$;
comment on function tracestore.resolve_span(tracestore.citation_parts) is 'Finds the words of a span and checks them against the hash.';

create function tracestore.resolve(citation text)
returns tracestore.resolution
language sql
stable
parallel safe
return tracestore.resolve_span(tracestore.parse_citation(citation));
comment on function tracestore.resolve(text) is 'The exact words of a citation, or a definite reason why not.';

create function tracestore.resolve_context(evidence jsonb, passage tracestore.resolution)
returns tracestore.resolution
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_start numeric;
  v_end numeric;
begin
  if jsonb_typeof(evidence -> 'context_start') is distinct from 'number' or jsonb_typeof(evidence -> 'context_end') is distinct from 'number' then
    raise exception using errcode = 'TS008', message = 'the evidence record has a context without its span',
      hint = 'Keep context_start and context_end with it, as numbers.';
  end if;
  v_start := (evidence -> 'context_start')::numeric;
  v_end := (evidence -> 'context_end')::numeric;
  if v_start <> trunc(v_start) or v_end <> trunc(v_end) or v_start < 0 or v_start > passage.span_start
    or v_end < passage.span_end or v_end > 2147483647 then
    return null;
  end if;
  return tracestore.resolve_span(row(
    passage.collection, passage.doc_id, passage.version_id, v_start, v_end, '')::tracestore.citation_parts);
end
$$;
comment on function tracestore.resolve_context(jsonb, tracestore.resolution) is
  'Internal to resolve: what stands where a record says that its context stands; null where no context of the passage can be.';

create function tracestore.resolve(evidence jsonb)
returns tracestore.resolution
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_found tracestore.resolution;
  v_around tracestore.resolution;
begin
  if evidence ->> 'citation' is null then
    raise exception using errcode = 'TS008', message = 'the evidence record has no citation',
      hint = 'Pass a hit as JSON, or an object with the key citation.';
  end if;
  v_found := tracestore.resolve(evidence ->> 'citation');
  -- A record carries the whole hash, the citation only its beginning.
  if v_found.status = 'ok' and v_found.span_sha256 <> coalesce(evidence ->> 'span_sha256', v_found.span_sha256) then
    v_found.reason := 'text_differs';
  elsif v_found.status = 'ok' and evidence ->> 'context' is not null then
    v_around := tracestore.resolve_context(evidence, v_found);
    if v_around.text is distinct from evidence ->> 'context' then
      v_found.reason := 'context_differs';
    end if;
    v_found.context := v_around.text;
    v_found.context_start := v_around.span_start;
    v_found.context_end := v_around.span_end;
  end if;
  if v_found.status = 'ok' and v_found.reason is not null then
    v_found.status := 'span_mismatch';
    v_found.text := null;
    v_found.span_sha256 := null;
    v_found.context := null;
  end if;
  return v_found;
end
$$;
comment on function tracestore.resolve(jsonb) is
  'The exact words of an evidence record, checked against its whole hash, and with a context also the words of that.';
