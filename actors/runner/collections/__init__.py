"""Collections as the runner changes them: lines of one journal, and pages that are read into it."""
