"""Training positions of Othello: positions of games, and positions a few random moves away from them.

Most positions that a search evaluates do not occur in good games.  Some samples are therefore made by playing a few
random moves from an earlier position of a game.
"""

import gzip
import re
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from awello.bits import bit, find_flips, find_moves
from awello.errors import ConfigError
from awello.kernel import U, Words, kernel
from awello.rules.othello import BLACK_START, BOARD_MASK8, WHITE_START, score
from awello.search.uct import pick_random_move, xorshift

MAX_GAME_MOVES = 60
NO_MOVE = 64
BLACK, WHITE = U(BLACK_START), U(WHITE_START)
RANDOM_PLY_SHARES = (0.4, 0.3, 0.2, 0.1)  # shares of the samples made with 0, 1, 2 and 3 random moves

Games = npt.NDArray[np.uint8]


# ---- games: one row of 60 squares per game, without passes; 64: no move ---------------------------------------------
def read_games(source: Path) -> Games:
    """Read the games in a file, or in games.jsonl, wthor/*.wtb and games/*.gz of a folder."""
    if source.is_dir():
        files = [*source.glob("games.jsonl"), *sorted(source.glob("wthor/*.wtb")), *sorted(source.glob("games/*.gz"))]
        games = [read_games(file) for file in files if "csv" not in file.name]
    else:
        try:
            games = [_read_wthor(source) if source.suffix == ".wtb" else _read_texts(source)]
        except (OSError, UnicodeDecodeError, struct.error, ValueError):
            raise ConfigError(f"cannot read games from {str(source)!r}: give transcripts or a WTHOR file") from None
    if not sum(map(len, games)):
        raise ConfigError(
            f"found no games in {source}: give a WTHOR file, a file with one transcript per line, "
            "or a folder with games.jsonl, wthor/*.wtb or games/*.gz"
        )
    return np.concatenate(games)


def _read_wthor(file: Path) -> Games:
    content = file.read_bytes()
    count = struct.unpack_from("<I", content, 4)[0]
    squares = np.frombuffer(content, np.uint8, 68 * count, 16).reshape(count, 68)[:, 8:].astype(np.int64)
    return np.where(squares > 0, squares // 10 * 8 + squares % 10 - 9, NO_MOVE).astype(np.uint8)


def _read_texts(file: Path) -> Games:
    """Read one game per line, as JSON or with the moves as the first word; `#` starts a comment."""
    rows = []
    with gzip.open(file, "rt") if file.suffix == ".gz" else file.open() as lines:
        for line in lines:
            if words := line.partition('"moves":')[2].split() or line.partition("#")[0].replace(":", " ").split():
                moves = "".join(re.findall("[a-h][1-8]", words[0].lower()))[: 2 * MAX_GAME_MOVES]
                letters = np.frombuffer(moves.encode(), np.uint8).astype(np.int64)
                row = np.full(MAX_GAME_MOVES, NO_MOVE, np.uint8)
                row[: len(letters) // 2] = letters[::2] - ord("a") + 8 * (letters[1::2] - ord("1"))
                rows.append(row)
    return np.array(rows, np.uint8).reshape(-1, MAX_GAME_MOVES)


# ---- positions ------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class PositionSet:
    """Positions in which the mover can place a disc, with the final margin for the mover and the number of the game."""

    own: Words
    opp: Words
    scores: npt.NDArray[np.int8]
    game: npt.NDArray[np.int32]
    empties: npt.NDArray[np.int8]


@kernel("int64(uint8[:, ::1], uint64[::1], uint64[::1], int8[::1], int32[::1])")
def replay_games(
    games: Games, owns: Words, opps: Words, scores: npt.NDArray[np.int8], numbers: npt.NDArray[np.int32]
) -> int:
    """Write all positions and return their number; skip games that are unfinished or have an illegal move."""
    count = 0
    for game in range(games.shape[0]):
        own, opp, black, first, legal = BLACK, WHITE, True, count, True
        for move in range(MAX_GAME_MOVES):
            square = int(games[game, move])
            if square == NO_MOVE:
                break
            moves = find_moves(own, opp)
            if moves == U(0):
                own, opp, black = opp, own, not black
                moves = find_moves(own, opp)
            if moves & bit(square) == U(0):
                legal = False
                break
            owns[count], opps[count], numbers[count] = own, opp, game
            scores[count] = 1 if black else -1
            count += 1
            flips = find_flips(own, opp, square)
            own, opp, black = opp ^ flips, own | flips | bit(square), not black
        if not legal or find_moves(own, opp) != U(0) or find_moves(opp, own) != U(0):
            count = first
            continue
        final = score(own, opp, BOARD_MASK8)
        for example in range(first, count):
            scores[example] = final if (scores[example] == 1) == black else -final
    return count


def collect_positions(games: Games) -> PositionSet:
    """Collect the positions of all finished games."""
    size = len(games) * MAX_GAME_MOVES
    own, opp = np.empty(size, np.uint64), np.empty(size, np.uint64)
    scores, numbers = np.empty(size, np.int8), np.empty(size, np.int32)
    count = replay_games(games, own, opp, scores, numbers)
    empties = (64 - np.bitwise_count(own[:count] | opp[:count])).astype(np.int8)
    return PositionSet(own[:count], opp[:count], scores[:count], numbers[:count], empties)


@kernel("void(uint64[::1], uint64[::1], int64, uint64)")
def play_random_moves(owns: Words, opps: Words, plies: int, random_state: U) -> None:
    """Play `plies` random moves from each position.

    If the side to move ever has no legal move, even after the last random move, the position's board is cleared.
    """
    for position in range(owns.size):
        own, opp = owns[position], opps[position]
        moves = find_moves(own, opp)
        for _ in range(plies):
            if moves != U(0):
                random_state = xorshift(random_state)
                square = pick_random_move(moves, random_state)
                flips = find_flips(own, opp, square)
                own, opp = opp ^ flips, own | flips | bit(square)
                moves = find_moves(own, opp)
        no_moves = moves == U(0)
        owns[position], opps[position] = U(0) if no_moves else own, U(0) if no_moves else opp


def sample_positions(
    positions: PositionSet, empties: int, count: int, rng: np.random.Generator
) -> tuple[Words, Words, Words]:
    """Sample up to about `count` distinct positions with `empties` empty squares; return own, opp and game numbers."""
    samples = []
    for plies, share in enumerate(RANDOM_PLY_SHARES):
        pool = np.flatnonzero(positions.empties == empties + plies)
        chosen = rng.choice(pool, min(round(share * count), len(pool)), replace=False)
        own, opp = positions.own[chosen], positions.opp[chosen]
        play_random_moves(own, opp, plies, U(rng.integers(1, 1 << 62)))
        samples.append(np.stack([own, opp, positions.game[chosen].astype(np.uint64)])[:, own | opp != U(0)])
    every = np.concatenate(samples, axis=1)
    _, first = np.unique(every[:2], axis=1, return_index=True)
    own, opp, game = np.ascontiguousarray(every[:, np.sort(first)])
    return own, opp, game
