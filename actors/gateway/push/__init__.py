"""Push by the Pusher protocol: sockets, signed REST, and what clients are told of chat sessions."""
