"""Runs of templates: work of many steps that is durable, bounded and told of as it goes (002)."""
