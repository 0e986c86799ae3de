"""What strangers do to have tools run: hostile pages, harmless ones beside them, and fields as sites have them."""
