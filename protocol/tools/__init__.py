"""The tools: everything that a model may propose and a client may call, each once, with its names on every surface."""
