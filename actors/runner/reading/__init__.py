"""Makes items of a result out of pages, however they were got."""
