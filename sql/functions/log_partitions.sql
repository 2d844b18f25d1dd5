create function tracestore.make_log_partitions(ahead integer default 13)
returns integer
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
set lock_timeout = '2s'
as $$
declare
  v_month timestamp;
  v_table text;
  v_name text;
  v_made integer := 0;
begin
  for v_table, v_month in
    select log, month
    from unnest(array['retrieval', 'answer']) as log
    cross join generate_series(
      date_trunc('month', now() at time zone 'UTC'), date_trunc('month', now() at time zone 'UTC') + make_interval(months => ahead), '1 month') as month
    where to_regclass(format('tracestore_data.%I', log || to_char(month, '_YYYY_MM'))) is null
    order by month, log
  loop
    v_name := v_table || to_char(v_month, '_YYYY_MM');
    begin
      -- Made alone, then attached: `create table .. partition of` would lock the log against those who write it.
      execute format('create table tracestore_data.%I (like tracestore_data.%I including defaults including constraints including storage including comments)',
        v_name, v_table);
      if v_table = 'retrieval' then
        -- Samples would hold questions for ever.
        execute format('alter table tracestore_data.%I alter column query_text set statistics 0, alter column query_vec set statistics 0,'
          ' alter column query_sha256 set statistics 0, alter column span_hashes set statistics 0, alter column context_hashes set statistics 0,'
          ' alter column settings set statistics 0', v_name);
      else
        execute format('alter table tracestore_data.%I alter column record set statistics 0', v_name);
      end if;
      execute format('comment on table tracestore_data.%I is %L', v_name,
        case v_table when 'retrieval' then 'Searches' else 'Answers' end || ' logged in ' || to_char(v_month, 'YYYY-MM') || ', UTC.');
      execute format('alter table tracestore_data.%I enable row level security', v_name);
      execute format('alter table tracestore_data.%I attach partition tracestore_data.%I for values from (%L) to (%L)',
        v_table, v_name, v_month || '+00', v_month + interval '1 month' || '+00');
      -- Triggers for each row came with the attaching.
      execute format('create trigger %I before truncate on tracestore_data.%I for each statement execute function tracestore_data.refuse_change()',
        v_name || '_is_not_truncated', v_name);
      v_made := v_made + 1;
    exception when check_violation then
      -- The default partition has rows of that month: they stay there.
      continue;
    end;
  end loop;
  return v_made;
end
$$;
comment on function tracestore.make_log_partitions(integer) is
  'Makes the months of the logs that are missing, up to so many ahead; returns how many tables. `tracestore db upgrade` does it.';

create function tracestore.months_ahead()
returns integer
language sql
stable
begin atomic
  select count(*)::integer
  from pg_catalog.generate_series(1, 24) as ahead
  where pg_catalog.to_regclass('tracestore_data.answer' || pg_catalog.to_char(
    pg_catalog.date_trunc('month', pg_catalog.now() at time zone 'UTC') + pg_catalog.make_interval(months => ahead), '_YYYY_MM')) is not null;
end;
comment on function tracestore.months_ahead() is 'How many months after this one have a partition; below 2 it is time for `tracestore db upgrade`.';

create function tracestore.drop_logs(before timestamptz)
returns setof text
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
set lock_timeout = '2s'
as $$
declare
  -- Only whole months, so that what is left is complete from a known moment on.
  v_first timestamp := date_trunc('month', before at time zone 'UTC');
  v_name text;
begin
  for v_name in
    select c.relname
    from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent in ('tracestore_data.retrieval'::regclass, 'tracestore_data.answer'::regclass)
      and c.relname ~ E'^(retrieval|answer)_\\d{4}_\\d\\d$'
      and to_date(right(c.relname, 7), 'YYYY_MM') < v_first
    order by c.relname
  loop
    execute format('drop table tracestore_data.%I', v_name);
    return next v_name;
  end loop;
  delete from tracestore_data.answer_key k
  where k.logged_at < v_first at time zone 'UTC'
    and not exists (select from tracestore_data.answer a where a.answer_key = k.answer_key and a.logged_at = k.logged_at);
end
$$;
comment on function tracestore.drop_logs(timestamptz) is
  'Drops the months of the logs that ended before a moment, and the ids of their answers; returns the tables that went. For the owner.';

-- This file runs at each upgrade that brings something; `tracestore db upgrade` asks for them in any case.
select tracestore.make_log_partitions();
