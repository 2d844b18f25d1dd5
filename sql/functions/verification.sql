create type tracestore.verification as (
  "check" text,
  ok boolean,
  detail text
);
comment on type tracestore.verification is 'One thing that was recorded, and whether it is still true.';
