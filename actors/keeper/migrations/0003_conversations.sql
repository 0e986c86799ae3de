-- What was asked of pages and answered, and the calls of models that it took (003 "Storage"). `content` has what was said,
-- sealed as in the journal that it comes from; the other columns are what is asked for and counted. Lines are those of the journals.

-- `collection_id` is null where the question was about no collection.
CREATE TABLE chat_events (
  id TEXT PRIMARY KEY CHECK (id GLOB 'chat_*'),
  line INTEGER NOT NULL,
  caller TEXT NOT NULL,
  conversation TEXT NOT NULL,
  turn INTEGER NOT NULL,
  collection_id TEXT,
  role TEXT NOT NULL CHECK (role IN ('user', 'assistant')),
  task TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  content BLOB NOT NULL
) STRICT;

CREATE INDEX chat_events_of_conversations ON chat_events (caller, conversation, line);
CREATE INDEX chat_events_oldest ON chat_events (line);

-- One row for each try of a call; `kind` is what the model was asked for, `cost_usd` null where no price is known, and
-- `verified` null where nobody has checked the answer.
CREATE TABLE llm_runs (
  id TEXT PRIMARY KEY CHECK (id GLOB 'llm_*'),
  line INTEGER NOT NULL,
  call_id TEXT NOT NULL,
  caller TEXT NOT NULL,
  conversation TEXT NOT NULL,
  kind TEXT NOT NULL,
  provider_id TEXT NOT NULL,
  model_id TEXT NOT NULL,
  success INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  total_tokens INTEGER NOT NULL,
  cost_usd REAL,
  error TEXT,
  verified INTEGER,
  created_at INTEGER NOT NULL,
  content BLOB NOT NULL
) STRICT;

CREATE INDEX llm_runs_of_conversations ON llm_runs (caller, conversation, line);
CREATE INDEX llm_runs_of_calls ON llm_runs (call_id);
CREATE INDEX llm_runs_oldest ON llm_runs (line);
