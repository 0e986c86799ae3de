"""Runs the tools that are neither of a browser nor of the edge, when the gate has allowed them."""
