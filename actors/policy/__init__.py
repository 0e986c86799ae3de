"""Decides about every call of a tool, has the allowed ones run, and keeps what waits for a person."""
