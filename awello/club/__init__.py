"""The club: where people and programs meet for rated games.  It knows no network; `web` lets people in."""

NEEDS_EXTRA = "a club needs an extra: pip install 'awello[club]'"
