"""The club: rated games of users and bots.  It has no network code: `awello.web` connects clients to it."""

NEEDS_EXTRA = "a club needs an extra: pip install 'awello[club]'"
