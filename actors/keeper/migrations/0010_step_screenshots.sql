-- How the page looked at the end of a step, by its name in CAPTURES; '' for what has none.
ALTER TABLE events ADD COLUMN screenshot TEXT NOT NULL DEFAULT '';
