"""What fields of pages are for, by what the pages say of them; pure, for all who must not keep what is secret."""
