"""Reads the parts of a page that have a shape of their own: tables, lists, forms, links."""
