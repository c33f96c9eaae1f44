"""Evaluation of positions without search.  Reports 0 to 4 are listed in docs/sources.md."""
