create table tracestore_data.graph_event (
  graph_event_id bigint generated always as identity primary key,
  index_id bigint not null references tracestore_data.retrieval_index,
  build_id bigint references tracestore_data.build,
  made_at timestamptz not null default clock_timestamp(),
  definition text not null,
  vectors bigint not null,
  seconds double precision not null,
  actor text not null default session_user,
  constraint graph_vectors_is_not_negative check (vectors >= 0)
);
comment on table tracestore_data.graph_event is 'Each time the approximate index of an index was made: what its drift is measured from. Append-only.';
comment on column tracestore_data.graph_event.graph_event_id is 'Surrogate key, in order of making for one index.';
comment on column tracestore_data.graph_event.index_id is 'The index.';
comment on column tracestore_data.graph_event.build_id is 'Its latest build when the approximate index was made.';
comment on column tracestore_data.graph_event.made_at is 'When it was finished.';
comment on column tracestore_data.graph_event.definition is 'How it was made: method, type and parameters.';
comment on column tracestore_data.graph_event.vectors is 'Over how many vectors.';
comment on column tracestore_data.graph_event.seconds is 'How long it took.';
comment on column tracestore_data.graph_event.actor is 'Who made it.';
create index graph_event_of_index on tracestore_data.graph_event (index_id, graph_event_id desc);
create trigger graph_event_is_append_only before update or delete or truncate on tracestore_data.graph_event
for each statement execute function tracestore_data.refuse_change();
