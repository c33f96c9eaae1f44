"""A benchmark: a fixed set of searches, whose total node count is the signature of the search algorithm.

A change that only makes the search faster keeps the signature.  If a change alters the signature, play a match to
measure its effect on playing strength.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass

from awello.engine.engine import Engine
from awello.formats.transcript import parse_transcript
from awello.limits import Limit
from awello.position import Position

BENCH_GAMES = (
    "d3e3f6c6f5d2e2g5f4f1e6f2c5c4c3b4b6f3e1d1d6g4h6f7g6b5h3d7a5a4f8a6g3e7e8g2c2h2h1g1c8b3c1d8h4h5c7g7g8h8h7b8b7b2a1a2b1a3a7a8",
    "e6f6g6e7e8f4c3d6f5c6c4d3c7g5c5b4d2b5b6f7a3a4a5e2f3e3c2g4h5c8d8d7b8b3f1h4h6h7f2a7a2g7h3h2h8e1d1g2g3g8b2c1a6a1f8g1b1b7a8h1",
    "d3c3f5d2c4b5b3d6e3b4a6c5a4f6c2a5c1g5c6a3a2c7e6e2f1b6g4f3f4g6f7f2e7d7a7d8f8e8c8h5h3h4g1h2g8d1e1b2g3b8a8b7h7g7h6h8b1a1g2h1",
    "c4e3f4c5c6d6f5e6e7c7f6d7f3f8e2b4d8e8g8b6f7g5g6h6b5g3g4c8b8h3d3a5a3a4c3a2a6a7b3f2f1d2b2g7h8h7h5a1h4c2h2e1b7a8d1c1b1g1g2h1",
    "d3c5d6c3b5b6c4a5c6e6c7b4a6a7d7e7f6c8a3e8b3c2f8e2e3f7d8g8f5f3f4g3g4f2d2d1h2h5h3g5g7h4h6g6f1e1c1a4a8a2a1b2b8b7b1g2g1h1h7h8",
)
BENCH_DEPTH = 14  # the depth of the opening and midgame searches
OPENING_PLIES, MIDGAME_PLIES, ENDGAME_PLIES = 14, 26, 40  # each game is searched after these numbers of plies
HASH_MIB = 64


@dataclass(frozen=True)
class BenchSearch:
    """The result of one search of the benchmark."""

    position: Position
    description: str
    value: float
    nodes: int
    seconds: float


def run_bench(threads: int = 1) -> Iterator[BenchSearch]:
    """Run all searches of the benchmark, each with an empty transposition table."""
    with Engine(threads=threads, hash=HASH_MIB) as engine:
        for game in BENCH_GAMES:
            positions = list(parse_transcript(game).positions())
            for plies, limit in (
                (OPENING_PLIES, Limit(depth=BENCH_DEPTH)),
                (MIDGAME_PLIES, Limit(depth=BENCH_DEPTH)),
                (ENDGAME_PLIES, Limit()),
            ):
                position = positions[plies]
                engine.clear()
                started = time.perf_counter()
                *_, last = engine.analyse(position, limit)
                description = f"{BENCH_DEPTH} plies" if limit.depth else "to the end"
                yield BenchSearch(position, description, last.value, last.nodes, time.perf_counter() - started)
