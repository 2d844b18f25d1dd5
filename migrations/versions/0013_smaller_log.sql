-- Frozen. What is true now is in sql/schema/.

-- What has got a successor since a build began: an explanation counts those of them that are still served.
create index version_state_event_superseded on tracestore_data.version_state_event (occurred_at) where new_state = 'superseded';

-- 71 characters of a hash in JSON are 32 bytes here: half of the record of another system were those of its passages.
alter table tracestore_data.answer add column digests bytea;
alter table tracestore_data.answer alter column digests set statistics 0;
comment on column tracestore_data.answer.digests is
  'SHA-256 hashes and UUIDs of the record, one behind the other in the order in which it names them; null without any.';
comment on column tracestore_data.answer.implied is
  'What is left out of record since it follows from the columns, added up: 1 store_id, 2 index_build_id, 4 retrieval_ids, 8 answered_at, 16 conflict_policy_fired, 32 retriever_config_hash.';
