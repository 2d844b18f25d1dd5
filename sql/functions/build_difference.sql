create type tracestore.build_difference as (
  part text,
  change text,
  doc_id text,
  version_id text,
  setting text,
  value_a jsonb,
  value_b jsonb,
  count bigint
);
comment on type tracestore.build_difference is
  'One difference of two builds. setting changed: a setting with its two values. version added, removed: a member. document added, removed, changed. chunk kept, added, removed: distinct content keys; moved: kept ones with other offsets; upstream: chunks that differ although the text of their document is the same. budget added, removed: how many of these the versions that came and went predict.';
