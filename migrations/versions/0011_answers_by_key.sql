-- Frozen. What is true now is in sql/schema/.

-- From an answer to its id, without a look at the ids of all answers.
create unique index answer_key_is_once on tracestore_data.answer_key (answer_key);
