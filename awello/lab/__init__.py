"""Experiments that make tables and plots, and pictures that explain."""
