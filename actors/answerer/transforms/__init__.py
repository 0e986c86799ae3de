"""Makes texts of the sources of a collection: by a model, and without one by what the sources say themselves."""
