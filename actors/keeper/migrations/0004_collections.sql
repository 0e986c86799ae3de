-- Collections, their sources, what was captured of them, and the texts of callers (003 "Storage"), made of the journal of
-- collections. What people and pages said is sealed as in the journal; the other columns are what is asked for and counted.
-- `line` is that of the journal that began a thing.

CREATE TABLE collections (
  id TEXT PRIMARY KEY CHECK (id GLOB 'col_*'),
  line INTEGER NOT NULL,
  caller TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  watch_every_ms INTEGER NOT NULL DEFAULT 0,
  watched BLOB,
  content BLOB NOT NULL
) STRICT;

CREATE INDEX collections_newest ON collections (caller, line);

-- `normalized_url` is a digest: the address itself is sealed. A note has none, and needs none.
CREATE TABLE sources (
  id TEXT PRIMARY KEY CHECK (id GLOB 'src_*'),
  collection_id TEXT NOT NULL REFERENCES collections ON DELETE CASCADE,
  line INTEGER NOT NULL,
  caller TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('url', 'note')),
  normalized_url TEXT CHECK ((kind = 'url') = (normalized_url IS NOT NULL)),
  capture_status TEXT NOT NULL CHECK (capture_status IN ('pending', 'captured', 'failed')),
  capture_version INTEGER NOT NULL,
  content_hash TEXT NOT NULL,
  chars INTEGER NOT NULL,
  added_at INTEGER NOT NULL,
  captured_at INTEGER,
  updated_at INTEGER NOT NULL,
  error BLOB,
  content BLOB NOT NULL
) STRICT;

CREATE UNIQUE INDEX sources_of_pages ON sources (collection_id, normalized_url) WHERE normalized_url IS NOT NULL;
CREATE INDEX sources_of_collections ON sources (collection_id, line);

-- The newest versions of a page: `facts` without its words and links, which `content` has.
CREATE TABLE source_versions (
  source_id TEXT NOT NULL REFERENCES sources ON DELETE CASCADE,
  version INTEGER NOT NULL CHECK (version >= 1),
  captured_at INTEGER NOT NULL,
  content_hash TEXT NOT NULL,
  chars INTEGER NOT NULL,
  facts BLOB NOT NULL,
  content BLOB NOT NULL,
  PRIMARY KEY (source_id, version)
) STRICT;

CREATE TABLE capture_jobs (
  id TEXT PRIMARY KEY CHECK (id GLOB 'job_*'),
  collection_id TEXT NOT NULL,
  source_id TEXT NOT NULL REFERENCES sources ON DELETE CASCADE,
  dedupe_key TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('queued', 'running', 'succeeded', 'failed', 'cancelled')),
  attempt_count INTEGER NOT NULL DEFAULT 0,
  max_attempts INTEGER NOT NULL DEFAULT 3,
  last_error TEXT NOT NULL DEFAULT '',
  queued_at INTEGER NOT NULL,
  started_at INTEGER,
  finished_at INTEGER
) STRICT;

CREATE UNIQUE INDEX capture_jobs_of_sources ON capture_jobs (source_id) WHERE status IN ('queued', 'running');
CREATE UNIQUE INDEX capture_jobs_of_keys ON capture_jobs (dedupe_key)
  WHERE status IN ('queued', 'running') AND dedupe_key <> '';
CREATE INDEX capture_jobs_of_all ON capture_jobs (source_id, queued_at);

-- 003 "artifacts", which is what the files of runs are called here. A text outlives its collection.
CREATE TABLE texts (
  id TEXT PRIMARY KEY CHECK (id GLOB 'art_*'),
  line INTEGER NOT NULL,
  caller TEXT NOT NULL,
  collection_id TEXT NOT NULL,
  type TEXT NOT NULL,
  dedupe_key TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('pending', 'running', 'completed', 'failed', 'cancelled')),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  started_at INTEGER,
  finished_at INTEGER,
  content BLOB NOT NULL
) STRICT;

CREATE UNIQUE INDEX texts_of_keys ON texts (dedupe_key, caller) WHERE status IN ('pending', 'running') AND dedupe_key <> '';
CREATE INDEX texts_newest ON texts (caller, line);
CREATE INDEX texts_of_collections ON texts (caller, collection_id, line);
