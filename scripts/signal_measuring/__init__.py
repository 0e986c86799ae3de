"""Measures how well the tier lightweight knows that a real browser would show something else."""
