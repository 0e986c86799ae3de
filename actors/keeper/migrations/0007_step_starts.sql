-- When the first try of a step began (ms since the epoch); NULL for what is no step, and for steps of before this was kept.
ALTER TABLE events ADD COLUMN started_at INTEGER;
