"""Remembers: runs and their files, queried from a database that is made of the ledger."""
