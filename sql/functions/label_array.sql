create function tracestore.label_array(labels jsonb, otherwise text[])
returns text[]
language sql
immutable
parallel safe
begin atomic
  select case
    when labels is null then otherwise
    when jsonb_typeof(labels) = 'array'
      -- In "C" order: the same in every database, whatever its locale.
      then array(select distinct label collate "C" from jsonb_array_elements_text(labels) as label order by label collate "C")
    else '{}'::text[]
  end;
end;
comment on function tracestore.label_array(jsonb, text[]) is 'Labels of a record, sorted, each once; otherwise where the record names none.';
