"""Searching: engines that are asked, and what of their results is worth showing."""
