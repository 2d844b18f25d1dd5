-- requires: whole_characters, ranked_chunk
create type tracestore.passage_context as (
  context_start integer,
  context_end integer,
  context text
);
comment on type tracestore.passage_context is 'The text around a passage, and its span in code points.';

create function tracestore.contexts_of(index_id bigint, ranked tracestore.ranked_chunk[], wanted text)
returns tracestore.passage_context[]
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_contexts tracestore.passage_context[];
begin
  if wanted = 'section' then
    execute format(
      $query$
      select array_agg(
        row(c.context_start, c.context_end,
          -- Only bytes near the passage are read. A character has one to four of them, so so many before and after hold
          -- the characters wanted and perhaps a part of one more.
          right(tracestore.whole_characters(substring(v.content
            from greatest(c.byte_start - 4 * (c.span_start - c.context_start), 0) + 1
            for least(c.byte_start, 4 * (c.span_start - c.context_start)))), c.span_start - c.context_start)
          || convert_from(substring(v.content from c.byte_start + 1 for c.byte_end - c.byte_start), 'UTF8')
          || left(tracestore.whole_characters(substring(v.content
            from c.byte_end + 1 for 4 * (c.context_end - c.span_end))), c.context_end - c.span_end)
        )::tracestore.passage_context order by n.place)
      from unnest($1) with ordinality as n (version_key, ordinal, added_build, score, dense_rank, lexical_rank, place)
      left join lateral (
        select c.span_start, c.span_end, c.byte_start, c.byte_end, c.context_start, c.context_end
        from tracestore_data.chunk c
        where c.index_id = %1$s and c.version_key = n.version_key and c.ordinal = n.ordinal and c.added_build = n.added_build
        offset 0) c on true
      left join tracestore_data.document_version v on v.version_key = n.version_key
      $query$, index_id)
    into v_contexts
    using ranked;
  else
    execute format(
      $query$
      select array_agg(
        row(c.context_start, c.context_end,
          convert_from(substring(v.content from c.byte_start + 1 for c.byte_end - c.byte_start), 'UTF8')
        )::tracestore.passage_context order by n.place)
      from unnest($1) with ordinality as n (version_key, ordinal, added_build, score, dense_rank, lexical_rank, place)
      left join lateral (
        -- The chunks of a version enter a build together and leave it together: added_build says that they are
        -- neighbours in it.
        select min(c.span_start) as context_start, max(c.span_end) as context_end,
          min(c.byte_start) as byte_start, max(c.byte_end) as byte_end
        from tracestore_data.chunk c
        where c.index_id = %1$s and c.version_key = n.version_key and c.added_build = n.added_build
          and c.ordinal between n.ordinal - $2 and n.ordinal + $2
        offset 0) c on true
      left join tracestore_data.document_version v on v.version_key = n.version_key
      $query$, index_id)
    into v_contexts
    using ranked, wanted::integer;
  end if;
  return v_contexts;
end
$$;
comment on function tracestore.contexts_of(bigint, tracestore.ranked_chunk[], text) is
  'The context of each chunk, in their order. A number: from the first to the last of so many neighbouring chunks on each side, across sections, with what stands between them. Section: the enclosing section.';
