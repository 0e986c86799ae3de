"""What is learned of the APIs behind pages, and how it is used in the place of rendering (000 §4)."""
