"""NBoard, GTP, UCI and the club's channel: our engine and players under other boards, other engines as players here."""

from awello.protocols import gtp, nboard, uci  # noqa: F401  (they register their players)
