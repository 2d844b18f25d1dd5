-- requires: percent_decode
create type tracestore.citation_parts as (
  collection text,
  doc_id text,
  version_id text,
  span_start bigint,
  span_end bigint,
  sha256_prefix text
);
comment on type tracestore.citation_parts is 'What a citation names.';

create function tracestore.parse_citation(citation text)
returns tracestore.citation_parts
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_parts text[] := regexp_match(citation,
    '^tracestore:([^/@#]+)/([^/@#]+)@([^/@#]+)#char=([0-9]{1,10}),([0-9]{1,10});sha256=([0-9a-f]{16})$');
begin
  if v_parts is null or v_parts[4]::bigint > v_parts[5]::bigint then
    raise exception using errcode = 'TS008', message = 'not a tracestore citation', detail = left(quote_nullable(citation), 200),
      hint = 'A citation reads tracestore:COLLECTION/DOC_ID@VERSION_ID#char=START,END;sha256=HEX16, ids percent-encoded.';
  end if;
  return row(
    tracestore.percent_decode(v_parts[1]), tracestore.percent_decode(v_parts[2]), tracestore.percent_decode(v_parts[3]),
    v_parts[4]::bigint, v_parts[5]::bigint, v_parts[6])::tracestore.citation_parts;
end
$$;
comment on function tracestore.parse_citation(text) is 'Takes a citation apart; an error for anything else.';
