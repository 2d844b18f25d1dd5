create type tracestore.near_chunk as (
  version_key bigint,
  ordinal integer,
  added_build bigint,
  distance_key numeric
);
comment on type tracestore.near_chunk is
  'A chunk and its distance to the query, negative inner product rounded to six places: equal keys are a tie.';
