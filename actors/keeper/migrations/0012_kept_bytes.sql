-- What is left of what a caller has deleted: lines that say so, which the journal of collections keeps for good.
CREATE TABLE deleted_lines (
  caller TEXT PRIMARY KEY,
  lines INTEGER NOT NULL
) STRICT;

CREATE INDEX sources_of_callers ON sources (caller);
