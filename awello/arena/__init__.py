"""Games between players: the game loop, the runner, matches, duels and tournaments."""
