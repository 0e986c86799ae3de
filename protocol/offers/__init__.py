"""Offers: what other actors bring to MCP, what they are asked, and what comes of it."""
