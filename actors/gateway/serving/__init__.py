"""The shell of the gateway: the server, its connections, and what every request has around it."""
