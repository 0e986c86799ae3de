"""Data by a JSON Schema from pages and documents: by rule first, each value with the words that it was read from."""
