"""Data that stand in a page beside its text, each notation read by a module of its own."""
