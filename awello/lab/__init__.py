"""Experiments with tables and plots, and drawings of reviewed games and search trees.

Reports 0 to 4 are listed in docs/sources.md.
"""
