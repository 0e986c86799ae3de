"""What several kinds of test share."""
