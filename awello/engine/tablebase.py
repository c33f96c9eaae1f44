"""The endgames of Awalé, solved: tables of all positions up to some number of seeds, on disk and ready to ask.

A table counts the seeds that are still to be won, so one serves whatever has been taken before.  Endless play is worth
nothing to either side.  Tables lie in the user's cache folder, one file for each variant; a small one is made when it
is first needed, larger ones by `awello tablebase build`.
"""

import random
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from awello.engine.retrograde import (
    FIRST_WIN_CODE,
    LEVEL_OFFSETS,
    MAX_SEEDS,
    QUEUE_LENGTH,
    VALUE_OF_CODE,
    LevelPart,
    fill_rows,
    prepare_part,
    rank,
    settle_draws,
    settle_part,
)
from awello.errors import AwelloError, ConfigError
from awello.folders import replace_atomically, user_cache, writable_cache
from awello.kernel import U
from awello.memory import address_of
from awello.position import Position
from awello.rules.awale import FEW, ROW, SEEDS, seeds_in
from awello.rules.game import Game

DEFAULT_SEEDS = 12  # seeds of the table that is made without asking: a second of work for 2.7 MB
PARTS_PER_THREAD = (
    4  # parts of a level for each thread: with more no thread waits long for the others, but each has its own queue
)
HEADER_BYTES = 64  # bytes before the table: room for the line that describes it, and entries begin with a cache line
PREPARE_PASSES = (
    4  # what the first look at a level costs, in passes over it; only the progress that is shown depends on it
)
PROGRESS_PARTS = 1000  # of the work, as progress is told: fine enough for a bar, with few calls

Bytes = npt.NDArray[np.uint8]
ProgressCallback = Callable[[float], object]


@dataclass(frozen=True)
class Tablebase:
    """The values of all positions of up to so many seeds."""

    game: Game
    seeds: int
    table: Bytes

    def covers(self, position: Position) -> bool:
        """Whether the table knows a position."""
        return position.game == self.game and seeds_on_board(position) <= self.seeds

    def value(self, position: Position) -> int:
        """The seeds that the mover will still win less the opponent's, under best play."""
        return int(VALUE_OF_CODE[self._entry(position)])

    def values(self, position: Position) -> dict[int, int]:
        """What each legal move is worth."""
        seeds = seeds_on_board(position)
        children = {move: position.after(move) for move in position.legal_moves()}
        return {move: seeds - seeds_on_board(child) - self.value(child) for move, child in children.items()}

    def choose(self, position: Position, chance: random.Random | None = None) -> int:
        """A move that keeps the value and, for a win, makes progress, so that play that follows it never circles.

        A capture or the end of the game is progress, else the move by which the win was settled.  Without a win any
        move that keeps the value will do, the first or one by chance.
        """
        value, values = self.value(position), self.values(position)
        best = [move for move, worth in values.items() if worth == value] or list(values)  # a file may be damaged
        if value > 0:
            fewer = seeds_on_board(position)
            for move in best:
                after = position.after(move)
                if seeds_on_board(after) < fewer or not after.own & int(ROW):
                    return move
            settling = (self._entry(position) - FIRST_WIN_CODE) % 6
            return settling if settling in best else best[0]
        return chance.choice(best) if chance else best[0]

    def _entry(self, position: Position) -> int:
        own, opp = U(position.own) & ROW, U(position.opp) & ROW
        return int(self.table[LEVEL_OFFSETS[seeds_on_board(position)] + rank(own, opp)])


def seeds_on_board(position: Position) -> int:
    """The seeds that nobody has taken yet."""
    return int(seeds_in(U(position.own)) + seeds_in(U(position.opp)))


def split_captures_evenly(position: Position) -> Position:
    """The rows of a position, all other seeds taken, half by each: no majority ends it, and it has no past."""
    taken, row = SEEDS - seeds_on_board(position), int(ROW)
    own, opp = position.own & row | (taken - taken // 2) << 48, position.opp & row | taken // 2 << 48
    return Position(position.game, own, opp, position.side)


# ---- making a table -------------------------------------------------------------------------------------------------
def build_tablebase(game: Game, seeds: int, threads: int = 1, step: ProgressCallback = lambda share: None) -> Tablebase:
    """Solve all positions of up to so many seeds and keep them on disk, even if interrupted after some level.

    What is on disk already is not solved again.  `step` is called with the progress in PROGRESS_PARTS of the whole.
    """
    if game.family != "awale":
        raise ConfigError("tables of endgames are for Awalé: choose the game awale")
    if not 1 <= seeds <= MAX_SEEDS:
        raise ConfigError(f"a table of {seeds} seeds: choose 1 to {MAX_SEEDS}")
    known = find_tablebase(game)
    done = min(known.seeds, seeds) if known else FEW if game == Game.TOURNAMENT else 0
    table, work = np.zeros(LEVEL_OFFSETS[seeds + 1], np.uint8), _count_passes(done, seeds)
    if known:
        table[: LEVEL_OFFSETS[done + 1]] = known.table[: LEVEL_OFFSETS[done + 1]]
    try:
        for level in range(done + 1, seeds + 1):
            solve_level(game, table, level, threads, lambda passes: step(PROGRESS_PARTS * passes / work))
            done = level
    finally:
        if not known or done > known.seeds:
            _save(Tablebase(game, done, table[: LEVEL_OFFSETS[done + 1]]))
    return Tablebase(game, seeds, table)


def _level_size(level: int) -> int:
    return int(LEVEL_OFFSETS[level + 1] - LEVEL_OFFSETS[level])


def _count_passes(done: int, seeds: int) -> float:
    """The passes over positions that the levels above `done` take."""
    return float(sum(_level_size(level) * (PREPARE_PASSES + level) for level in range(done + 1, seeds + 1)))


def solve_level(game: Game, table: Bytes, level: int, threads: int, step: ProgressCallback) -> None:
    """Solve all positions of so many seeds, those of fewer being solved."""
    size = _level_size(level)
    counts, rows = np.zeros((size + 1) // 2, np.uint8), np.empty(comb(level + 6, 6), np.uint64)
    fill_rows(rows, level)
    parts = LevelPart.new_array(threads if threads == 1 else PARTS_PER_THREAD * threads)
    cuts = [size * part // len(parts) & ~1 for part in range(len(parts))] + [size]
    parts["game"], parts["seeds"], parts["queue_mask"] = int(game), level, QUEUE_LENGTH - 1
    parts["begin"], parts["end"] = cuts[:-1], cuts[1:]
    parts["codes"], parts["counts"] = address_of(table) + int(LEVEL_OFFSETS[level]), address_of(counts)
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda part: prepare_part(table, counts, part), parts))
        step(PREPARE_PASSES * size)
        for value in range(level, 0, -1):
            parts["value"] = value
            while any(list(pool.map(lambda part: settle_part(rows, part), parts))):
                pass
            step(size)
    settle_draws(table, level)


# ---- tables on disk -------------------------------------------------------------------------------------------------
def tablebase_folder() -> Path:
    """Where tables are written."""
    return writable_cache(user_cache(), "tablebases")


def _table_file(game: Game) -> Path:
    """The table of a game; one in a cache that cannot be written is used too."""
    usual = user_cache() / "tablebases" / f"{game}.table"
    return usual if usual.exists() else tablebase_folder() / usual.name


def _save(base: Tablebase) -> None:
    """Store a table in the cache."""
    header = f"awello tablebase 1 {base.game} {base.seeds} {zlib.crc32(base.table.data):08x}\n"
    with replace_atomically(tablebase_folder() / f"{base.game}.table") as file:
        file.write(header.encode().ljust(HEADER_BYTES))
        file.write(base.table.data)
    _map_file.cache_clear()


def find_tablebase(game: Game) -> Tablebase | None:
    """The table on disk, mapped into memory, or None."""
    file = _table_file(game)
    return _map_file(game, file, file.stat().st_mtime_ns) if file.exists() else None


@cache
def _map_file(game: Game, file: Path, changed: int) -> Tablebase:
    seeds, _ = _read_header(game, file)
    table = np.memmap(file, np.uint8, "r", HEADER_BYTES, (int(LEVEL_OFFSETS[seeds + 1]),))
    return Tablebase(game, seeds, table)


def _read_header(game: Game, file: Path) -> tuple[int, int]:
    """The seeds of a table and its checksum."""
    with file.open("rb") as content:
        words: list[Any] = content.read(HEADER_BYTES).split()
    if len(words) == 6 and words[:4] == [b"awello", b"tablebase", b"1", str(game).encode()]:
        seeds = int(words[4])
        if 1 <= seeds <= MAX_SEEDS and file.stat().st_size == HEADER_BYTES + LEVEL_OFFSETS[seeds + 1]:
            return seeds, int(words[5], 16)
    raise AwelloError(f"{file} is damaged: remove it, and build it again")


def verify_tablebase(game: Game) -> bool:
    """Whether the table on disk has its checksum."""
    base = find_tablebase(game)
    return base is not None and zlib.crc32(base.table.data) == _read_header(game, _table_file(game))[1]


def load_or_build(game: Game) -> Tablebase:
    """The largest table there is; a small one is made if there is none."""
    base = find_tablebase(game)
    return base if base is not None and base.seeds >= DEFAULT_SEEDS else build_tablebase(game, DEFAULT_SEEDS)
