"""The textbook: one file an algorithm."""
