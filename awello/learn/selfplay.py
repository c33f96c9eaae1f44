"""Self-play games of the champion, for training the evaluation.

Game `n` depends only on the plan and on `n`: these determine its random opening.  One engine then plays both sides at
one level; its transposition table is cleared before each game.  Only `find_best_move` is called, because at low levels
it is much faster than a full analysis.
"""

import random
import zlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

from awello.arena.match import hash_openings
from awello.arena.openings import draw_random_opening
from awello.arena.runner import GameResult, PlayerCache, RunPlan
from awello.engine.engine import Engine
from awello.engine.levels import find_level
from awello.errors import ConfigError
from awello.formats.transcript import format_transcript
from awello.limits import Limit
from awello.position import Position
from awello.record import Record
from awello.rules.game import Game

HASH_MIB = 1  # size of the transposition table


@dataclass(frozen=True)
class SelfplayPlan(RunPlan[GameResult]):
    """All settings that determine the games, and the number of games."""

    game: Game
    level: int
    games: int
    seed: int = 0
    openings: tuple[tuple[int, ...], ...] = ()
    """Openings from which to choose; may be empty."""
    opening_plies: tuple[int, int] = (0, 0)
    """Minimum and maximum number of random moves after the opening."""
    weights: str = ""
    """Weights file; default: the shipped weights."""
    checksum: str = ""
    """Checksum of the weights file."""
    kind: ClassVar[str] = "self-play run"
    result_type: ClassVar[type[Any]] = GameResult
    batch_size: ClassVar[int] = 16

    def __post_init__(self) -> None:
        find_level(self.level)
        if self.weights and not self.checksum:
            object.__setattr__(self, "checksum", _compute_checksum(self.weights))

    def opening(self, number: int) -> tuple[int, ...]:
        """Return the first moves of game `number`."""
        rng = random.Random(f"{self.seed}/{number}")
        line = rng.choice(self.openings) if self.openings else ()
        return draw_random_opening(self.game, rng.randint(*self.opening_plies), f"{self.seed}/{number}/moves", line)

    def run_job(self, number: int, cache: PlayerCache) -> GameResult:
        if self.weights and _compute_checksum(self.weights) != self.checksum:
            raise ConfigError(
                f"{self.weights} on this worker differs from the client's file: copy the client's file to all workers"
            )
        record = play_game(_load_engine(self.game, self.weights), Limit(level=self.level), self.opening(number))
        player = f"champion@level={self.level}"
        score = record.final.score()
        return GameResult(str(self.game), (player, player), format_transcript(record), score)

    def configuration(self) -> dict[str, Any]:
        """Return the settings that determine each game, without the number of games, which may change between runs."""
        rules = {"game": str(self.game), "level": self.level, "seed": self.seed, "weights": self.checksum}
        return {**rules, "openings": hash_openings(self.openings), "opening_plies": list(self.opening_plies)}


def play_game(engine: Engine, limit: Limit, opening: tuple[int, ...]) -> Record:
    """Play a game in which the engine plays both sides after the opening."""
    engine.clear()
    start, moves = Position.start(engine.game), list(opening)
    position = Record(start, opening).final
    while choices := position.legal_moves():
        moves.append(choices[0] if len(choices) == 1 else engine.find_best_move(position, limit))
        position = position.after(moves[-1])
    return Record(start, tuple(moves))


@cache
def _load_engine(game: Game, weights: str) -> Engine:
    return Engine(game, hash=HASH_MIB, weights=Path(weights) if weights else None)


@cache
def _compute_checksum(file: str) -> str:
    return f"{zlib.crc32(Path(file).read_bytes()):08x}"
