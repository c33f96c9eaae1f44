"""The archive: games in a database, found by players, events, dates, openings and positions."""
