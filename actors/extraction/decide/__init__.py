"""Judgements on a page by its evidence: main content, fields, product, language, and what blocks the page."""
