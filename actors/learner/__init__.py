"""The actor that learns from the calls of models which model a tool needs."""
