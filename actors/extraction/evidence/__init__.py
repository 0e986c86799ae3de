"""What a page says of itself, each source of evidence read by itself, as claims."""
