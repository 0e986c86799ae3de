"""Bodies that are no HTML, parsed into documents of one shape."""
