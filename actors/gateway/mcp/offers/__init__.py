"""What other actors bring to MCP: known from the bus, asked over it, and served like our own."""
