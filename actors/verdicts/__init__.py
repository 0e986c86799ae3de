"""What is certain of a fetched page without weighing its words: of whoever gets it, and of the verifier."""
