"""Checks of the engine's answers: they must be legal, and correct where they claim to be exact.

Othello scores come from the textbook's alpha-beta without a transposition table (`search.alphabeta_tt`) and, for the
last squares, from the plain-Python twins of the tests, which share no code with the engine.  Awalé scores come from
endgame tablebases with more seeds than the engine uses, which the tests compare entry by entry with the rules.
"""

import sys
from collections import Counter
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path

import numpy as np

from awello import Game, Position
from awello.analysis import Analysis
from awello.engine.retrograde import LEVEL_OFFSETS
from awello.engine.tablebase import Tablebase, load_or_build, seeds_on_board, solve_level
from awello.evaluate.heuristics import EXACT
from awello.evaluate.settings import Heuristic
from awello.kernel import U
from awello.search.alphabeta_tt import search
from awello.search.root import AlphaBetaEvaluator

sys.path.append(str(Path(__file__).parent.parent / "tests"))
from twins import BLACK, EMPTY, WHITE, OthelloTwin

PLAIN, TWINS, MORE = 13, 3, 2  # empty squares up to which scores are known, and by the twins; seeds beyond the engine's


@cache
def endgames(game: Game) -> Tablebase:
    """A table of more seeds than that of the engine; it is not kept on disk."""
    base = load_or_build(game)
    table = np.zeros(LEVEL_OFFSETS[base.seeds + MORE + 1], np.uint8)
    table[: len(base.table)] = base.table
    for level in range(base.seeds + 1, base.seeds + MORE + 1):
        solve_level(game, table, level, 1, lambda passes: None)
    return Tablebase(game, base.seeds + MORE, table)


def twin_of(position: Position) -> OthelloTwin:
    """A position without bits."""
    colours = ((EMPTY, BLACK, WHITE)[(position.first >> s & 1) + 2 * (position.second >> s & 1)] for s in range(64))
    return OthelloTwin(position.game.size, tuple(colours), position.side)


def score_of(twin: OthelloTwin) -> int:
    """The score under best play for the mover, by the rules alone."""
    if twin.over():
        score = twin.score()
        return score[twin.side] - score[1 - twin.side]
    return max(-score_of(twin.play(move)) for move in twin.legal_moves())


@lru_cache(10_000)
def truth(position: Position) -> int | None:
    """The score under best play, in Awalé what is still to be won; None where nobody knows it."""
    if position.game.family == "awale":
        base = endgames(position.game)
        return base.value(position) if base.covers(position) else None
    if (empties := position.empties) > PLAIN:
        return None
    if empties <= TWINS:
        return score_of(twin_of(position))
    known, most = AlphaBetaEvaluator(position.game, Heuristic("mobility"), 0, True, False), EXACT * position.game.points
    words = U(position.own), U(position.opp)
    value = search(int(position.game), *words, -most, most, 2 * empties, known.heuristic, known.search_state)
    return int(value) // EXACT


def worth_of(position: Position, move: int) -> int | None:
    """The true value of a move; what came before in the game plays no part."""
    after = replace(position.after(move), past=frozenset())
    value = truth(after)
    gain = seeds_on_board(position) - seeds_on_board(after) if position.game.family == "awale" else 0
    return None if value is None else gain - value


@dataclass
class Verdict:
    """What is asked of the answers about a position."""

    position: Position
    free: set[int]
    """The moves that were not left out."""
    best: int
    wld: bool

    def judge(self, answer: Analysis) -> Counter[str]:
        """An error if an answer cannot be right; what was compared."""
        points, values = self.position.game.points, dict(answer.candidates)
        said = f"{self.position!r}: {answer}"
        assert answer.move in self.free and values.keys() <= self.free, said
        assert len(values) == len(answer.candidates) in (1, min(self.best, len(self.free))), said
        assert answer.value == values[answer.move] == max(values.values()) and abs(answer.value) <= points, said
        assert answer.exact == (answer.move in answer.exact_moves) and values.keys() >= set(answer.exact_moves), said
        assert answer.nodes >= 0 and answer.depth > 0 and answer.pv[0] == answer.move, said
        end = self.position
        for move in answer.pv:
            assert move in end.legal_moves(), f"{said}, in {end!r}"
            end = end.after(move)
        return self.compare(answer, end, said)

    def compare(self, answer: Analysis, end: Position, said: str) -> Counter[str]:
        """An error if an exact score is wrong; how many were compared."""
        counts, worths = Counter[str](), {move: worth_of(self.position, move) for move in self.free}
        for move, value in answer.candidates:
            worth = worths[move]
            if move in answer.exact_moves and worth is not None:
                assert value == self.shown(worth), f"{said}, but {move} is worth {worth}"
                counts["exact scores"] += 1
        known = [worth for worth in worths.values() if worth is not None]
        if answer.exact and len(known) == len(worths):
            assert answer.value == self.shown(max(known)), f"{said}, but moves are worth {worths}"
            counts["best moves"] += 1
        if answer.exact and end.over and self.position.game.family == "othello" and not self.wld:
            score = end.score()
            assert answer.value == score[self.position.side] - score[1 - self.position.side], f"{said}, {score}"
            counts["lines to the end"] += 1
        return counts

    def shown(self, value: int) -> int:
        """A value, or with `wld` whether the game is won: seeds that were taken count then."""
        final = self.position.lead + value
        return (final > 0) - (final < 0) if self.wld else value
