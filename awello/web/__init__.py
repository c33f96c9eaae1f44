"""The page, its API and its live channel."""
