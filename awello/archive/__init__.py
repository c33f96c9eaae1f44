"""The archive: a database of games, searchable by players, events, dates, openings and positions."""
