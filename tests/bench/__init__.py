"""Benchmarks: every figure as a ratio against a peer or a floor that was measured in the same run."""
