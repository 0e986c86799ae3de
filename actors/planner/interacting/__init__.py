"""Rounds of a client that has the page itself: what it sends, what it is asked for, and what it is answered (001)."""
