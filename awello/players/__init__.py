"""Players choose moves; they are created from specs such as `alphabeta:mixed@6`."""

from awello.players import (  # noqa: F401  (importing them registers their players)
    budget,
    champion,
    cnn,
    human,
    montecarlo,
    otage,
    simple,
    textbook,
)
