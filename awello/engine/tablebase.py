"""Endgame tablebases for Awalé: files with the values of all positions that have at most a given number of seeds.

A value is the number of seeds in play that the mover wins, minus the number that the opponent wins; earlier captures do
not count.  Endless play has value 0.  The files are in the user's cache folder, one per variant.  A small tablebase is
built on first use; larger ones are built by `awello tablebase build`.
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

from awello.engine.retrograde import (
    FIRST_WIN_CODE,
    LAYER_OFFSETS,
    MAX_SEEDS,
    QUEUE_LENGTH,
    VALUE_OF_CODE,
    Bytes,
    LayerPart,
    fill_rows,
    prepare_part,
    rank,
    settle_draws,
    settle_part,
)
from awello.errors import AwelloError, ConfigError
from awello.folders import replace_atomically, user_cache_folder, writable_cache_folder
from awello.kernel import U
from awello.memory import address_of
from awello.position import Position
from awello.rules.awale import EARLY_END_SEEDS, ROW_MASK, TOTAL_SEEDS, count_seeds
from awello.rules.game import Game

DEFAULT_SEEDS = 12  # the size of the tablebase that is built on first use; it takes 2.6 MiB and one second
PARTS_PER_THREAD = 4  # parts of a layer per thread: more parts balance the load better, but each needs a queue
HEADER_BYTES = 64  # a line of text, padded to a cache line
PREPARE_COST_PASSES = 4  # the first pass over a layer takes as long as this many later ones; used only for progress
TOTAL_PROGRESS = 1000  # the sum of all reported progress

ProgressCallback = Callable[[float], object]


@dataclass(frozen=True)
class Tablebase:
    """The values of all positions with up to `seeds` seeds."""

    game: Game
    seeds: int
    table: Bytes

    def covers(self, position: Position) -> bool:
        """Return whether a position is in the tablebase."""
        return position.game == self.game and count_board_seeds(position) <= self.seeds

    def value(self, position: Position) -> int:
        """Return the seeds that the mover wins from now on, minus those that the opponent wins, with best play."""
        return int(VALUE_OF_CODE[self._entry(position)])

    def move_values(self, position: Position) -> dict[int, int]:
        """Return the value of each legal move."""
        seeds = count_board_seeds(position)
        children = {move: position.after(move) for move in position.legal_moves()}
        return {move: seeds - count_board_seeds(child) - self.value(child) for move, child in children.items()}

    def choose(self, position: Position, rng: random.Random | None = None) -> int:
        """Choose a move that keeps the value and, in a won position, makes progress, so that play never cycles.

        Progress means a capture, the end of the game, or else the stored move.  If the position is not won, the first
        of the moves that keep the value is chosen or, if `rng` is given, a random one.
        """
        value, values = self.value(position), self.move_values(position)
        best = [move for move, candidate in values.items() if candidate == value] or list(
            values
        )  # if the file is damaged, there may be no move that keeps the value
        if value > 0:
            fewer = count_board_seeds(position)
            for move in best:
                after = position.after(move)
                if count_board_seeds(after) < fewer or not after.own & int(ROW_MASK):
                    return move
            settling = (self._entry(position) - FIRST_WIN_CODE) % 6
            return settling if settling in best else best[0]
        return rng.choice(best) if rng else best[0]

    def _entry(self, position: Position) -> int:
        own, opp = U(position.own) & ROW_MASK, U(position.opp) & ROW_MASK
        return int(self.table[LAYER_OFFSETS[count_board_seeds(position)] + rank(own, opp)])


def count_board_seeds(position: Position) -> int:
    """Count the seeds that are still on the board."""
    return int(count_seeds(U(position.own)) + count_seeds(U(position.opp)))


def split_captures_evenly(position: Position) -> Position:
    """Return the position with its captured seeds split evenly between the sides, and without its history."""
    captured, row = TOTAL_SEEDS - count_board_seeds(position), int(ROW_MASK)
    own, opp = position.own & row | (captured - captured // 2) << 48, position.opp & row | captured // 2 << 48
    return Position(position.game, own, opp, position.side)


# ---- building -------------------------------------------------------------------------------------------------------
def build_tablebase(
    game: Game, seeds: int, threads: int = 1, on_progress: ProgressCallback = lambda share: None
) -> Tablebase:
    """Solve all positions with up to `seeds` seeds and save the result or, if interrupted, the finished layers.

    Layers on disk are not solved again.  `on_progress` is called with increments of progress, which add up to
    TOTAL_PROGRESS.
    """
    if game.family != "awale":
        raise ConfigError("endgame tablebases exist only for Awalé: choose the game awale")
    if not 1 <= seeds <= MAX_SEEDS:
        raise ConfigError(f"{seeds} is not a valid number of seeds: choose 1 to {MAX_SEEDS}")
    existing = find_tablebase(game)
    done = min(existing.seeds, seeds) if existing else EARLY_END_SEEDS if game == Game.TOURNAMENT else 0
    table, work = np.zeros(LAYER_OFFSETS[seeds + 1], np.uint8), _count_passes(done, seeds)
    if existing:
        table[: LAYER_OFFSETS[done + 1]] = existing.table[: LAYER_OFFSETS[done + 1]]
    try:
        for layer in range(done + 1, seeds + 1):
            solve_layer(game, table, layer, threads, lambda passes: on_progress(TOTAL_PROGRESS * passes / work))
            done = layer
    finally:
        if not existing or done > existing.seeds:
            _save(Tablebase(game, done, table[: LAYER_OFFSETS[done + 1]]))
    return Tablebase(game, seeds, table)


def _layer_size(layer: int) -> int:
    return int(LAYER_OFFSETS[layer + 1] - LAYER_OFFSETS[layer])


def _count_passes(done: int, seeds: int) -> float:
    """Estimate the work for the layers from `done` + 1 to `seeds`: the positions visited in all passes together."""
    return float(sum(_layer_size(layer) * (PREPARE_COST_PASSES + layer) for layer in range(done + 1, seeds + 1)))


def solve_layer(game: Game, table: Bytes, layer: int, threads: int, on_progress: ProgressCallback) -> None:
    """Solve all positions with `layer` seeds; those with fewer seeds must be solved already."""
    size = _layer_size(layer)
    counts, rows = np.zeros((size + 1) // 2, np.uint8), np.empty(comb(layer + 6, 6), np.uint64)
    fill_rows(rows, layer)
    parts = LayerPart.new_array(threads if threads == 1 else PARTS_PER_THREAD * threads)
    cuts = [size * part // len(parts) & ~1 for part in range(len(parts))] + [size]
    parts["game"], parts["seeds"], parts["queue_mask"] = int(game), layer, QUEUE_LENGTH - 1
    parts["begin"], parts["end"] = cuts[:-1], cuts[1:]
    parts["codes"], parts["counts"] = address_of(table) + int(LAYER_OFFSETS[layer]), address_of(counts)
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda part: prepare_part(table, counts, part), parts))
        on_progress(PREPARE_COST_PASSES * size)
        for value in range(layer, 0, -1):
            parts["value"] = value
            while any(list(pool.map(lambda part: settle_part(rows, part), parts))):
                pass
            on_progress(size)
    settle_draws(table, layer)


# ---- files ----------------------------------------------------------------------------------------------------------
def tablebase_folder() -> Path:
    """Return the folder where tablebases are written."""
    return writable_cache_folder(user_cache_folder(), "tablebases")


def _table_file(game: Game) -> Path:
    """Return the path of a game's tablebase, which may be in a read-only cache folder."""
    usual = user_cache_folder() / "tablebases" / f"{game}.table"
    return usual if usual.exists() else tablebase_folder() / usual.name


def _save(base: Tablebase) -> None:
    """Save a tablebase in the cache folder."""
    header = f"awello tablebase 1 {base.game} {base.seeds} {zlib.crc32(base.table.data):08x}\n"
    with replace_atomically(tablebase_folder() / f"{base.game}.table") as file:
        file.write(header.encode().ljust(HEADER_BYTES))
        file.write(base.table.data)
    _map_file.cache_clear()


def find_tablebase(game: Game) -> Tablebase | None:
    """Return the tablebase on disk, mapped into memory, or None if there is none."""
    file = _table_file(game)
    return _map_file(game, file, file.stat().st_mtime_ns) if file.exists() else None


@cache
def _map_file(game: Game, file: Path, changed: int) -> Tablebase:
    seeds, _ = _read_header(game, file)
    table = np.memmap(file, np.uint8, "r", HEADER_BYTES, (int(LAYER_OFFSETS[seeds + 1]),))
    return Tablebase(game, seeds, table)


def _read_header(game: Game, file: Path) -> tuple[int, int]:
    """Read the number of seeds and the checksum from the header of a tablebase file."""
    with file.open("rb") as content:
        words: list[Any] = content.read(HEADER_BYTES).split()
    if len(words) == 6 and words[:4] == [b"awello", b"tablebase", b"1", str(game).encode()]:
        seeds = int(words[4])
        if 1 <= seeds <= MAX_SEEDS and file.stat().st_size == HEADER_BYTES + LAYER_OFFSETS[seeds + 1]:
            return seeds, int(words[5], 16)
    advice = f"remove it and run 'awello tablebase build --variant {game} --seeds N'"
    raise AwelloError(f"{file} is not a valid tablebase for {game}: {advice}")


def verify_tablebase(game: Game) -> bool:
    """Return whether there is a tablebase on disk and its values match its checksum."""
    base = find_tablebase(game)
    return base is not None and zlib.crc32(base.table.data) == _read_header(game, _table_file(game))[1]


def load_or_build_tablebase(game: Game) -> Tablebase:
    """Return the tablebase on disk, or build one for DEFAULT_SEEDS seeds if there is none or only a smaller one."""
    base = find_tablebase(game)
    return base if base is not None and base.seeds >= DEFAULT_SEEDS else build_tablebase(game, DEFAULT_SEEDS)
