"""MCP: the tools, over HTTP and over stdio."""
