"""The rules of learned API patterns: what may be learned, how requests follow from addresses, what is trusted."""
