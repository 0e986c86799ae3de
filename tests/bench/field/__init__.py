"""`./scripts/bench field`: Weft beside other ways to give a page to a model, on the same pages in the same run."""
