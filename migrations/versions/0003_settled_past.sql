-- A switch writes the row of its alias before it reads the clock. Whoever reads the row in a snapshot that does not know the
-- switch finds the switch in the row's xmax, however old the snapshot is, on a standby too.
create table tracestore_data.alias_turn (
  alias_name text collate "C" constraint alias_turn_pkey primary key,
  switches bigint not null,
  constraint alias_turn_counts_from_one check (switches >= 1)
);
comment on table tracestore_data.alias_turn is 'One row for each alias that was ever switched. Written by switches alone, and locked by nobody else: the xmax of its rows tells readers of switches that they do not see.';
comment on column tracestore_data.alias_turn.alias_name is 'The alias.';
comment on column tracestore_data.alias_turn.switches is 'How often it was switched.';
create trigger alias_turn_is_kept
  before delete or truncate on tracestore_data.alias_turn
  for each statement execute function tracestore_data.refuse_change();

-- Waits for switches by the functions of the release before.
lock table tracestore_data.alias_event in share row exclusive mode;
insert into tracestore_data.alias_turn (alias_name, switches)
select e.alias_name, count(distinct e.occurred_at) from tracestore_data.alias_event e group by e.alias_name;
