"""Textbook search algorithms, one file per algorithm.  Reports 0 to 4 are listed in docs/sources.md."""
