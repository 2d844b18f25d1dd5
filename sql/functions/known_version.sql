-- requires: supersession_at
create function tracestore.has_ended(version tracestore_data.document_version, effective timestamptz)
returns boolean
language sql
stable
begin atomic
  -- A text that returns at a later time is news. One that does not say when it applies may be yesterday's file again.
  select effective is not null
    and tracestore.supersession_at((version).doc_key, (version).version_key, (version).effective_from, effective) is not distinct from 'declared';
end;
comment on function tracestore.has_ended(tracestore_data.document_version, timestamptz) is
  'Internal to known_version: whether a version was declared superseded before a text that says when it applies.';

create function tracestore.known_version(
  doc_key bigint, withdrawn boolean, effective timestamptz, as_of timestamptz, text_sha256 bytea)
returns tracestore_data.document_version
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_known tracestore_data.document_version;
begin
  -- In effect when the text would be. A text that says when it applies is compared with that time too, so that
  -- a history delivered twice is the same history, and a return to an older text can be announced ahead.
  select v.* into v_known
  from tracestore_data.document_version v
  where v.doc_key = known_version.doc_key and v.effective_from <= coalesce(effective, as_of)
    and (v.version_state <> 'withdrawn' or withdrawn)
  order by v.effective_from desc, v.version_seq desc limit 1;
  if v_known.content_sha256 = text_sha256 and not tracestore.has_ended(v_known, effective) then
    return v_known;
  end if;
  if effective < as_of then
    select v.* into v_known
    from tracestore_data.document_version v
    where v.doc_key = known_version.doc_key and v.effective_from <= as_of
      and (v.version_state <> 'withdrawn' or withdrawn)
    order by v.effective_from desc, v.version_seq desc limit 1;
    if v_known.content_sha256 = text_sha256 and not tracestore.has_ended(v_known, effective) then
      return v_known;
    end if;
  end if;
  return null;
end
$$;
comment on function tracestore.known_version(bigint, boolean, timestamptz, timestamptz, bytea) is
  'Internal to register_versions: the version that already says what a text would say, whatever its label; null where the text is news.';

create function tracestore.labelled_version(doc_key bigint, label text)
returns tracestore_data.document_version
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_newest tracestore_data.document_version;
begin
  -- Two look-ups by index: read in one, a label that is new is compared with every version of a long history.
  select v.* into v_newest
  from tracestore_data.document_version v
  where v.doc_key = labelled_version.doc_key and v.version_id = labelled_version.label;
  if found then
    select v.* into v_newest
    from tracestore_data.document_version v
    where v.version_key = v_newest.version_key or v.in_place_of = v_newest.version_key
    order by v.version_seq desc limit 1;
  end if;
  return v_newest;
end
$$;
comment on function tracestore.labelled_version(bigint, text) is
  'Internal to register_versions: the newest version that arrived under a label, edits in place included.';
