"""Browser sessions: what is asked of them, what comes of it, and how a page looks to who acts on it."""
