"""Reaches goals by tools: proposes calls, which the gate decides about, and answers from what they have read."""
