"""The templates: a file for each, and the list of them."""
