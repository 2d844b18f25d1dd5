-- Frozen. What is true now is in sql/schema/.

create table tracestore_data.log_policy (
  log_policy_id bigint generated always as identity primary key,
  collection_id bigint not null references tracestore_data.collection,
  keep_query_text boolean not null,
  keep_query_vector boolean not null,
  decided_at timestamptz not null default clock_timestamp(),
  actor text not null default session_user,
  reason text
);
create index log_policy_of_collection on tracestore_data.log_policy (collection_id, log_policy_id desc);
comment on table tracestore_data.log_policy is
  'What the log of a collection keeps of a question, by the newest row; without one, text and vector. Append-only.';
comment on column tracestore_data.log_policy.log_policy_id is 'Surrogate key, in order of deciding.';
comment on column tracestore_data.log_policy.collection_id is 'The corpus.';
comment on column tracestore_data.log_policy.keep_query_text is 'Keep the words of the question; else only their SHA-256.';
comment on column tracestore_data.log_policy.keep_query_vector is 'Keep its vector, without which no ranking can be replayed.';
comment on column tracestore_data.log_policy.decided_at is 'When.';
comment on column tracestore_data.log_policy.actor is 'Who decided.';
comment on column tracestore_data.log_policy.reason is 'Why.';
create trigger log_policy_is_append_only before update or delete or truncate on tracestore_data.log_policy
  for each statement execute function tracestore_data.refuse_change();

create table tracestore_data.api_release (
  api_key integer generated always as identity primary key,
  api_sha256 bytea not null unique,
  first_logged_at timestamptz not null default clock_timestamp(),
  constraint api_release_is_sha256 check (octet_length(api_sha256) = 32)
);
comment on table tracestore_data.api_release is 'The functions that logged searches ran with, each by its digest. Append-only.';
comment on column tracestore_data.api_release.api_key is 'Surrogate key.';
comment on column tracestore_data.api_release.api_sha256 is 'SHA-256 over the functions and views of schema tracestore.';
comment on column tracestore_data.api_release.first_logged_at is 'When a search of them was first logged.';
create trigger api_release_is_append_only before update or delete or truncate on tracestore_data.api_release
  for each statement execute function tracestore_data.refuse_change();

-- One row a search, its hits side by side in arrays: 12 hits take 1.0 kB this way, 2.1 kB as rows of a table with a key.
create table tracestore_data.retrieval (
  logged_at timestamptz not null default clock_timestamp(),
  retrieval_id bigint generated always as identity,
  retrieved_at timestamptz,
  build_id bigint not null,
  alias_event_id bigint,
  suppression_epoch bigint not null,
  version_keys bigint[] not null,
  scores double precision[] not null,
  span_starts integer[] not null,
  span_ends integer[] not null,
  context_starts integer[],
  context_ends integer[],
  dense_ranks smallint[],
  lexical_ranks smallint[],
  span_hashes bytea not null,
  context_hashes bytea,
  api_key integer not null references tracestore_data.api_release,
  query_sha256 bytea,
  index_alias text collate "C",
  settings jsonb not null,
  dense_path text,
  path text,
  logged_by text collate "C" not null,
  caller text collate "C" not null,
  caller_labels text[],
  query_text text,
  query_vec @vector@.vector,
  constraint retrieval_pk primary key (retrieval_id, logged_at),
  constraint hits_are_complete check (
    cardinality(scores) = cardinality(version_keys)
    and cardinality(span_starts) = cardinality(version_keys) and cardinality(span_ends) = cardinality(version_keys)
    and coalesce(cardinality(context_starts), cardinality(version_keys)) = cardinality(version_keys)
    and coalesce(cardinality(context_ends), cardinality(version_keys)) = cardinality(version_keys)
    and num_nulls(context_starts, context_ends, context_hashes) in (0, 3)
    and coalesce(cardinality(dense_ranks), cardinality(version_keys)) = cardinality(version_keys)
    and coalesce(cardinality(lexical_ranks), cardinality(version_keys)) = cardinality(version_keys)
    and octet_length(span_hashes) = 32 * cardinality(version_keys)
    and coalesce(octet_length(context_hashes), octet_length(span_hashes)) = octet_length(span_hashes)),
  constraint query_digest_is_sha256 check (octet_length(query_sha256) = 32)
) partition by range (logged_at);
comment on table tracestore_data.retrieval is
  'Every logged search: what was asked of which build by whom, and what came back, by rank. Append-only; whole months are dropped. Holds no text of a document.';
comment on column tracestore_data.retrieval.logged_at is 'When it was written: decides the month.';
comment on column tracestore_data.retrieval.retrieval_id is 'Surrogate key.';
comment on column tracestore_data.retrieval.retrieved_at is 'When the search ran; null where it is logged_at.';
comment on column tracestore_data.retrieval.build_id is 'The build that answered.';
comment on column tracestore_data.retrieval.alias_event_id is 'The switch that made the alias serve it; null for a search of a build.';
comment on column tracestore_data.retrieval.suppression_epoch is 'What was withdrawn and erased then.';
comment on column tracestore_data.retrieval.version_keys is 'The versions of the hits.';
comment on column tracestore_data.retrieval.scores is 'Their scores.';
comment on column tracestore_data.retrieval.span_starts is 'Where the passages start.';
comment on column tracestore_data.retrieval.span_ends is 'Where they end.';
comment on column tracestore_data.retrieval.context_starts is 'Where the contexts start that the search was asked for; null where it was asked for none.';
comment on column tracestore_data.retrieval.context_ends is 'Where these contexts end.';
comment on column tracestore_data.retrieval.dense_ranks is 'Their ranks by vector; null where that is the order they are in, or without that leg.';
comment on column tracestore_data.retrieval.lexical_ranks is 'Their ranks by words; null without that leg.';
comment on column tracestore_data.retrieval.span_hashes is 'The SHA-256 of the passages, 32 bytes each.';
comment on column tracestore_data.retrieval.context_hashes is 'The SHA-256 of the texts of the contexts, 32 bytes each, where the search was asked for them.';
comment on column tracestore_data.retrieval.api_key is 'The functions that searched.';
comment on column tracestore_data.retrieval.query_sha256 is 'SHA-256 of the words of the question; null where none were given.';
comment on column tracestore_data.retrieval.index_alias is 'The alias asked; null where a build was named.';
comment on column tracestore_data.retrieval.settings is 'mode, match_count, filter, options and as-of of the search.';
comment on column tracestore_data.retrieval.dense_path is 'exact, hnsw or ivfflat.';
comment on column tracestore_data.retrieval.path is 'What the search did.';
comment on column tracestore_data.retrieval.logged_by is 'The role that logged it, and may read it.';
comment on column tracestore_data.retrieval.caller is 'The role that searched.';
comment on column tracestore_data.retrieval.caller_labels is 'The labels that role could read; null: nothing was hidden from it.';
comment on column tracestore_data.retrieval.query_text is 'The words of the question, by the policy of the collection.';
comment on column tracestore_data.retrieval.query_vec is 'Its vector, by the policy of the collection.';

create table tracestore_data.answer_key (
  logged_at timestamptz not null,
  answer_key bigint generated always as identity,
  answer_id text collate "C" not null,
  constraint answer_key_pk primary key (answer_id),
  constraint answer_id_fits check (octet_length(answer_id) between 1 and 1024)
);
comment on table tracestore_data.answer_key is
  'The ids of all answers, in one table, so that one is logged once, also over the end of a month. A row goes only after its answer.';
comment on column tracestore_data.answer_key.logged_at is 'When the answer was written: the month it is in.';
comment on column tracestore_data.answer_key.answer_key is 'Surrogate key of the answer.';
comment on column tracestore_data.answer_key.answer_id is 'The caller''s id of the answer.';

create table tracestore_data.answer (
  logged_at timestamptz not null,
  answer_key bigint not null,
  answered_at timestamptz not null,
  build_id bigint,
  retrieval_ids bigint[] not null,
  cited_versions bigint[] not null,
  cited bigint not null,
  logged_by text collate "C" not null,
  record jsonb not null,
  other_builds bigint[],
  implied smallint not null default 0,
  constraint answer_pk primary key (answer_key, logged_at),
  constraint answer_record_is_an_object check (jsonb_typeof(record) = 'object'),
  constraint cited_versions_are_cited check (cited >= cardinality(cited_versions))
) partition by range (logged_at);
create index answer_by_build on tracestore_data.answer (build_id) where build_id is not null;
create index answer_of_several_builds on tracestore_data.answer (other_builds) where other_builds is not null;
create index answer_in_time on tracestore_data.answer using brin (answered_at);
comment on table tracestore_data.answer is
  'Every logged answer and the evidence it used. Append-only; whole months are dropped. Holds no text of a document but what its record was given.';
comment on column tracestore_data.answer.logged_at is 'When it was written: decides the month.';
comment on column tracestore_data.answer.answer_key is 'Surrogate key.';
comment on column tracestore_data.answer.answered_at is 'When the answer was given; of a record that does not say so, when it was written.';
comment on column tracestore_data.answer.build_id is 'The build that answered, if it is one of this store.';
comment on column tracestore_data.answer.retrieval_ids is 'The logged searches it used.';
comment on column tracestore_data.answer.cited_versions is 'The versions of this store that it cited, each citation for itself.';
comment on column tracestore_data.answer.cited is 'How many citations there are, also of what is not known here.';
comment on column tracestore_data.answer.logged_by is 'The role that logged it, and may read it.';
comment on column tracestore_data.answer.record is
  'The record, without what follows from its retrievals: tracestore.answer_record() gives it as it was given.';
comment on column tracestore_data.answer.implied is
  'What is left out of record since it follows from the columns, added up: 1 store_id, 2 index_build_id, 4 retrieval_ids, 8 answered_at.';
comment on column tracestore_data.answer.other_builds is 'Builds of its retrievals that are not build_id; null without any.';

create function tracestore_data.guard_answer_key()
returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if tg_op = 'UPDATE' or exists (
    select from tracestore_data.answer a where a.answer_key = old.answer_key and a.logged_at = old.logged_at) then
    raise exception using
      errcode = 'TS005',
      message = format('%s on tracestore_data.answer_key is refused: its rows are a record', tg_op),
      hint = 'Ids of answers go with the month that holds their answers.';
  end if;
  return old;
end
$$;
comment on function tracestore_data.guard_answer_key() is 'Lets the id of an answer go only after the answer.';
create trigger answer_key_outlives_its_answer before update or delete on tracestore_data.answer_key
  for each row execute function tracestore_data.guard_answer_key();
create trigger answer_key_is_not_truncated before truncate on tracestore_data.answer_key
  for each statement execute function tracestore_data.refuse_change();

-- For each row, since only such triggers come to every partition.
create trigger retrieval_is_append_only before update or delete on tracestore_data.retrieval
  for each row execute function tracestore_data.refuse_change();
create trigger retrieval_is_not_truncated before truncate on tracestore_data.retrieval
  for each statement execute function tracestore_data.refuse_change();
create trigger answer_is_append_only before update or delete on tracestore_data.answer
  for each row execute function tracestore_data.refuse_change();
create trigger answer_is_not_truncated before truncate on tracestore_data.answer
  for each statement execute function tracestore_data.refuse_change();

-- Samples would hold questions for ever.
alter table tracestore_data.retrieval
  alter column query_text set statistics 0, alter column query_vec set statistics 0, alter column query_sha256 set statistics 0,
  alter column span_hashes set statistics 0, alter column context_hashes set statistics 0, alter column settings set statistics 0,
  alter column query_vec set storage external;
alter table tracestore_data.answer alter column record set statistics 0;

-- What no month is there for yet.
create table tracestore_data.retrieval_default partition of tracestore_data.retrieval default;
create table tracestore_data.answer_default partition of tracestore_data.answer default;
alter table tracestore_data.retrieval_default
  alter column query_text set statistics 0, alter column query_vec set statistics 0, alter column query_sha256 set statistics 0,
  alter column span_hashes set statistics 0, alter column context_hashes set statistics 0, alter column settings set statistics 0;
alter table tracestore_data.answer_default alter column record set statistics 0;
comment on table tracestore_data.retrieval_default is 'Searches of months without a partition: run `tracestore db upgrade`.';
comment on table tracestore_data.answer_default is 'Answers of months without a partition: run `tracestore db upgrade`.';
create trigger retrieval_default_is_not_truncated before truncate on tracestore_data.retrieval_default
  for each statement execute function tracestore_data.refuse_change();
create trigger answer_default_is_not_truncated before truncate on tracestore_data.answer_default
  for each statement execute function tracestore_data.refuse_change();

-- Questions are somebody's: whoever logged them reads them, and who audits. Nobody but functions of the owner writes.
alter table tracestore_data.log_policy enable row level security;
alter table tracestore_data.retrieval enable row level security;
alter table tracestore_data.retrieval_default enable row level security;
alter table tracestore_data.answer enable row level security;
alter table tracestore_data.answer_default enable row level security;
alter table tracestore_data.answer_key enable row level security;
create policy log_policy_is_read on tracestore_data.log_policy for select using ((select tracestore_data.reads_everything()));
create policy log_policy_is_added on tracestore_data.log_policy for insert with check ((select tracestore_data.reads_everything()));
create policy retrieval_is_read on tracestore_data.retrieval for select using (
  (select tracestore_data.reads_everything()) or tracestore_data.has_role(logged_by));
create policy answer_is_read on tracestore_data.answer for select using (
  (select tracestore_data.reads_everything()) or tracestore_data.has_role(logged_by));
create policy answer_key_is_read on tracestore_data.answer_key for select using (
  (select tracestore_data.reads_everything())
  or exists (select from tracestore_data.answer a where a.answer_key = answer_key.answer_key and a.logged_at = answer_key.logged_at));
