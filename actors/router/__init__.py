"""The router: decides which model of which provider is asked, asks it, and has the keys of all."""
