"""The eleven sources of patterns, one file each, all asked in the same way (000 §4)."""
