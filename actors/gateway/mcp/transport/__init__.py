"""How MCP travels: both eras over HTTP, without sessions, and stdio."""
