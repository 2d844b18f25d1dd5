create type tracestore.registration as (
  outcome text,
  doc_id text,
  version_id text,
  version_seq integer,
  version_key bigint
);
comment on type tracestore.registration is
  'What ingesting one text did. created: first version. updated: a new version. reverted: a new version with the text of an older one. edited_in_place: a new version, since its label had another text. erased: the text was erased and is not taken again. restored: back from "absent from source". unchanged: nothing.';
