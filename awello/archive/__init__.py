"""Games in a database: kept safe, found by who played them and by what was played."""
