"""The engine: midgame and endgame search, tablebase, opening book, threads and time management."""
