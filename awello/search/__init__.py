"""Textbook search algorithms, one file per algorithm."""
