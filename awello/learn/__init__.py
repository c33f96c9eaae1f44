"""Training of evaluations, networks and move ordering scores.  Reports 0 to 4 are listed in docs/sources.md."""
