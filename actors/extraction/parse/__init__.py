"""Bodies into trees: encodings, HTML and the other formats, what is visible."""
