"""Runs templates: durable, resumable step by step, cancellable (002)."""
