"""The engine: search, exact endgames, tablebase, opening book, threads and time management."""
