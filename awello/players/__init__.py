"""Who chooses a move: players made from a spec string such as `alphabeta:mixed@6`."""

from awello.players import (  # noqa: F401  (they enter themselves in the registry)
    budget,
    champion,
    cnn,
    human,
    montecarlo,
    otage,
    simple,
    textbook,
)
