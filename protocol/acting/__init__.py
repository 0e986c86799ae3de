"""Acting on pages: the semantic tree, actions on it, tasks with their plans, and what is verified of each (001)."""
