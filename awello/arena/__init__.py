"""Where players meet: games, matches and what they are set up from."""
