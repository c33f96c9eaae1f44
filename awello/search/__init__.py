"""The search algorithms of all players except the champion.  Reports 0 to 4 are listed in docs/sources.md."""
