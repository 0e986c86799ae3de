"""Flows that callers have recorded: kept, and done again step by step."""
