"""Chooses the main content among the blocks of a page."""
