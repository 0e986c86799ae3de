"""MCP: tools, resources, prompts and tasks, our own and those that other actors offer."""
