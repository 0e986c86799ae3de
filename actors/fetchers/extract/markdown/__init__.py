"""Writes the main content as Markdown."""
