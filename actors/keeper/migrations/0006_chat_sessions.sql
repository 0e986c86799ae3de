-- The chat sessions of clients that have their page themselves, with their messages (001). `content` has what was said and
-- where, sealed as in the journal that it comes from; the other columns are what is asked for. Lines are those of the journal.

CREATE TABLE chat_sessions (
  id TEXT PRIMARY KEY,
  line INTEGER NOT NULL,
  caller TEXT NOT NULL,
  domain TEXT NOT NULL,
  status TEXT NOT NULL,
  updated_at INTEGER NOT NULL,
  content BLOB NOT NULL
) STRICT;

CREATE INDEX chat_sessions_of_callers ON chat_sessions (caller, updated_at);
CREATE INDEX chat_sessions_oldest ON chat_sessions (line);

-- `judged` is what came of the action of a message, null as long as nobody has said.
CREATE TABLE chat_messages (
  session TEXT NOT NULL,
  number INTEGER NOT NULL,
  line INTEGER NOT NULL,
  caller TEXT NOT NULL,
  message TEXT NOT NULL,
  at INTEGER NOT NULL,
  content BLOB NOT NULL,
  judged BLOB,
  PRIMARY KEY (session, number)
) STRICT;

CREATE INDEX chat_messages_by_name ON chat_messages (session, message);
CREATE INDEX chat_messages_oldest ON chat_messages (line);
