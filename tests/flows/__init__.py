"""The whole system, driven from outside: REST, MCP and the command line."""
