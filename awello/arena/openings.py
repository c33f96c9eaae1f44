"""Openings, which make games differ: random moves, balanced random moves, or moves from a file."""

import random
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from awello.errors import AwelloError, ConfigError
from awello.formats.transcript import parse_transcript
from awello.limits import Limit
from awello.position import Position
from awello.record import Record
from awello.rules.game import Game

if TYPE_CHECKING:
    from awello.engine.engine import Engine

BALANCE_SEARCH_LIMIT = Limit(depth=6)  # for the search that checks the balance
MAX_BALANCED_LEAD = 3.0  # largest expected final margin in a balanced position, in discs or seeds
MAX_TRIES = 500  # random openings to try before giving up


def draw_random_opening(game: Game, plies: int, seed: str, prefix: tuple[int, ...] = ()) -> tuple[int, ...]:
    """Extend a prefix by `plies` random moves that do not end the game; return all moves."""
    rng, start = random.Random(seed), Record(Position.start(game), prefix).final
    for _ in range(100):
        position, moves = start, list[int]()
        while len(moves) < plies and not position.over:
            moves.append(rng.choice(position.legal_moves()))
            position = position.after(moves[-1])
        if not position.over:
            return (*prefix, *moves)
    raise ConfigError(f"all 100 random games of {game} ended within {plies} random moves: give fewer opening plies")


@lru_cache(16)
def find_balanced_opening(game: Game, plies: int, seed: str) -> tuple[int, ...]:
    """Draw random openings until a short search finds one to be balanced; return its moves."""
    engine = _load_engine(game)
    for number in range(MAX_TRIES):
        moves = draw_random_opening(game, plies, f"{seed}/{number}")
        position = Record(Position.start(game), moves).final
        engine.clear()  # the result must not depend on earlier searches
        *_, analysis = engine.analyse(position, BALANCE_SEARCH_LIMIT)
        if abs(position.lead + analysis.value) <= MAX_BALANCED_LEAD:
            return moves
    raise ConfigError(
        f"none of {MAX_TRIES} random openings of {game} with {plies} plies is balanced: "
        "give another number of opening plies"
    )


@cache
def _load_engine(game: Game) -> "Engine":
    from awello.engine.engine import Engine

    return Engine(game, hash=1)


def load_openings(path: Path, game: Game) -> tuple[tuple[int, ...], ...]:
    """Load the openings of a file, one transcript per line; `#` and `%` start a comment."""
    try:
        lines = path.read_text("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", "it is not text")
        raise ConfigError(f"cannot read the openings file {str(path)!r}: {reason}; give a text file") from None
    openings = []
    for number, line in enumerate(lines, 1):
        if text := line.split("#")[0].split("%")[0].strip():
            try:
                record = parse_transcript(text, Position.start(game))
            except AwelloError as error:
                raise ConfigError(f"{path}, line {number}: {error}") from None
            if record.final.over:
                raise ConfigError(f"{path}, line {number}: the opening ends the game; give fewer moves")
            openings.append(record.moves)
    if not openings:
        raise ConfigError(f"the openings file {str(path)!r} contains no openings: write one transcript per line")
    return tuple(openings)
