"""Training: one training loop for each player that learns."""
