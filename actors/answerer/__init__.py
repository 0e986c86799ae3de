"""The answerer: summaries, answers and data of pages, each claim with a sentence that stands in one of them."""
