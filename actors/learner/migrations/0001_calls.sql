-- The calls of models and what was learned of them. No word of what was asked or answered: that stays in the journal.

-- One try of a call; `id` is the sequence of its line. `success` is what a check has found, where there was one
-- (`verified`), and else whether an answer came (`answered`).
CREATE TABLE router_metrics (
  id INTEGER PRIMARY KEY,
  call_id TEXT NOT NULL,
  tool_name TEXT NOT NULL,
  provider TEXT NOT NULL,
  model TEXT NOT NULL,
  success INTEGER NOT NULL,
  latency_ms INTEGER NOT NULL,
  estimated_cost REAL,
  timestamp TEXT NOT NULL,
  at INTEGER NOT NULL,
  answered INTEGER NOT NULL,
  verified INTEGER,
  error_kind TEXT,
  infrastructure INTEGER NOT NULL
) STRICT;

CREATE INDEX router_metrics_by_tool ON router_metrics (tool_name, provider, model);
CREATE INDEX router_metrics_by_time ON router_metrics (at);
CREATE INDEX router_metrics_by_call ON router_metrics (call_id);

CREATE TABLE routing_optimizations (
  line INTEGER NOT NULL,
  number INTEGER NOT NULL,
  tool_name TEXT NOT NULL,
  old_provider TEXT NOT NULL,
  old_model TEXT NOT NULL,
  new_provider TEXT NOT NULL,
  new_model TEXT NOT NULL,
  reason TEXT NOT NULL,
  timestamp TEXT NOT NULL,
  old_success_rate REAL,
  new_success_rate REAL,
  cost_savings REAL,
  PRIMARY KEY (line, number)
) STRICT;

CREATE TABLE downgrade_tests (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  line INTEGER NOT NULL,
  tool_name TEXT NOT NULL,
  test_provider TEXT NOT NULL,
  test_model TEXT NOT NULL,
  sample_size INTEGER NOT NULL,
  success_count INTEGER NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('pending', 'passed', 'failed')),
  started_at TEXT NOT NULL,
  completed_at TEXT
) STRICT;

CREATE UNIQUE INDEX downgrade_tests_pending ON downgrade_tests (tool_name) WHERE status = 'pending';

-- What counts for the next decision, as JSON, by tool.
CREATE TABLE tools (
  tool_name TEXT PRIMARY KEY,
  evidence TEXT NOT NULL,
  beliefs TEXT NOT NULL
) STRICT;

-- The calls since it was last looked for tests, and what is known of each model over all tools.
CREATE TABLE counters (
  only_one INTEGER PRIMARY KEY CHECK (only_one = 1),
  uncounted INTEGER NOT NULL,
  models TEXT NOT NULL
) STRICT;

-- The overrides that were learned; those that people have set are in the bucket alone.
CREATE VIEW routing_overrides AS
SELECT
  tool_name AS tool_pattern,
  coalesce(evidence ->> '$.trial.name.provider', evidence ->> '$.route.provider') AS provider,
  coalesce(evidence ->> '$.trial.name.model', evidence ->> '$.route.model') AS model,
  CASE WHEN evidence ->> '$.trial' IS NULL THEN 'optimized' ELSE 'downgrade_test' END AS reason,
  evidence ->> '$.changed_at' AS updated_at
FROM tools
WHERE evidence ->> '$.home' IS NOT NULL
  AND (evidence ->> '$.trial' IS NOT NULL OR evidence ->> '$.route' <> evidence ->> '$.home');
