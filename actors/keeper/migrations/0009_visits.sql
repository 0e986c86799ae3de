-- The pages that callers have read, as they were: `head` is what is listed, `content` the whole, both sealed. `site` and `page` are
-- keyed digests of the host and the address, which are asked for and told to nobody.
CREATE TABLE visits (
  id TEXT PRIMARY KEY CHECK (id GLOB 'vis_*'),
  line INTEGER NOT NULL,
  caller TEXT NOT NULL,
  at INTEGER NOT NULL,
  tier TEXT NOT NULL,
  failed INTEGER NOT NULL,
  site BLOB NOT NULL,
  page BLOB NOT NULL,
  head BLOB NOT NULL,
  content BLOB NOT NULL
) STRICT;

CREATE INDEX visits_of_callers ON visits (caller, line);
CREATE INDEX visits_of_pages ON visits (caller, page, line);
CREATE INDEX visits_oldest ON visits (line);
