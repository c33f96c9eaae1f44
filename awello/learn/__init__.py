"""Training: one training loop for each player that learns.  Reports 0 to 4 are listed in docs/sources.md."""
