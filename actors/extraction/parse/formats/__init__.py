"""Gives what is no HTML the same shape."""
