"""Evaluation of positions without search."""
