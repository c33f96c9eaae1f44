"""Experiments with tables and plots, and drawings of reviewed games and search trees."""
