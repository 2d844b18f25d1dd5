create table tracestore_data.probe_set (
  probe_set_id bigint generated always as identity primary key,
  index_id bigint not null references tracestore_data.retrieval_index,
  name text collate "C" not null,
  seed bigint not null default 0,
  made_at timestamptz not null default clock_timestamp(),
  actor text not null default session_user,
  constraint probe_set_name_is_not_empty check (name <> ''),
  constraint probe_set_is_once_in_its_index unique (index_id, name)
);
comment on table tracestore_data.probe_set is 'Questions with which the approximate index of an index is measured, the same ones each time.';
comment on column tracestore_data.probe_set.probe_set_id is 'Surrogate key.';
comment on column tracestore_data.probe_set.index_id is 'The index.';
comment on column tracestore_data.probe_set.name is 'Its name: what it was sampled from, or the name and hash of a file.';
comment on column tracestore_data.probe_set.seed is 'What the sample and the noise on it were drawn with.';
comment on column tracestore_data.probe_set.made_at is 'When it was made.';
comment on column tracestore_data.probe_set.actor is 'Who made it.';
create trigger probe_set_is_immutable before update or delete or truncate on tracestore_data.probe_set
for each statement execute function tracestore_data.refuse_change();

create table tracestore_data.probe_query (
  probe_set_id bigint not null references tracestore_data.probe_set,
  ordinal integer not null,
  kind text not null,
  query_text text,
  query_vector @vector@.vector,
  version_key bigint references tracestore_data.document_version,
  chunk_ordinal integer,
  constraint probe_query_pk primary key (probe_set_id, ordinal),
  constraint probe_query_kind_is_known check (kind in ('given', 'near', 'recent', 'far')),
  constraint probe_query_has_one_source check (
    num_nonnulls(query_text, query_vector, version_key) = 1 and (version_key is null) = (chunk_ordinal is null)
    and (version_key is null) = (kind = 'given'))
);
comment on table tracestore_data.probe_query is 'A question of a probe set. A sampled one names a chunk and holds no vector: what is erased is gone from it too.';
comment on column tracestore_data.probe_query.probe_set_id is 'The set.';
comment on column tracestore_data.probe_query.ordinal is 'Its place in the set, from 1.';
comment on column tracestore_data.probe_query.kind is 'given: from a file. near: a chunk''s vector with some noise. recent: of a chunk that came after the approximate index was made. far: with so much noise that it is near nothing.';
comment on column tracestore_data.probe_query.query_text is 'The words of a given question; embedded anew for each measurement.';
comment on column tracestore_data.probe_query.query_vector is 'The vector of a question given as one.';
comment on column tracestore_data.probe_query.version_key is 'Version of the chunk that was sampled.';
comment on column tracestore_data.probe_query.chunk_ordinal is 'Ordinal of the chunk that was sampled.';
create index probe_query_of_version on tracestore_data.probe_query (version_key) where version_key is not null;
-- Deleting is allowed: the words of a question may have to go.
create trigger probe_query_is_immutable before update or truncate on tracestore_data.probe_query
for each statement execute function tracestore_data.refuse_change();

create table tracestore_data.fidelity_measurement (
  fidelity_measurement_id bigint generated always as identity primary key,
  build_id bigint not null references tracestore_data.build,
  probe_set_id bigint not null references tracestore_data.probe_set,
  graph_event_id bigint references tracestore_data.graph_event,
  mode text not null,
  effort integer,
  match_count integer not null,
  filter jsonb,
  queries integer not null,
  skipped integer not null,
  recall double precision not null,
  recall_worst_decile double precision not null,
  recall_least double precision not null,
  recall_by jsonb not null,
  same_order double precision not null,
  by_index double precision not null,
  candidates double precision,
  candidates_most bigint,
  pages double precision,
  ms double precision not null,
  exact_ms double precision not null,
  recall_floor double precision not null,
  measured_at timestamptz not null default clock_timestamp(),
  actor text not null default session_user,
  constraint measured_mode_is_known check (mode in ('auto', 'ann', 'scan')),
  constraint only_a_scan_has_an_effort check ((mode = 'scan') = (effort is not null)),
  constraint measured_queries_are_positive check (queries > 0 and skipped >= 0),
  constraint measured_shares_are_shares check (
    least(recall, recall_worst_decile, recall_least, same_order, by_index, recall_floor) >= 0
    and greatest(recall, recall_worst_decile, recall_least, same_order, by_index, recall_floor) <= 1)
);
comment on table tracestore_data.fidelity_measurement is 'How close to exact the answers of a build were, in one mode, for one probe set. Append-only.';
comment on column tracestore_data.fidelity_measurement.fidelity_measurement_id is 'Surrogate key.';
comment on column tracestore_data.fidelity_measurement.build_id is 'The build that was asked.';
comment on column tracestore_data.fidelity_measurement.probe_set_id is 'The questions.';
comment on column tracestore_data.fidelity_measurement.graph_event_id is 'The making of the approximate index that was measured.';
comment on column tracestore_data.fidelity_measurement.mode is 'auto and ann: as search does. scan: the bare index, with one effort.';
comment on column tracestore_data.fidelity_measurement.effort is 'ef_search or probes of a scan.';
comment on column tracestore_data.fidelity_measurement.match_count is 'How many hits were asked for: the k of the measures.';
comment on column tracestore_data.fidelity_measurement.filter is 'The filter asked with.';
comment on column tracestore_data.fidelity_measurement.queries is 'How many questions were asked.';
comment on column tracestore_data.fidelity_measurement.skipped is 'Questions of the set that could not be asked: their chunk is no member any more.';
comment on column tracestore_data.fidelity_measurement.recall is 'Mean ann_recall@k against exact search.';
comment on column tracestore_data.fidelity_measurement.recall_worst_decile is 'Mean of its worst tenth.';
comment on column tracestore_data.fidelity_measurement.recall_least is 'The least of any question.';
comment on column tracestore_data.fidelity_measurement.recall_by is 'Means for kinds of questions (kind) and thirds by the score of the exact best hit (hardness).';
comment on column tracestore_data.fidelity_measurement.same_order is 'Share of questions with exactly the exact answer, in its order.';
comment on column tracestore_data.fidelity_measurement.by_index is 'Share of questions answered by the approximate index.';
comment on column tracestore_data.fidelity_measurement.candidates is 'Rows that the index gave for a question of a scan, in the mean: with IVFFlat all of the lists it looked into.';
comment on column tracestore_data.fidelity_measurement.candidates_most is 'The most of any question.';
comment on column tracestore_data.fidelity_measurement.pages is 'Pages read for a question of a scan, in the mean: what HNSW visits.';
comment on column tracestore_data.fidelity_measurement.ms is 'Median milliseconds of a question, without its evidence rows.';
comment on column tracestore_data.fidelity_measurement.exact_ms is 'The same of the exact baseline.';
comment on column tracestore_data.fidelity_measurement.recall_floor is 'What recall was wanted.';
comment on column tracestore_data.fidelity_measurement.measured_at is 'When.';
comment on column tracestore_data.fidelity_measurement.actor is 'Who measured.';
create index fidelity_measurement_of_graph on tracestore_data.fidelity_measurement (graph_event_id, fidelity_measurement_id desc);
create trigger fidelity_measurement_is_append_only before update or delete or truncate on tracestore_data.fidelity_measurement
for each statement execute function tracestore_data.refuse_change();

-- The words of questions are for those who read everything; a filter may name documents.
create policy probe_query_is_read on tracestore_data.probe_query for select using ((select tracestore_data.reads_everything()));
create policy fidelity_measurement_is_read on tracestore_data.fidelity_measurement for select using (
  filter is null or (select tracestore_data.reads_everything()));
do $$
declare
  v_table text;
begin
  foreach v_table in array array['probe_query', 'fidelity_measurement'] loop
    execute format('create policy %I on tracestore_data.%I for insert with check ((select tracestore_data.reads_everything()))',
      v_table || '_is_added', v_table);
    execute format('alter table tracestore_data.%I enable row level security', v_table);
  end loop;
end
$$;
create policy probe_query_is_deleted on tracestore_data.probe_query for delete using ((select tracestore_data.reads_everything()));
