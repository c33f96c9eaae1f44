"""The rules of all games behind a common interface; kernels identify a game by its id, a small number.

`legal_moves` returns a word in which bit `move` is set if the move is legal.  If no bit is set, the game is over or, in
Othello only, the mover must pass; `is_over` tells which.  Repetition depends on the history of the game and is
therefore handled by `Position`.
"""

from enum import IntEnum
from functools import cached_property

import numpy as np
import numpy.typing as npt

from awello.bits import bit, bit_scan, clear_lowest_bit, find_moves
from awello.errors import ConfigError, join_choices
from awello.kernel import U, Words, kernel
from awello.rules import awale, othello
from awello.rules.othello import BOARD_MASK4, BOARD_MASK6, BOARD_MASK8

PASS = othello.PASS
GameAdapter = othello.OthelloAdapter | awale.AwaleAdapter
ADAPTERS: dict[int, GameAdapter] = {**othello.ADAPTERS, **awale.ADAPTERS}


class Game(IntEnum):
    """A rule set: Othello on a board of 8x8, 6x6 or 4x4 squares, or a variant of Awalé."""

    OTHELLO = 0
    OTHELLO6 = 1
    OTHELLO4 = 2
    ABAPA = awale.ABAPA
    TOURNAMENT = awale.TOURNAMENT
    ROMEIN = awale.ROMEIN

    @classmethod
    def _missing_(cls, value: object) -> "Game":
        """Look up a game by name: `Game("othello6")`, `Game("romein")`; "awale" means abapa."""
        names = {str(game): game for game in cls} | {"awale": cls.ABAPA}
        if isinstance(value, str) and value.lower() in names:
            return names[value.lower()]
        raise ConfigError(f"unknown game {value!r}: choose {join_choices(names)}")

    def __repr__(self) -> str:
        return f"Game.{self.name}"

    def __str__(self) -> str:
        return self.name.lower()

    @cached_property
    def adapter(self) -> GameAdapter:
        """The adapter of the game: everything outside the kernels that differs between games.

        General code uses the adapter for facts (units, sides, whether there are passes) and for everything that depends
        on the rules (notation, scores, endings), instead of testing which game it is.  All adapters have the same
        members, documented in `OthelloAdapter`; the type checker reports missing ones.  Other packages keep what
        differs between families in dictionaries keyed by `family`.
        """
        return ADAPTERS[int(self)]

    @cached_property
    def family(self) -> str:
        """The family of the game: `othello` or `awale`."""
        return self.adapter.family

    @cached_property
    def size(self) -> int:
        """The number of rows of an Othello board; 2 for Awalé."""
        return self.adapter.size

    @property
    def variant(self) -> str | None:
        """The name of the Awalé variant; None for Othello."""
        return self.adapter.variant

    @property
    def sides(self) -> tuple[str, str]:
        """The names of the sides, the first player's side first."""
        return self.adapter.sides

    @cached_property
    def max_score(self) -> int:
        """The largest score: the number of squares of the Othello board, or of seeds in Awalé."""
        return self.adapter.max_score

    @property
    def options(self) -> dict[str, object]:
        """The options that select the game: `game`, and `variant` or `size`."""
        return {"game": self.family, **({"variant": self.variant} if self.variant else {"size": self.size})}

    def describe(self) -> dict[str, object]:
        """Describe the game as JSON data."""
        facts = ("family", "title", "size", "variant", "sides", "unit", "max_score", "has_passes", "has_draw_offers")
        return {"name": str(self)} | {fact: getattr(self.adapter, fact) for fact in facts}


GAMES_BY_SIZE = {game.size: game for game in Game if not game.variant}
GAMES_BY_VARIANT = {game.variant: game for game in Game if game.variant}
DEFAULT_BY_FAMILY = {"othello": Game.OTHELLO, "awale": Game.ABAPA}
"""The default game of each family."""


def find_game(family: str, size: int | None = None, variant: str | None = None) -> Game:
    """Look up a game: `othello` with a size (default: 8) or `awale` with a variant (default: abapa)."""
    if family not in DEFAULT_BY_FAMILY:
        raise ConfigError(f"unknown game {family!r}: choose {join_choices(DEFAULT_BY_FAMILY)}")
    if family == "othello":
        if variant is not None:
            raise ConfigError(f"Othello has no variant {variant!r}: omit the variant, or choose the game awale")
        if size is not None and size not in GAMES_BY_SIZE:
            raise ConfigError(f"Othello has no board of size {size}: choose 4, 6 or 8")
        return GAMES_BY_SIZE[size or 8]
    if size is not None:
        raise ConfigError(f"Awalé has no size {size}: omit the size, or choose the game othello")
    if variant is not None and variant not in GAMES_BY_VARIANT:
        raise ConfigError(f"unknown variant {variant!r}: choose {join_choices(GAMES_BY_VARIANT)}")
    return GAMES_BY_VARIANT[variant or "abapa"]


@kernel("uint64(int64)")
def board_mask_of(game: int) -> U:
    """Return the mask of the playable squares of an Othello board."""
    return BOARD_MASK8 if game == 0 else BOARD_MASK6 if game == 1 else BOARD_MASK4


@kernel("int64(int64)", inline=True)
def count_symmetries(game: int) -> int:
    """Return the number of symmetries of the board, including the identity."""
    return 1 if game >= awale.ABAPA else 8


@kernel("uint64(int64, uint64, uint64)")
def legal_moves(game: int, own: U, opp: U) -> U:
    """Return a word with bit `move` set for each legal move; 0 if the game is over or the mover must pass."""
    if game >= awale.ABAPA:
        return awale.legal_moves(game, own, opp)
    return find_moves(own, opp) & board_mask_of(game)


@kernel("UniTuple(uint64, 2)(int64, uint64, uint64, int64)")
def play(game: int, own: U, opp: U, move: int) -> tuple[U, U]:
    """Return the position after a legal move other than a pass, the next mover's word first."""
    if game >= awale.ABAPA:
        return awale.play(game, own, opp, move)
    return othello.play(own, opp, move)


@kernel("boolean(int64, uint64, uint64)")
def is_over(game: int, own: U, opp: U) -> bool:
    """Return whether the game is over, ignoring repetition."""
    if game >= awale.ABAPA:
        return bool(awale.legal_moves(game, own, opp) == U(0))
    return othello.is_over(own, opp, board_mask_of(game))


@kernel("int64(int64, uint64, uint64)")
def score(game: int, own: U, opp: U) -> int:
    """Return the mover's final score in a finished game, ignoring repetition."""
    if game >= awale.ABAPA:
        return awale.score(game, own, opp)
    return othello.score(own, opp, board_mask_of(game))


@kernel("int64(int64, uint64, uint64, int64)")
def perft(game: int, own: U, opp: U, depth: int) -> int:
    """Count the leaves of the game tree at this depth; a pass counts as a ply, a finished game as one leaf."""
    if depth == 0:
        return 1
    moves = legal_moves(game, own, opp)
    if moves == U(0):
        return 1 if is_over(game, own, opp) else perft(game, opp, own, depth - 1)
    leaves = 0
    while moves != U(0):
        next_own, next_opp = play(game, own, opp, bit_scan(moves))
        leaves += perft(game, next_own, next_opp, depth - 1)
        moves = clear_lowest_bit(moves)
    return leaves


@kernel("int64(int64, uint64, uint64, int8[::1], uint64[:, ::1])")
def replay(game: int, own: U, opp: U, moves: npt.NDArray[np.int8], words: Words) -> int:
    """Play moves until one is illegal, ignoring repetition; return the number of moves played.

    Row n of `words` is set to the position after n moves, the mover's word first.
    """
    words[0, 0], words[0, 1] = own, opp
    for number in range(moves.size):
        move, legal = int(moves[number]), legal_moves(game, own, opp)
        if move == PASS and legal == U(0) and not is_over(game, own, opp):
            own, opp = opp, own
        elif 0 <= move < 64 and legal & bit(move) != U(0):
            own, opp = play(game, own, opp, move)
        else:
            return number
        words[number + 1, 0], words[number + 1, 1] = own, opp
    return int(moves.size)


@kernel("int64(int64, uint64, uint64, uint64[:, ::1])")
def write_canonical_children(game: int, own: U, opp: U, words: Words) -> int:
    """Write to `words` the canonical position after each legal move or a forced pass; return the number written."""
    moves, count = legal_moves(game, own, opp), 0
    if moves == U(0) and not is_over(game, own, opp):
        words[0, 0], words[0, 1] = othello.canonical(opp, own)
        return 1
    while moves != U(0):
        next_own, next_opp = play(game, own, opp, bit_scan(moves))
        if count_symmetries(game) > 1:
            next_own, next_opp = othello.canonical(next_own, next_opp)
        words[count, 0], words[count, 1] = next_own, next_opp
        moves, count = clear_lowest_bit(moves), count + 1
    return count
