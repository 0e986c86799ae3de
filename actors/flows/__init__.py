"""Recorded flows: what is kept of a step, how its element is found again, and whether it came true; pure."""
