"""The club: games between people and bots, with ratings.  `awello.web` connects clients to the club."""

NEEDS_EXTRA = "packages for the club are missing: install them with pip install 'awello[club]'"
