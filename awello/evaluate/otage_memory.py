"""What Otage has learnt: the factors of its judgement, and how its patterns fared, in a file that people can read.

After the number of games comes a line for each factor.  A line of an edge is the pattern as the side to move sees it
(1 its own disc, -1 another, 0 empty), the games won less the games lost by that side, the games in which it was met,
and the ratio of both; a corner takes three lines, its rows.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from awello.errors import ConfigError
from awello.evaluate import otage
from awello.evaluate.heuristics import positional
from awello.evaluate.otage import OtagePatterns, OtageState
from awello.evaluate.settings import Evaluator, Heuristic
from awello.folders import data_file, write_atomically
from awello.kernel import U
from awello.record import Record
from awello.rules.game import Game

TERMS = ("liberties", "squares", "edges", "corners")
DEFAULT_FACTORS = (
    16.0,
    1.0,
    0.5,
    0.5,
)  # set by hand so that the terms weigh about the same
FACTOR_SCALE = 32  # parts of a factor that the kernels tell apart
MAX_FACTOR = 100.0  # factor
PRIOR_DRAWS = 4  # games that a pattern is thought to have drawn before it was met: more trusts rare patterns less
LOGISTIC_SCALE = 465.0  # what is worth 73 % of the games: a fit to games of Otage
# Empty squares of the positions from which factors learn: earlier the patterns are empty, later Otage solves the game.
LEARNING_EMPTIES = range(16, 49)
LEARNING_RATE = 0.05  # how fast factors learn: more follows the last games, less takes more of them
MAX_FACTOR_CHANGE = 0.01  # the largest part by which a factor changes after a game, so that no single game upsets them
MEMORY_FILE = "memory.txt"
Numbers = npt.NDArray[np.int64]


# ---- patterns -------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class PatternKind:
    """A kind of patterns: its name, the squares of a row, and the order in which its mirror image has the squares."""

    name: str
    rows: int
    columns: int
    mirror_order: tuple[int, ...]

    @property
    def squares(self) -> int:
        return self.rows * self.columns

    @cached_property
    def canonical_indices(self) -> Numbers:
        """For each index that of the pattern or of its mirror image, whichever is smaller."""
        digits = np.arange(3**self.squares)[:, None] // 3 ** np.arange(self.squares) % 3
        mirrored: Numbers = digits[:, self.mirror_order] @ 3 ** np.arange(self.squares)
        return np.minimum(np.arange(3**self.squares), mirrored)


EDGE_PATTERNS = PatternKind("edges", 1, 8, tuple(range(7, -1, -1)))
CORNER_PATTERNS = PatternKind("corners", 3, 3, (0, 3, 6, 1, 4, 7, 2, 5, 8))


class OtagePatternStatistics:
    """How the patterns of a kind fared: wins less losses, and games, by the index of their class."""

    def __init__(self, kind: PatternKind) -> None:
        self.kind = kind
        self.balance: Numbers = np.zeros(3**kind.squares, np.int64)
        self.games = self.balance.copy()

    def values(self) -> npt.NDArray[np.int16]:
        """What each pattern is worth to the side to move: its ratio, nearer to nothing the rarer it was."""
        ratio = self.balance / (self.games + PRIOR_DRAWS)
        return np.round(otage.MAX_PATTERN_VALUE * ratio).astype(np.int16)[self.kind.canonical_indices]

    def format(self) -> str:
        """The patterns that were met, as text."""
        parts = []
        for index in np.flatnonzero(self.games).tolist():
            signs = [(0, 1, -1)[index // 3**power % 3] for power in range(self.kind.squares)]
            rows = [signs[at : at + self.kind.columns] for at in range(0, len(signs), self.kind.columns)]
            balance, games = int(self.balance[index]), int(self.games[index])
            text = "\n".join(" ".join(f"{sign:2d}" for sign in row) for row in rows)
            parts.append(f"{text} = {balance} {games} {balance / games:.6f}\n")
        return "".join(parts)

    def parse(self, lines: Iterable[tuple[int, str]]) -> None:
        """Take over the patterns of numbered lines."""
        signs: list[int] = []
        for number, line in lines:
            squares, equals, told = line.partition("=")
            try:
                signs += [(0, 1, 2)[int(sign)] for sign in squares.split()]
                if not equals:
                    continue
                balance, games = map(int, told.split()[:2])
                if len(signs) != self.kind.squares or not abs(balance) <= games:
                    raise ValueError
            except (ValueError, IndexError):
                raise _line_error(number, f"{self.kind.squares} of 1, 0, -1, = wins less losses, games", line) from None
            index = self.kind.canonical_indices[sum(digit * 3**power for power, digit in enumerate(signs))]
            self.balance[index], self.games[index] = balance, games
            signs = []


# ---- all that is learnt ---------------------------------------------------------------------------------------------
@dataclass
class OtageMemory:
    """The games it has learnt from, the factors and the patterns."""

    games: int = 0
    autoplay_games: int = 0
    """Those of them that `awello autoplay` played."""
    factors: tuple[float, ...] = DEFAULT_FACTORS
    edges: OtagePatternStatistics = field(default_factory=lambda: OtagePatternStatistics(EDGE_PATTERNS))
    corners: OtagePatternStatistics = field(default_factory=lambda: OtagePatternStatistics(CORNER_PATTERNS))

    @classmethod
    def load(cls, file: Path) -> "OtageMemory":
        """What a file holds; nothing has been learnt where there is none."""
        return cls.parse(file.read_text("utf-8", errors="replace"), str(file)) if file.exists() else cls()

    @classmethod
    def parse(cls, text: str, name: str = "memory") -> "OtageMemory":
        """What a text tells; an error names the line."""
        memory, sections, section = cls(), dict[str, list[tuple[int, str]]](), ""
        for number, line in enumerate(text.splitlines(), 1):
            if match := re.fullmatch(r"\[(\w+)\]", line.strip()):
                section = match[1]
            elif line.strip() and not line.startswith("#"):
                sections.setdefault(section, []).append((number, line))
        try:
            counts = _parse_numbers(sections.get("", []), {"games": 0, "autoplay": 0})
            memory.games, memory.autoplay_games = int(counts["games"]), int(counts["autoplay"])
            found = _parse_numbers(sections.get("factors", []), dict(zip(TERMS, DEFAULT_FACTORS, strict=True)))
            memory.factors = tuple(found.values())
            memory.edges.parse(sections.get("edges", []))
            memory.corners.parse(sections.get("corners", []))
        except ConfigError as error:
            raise ConfigError(f"{name}, {error}") from None
        return memory

    def format(self) -> str:
        """The text of a file."""
        factors = "".join(f"{term} = {factor:.6f}\n" for term, factor in zip(TERMS, self.factors, strict=True))
        counts = f"games = {self.games}\nautoplay = {self.autoplay_games}\n"
        patterns = f"[edges]\n{self.edges.format()}\n[corners]\n{self.corners.format()}"
        return f"# What Otage has learnt: see the docs.\n{counts}\n[factors]\n{factors}\n{patterns}"

    def save(self, file: Path) -> None:
        """Write everything, as a whole or not at all."""
        write_atomically(file, self.format())

    def learn_patterns(self, record: Record) -> None:
        """Learn from a finished game: each pattern that a side met when it was to move shares that side's result."""
        evaluator, met = OtageEvaluator(self), set[tuple[str, int, int]]()
        for position in record.positions():
            for kind, indices in evaluator.find_patterns(position.own, position.opp):
                met |= {(kind.name, int(kind.canonical_indices[index]), position.side) for index in indices}
        for name, index, side in met:
            patterns: OtagePatternStatistics = getattr(self, name)
            patterns.games[index] += 1
            patterns.balance[index] += 0 if record.winner is None else 1 if record.winner == side else -1

    def learn_factors(self, record: Record) -> None:
        """Change the factors a little, so that the judgement of the game's middle would have told its winner better."""
        chosen = [position for position in record.positions() if position.empties in LEARNING_EMPTIES]
        if record.winner is None or not chosen:
            return
        evaluator, factors = OtageEvaluator(self), np.array(self.factors)
        shares = factors * [evaluator.terms(position.own, position.opp) for position in chosen] / LOGISTIC_SCALE
        won = np.array([position.side == record.winner for position in chosen])
        missed = won - 1 / (1 + np.exp(-shares.sum(axis=1)))  # the result less the chance that the judgement gave it
        slope = np.mean(missed[:, None] * shares, axis=0)
        factors = np.clip(
            factors * (1 + np.clip(LEARNING_RATE * slope, -MAX_FACTOR_CHANGE, MAX_FACTOR_CHANGE)), 0, MAX_FACTOR
        )
        self.factors = tuple(round(float(factor), 6) for factor in factors)  # as they are written


def _parse_numbers(lines: Iterable[tuple[int, str]], known: dict[str, float]) -> dict[str, float]:
    """Numbers by their names, those that lines tell in place of those that are known."""
    for number, line in lines:
        match = re.fullmatch(r"\s*(\w+)\s*=\s*([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*", line)
        if not match or match[1] not in known:
            raise _line_error(number, f"{' or '.join(known)} = a number", line)
        known[match[1]] = float(match[2])
    return known


def _line_error(number: int, expected: str, line: str) -> ConfigError:
    return ConfigError(f"line {number}: expected {expected}, found {line[:40]!r}")


@cache
def load_shipped_memory() -> OtageMemory:
    """What the shipped file holds."""
    return OtageMemory.parse(data_file("otage.txt").read_text("utf-8"))


# ---- for kernels ----------------------------------------------------------------------------------------------------
@cache
def ternary_numbers() -> npt.NDArray[np.int32]:
    """For each set of squares the number in base three that has ones there."""
    bits = np.arange(1 << otage.CORNER_SQUARES)[:, None] >> np.arange(otage.CORNER_SQUARES) & 1
    return (bits @ 3 ** np.arange(otage.CORNER_SQUARES)).astype(np.int32)


class OtageEvaluator(Evaluator):
    """An evaluator that judges by a memory; without its patterns, as one that has not learnt anything."""

    def __init__(self, memory: OtageMemory, patterns: bool = True, states: npt.NDArray[Any] | None = None) -> None:
        """Fill the first of `states`; a search that needs more memory gives the `OtageState` inside its own."""
        states = OtageState.new_array(1) if states is None else states
        super().__init__(Game.OTHELLO, Heuristic("positional"), states["evaluation"])
        self.otage: OtageState = states[0]
        factors = memory.factors if patterns else (*DEFAULT_FACTORS[:2], 0.0, 0.0)
        parts = [round(FACTOR_SCALE * factor) for factor in factors]
        self.otage.liberty_factor, self.otage.square_factor, self.otage.edge_factor, self.otage.corner_factor = parts
        states["ternary"][0] = ternary_numbers()
        states["edge_values"][0], states["corner_values"][0] = memory.edges.values(), memory.corners.values()

    def find_patterns(self, own: int, opp: int) -> Iterator[tuple[PatternKind, Iterable[int]]]:
        """The indices of the patterns on a board."""
        found = OtagePatterns.new()
        otage.find_patterns(U(own), U(opp), found, self.otage)
        yield EDGE_PATTERNS, map(int, found.edges)
        yield CORNER_PATTERNS, map(int, found.corners)

    def terms(self, own: int, opp: int) -> list[int]:
        """The four terms of the judgement of a board, without their factors."""
        words = U(own), U(opp)
        patterns = otage.evaluate_edges(*words, self.otage), otage.evaluate_corners(*words, self.otage)
        return [otage.liberties(*words), positional(*words, self.state), *patterns]
