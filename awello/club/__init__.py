"""The club: games between users and bots, with ratings.  `awello.web` connects clients to it."""

NEEDS_EXTRA = "a club needs an extra: pip install 'awello[club]'"
