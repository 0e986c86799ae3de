-- Runs in the order in which they were last changed.
CREATE INDEX runs_changed ON runs (caller, updated_at, created_line);
