"""Move-by-move reviews of played games."""
