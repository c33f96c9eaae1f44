"""The club: rated games of users and bots, without network code; `awello.web` connects clients to it."""

NEEDS_EXTRA = "a club needs an extra: pip install 'awello[club]'"
