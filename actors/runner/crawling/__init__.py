"""What a walk through a site is decided by: which addresses are one page, where it goes next, what it has read."""
