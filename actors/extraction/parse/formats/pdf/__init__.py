"""Reads PDF: what its pages show, in reading order."""
