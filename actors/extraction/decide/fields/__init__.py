"""Decides what each field of a page is, among the claims of all sources."""
