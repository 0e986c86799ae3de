"""Learned patterns measured from outside: applications of our own, what they answer, and how they change."""
