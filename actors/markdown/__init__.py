"""What is read of a Markdown document once it is written: outline, plain text, the part that fits a reader."""
