"""Otage's memory: the learnt factors of its evaluation and the results of its patterns, in a readable text file.

The file starts with the number of games, the number of autoplay games among them, and one line per factor.  Each edge
pattern has one line: its eight squares, an equals sign and three numbers.  A square is 1 for a disc of the side to
move, -1 for a disc of the other side, and 0 if empty.  The numbers are the wins minus the losses of the side to move,
the number of games in which the pattern occurred (a game counts twice if it occurred with each side to move), and the
ratio of the first number to the second.  A corner pattern has three lines, one per row of squares.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from awello.errors import ConfigError, join_choices
from awello.evaluate import otage
from awello.evaluate.evaluator import Evaluator, Heuristic
from awello.evaluate.heuristics import evaluate_positional
from awello.evaluate.otage import OtagePatterns, OtageState
from awello.folders import data_file, write_atomically
from awello.kernel import U
from awello.record import Record
from awello.rules.game import Game

TERM_NAMES = ("liberties", "squares", "edges", "corners")
DEFAULT_FACTORS = (16.0, 1.0, 0.5, 0.5)  # chosen by hand to make the terms similar in size; learning starts with them
FACTOR_SCALE = 32  # kernels use factors in units of 1/32
MAX_FACTOR = 100.0
PRIOR_DRAWS = 4  # imaginary draws added to each pattern's games; they bring the values of rare patterns close to 0
LOGISTIC_SCALE = 465.0  # the value at which 73 % of the games are won, fitted to games of Otage
# Factors are learnt from positions with these numbers of empty squares. In earlier positions, edges and corners are
# mostly empty; in later ones, Otage searches to the end of the game.
LEARNING_EMPTIES = range(16, 49)
LEARNING_RATE = 0.05  # a higher rate gives more weight to recent games
MAX_FACTOR_CHANGE = 0.01  # the largest relative change of a factor after one game
MEMORY_FILE = "memory.txt"
Numbers = npt.NDArray[np.int64]


# ---- patterns -------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class PatternKind:
    """A kind of pattern: its name, its shape, and the order of the squares in its mirror image."""

    name: str
    rows: int
    columns: int
    mirror_order: tuple[int, ...]

    @property
    def squares(self) -> int:
        return self.rows * self.columns

    @cached_property
    def canonical_indices(self) -> Numbers:
        """For each pattern's index, the smaller of this index and the index of the pattern's mirror image."""
        digits = np.arange(3**self.squares)[:, None] // 3 ** np.arange(self.squares) % 3
        mirrored: Numbers = digits[:, self.mirror_order] @ 3 ** np.arange(self.squares)
        return np.minimum(np.arange(3**self.squares), mirrored)


EDGE_PATTERNS = PatternKind("edges", 1, 8, tuple(range(7, -1, -1)))
CORNER_PATTERNS = PatternKind("corners", 3, 3, (0, 3, 6, 1, 4, 7, 2, 5, 8))


class OtagePatternStatistics:
    """The results of the patterns of one kind: wins minus losses, and number of games, by canonical index."""

    def __init__(self, kind: PatternKind) -> None:
        self.kind = kind
        self.balance: Numbers = np.zeros(3**kind.squares, np.int64)
        self.games = self.balance.copy()

    def values(self) -> npt.NDArray[np.int16]:
        """Return the value of each pattern: 1000 * (wins - losses) / games, but closer to 0 for rare patterns."""
        ratio = self.balance / (self.games + PRIOR_DRAWS)
        return np.round(otage.MAX_PATTERN_VALUE * ratio).astype(np.int16)[self.kind.canonical_indices]

    def format(self) -> str:
        """Return the lines of all patterns that have occurred."""
        parts = []
        for index in np.flatnonzero(self.games).tolist():
            signs = [(0, 1, -1)[index // 3**power % 3] for power in range(self.kind.squares)]
            rows = [signs[at : at + self.kind.columns] for at in range(0, len(signs), self.kind.columns)]
            balance, games = int(self.balance[index]), int(self.games[index])
            text = "\n".join(" ".join(f"{sign:2d}" for sign in row) for row in rows)
            parts.append(f"{text} = {balance} {games} {balance / games:.6f}\n")
        return "".join(parts)

    def parse(self, lines: Iterable[tuple[int, str]]) -> None:
        """Parse the patterns in `lines`, pairs of a line number and a line of the file."""
        signs: list[int] = []
        for number, line in lines:
            squares, equals, counts = line.partition("=")
            try:
                signs += [(0, 1, 2)[int(sign)] for sign in squares.split()]
                if not equals:
                    continue
                balance, games = map(int, counts.split()[:2])
                if len(signs) != self.kind.squares or not abs(balance) <= games:
                    raise ValueError
            except (ValueError, IndexError):
                expected = f"{self.kind.squares} squares (1, 0 or -1) and '= BALANCE GAMES' with |BALANCE| <= GAMES"
                raise _line_error(number, expected, line) from None
            index = self.kind.canonical_indices[sum(digit * 3**power for power, digit in enumerate(signs))]
            self.balance[index], self.games[index] = balance, games
            signs = []


# ---- the memory -----------------------------------------------------------------------------------------------------
@dataclass
class OtageMemory:
    """Otage's memory: the number of games, the factors and the results of the patterns."""

    games: int = 0
    autoplay_games: int = 0
    """How many of the `games` were played by `awello autoplay`."""
    factors: tuple[float, ...] = DEFAULT_FACTORS
    edges: OtagePatternStatistics = field(default_factory=lambda: OtagePatternStatistics(EDGE_PATTERNS))
    corners: OtagePatternStatistics = field(default_factory=lambda: OtagePatternStatistics(CORNER_PATTERNS))

    @classmethod
    def load(cls, file: Path) -> "OtageMemory":
        """Load a file; if it does not exist, return an empty memory."""
        return cls.parse(file.read_text("utf-8", errors="replace"), str(file)) if file.exists() else cls()

    @classmethod
    def parse(cls, text: str, name: str = "memory") -> "OtageMemory":
        """Parse the text of a file; errors name the line."""
        memory, sections, section = cls(), dict[str, list[tuple[int, str]]](), ""
        for number, line in enumerate(text.splitlines(), 1):
            if match := re.fullmatch(r"\[(\w+)\]", line.strip()):
                section = match[1]
            elif line.strip() and not line.startswith("#"):
                sections.setdefault(section, []).append((number, line))
        try:
            counts = _parse_numbers(sections.get("", []), {"games": 0, "autoplay": 0})
            memory.games, memory.autoplay_games = int(counts["games"]), int(counts["autoplay"])
            factors = _parse_numbers(sections.get("factors", []), dict(zip(TERM_NAMES, DEFAULT_FACTORS, strict=True)))
            memory.factors = tuple(factors.values())
            memory.edges.parse(sections.get("edges", []))
            memory.corners.parse(sections.get("corners", []))
        except ConfigError as error:
            raise ConfigError(f"{name}, {error}") from None
        return memory

    def format(self) -> str:
        """Return the memory as the text of a file."""
        factors = "".join(f"{term} = {factor:.6f}\n" for term, factor in zip(TERM_NAMES, self.factors, strict=True))
        counts = f"games = {self.games}\nautoplay = {self.autoplay_games}\n"
        patterns = f"[edges]\n{self.edges.format()}\n[corners]\n{self.corners.format()}"
        header = "# Otage's memory; see docs/otage.md for the format.\n"
        return f"{header}{counts}\n[factors]\n{factors}\n{patterns}"

    def save(self, file: Path) -> None:
        """Write the file atomically."""
        write_atomically(file, self.format())

    def learn_patterns(self, record: Record) -> None:
        """Add the result of a game, from the mover's point of view, to each pattern that occurred."""
        evaluator, occurred = OtageEvaluator(self), set[tuple[str, int, int]]()
        for position in record.positions():
            for kind, indices in evaluator.find_patterns(position.own, position.opp):
                occurred |= {(kind.name, int(kind.canonical_indices[index]), position.side) for index in indices}
        for name, index, side in occurred:
            patterns: OtagePatternStatistics = getattr(self, name)
            patterns.games[index] += 1
            patterns.balance[index] += 0 if record.winner is None else 1 if record.winner == side else -1

    def learn_factors(self, record: Record) -> None:
        """Adjust the factors slightly, so that the evaluation of midgame positions predicts the winner better."""
        chosen = [position for position in record.positions() if position.empties in LEARNING_EMPTIES]
        if record.winner is None or not chosen:
            return
        evaluator, factors = OtageEvaluator(self), np.array(self.factors)
        shares = factors * [evaluator.compute_terms(position.own, position.opp) for position in chosen] / LOGISTIC_SCALE
        won = np.array([position.side == record.winner for position in chosen])
        errors = won - 1 / (1 + np.exp(-shares.sum(axis=1)))  # the result minus the predicted probability of a win
        slope = np.mean(errors[:, None] * shares, axis=0)
        change = np.clip(LEARNING_RATE * slope, -MAX_FACTOR_CHANGE, MAX_FACTOR_CHANGE)
        factors = np.clip(factors * (1 + change), 0, MAX_FACTOR)
        self.factors = tuple(round(float(factor), 6) for factor in factors)  # as many decimals as in the file


def _parse_numbers(lines: Iterable[tuple[int, str]], defaults: dict[str, float]) -> dict[str, float]:
    """Parse lines with a name and a number; missing names keep their defaults."""
    for number, line in lines:
        match = re.fullmatch(r"\s*(\w+)\s*=\s*([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*", line)
        if not match or match[1] not in defaults:
            raise _line_error(number, f"'NAME = NUMBER' (NAME: {join_choices(defaults)})", line)
        defaults[match[1]] = float(match[2])
    return defaults


def _line_error(number: int, expected: str, line: str) -> ConfigError:
    return ConfigError(f"line {number}: expected {expected}, found {line[:40]!r}")


@cache
def load_shipped_memory() -> OtageMemory:
    """Load the shipped memory."""
    return OtageMemory.parse(data_file("otage.txt").read_text("utf-8"))


# ---- evaluator ------------------------------------------------------------------------------------------------------
@cache
def build_ternary_table() -> npt.NDArray[np.int32]:
    """Return, for each set of squares, the sum of 3**i over its squares i."""
    bits = np.arange(1 << otage.CORNER_SQUARES)[:, None] >> np.arange(otage.CORNER_SQUARES) & 1
    return (bits @ 3 ** np.arange(otage.CORNER_SQUARES)).astype(np.int32)


class OtageEvaluator(Evaluator):
    """Evaluates boards with the factors and patterns of a memory, or with the default factors and no patterns."""

    def __init__(self, memory: OtageMemory, patterns: bool = True, states: npt.NDArray[Any] | None = None) -> None:
        """Initialise `states`, an array with one element (default: a new array).

        If the state of a search contains an `OtageState`, the search passes this part of its state as `states`.
        """
        states = OtageState.new_array(1) if states is None else states
        super().__init__(Game.OTHELLO, Heuristic("positional"), states["evaluation"])
        self.otage: OtageState = states[0]
        factors = memory.factors if patterns else (*DEFAULT_FACTORS[:2], 0.0, 0.0)
        parts = [round(FACTOR_SCALE * factor) for factor in factors]
        self.otage.liberty_factor, self.otage.square_factor, self.otage.edge_factor, self.otage.corner_factor = parts
        states["ternary"][0] = build_ternary_table()
        states["edge_values"][0], states["corner_values"][0] = memory.edges.values(), memory.corners.values()

    def find_patterns(self, own: int, opp: int) -> Iterator[tuple[PatternKind, Iterable[int]]]:
        """For each kind of pattern, yield the kind and the indices of its patterns on a board."""
        patterns = OtagePatterns.new()
        otage.find_patterns(U(own), U(opp), patterns, self.otage)
        yield EDGE_PATTERNS, map(int, patterns.edges)
        yield CORNER_PATTERNS, map(int, patterns.corners)

    def compute_terms(self, own: int, opp: int) -> list[int]:
        """Return the four terms of a board's evaluation, without their factors."""
        words = U(own), U(opp)
        patterns = otage.evaluate_edges(*words, self.otage), otage.evaluate_corners(*words, self.otage)
        return [otage.count_liberties(*words), evaluate_positional(*words, self.state), *patterns]
