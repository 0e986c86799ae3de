"""Makes tables of journals: an SQLite file that follows them, is made again when it is of no use, and is queried."""
