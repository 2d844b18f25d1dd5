-- requires: currency_of
create view tracestore.cited_versions with (security_invoker = true) as
select
  k.answer_id,
  a.answered_at,
  a.logged_at,
  date_trunc('week', a.answered_at at time zone 'UTC')::date as week,
  a.build_id,
  c.slug as collection,
  d.doc_id,
  d.family_id,
  d.class,
  v.version_id,
  v.version_seq,
  v.version_state,
  v.effective_from,
  tracestore.state_at(a.answered_at, v.effective_from, s.superseded_since, s.doubtful_since, s.withdrawn_since) as state_at_answer,
  tracestore.state_at(now(), v.effective_from, s.superseded_since, s.doubtful_since, s.withdrawn_since) as state_now,
  least(s.superseded_since, s.withdrawn_since) as outdated_since,
  s.known_since
from tracestore_data.answer a
cross join lateral unnest(a.cited_versions) as cited (version_key)
join tracestore_data.document_version v on v.version_key = cited.version_key
join tracestore_data.document d on d.doc_key = v.doc_key
join tracestore_data.collection c on c.collection_id = d.collection_id
-- Outer, so that who does not ask for the id does not read the ids.
left join tracestore_data.answer_key k on k.answer_key = a.answer_key
cross join lateral tracestore.currency_of(v.version_key, v.doc_key, v.effective_from, v.version_seq) s;
comment on view tracestore.cited_versions is
  'Each citation of each answer on record: what the cited version was when the answer was given, and is now. version_state is as last settled; state_at_answer and state_now are by what was in effect. Of a period, ask for logged_at too: it decides which months are read.';
