"""NBoard, GTP, UCI and the club's channel: Awello as an engine for other programs, and other engines as players."""

from awello.protocols import gtp, nboard, uci  # noqa: F401  (importing them registers their players)
