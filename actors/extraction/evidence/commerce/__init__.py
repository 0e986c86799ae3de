"""What a page that sells something says of its goods: money, codes, stock, and where they stand."""
