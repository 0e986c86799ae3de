"""The gateway: MCP and REST for the outside, translated to the bus."""
