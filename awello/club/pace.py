"""How fast a time control is: what ratings, lag compensation and waiting times are scaled by."""

from awello.limits import Clock

MOVES = 30  # of a player in a typical game


def expected_seconds(control: Clock) -> float:
    """The time a player has for a typical game, increments included."""
    return control.seconds + MOVES * control.increment
