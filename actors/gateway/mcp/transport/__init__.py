"""How MCP travels over HTTP: every version of the protocol, without sessions."""
