"""What starts actors, keeps them alive, and stops them in order."""
