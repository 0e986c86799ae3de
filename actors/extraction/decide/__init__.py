"""Decisions among the evidence: the main content, each field, the product, the language, what blocks the page."""
