"""Played games judged move by move."""
