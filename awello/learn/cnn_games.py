"""Pack games of Othello into a small file, from which a network can be trained without a compiler or an archive.

The file contains four arrays with one row per game: the squares played, without passes; Black's final discs, with empty
squares counted for the winner, or `MISSING` for an unfinished game; the year; and a number shared by games with the
same moves.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from awello.archive.archive import Archive, GameFilter
from awello.errors import AwelloError, ConfigError
from awello.folders import replace_atomically
from awello.formats.wthor import read_wthor
from awello.learn.positions import MAX_GAME_MOVES, NO_MOVE, collect_positions
from awello.position import Position
from awello.record import Record
from awello.rules.game import PASS, Game

MISSING = 255  # stands for a missing square or score

Arrays = dict[str, npt.NDArray[np.generic]]


def write_games(sources: Sequence[Path], file: Path) -> int:
    """Pack the games of WTHOR files, folders of such files and archives into a file; return the number of games."""
    arrays = pack_games(record for source in sources for record in read_records(source))
    file.parent.mkdir(parents=True, exist_ok=True)
    with replace_atomically(file) as content:
        np.savez_compressed(content, **arrays)  # type: ignore[arg-type]  # the overloads assume that all arguments are arrays
    return len(arrays["year"])


def read_records(source: Path) -> Iterator[Record]:
    """Read the games of Othello in a WTHOR file, a folder of such files, or an archive."""
    if not source.exists():
        raise ConfigError(f"{str(source)!r} does not exist: give WTHOR files, a folder of them, or an archive")
    if source.is_dir():
        for file in sorted(source.glob("*.wtb")):
            yield from read_records(file)
    elif source.suffix.lower() == ".wtb":
        for record in read_wthor(source.read_bytes()):
            if isinstance(record, AwelloError):
                raise ConfigError(f"{source}: {record}")
            yield record
    else:
        archive = Archive(source)
        yield from archive.load_records(archive.find_numbers(GameFilter(games=(Game.OTHELLO,))))
        archive.close()


def pack_games(records: Iterable[Record]) -> Arrays:
    """Pack games into arrays, omitting games without moves or with a non-standard start position."""
    rows, years = [], []
    for record in records:
        if record.start == Position.start() and record.moves:
            squares = bytes(move for move in record.moves if move != PASS)
            rows.append(squares.ljust(MAX_GAME_MOVES, bytes([NO_MOVE])))
            year = re.match(r"[0-9]{4}", record.tags.get("Date", ""), re.A)
            years.append(int(year[0]) if year else 0)
    if not rows:
        raise ConfigError(
            "found no games of Othello from the standard start position: "
            "give other WTHOR files, or a folder or archive that contains such games"
        )
    moves = np.frombuffer(bytearray().join(rows), np.uint8).reshape(-1, MAX_GAME_MOVES)
    positions = collect_positions(moves)
    ended, first = np.unique(positions.game, return_index=True)
    black_discs = np.full(len(moves), MISSING, np.uint8)
    black_discs[ended] = 32 + positions.scores[first] // 2  # Black is to move in the first position
    _, moves_id = np.unique(moves, axis=0, return_inverse=True)
    return {
        "moves": np.where(moves == NO_MOVE, MISSING, moves).astype(np.uint8),
        "black_discs": black_discs,
        "year": np.array(years, np.uint16),
        "moves_id": moves_id.reshape(-1).astype(np.uint32),
    }
