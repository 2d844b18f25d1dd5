create function tracestore.label_array(labels jsonb, otherwise text[])
returns text[]
language sql
immutable
parallel safe
begin atomic
  select case
    when labels is null then otherwise
    when jsonb_typeof(labels) = 'array'
      then array(select distinct label from jsonb_array_elements_text(labels) as label order by label)
    else '{}'::text[]
  end;
end;
comment on function tracestore.label_array(jsonb, text[]) is 'Labels of a record, sorted, each once; otherwise where the record names none.';
