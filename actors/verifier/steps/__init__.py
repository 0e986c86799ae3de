"""Whether an action on a page did what was wanted, by what can be observed of it (001 §1)."""
