-- Frozen. What is true now is in sql/schema/.

create table tracestore_data.gold_set (
  gold_set_id bigint generated always as identity primary key,
  collection_id bigint not null references tracestore_data.collection,
  name text collate "C" not null,
  created_at timestamptz not null default clock_timestamp(),
  actor text not null default session_user,
  constraint gold_set_name_is_an_id check (tracestore_data.is_citable_id(name)),
  constraint gold_set_is_once_in_its_collection unique (collection_id, name)
);
comment on table tracestore_data.gold_set is 'Questions whose answers are known, to measure builds of a collection with.';
comment on column tracestore_data.gold_set.gold_set_id is 'Surrogate key.';
comment on column tracestore_data.gold_set.collection_id is 'The corpus that answers.';
comment on column tracestore_data.gold_set.name is 'The name used in commands.';
comment on column tracestore_data.gold_set.created_at is 'When it was first imported.';
comment on column tracestore_data.gold_set.actor is 'Who imported it.';
create trigger gold_set_is_a_record before update or delete or truncate on tracestore_data.gold_set
  for each statement execute function tracestore_data.refuse_change();

create table tracestore_data.gold_item (
  gold_item_id bigint generated always as identity primary key,
  gold_set_id bigint not null references tracestore_data.gold_set,
  question_id text collate "C" not null,
  query text,
  slices text[] not null default '{}',
  split text collate "C" not null default 'test',
  added_at timestamptz not null default clock_timestamp(),
  actor text not null default session_user,
  retired_at timestamptz,
  retired_by text,
  retire_reason text,
  constraint question_id_is_citable check (tracestore_data.is_citable_id(question_id)),
  constraint query_is_not_empty check (query <> ''),
  constraint slices_are_named check (array_position(slices, null) is null and array_position(slices, '') is null),
  constraint gold_split_is_known check (split in ('tune', 'test')),
  constraint retirement_is_complete check (num_nulls(retired_at, retired_by, retire_reason) in (0, 3))
);
alter table tracestore_data.gold_item alter column query set statistics 0;
create unique index gold_item_is_once_in_use on tracestore_data.gold_item (gold_set_id, question_id) where retired_at is null;
create index gold_item_of_set on tracestore_data.gold_item (gold_set_id);
comment on table tracestore_data.gold_item is
  'A question. It never changes: another wording or answer is another item under the same question_id, and the old one is retired. Its words leave through erasure.';
comment on column tracestore_data.gold_item.gold_item_id is 'Surrogate key.';
comment on column tracestore_data.gold_item.gold_set_id is 'The set.';
comment on column tracestore_data.gold_item.question_id is 'The caller''s name for the question, unique among those in use.';
comment on column tracestore_data.gold_item.query is 'The question as it is asked; null once all its anchors were erased.';
comment on column tracestore_data.gold_item.slices is 'Labels to break figures down by.';
comment on column tracestore_data.gold_item.split is 'tune: settings may be chosen by it; test: kept for judging.';
comment on column tracestore_data.gold_item.added_at is 'When it was imported.';
comment on column tracestore_data.gold_item.actor is 'Who imported it.';
comment on column tracestore_data.gold_item.retired_at is 'Since when it is not asked any more; null while it is.';
comment on column tracestore_data.gold_item.retired_by is 'Who retired it.';
comment on column tracestore_data.gold_item.retire_reason is 'Why it was retired.';

create table tracestore_data.gold_anchor (
  gold_anchor_id bigint generated always as identity primary key,
  gold_item_id bigint not null references tracestore_data.gold_item,
  doc_key bigint references tracestore_data.document,
  family_id text collate "C",
  quote text,
  prefix text,
  suffix text,
  quote_position integer,
  valid_from timestamptz,
  valid_to timestamptz,
  constraint anchor_is_in_a_document_or_a_family check (num_nonnulls(doc_key, family_id) = 1),
  constraint anchor_quote_is_not_empty check (quote <> ''),
  constraint anchor_context_goes_with_its_quote check (quote is not null or num_nonnulls(prefix, suffix) = 0),
  constraint anchor_position_is_not_negative check (quote_position >= 0),
  constraint anchor_ends_after_it_began check (valid_to > valid_from)
);
alter table tracestore_data.gold_anchor alter column quote set statistics 0;
alter table tracestore_data.gold_anchor alter column prefix set statistics 0;
alter table tracestore_data.gold_anchor alter column suffix set statistics 0;
create index gold_anchor_of_item on tracestore_data.gold_anchor (gold_item_id);
create index gold_anchor_in_document on tracestore_data.gold_anchor (doc_key);
create index gold_anchor_in_family on tracestore_data.gold_anchor (family_id) where family_id is not null;
comment on table tracestore_data.gold_anchor is
  'A passage that answers a question: words in a document, never a chunk, so that it survives re-chunking (W3C TextQuoteSelector).';
comment on column tracestore_data.gold_anchor.gold_anchor_id is 'Surrogate key.';
comment on column tracestore_data.gold_anchor.gold_item_id is 'The question.';
comment on column tracestore_data.gold_anchor.doc_key is 'The document that has the words; null where it may be any of a family.';
comment on column tracestore_data.gold_anchor.family_id is 'The family of which a document has the words; null where the document is named.';
comment on column tracestore_data.gold_anchor.quote is 'The exact words; null after erasure.';
comment on column tracestore_data.gold_anchor.prefix is 'The words before it, where the quote stands more than once.';
comment on column tracestore_data.gold_anchor.suffix is 'The words after it, where the quote stands more than once.';
comment on column tracestore_data.gold_anchor.quote_position is 'About where it starts, in code points: the nearest place is meant.';
comment on column tracestore_data.gold_anchor.valid_from is 'From when on it is the answer, by the effective time of the corpus; null: always was.';
comment on column tracestore_data.gold_anchor.valid_to is 'From when on it no longer is; null: it still is.';

create function tracestore_data.guard_gold_item()
returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if tg_op = 'DELETE'
     or (new.gold_item_id, new.gold_set_id, new.question_id, new.slices, new.split, new.added_at, new.actor)
        is distinct from (old.gold_item_id, old.gold_set_id, old.question_id, old.slices, old.split, old.added_at, old.actor)
     or (old.retired_at is null and new.retired_by <> session_user)
     or (old.retired_at is not null and (new.retired_at, new.retired_by, new.retire_reason)
        is distinct from (old.retired_at, old.retired_by, old.retire_reason))
     or (new.query is distinct from old.query and (new.query is not null or exists (
        select from tracestore_data.gold_anchor a where a.gold_item_id = old.gold_item_id and a.quote is not null))) then
    raise exception using
      errcode = 'TS005',
      message = format('gold item %s is a record: it can be retired once, nothing else changes', old.gold_item_id),
      hint = 'Import the changed question under the same question_id; use tracestore.retire_gold().';
  end if;
  return new;
end
$$;
comment on function tracestore_data.guard_gold_item() is 'A gold item is only retired; its question goes when all its anchors were erased.';
create trigger gold_item_is_only_retired before update or delete on tracestore_data.gold_item
  for each row execute function tracestore_data.guard_gold_item();
create trigger gold_item_is_not_truncated before truncate on tracestore_data.gold_item
  for each statement execute function tracestore_data.refuse_change();

create function tracestore_data.guard_gold_anchor()
returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if tg_op = 'DELETE'
     or (new.gold_anchor_id, new.gold_item_id, new.doc_key, new.family_id, new.quote_position, new.valid_from, new.valid_to)
        is distinct from (old.gold_anchor_id, old.gold_item_id, old.doc_key, old.family_id, old.quote_position, old.valid_from, old.valid_to)
     or num_nonnulls(new.quote, new.prefix, new.suffix) > 0
     or not exists (
        select from tracestore_data.suppression s join tracestore_data.document d using (doc_key)
        where s.kind = 'erased' and (d.doc_key = old.doc_key or d.family_id = old.family_id)) then
    raise exception using
      errcode = 'TS005',
      message = format('anchor %s is a record and cannot be changed', old.gold_anchor_id),
      hint = 'Import the changed question under the same question_id; words leave through tracestore.erase().';
  end if;
  return new;
end
$$;
comment on function tracestore_data.guard_gold_anchor() is 'An anchor loses its words by erasure; nothing else changes.';
create trigger gold_anchor_is_a_record before update or delete on tracestore_data.gold_anchor
  for each row execute function tracestore_data.guard_gold_anchor();
create trigger gold_anchor_is_not_truncated before truncate on tracestore_data.gold_anchor
  for each statement execute function tracestore_data.refuse_change();

create table tracestore_data.evaluation (
  evaluation_id bigint generated always as identity primary key,
  build_id bigint not null references tracestore_data.build,
  gold_set_id bigint not null references tracestore_data.gold_set,
  mode text collate "C" not null,
  hybrid boolean not null,
  depth integer not null,
  options jsonb not null default '{}',
  split text collate "C",
  paths jsonb not null,
  suppression_epoch bigint not null,
  api_sha256 bytea not null,
  started_at timestamptz not null,
  evaluated_at timestamptz not null default clock_timestamp(),
  search_seconds double precision not null,
  actor text not null default session_user,
  constraint evaluation_mode_is_known check (mode in ('auto', 'exact', 'ann', 'lexical')),
  constraint evaluation_depth_is_possible check (depth between 1 and 10000),
  constraint evaluation_options_is_an_object check (jsonb_typeof(options) = 'object'),
  constraint evaluation_split_is_known check (split in ('tune', 'test')),
  constraint evaluation_paths_is_an_object check (jsonb_typeof(paths) = 'object'),
  constraint evaluation_digest_is_sha256 check (octet_length(api_sha256) = 32)
);
create index evaluation_of_build on tracestore_data.evaluation (build_id, evaluation_id desc);
comment on table tracestore_data.evaluation is 'A gold set asked of a build, once, in one way. Append-only.';
comment on column tracestore_data.evaluation.evaluation_id is 'Surrogate key, in order of evaluation.';
comment on column tracestore_data.evaluation.build_id is 'The build that answered.';
comment on column tracestore_data.evaluation.gold_set_id is 'The questions.';
comment on column tracestore_data.evaluation.mode is 'The mode of the search.';
comment on column tracestore_data.evaluation.hybrid is 'Whether the words of a question were looked for as well.';
comment on column tracestore_data.evaluation.depth is 'How many ranks were looked at.';
comment on column tracestore_data.evaluation.options is 'Options of the search.';
comment on column tracestore_data.evaluation.split is 'The part of the set that was asked; null: all.';
comment on column tracestore_data.evaluation.paths is 'What the searches did, and how many did it.';
comment on column tracestore_data.evaluation.suppression_epoch is 'Which documents were suppressed while it ran.';
comment on column tracestore_data.evaluation.api_sha256 is 'Which SQL functions answered.';
comment on column tracestore_data.evaluation.started_at is 'When it began.';
comment on column tracestore_data.evaluation.evaluated_at is 'When it was recorded.';
comment on column tracestore_data.evaluation.search_seconds is 'How long the searches took, without embedding and judging.';
comment on column tracestore_data.evaluation.actor is 'Who evaluated.';

create table tracestore_data.evaluation_item (
  evaluation_id bigint not null references tracestore_data.evaluation,
  gold_item_id bigint not null references tracestore_data.gold_item,
  outcome text collate "C" not null,
  occurrences integer not null default 0,
  context_lost boolean not null default false,
  border text collate "C",
  relevant_versions bigint[] not null default '{}',
  relevant_ordinals integer[] not null default '{}',
  tied_beyond integer not null default 0,
  relevant_beyond integer not null default 0,
  in_context_beyond integer not null default 0,
  tie_is_open boolean not null default false,
  miss text collate "C",
  primary key (evaluation_id, gold_item_id),
  constraint outcome_is_known check (outcome in ('asked', 'not_embeddable', 'gone', 'withdrawn', 'absent', 'erased', 'not_in_force')),
  constraint occurrences_is_not_negative check (occurrences >= 0),
  constraint miss_is_known check (miss in ('other_document', 'same_document', 'nothing_found')),
  constraint border_is_known check (border in ('crossed', 'not_chunked')),
  constraint relevant_chunks_have_version_and_ordinal check (cardinality(relevant_versions) = cardinality(relevant_ordinals)),
  constraint beyond_is_part_of_the_tie check (
    relevant_beyond between 0 and tied_beyond and in_context_beyond between 0 and tied_beyond)
);
create index evaluation_item_of_gold on tracestore_data.evaluation_item (gold_item_id);
comment on table tracestore_data.evaluation_item is
  'A question of an evaluation: where its answer stood in the build, and what of its last tie lay beyond the ranks looked at. Append-only.';
comment on column tracestore_data.evaluation_item.evaluation_id is 'The evaluation.';
comment on column tracestore_data.evaluation_item.gold_item_id is 'The question.';
comment on column tracestore_data.evaluation_item.outcome is
  'asked: its hits count. not_embeddable: the recipe has no vector for it, counts as nothing found. The others were not asked and do not count: gone: no anchor stands in the build''s versions; withdrawn, erased: nor can it; absent: no version is in the build; not_in_force: the anchors answer another time.';
comment on column tracestore_data.evaluation_item.occurrences is 'At how many places its anchors stood.';
comment on column tracestore_data.evaluation_item.context_lost is 'The quote stood there, but not between its prefix and suffix.';
comment on column tracestore_data.evaluation_item.border is
  'crossed: no chunk held all of an anchor, the one that held most of it counts; not_chunked: no searchable chunk held any of it.';
comment on column tracestore_data.evaluation_item.relevant_versions is 'Versions of the chunks of the build that answer it.';
comment on column tracestore_data.evaluation_item.relevant_ordinals is 'Ordinals of those chunks.';
comment on column tracestore_data.evaluation_item.tied_beyond is 'Hits beyond the depth that tie with the last one within.';
comment on column tracestore_data.evaluation_item.relevant_beyond is 'How many of these answer it.';
comment on column tracestore_data.evaluation_item.in_context_beyond is 'In the context of how many of these the answer stands.';
comment on column tracestore_data.evaluation_item.miss is 'What stood at rank 1 instead of the answer: a chunk of another document, another chunk of the same document, nothing; null: the answer did.';
comment on column tracestore_data.evaluation_item.tie_is_open is 'The last tie could not be seen whole: worst and best are those of what was seen.';

create table tracestore_data.evaluation_hit (
  evaluation_id bigint not null,
  gold_item_id bigint not null,
  rank integer not null,
  version_key bigint not null references tracestore_data.document_version,
  ordinal integer not null,
  span_start integer not null,
  span_end integer not null,
  context_start integer not null,
  context_end integer not null,
  score double precision not null,
  is_relevant boolean not null,
  in_context boolean not null,
  primary key (evaluation_id, gold_item_id, rank),
  constraint hit_is_of_an_asked_question foreign key (evaluation_id, gold_item_id) references tracestore_data.evaluation_item,
  constraint hit_rank_starts_at_one check (rank >= 1)
);
comment on table tracestore_data.evaluation_hit is 'What a question of an evaluation found, down to its depth. No words: they are where the versions are. Append-only.';
comment on column tracestore_data.evaluation_hit.evaluation_id is 'The evaluation.';
comment on column tracestore_data.evaluation_hit.gold_item_id is 'The question.';
comment on column tracestore_data.evaluation_hit.rank is 'Its place, from 1.';
comment on column tracestore_data.evaluation_hit.version_key is 'The version it is a range of.';
comment on column tracestore_data.evaluation_hit.ordinal is 'Its position in the version.';
comment on column tracestore_data.evaluation_hit.span_start is 'First code point.';
comment on column tracestore_data.evaluation_hit.span_end is 'Code point after the last.';
comment on column tracestore_data.evaluation_hit.context_start is 'First code point of the enclosing section.';
comment on column tracestore_data.evaluation_hit.context_end is 'Code point after the enclosing section.';
comment on column tracestore_data.evaluation_hit.score is 'Its score; equal scores are a tie.';
comment on column tracestore_data.evaluation_hit.is_relevant is 'Whether it answers the question.';
comment on column tracestore_data.evaluation_hit.in_context is 'Whether the answer stands in its enclosing section.';

create table tracestore_data.evaluation_metric (
  evaluation_id bigint not null references tracestore_data.evaluation,
  slice text collate "C" not null,
  metric text collate "C" not null,
  questions integer not null,
  value double precision not null,
  worst double precision not null,
  expected double precision not null,
  best double precision not null,
  low double precision not null,
  high double precision not null,
  primary key (evaluation_id, slice, metric),
  constraint metric_is_of_questions check (questions >= 1),
  constraint metric_lies_in_its_tie_interval check (worst <= value and value <= best),
  constraint metric_interval_is_in_order check (low <= high)
);
comment on table tracestore_data.evaluation_metric is 'A figure of an evaluation, over all questions or those of a slice. Append-only.';
comment on column tracestore_data.evaluation_metric.evaluation_id is 'The evaluation.';
comment on column tracestore_data.evaluation_metric.slice is 'The label of the questions; empty: all.';
comment on column tracestore_data.evaluation_metric.metric is 'Its name, such as hit@5.';
comment on column tracestore_data.evaluation_metric.questions is 'Over how many questions.';
comment on column tracestore_data.evaluation_metric.value is 'The mean in the store''s order.';
comment on column tracestore_data.evaluation_metric.worst is 'The mean had all ties been lost.';
comment on column tracestore_data.evaluation_metric.expected is 'The mean over random orders of ties.';
comment on column tracestore_data.evaluation_metric.best is 'The mean had all ties been won.';
comment on column tracestore_data.evaluation_metric.low is 'Lower end of the 95 % interval of value over samples of questions.';
comment on column tracestore_data.evaluation_metric.high is 'Upper end of that interval.';

create trigger evaluation_is_append_only before update or delete or truncate on tracestore_data.evaluation
  for each statement execute function tracestore_data.refuse_change();
create trigger evaluation_item_is_append_only before update or delete or truncate on tracestore_data.evaluation_item
  for each statement execute function tracestore_data.refuse_change();
create trigger evaluation_hit_is_append_only before update or delete or truncate on tracestore_data.evaluation_hit
  for each statement execute function tracestore_data.refuse_change();
create trigger evaluation_metric_is_append_only before update or delete or truncate on tracestore_data.evaluation_metric
  for each statement execute function tracestore_data.refuse_change();

-- Questions and anchors are words of documents, and hits say which documents answer them: for whoever sees everything.
do $$
declare
  v_table text;
begin
  foreach v_table in array array[
    'gold_set', 'gold_item', 'gold_anchor', 'evaluation', 'evaluation_item', 'evaluation_hit', 'evaluation_metric'] loop
    execute format('create policy %I on tracestore_data.%I for select using ((select tracestore_data.reads_everything()))',
      v_table || '_is_read', v_table);
    execute format('create policy %I on tracestore_data.%I for insert with check ((select tracestore_data.reads_everything()))',
      v_table || '_is_added', v_table);
    execute format('alter table tracestore_data.%I enable row level security', v_table);
  end loop;
end
$$;
create policy gold_set_is_locked on tracestore_data.gold_set for update using ((select tracestore_data.reads_everything()));
create policy gold_item_is_changed on tracestore_data.gold_item for update using ((select tracestore_data.reads_everything()));
create policy gold_anchor_is_changed on tracestore_data.gold_anchor for update using ((select tracestore_data.reads_everything()));
