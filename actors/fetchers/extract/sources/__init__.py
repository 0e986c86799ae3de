"""The sources of evidence: one file each, all asked in the same way."""
