"""Experiments with tables and plots, and drawings of games and search trees."""
