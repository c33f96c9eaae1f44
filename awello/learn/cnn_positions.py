"""Positions of tournament games as tensors: replay all games in parallel, and encode boards as input planes.

During training, boards are transformed by random symmetries.  Symmetric boards are not transformed: people choose among
equivalent moves by convention (the first move is always f5), and this choice cannot be predicted on a transformed
board.  Like `cnn_training`, this module needs no compiler.
"""

from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from awello.errors import ConfigError

MISSING = 255  # stands for a missing square or score in the file of games
UNKNOWN = -128  # the margin of an unfinished game
FIRST_TEST_YEAR = 2016  # the test set starts with this year
MIN_TEST_SHARE, MAX_TEST_SHARE = 0.01, 0.5  # of all games; outside this range, the test set is random
RANDOM_TEST_SHARE = 0.1
VALIDATION_SHARE = 0.02  # of the games that are not in the test set
START_BLACK, START_WHITE = 0x0000000810000000, 0x0000001008000000
ALL_SQUARES, NOT_A, NOT_H = 0xFFFFFFFFFFFFFFFF, 0xFEFEFEFEFEFEFEFE, 0x7F7F7F7F7F7F7F7F
DIRECTIONS = (
    *((1, NOT_A), (7, NOT_H), (8, ALL_SQUARES), (9, NOT_A)),
    *((-1, NOT_H), (-7, NOT_A), (-8, ALL_SQUARES), (-9, NOT_H)),
)
MAX_SYMMETRIC_PLIES = 12  # later boards are not tested for symmetry
QUICK_VALIDATION_POSITIONS, QUICK_TEST_POSITIONS = 20_000, 100_000
PLANE_COUNTS = {"mover": 4, "colours": 3, "one": 1}

Bools = npt.NDArray[np.bool_]


# ---- games and positions --------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class GameArrays:
    """The arrays of a file of games, as written by `cnn_games`."""

    moves: npt.NDArray[np.uint8]
    black_discs: npt.NDArray[np.uint8]
    """Black's final discs, with empty squares counted for the winner; `MISSING` for unfinished games."""
    year: npt.NDArray[np.uint16]
    moves_id: npt.NDArray[np.uint32]
    """A number shared by games with the same moves."""

    @staticmethod
    def load(file: Path) -> "GameArrays":
        """Load a file of games."""
        try:
            with np.load(file) as content:
                return GameArrays(*(content[field.name] for field in fields(GameArrays)))
        except (OSError, KeyError, ValueError, EOFError, BadZipFile):
            raise ConfigError(
                f"cannot read games from {str(file)!r}: give a file of games written by 'awello train cnn'"
            ) from None


def split_games(games: GameArrays, seed: int) -> tuple[Bools, Bools, Bools]:
    """Split games into a training, a validation and a test set.

    The test set consists of the games from `FIRST_TEST_YEAR` on.  If too few or too many games are that recent, as in
    a personal archive, or if the years are missing, the test set is a random tenth of the games.  Games with the same
    moves stay together, except that the split by year can separate them.
    """
    random_value = np.random.default_rng(seed).random(int(games.moves_id.max()) + 1)[games.moves_id]
    test = games.year >= FIRST_TEST_YEAR
    if not MIN_TEST_SHARE <= test.mean() <= MAX_TEST_SHARE:
        different, rank = np.unique(random_value, return_inverse=True)
        test = rank >= len(different) - max(1, round(RANDOM_TEST_SHARE * len(different)))
    threshold = max(VALIDATION_SHARE, random_value.min(where=~test, initial=1))  # at least one game
    validation = ~test & (random_value <= threshold)
    if not (training := ~test & ~validation).any():
        raise ConfigError("too few different games: give at least three, and thousands for a useful network")
    return training, validation, test


@dataclass(frozen=True)
class CnnPositions:
    """Positions of games, one per row: the board from the mover's view, the square played, and the result."""

    own: Tensor
    opp: Tensor
    legal: Tensor
    square: Tensor
    black_to_move: Tensor
    margin: Tensor
    """The final margin for the mover; `UNKNOWN` for unfinished games."""
    game: Tensor
    empties: Tensor
    symmetric: Tensor
    """Whether the board is invariant under a symmetry other than the identity."""

    def __len__(self) -> int:
        return len(self.own)

    def take(self, selection: Tensor | slice) -> "CnnPositions":
        """Select positions."""
        return CnnPositions(*(getattr(self, field.name)[selection] for field in fields(self)))

    def subsample(self, max_positions: int) -> "CnnPositions":
        """Keep about `max_positions` positions: all positions of some games, and none of the others."""
        if len(self) <= max_positions:
            return self
        _, number = self.game.unique(return_inverse=True)
        return self.take(number % -(-len(self) // max_positions) == 0)

    @property
    def not_lost(self) -> Tensor:
        """Whether the mover won or drew."""
        return self.margin >= 0


def _shift(words: Tensor, amount: int, kept: int) -> Tensor:
    """Shift all discs by a number of squares, which may be negative; discs that leave the board are dropped."""
    if amount > 0:
        return words << amount & _to_signed(kept)
    return words >> -amount & _to_signed(kept & ALL_SQUARES >> -amount)


def _to_signed(word: int) -> int:
    """Convert an unsigned word to a signed integer with the same bits, for PyTorch."""
    return word - (1 << 64) if word >= 1 << 63 else word


def _find_run(start: Tensor, opp: Tensor, direction: tuple[int, int]) -> Tensor:
    """Return the contiguous opponent discs in one direction from the start squares."""
    run = _shift(start, *direction) & opp
    for _ in range(5):
        run = run | _shift(run, *direction) & opp
    return run


def find_moves(own: Tensor, opp: Tensor) -> Tensor:
    """Return the legal moves of many positions."""
    moves = torch.zeros_like(own)
    for direction in DIRECTIONS:
        moves = moves | _shift(_find_run(own, opp, direction), *direction)
    return moves & ~(own | opp)


def find_flips(own: Tensor, opp: Tensor, placed: Tensor) -> Tensor:
    """Return the discs that are flipped in each position by the placed disc."""
    flips = torch.zeros_like(own)
    for direction in DIRECTIONS:
        run = _find_run(placed, opp, direction)
        closed = _shift(run, *direction) & own != 0
        flips = flips | torch.where(closed, run, 0)
    return flips


def replay_games(games: GameArrays, device: str) -> CnnPositions:
    """Replay all games in parallel, inserting passes; return each position in which a disc was played."""
    moves, discs = torch.from_numpy(games.moves).to(device), torch.from_numpy(games.black_discs).to(device)
    final = torch.where(discs == MISSING, UNKNOWN, 2 * discs.int() - 64)
    own = torch.full_like(final, START_BLACK, dtype=torch.int64)
    opp = torch.full_like(final, START_WHITE, dtype=torch.int64)
    black_to_move, wrong = torch.ones_like(discs, dtype=torch.bool), torch.zeros_like(discs, dtype=torch.bool)
    number, plies = torch.arange(len(moves), device=device, dtype=torch.int32), []
    for ply in range(moves.shape[1]):
        square = moves[:, ply].long()
        played = square != MISSING
        legal = find_moves(own, opp)
        passed = played & (legal == 0)
        own, opp, black_to_move = torch.where(passed, opp, own), torch.where(passed, own, opp), black_to_move ^ passed
        legal = torch.where(passed, find_moves(own, opp), legal)
        wrong |= played & (legal >> square.clamp(max=63) & 1 == 0)
        margin = torch.where(black_to_move | (final == UNKNOWN), final, -final).to(torch.int8)
        empties = torch.full_like(discs, 60 - ply)
        symmetric = is_symmetric(own, opp) if ply < MAX_SYMMETRIC_PLIES else torch.zeros_like(played)
        columns = own, opp, legal, square.to(torch.uint8), black_to_move, margin, number, empties, symmetric
        plies.append([column[played] for column in columns])
        placed = torch.where(played, torch.ones_like(own) << square.clamp(max=63), 0)
        flips = find_flips(own, opp, placed)
        after = opp & ~flips, own | flips | placed
        own, opp = torch.where(played, after[0], own), torch.where(played, after[1], opp)
        black_to_move = black_to_move ^ played
    if wrong.any():
        raise ConfigError(
            f"game {int(wrong.nonzero()[0])} of the .npz file contains an illegal move: "
            "create the file again with 'awello train cnn'"
        )
    return CnnPositions(*(torch.cat(column) for column in zip(*plies, strict=True)))


@dataclass(frozen=True)
class DatasetSplit:
    """Training, validation and test positions."""

    training: CnnPositions
    validation: CnnPositions
    test: CnnPositions
    duplicates: Tensor
    """Mask of the test positions whose games also occur in the other sets."""
    games: dict[str, int]
    """Number of games in each set."""
    positions: dict[str, int]
    """Number of positions in each set, before subsampling."""

    @staticmethod
    def build(games: GameArrays, seed: int, device: str, quick: bool = False) -> "DatasetSplit":
        """Build the three sets of positions; `quick` subsamples the validation and test sets."""
        names = "training", "validation", "test"
        parts, positions = split_games(games, seed), replay_games(games, device)
        game_numbers = positions.game.long()
        training, validation, test = (positions.take(torch.from_numpy(part).to(device)[game_numbers]) for part in parts)
        counts = dict(zip(names, map(len, (training, validation, test)), strict=True))
        if quick:
            validation, test = validation.subsample(QUICK_VALIDATION_POSITIONS), test.subsample(QUICK_TEST_POSITIONS)
        duplicates = torch.from_numpy(np.isin(games.moves_id, games.moves_id[~parts[2]])).to(device)
        totals = {name: int(part.sum()) for name, part in zip(names, parts, strict=True)}
        return DatasetSplit(training, validation, test, duplicates[test.game.long()], totals, counts)


# ---- input planes ---------------------------------------------------------------------------------------------------
@cache
def build_symmetry_tables(device: torch.device) -> tuple[Tensor, Tensor]:
    """Return two tables with one row per symmetry: from new squares to old ones, and from old squares to new ones."""
    board = torch.arange(64).view(8, 8)
    rotations = [torch.rot90(board, turns) for turns in range(4)]
    squares = torch.stack([view.flatten() for view in [*rotations, *(view.flip(1) for view in rotations)]])
    return squares.to(device), squares.argsort(1).to(device)


def unpack_bits(words: Tensor, symmetry_ids: Tensor) -> Tensor:
    """Unpack boards into rows of 64 bits, each transformed by a symmetry."""
    return words[:, None] >> build_symmetry_tables(words.device)[0][symmetry_ids] & 1


def is_symmetric(own: Tensor, opp: Tensor) -> Tensor:
    """Return a mask of the positions that are invariant under a symmetry other than the identity."""
    shifts = torch.arange(8, dtype=torch.uint8, device=own.device)
    bits = [(words.view(torch.uint8).view(-1, 8, 1) >> shifts & 1).flatten(1) for words in (own, opp)]
    discs, squares = bits[0] + 2 * bits[1], build_symmetry_tables(own.device)[0]
    return torch.stack([(discs[:, squares[symmetry_id]] == discs).all(1) for symmetry_id in range(1, 8)]).any(0)


def encode_planes(input_planes: str, positions: CnnPositions, symmetry_ids: Tensor) -> Tensor:
    """Encode positions as the input planes of a network."""
    own, opp = unpack_bits(positions.own, symmetry_ids), unpack_bits(positions.opp, symmetry_ids)
    if input_planes == "mover":
        rows = [own, opp, unpack_bits(positions.legal, symmetry_ids), torch.ones_like(own)]
    elif input_planes == "colours":
        black = positions.black_to_move[:, None]
        rows = [torch.where(black, own, opp), torch.where(black, opp, own), black.long().expand_as(own)]
    else:
        rows = [own - opp]
    board = torch.stack(rows, 1).view(len(own), -1, 8, 8).float()
    return board.contiguous(memory_format=torch.channels_last)
