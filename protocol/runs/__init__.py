"""Runs of templates: work of many steps that is durable and bounded, and reports its progress (002)."""
