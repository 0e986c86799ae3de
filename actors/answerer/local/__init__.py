"""Answers without any model: by what stands in the sources, word for word."""
