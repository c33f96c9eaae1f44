"""Training: one readable loop per player that learns."""
