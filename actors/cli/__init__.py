"""The command `weft`: one file per verb."""
