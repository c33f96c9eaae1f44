"""NBoard, GTP, UCI and a client for clubs: Awello as an engine or bot, and other engines as players of Awello."""

from awello.protocols import gtp, nboard, uci  # noqa: F401  (importing them registers their players)
