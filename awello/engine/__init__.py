"""The champion: tables, exact endgames, midgame search, threads and clock."""
