-- The passages that a caller can search: what they say is sealed, and their terms are hidden (search_terms.py).
CREATE TABLE passages (
  id INTEGER PRIMARY KEY,
  journal TEXT NOT NULL,
  line INTEGER NOT NULL,
  caller TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('source', 'text', 'page')),
  owner TEXT NOT NULL,
  collection TEXT NOT NULL,
  at INTEGER NOT NULL,
  content BLOB NOT NULL
) STRICT;
CREATE INDEX passages_by_owner ON passages (caller, owner);
CREATE INDEX passages_by_collection ON passages (caller, collection);
CREATE INDEX passages_by_line ON passages (journal, line);
CREATE VIRTUAL TABLE search_terms USING fts5 (title, body, scope, tokenize = 'ascii');
CREATE VIRTUAL TABLE search_counts USING fts5vocab (search_terms, 'row');
