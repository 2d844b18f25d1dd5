create type tracestore.search_options as (
  ef_search integer,
  probes integer,
  candidates integer,
  rrf_k integer,
  dense_weight double precision,
  lexical_weight double precision,
  max_ms integer,
  context text,
  conflict_policy_id bigint,
  refuse boolean,
  recency_policy_id bigint,
  shadow boolean
);
comment on type tracestore.search_options is 'Options of a search taken apart; null where the default holds.';

create function tracestore.parse_options(options jsonb)
returns tracestore.search_options
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key text;
  v_value jsonb;
  v_options tracestore.search_options;
  v_highest double precision;
  v_whole jsonb := '{}';
begin
  if jsonb_typeof(options) <> 'object' then
    raise exception using errcode = 'TS001', message = 'options is not a JSON object', detail = left(options::text, 200),
      hint = 'For example {"ef_search": 200}.';
  end if;
  for v_key, v_value in select * from jsonb_each(options) loop
    if v_key = 'context' then
      if v_value not in ('null', '"section"')
        and (jsonb_typeof(v_value) <> 'number' or v_value::numeric <> trunc(v_value::numeric) or not v_value::numeric between 1 and 100)
      then
        raise exception using errcode = 'TS001', message = 'option context is neither "section" nor a whole number from 1 to 100',
          detail = left(v_value::text, 200), hint = 'A number says how many neighbouring chunks on each side.';
      end if;
      if jsonb_typeof(v_value) = 'number' then
        v_whole := v_whole || jsonb_build_object(v_key, trunc(v_value::numeric));
      end if;
      continue;
    end if;
    if v_key in ('refuse', 'shadow') then
      if jsonb_typeof(v_value) not in ('null', 'boolean') then
        raise exception using errcode = 'TS001', message = format('option %s is neither true nor false', v_key), detail = left(v_value::text, 200),
          hint = 'refuse false: a conflict that a policy refuses is named, and is no error. shadow true: recency in the shadow counts as if it were on.';
      end if;
      continue;
    end if;
    v_highest := case v_key
      when 'ef_search' then 1000  -- pgvector's own limit, which it would raise only inside the scan
      when 'probes' then 32768
      when 'candidates' then 1000
      when 'rrf_k' then 10000
      when 'max_ms' then 2147483647
      when 'dense_weight' then 1000
      when 'lexical_weight' then 1000
      when 'conflict_policy_id' then 999999999999
      when 'recency_policy_id' then 999999999999
    end;
    if v_highest is null then
      raise exception using errcode = 'TS001', message = format('option %L is unknown', left(v_key, 100)),
        hint = 'Known options: ef_search, probes, candidates, rrf_k, dense_weight, lexical_weight, max_ms, context, conflict_policy_id, refuse, recency_policy_id, shadow.';
    end if;
    continue when v_value = 'null';
    if v_key in ('dense_weight', 'lexical_weight') then
      -- Scores have twelve places: of weights smaller than this all would be alike.
      if jsonb_typeof(v_value) <> 'number' or (v_value::numeric <> 0 and not v_value::numeric between 0.001 and v_highest::numeric) then
        raise exception using errcode = 'TS001', message = format('option %s is neither 0 nor a number from 0.001 to 1000', v_key),
          detail = left(v_value::text, 200), hint = 'Weights are relative; by default words weigh 2 and vectors 1.';
      end if;
    elsif jsonb_typeof(v_value) <> 'number' or v_value::numeric <> trunc(v_value::numeric)
      or not v_value::numeric between (v_key not like '%_policy_id')::integer and v_highest::numeric then
      raise exception using errcode = 'TS001', message = format('option %s is not a whole number from %s to %s', v_key, (v_key not like '%_policy_id')::integer, v_highest),
        detail = left(v_value::text, 200), hint = 'Leave it out for the default.';
    else
      -- 100.0 is a whole number too, of programs that have no others, but not to the cast of a record.
      v_whole := v_whole || jsonb_build_object(v_key, trunc(v_value::numeric));
    end if;
  end loop;
  v_options := jsonb_populate_record(null::tracestore.search_options, options || v_whole);
  if v_options.dense_weight = 0 and v_options.lexical_weight = 0 then
    raise exception using errcode = 'TS001', message = 'both weights are 0', hint = 'Give one leg a weight.';
  end if;
  return v_options;
end
$$;
comment on function tracestore.parse_options(jsonb) is 'Takes the options of a search apart, or says what is wrong with them.';
