create type tracestore.ranked_chunk as (
  version_key bigint,
  ordinal integer,
  added_build bigint,
  score double precision,
  dense_rank integer,
  lexical_rank integer
);
comment on type tracestore.ranked_chunk is 'A chunk that was found, in the order of the answer: its score, and its rank in each leg that found it.';
