"""The actor that reaches goals on pages: it plans, chooses actions, has them verified, and corrects itself (001)."""
