-- What is asked of runs. No inputs, no results, no addresses and no texts: those stay in the ledger, encrypted.

-- How much of the ledger is in the tables; `line` and `written_at` name the last line itself, so that it is known again.
CREATE TABLE place (
  only_one INTEGER PRIMARY KEY CHECK (only_one = 1),
  applied INTEGER NOT NULL,
  line INTEGER NOT NULL,
  written_at INTEGER NOT NULL
) STRICT;

INSERT INTO place VALUES (1, 0, 0, 0);

CREATE TABLE runs (
  run_id TEXT PRIMARY KEY,
  caller TEXT NOT NULL,
  template_id TEXT NOT NULL,
  status TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  created_line INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  started_at INTEGER,
  ended_at INTEGER,
  ended_line INTEGER NOT NULL,
  total_steps INTEGER NOT NULL,
  done_steps INTEGER NOT NULL,
  session_id TEXT NOT NULL,
  session_preserved INTEGER NOT NULL,
  resumed_from TEXT NOT NULL,
  cancel_requested INTEGER NOT NULL,
  error_code TEXT NOT NULL
) STRICT;

CREATE INDEX runs_newest ON runs (caller, created_at, created_line);
CREATE INDEX runs_by_status ON runs (caller, status, created_at, created_line);
CREATE INDEX runs_by_template ON runs (caller, template_id, created_at, created_line);
CREATE INDEX runs_by_both ON runs (caller, template_id, status, created_at, created_line);
CREATE INDEX runs_oldest ON runs (created_line);

-- `id` is the sequence of the line; `step` is null for what happens to a run as a whole.
CREATE TABLE events (
  run_id TEXT NOT NULL REFERENCES runs ON DELETE CASCADE,
  id INTEGER NOT NULL,
  event TEXT NOT NULL,
  at INTEGER NOT NULL,
  status TEXT NOT NULL,
  total_steps INTEGER NOT NULL,
  done_steps INTEGER NOT NULL,
  step INTEGER,
  name TEXT NOT NULL,
  step_status TEXT,
  error_code TEXT NOT NULL,
  PRIMARY KEY (run_id, id)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX events_of_steps ON events (run_id, step) WHERE step IS NOT NULL;

-- `swept`: its bytes were deleted; the row stays, so that what has expired is told from what never was (002 §5).
CREATE TABLE artifacts (
  artifact_id TEXT PRIMARY KEY,
  run_id TEXT NOT NULL REFERENCES runs ON DELETE CASCADE,
  number INTEGER NOT NULL,
  type TEXT NOT NULL,
  size INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  slice_bytes INTEGER NOT NULL,
  swept INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX artifacts_of_runs ON artifacts (run_id, number);
CREATE INDEX artifacts_to_sweep ON artifacts (expires_at) WHERE swept = 0;
