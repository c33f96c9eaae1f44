"""Check the engine's analyses: moves must be legal, and exact values correct.

Othello scores come from textbook alpha-beta without a transposition table (`search.alphabeta_tt`) or, with at most 3
empty squares, from plain minimax with `tests/reference_rules.py`, which shares no code with the engine.  Awalé scores
come from tablebases with more seeds than the engine's; the tests check tablebases entry by entry against the rules.
"""

import sys
from collections import Counter
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path

import numpy as np

from awello import Game, Position
from awello.analysis import Analysis
from awello.engine.retrograde import LAYER_OFFSETS
from awello.engine.tablebase import Tablebase, count_board_seeds, load_or_build_tablebase, solve_layer
from awello.evaluate.evaluator import Heuristic
from awello.evaluate.heuristics import EXACT_SCALE
from awello.kernel import U
from awello.search.alphabeta_tt import search
from awello.search.textbook_search import AlphaBetaEvaluator

sys.path.append(str(Path(__file__).parent.parent / "tests"))
from reference_rules import BLACK, EMPTY, WHITE, ReferenceOthello

MAX_SEARCH_EMPTIES, MAX_REFERENCE_EMPTIES = 13, 3  # largest numbers of empty squares for alpha-beta and for minimax
EXTRA_TABLEBASE_SEEDS = 2  # seeds beyond those of the engine's tablebases


@cache
def load_endgames(game: Game) -> Tablebase:
    """Build, in memory, a tablebase with more seeds than the engine's."""
    base = load_or_build_tablebase(game)
    table = np.zeros(LAYER_OFFSETS[base.seeds + EXTRA_TABLEBASE_SEEDS + 1], np.uint8)
    table[: len(base.table)] = base.table
    for layer in range(base.seeds + 1, base.seeds + EXTRA_TABLEBASE_SEEDS + 1):
        solve_layer(game, table, layer, 1, lambda passes: None)
    return Tablebase(game, base.seeds + EXTRA_TABLEBASE_SEEDS, table)


def convert_to_reference(position: Position) -> ReferenceOthello:
    """Return the same position in the reference implementation."""
    colours = ((EMPTY, BLACK, WHITE)[(position.first >> s & 1) + 2 * (position.second >> s & 1)] for s in range(64))
    return ReferenceOthello(position.game.size, tuple(colours), position.side)


def solve_by_minimax(reference: ReferenceOthello) -> int:
    """Return the score for the mover with best play, by plain minimax."""
    if reference.over():
        score = reference.score()
        return score[reference.side] - score[1 - reference.side]
    return max(-solve_by_minimax(reference.play(move)) for move in reference.legal_moves())


@lru_cache(10_000)
def compute_exact_value(position: Position) -> int | None:
    """Return the mover's margin with best play (Awalé: without captured seeds), or None if computing it is too slow."""
    if position.game.family == "awale":
        base = load_endgames(position.game)
        return base.value(position) if base.covers(position) else None
    if (empties := position.empties) > MAX_SEARCH_EMPTIES:
        return None
    if empties <= MAX_REFERENCE_EMPTIES:
        return solve_by_minimax(convert_to_reference(position))
    evaluator = AlphaBetaEvaluator(position.game, Heuristic("mobility"), 0, True, False)
    bound = EXACT_SCALE * position.game.max_score
    words = U(position.own), U(position.opp)
    value = search(
        int(position.game), *words, -bound, bound, 2 * empties, evaluator.heuristic_id, evaluator.search_state
    )
    return int(value) // EXACT_SCALE


def compute_exact_move_value(position: Position, move: int) -> int | None:
    """Return the exact value of a move, ignoring repetitions of earlier positions."""
    after = replace(position.after(move), past=frozenset())
    value = compute_exact_value(after)
    gain = count_board_seeds(position) - count_board_seeds(after) if position.game.family == "awale" else 0
    return None if value is None else gain - value


@dataclass
class AnalysisChecker:
    """Checks the analyses of a position."""

    position: Position
    allowed_moves: set[int]
    """The legal moves that the search may return."""
    multipv: int
    wld: bool

    def check(self, analysis: Analysis) -> Counter[str]:
        """Raise `AssertionError` if an analysis is wrong; return the number of comparisons by kind."""
        max_score, values = self.position.game.max_score, dict(analysis.candidates)
        context = f"{self.position!r}: {analysis}"
        assert analysis.move in self.allowed_moves and values.keys() <= self.allowed_moves, context
        assert len(values) == len(analysis.candidates) in (1, min(self.multipv, len(self.allowed_moves))), context
        assert analysis.value == values[analysis.move] == max(values.values()) and abs(analysis.value) <= max_score, (
            context
        )
        assert analysis.exact == (analysis.move in analysis.exact_moves) and values.keys() >= set(
            analysis.exact_moves
        ), context
        assert analysis.nodes >= 0 and analysis.depth > 0 and analysis.pv[0] == analysis.move, context
        end = self.position
        for move in analysis.pv:
            assert move in end.legal_moves(), f"{context}, in {end!r}"
            end = end.after(move)
        return self.compare(analysis, end, context)

    def compare(self, analysis: Analysis, end: Position, context: str) -> Counter[str]:
        """Raise `AssertionError` if an exact value is wrong; return the number of comparisons by kind."""
        counts, move_values = (
            Counter[str](),
            {move: compute_exact_move_value(self.position, move) for move in self.allowed_moves},
        )
        for move, value in analysis.candidates:
            value_of_move = move_values[move]
            if move in analysis.exact_moves and value_of_move is not None:
                assert value == self.as_reported(value_of_move), f"{context}, but {move} has value {value_of_move}"
                counts["exact scores"] += 1
        known = [value_of_move for value_of_move in move_values.values() if value_of_move is not None]
        if analysis.exact and len(known) == len(move_values):
            assert analysis.value == self.as_reported(max(known)), f"{context}, but the moves have values {move_values}"
            counts["best moves"] += 1
        if analysis.exact and end.over and self.position.game.family == "othello" and not self.wld:
            score = end.score()
            assert analysis.value == score[self.position.side] - score[1 - self.position.side], f"{context}, {score}"
            counts["complete variations"] += 1
        return counts

    def as_reported(self, value: int) -> int:
        """Return the value that the engine reports: with `wld`, the sign of the final margin, with captured seeds."""
        final = self.position.lead + value
        return (final > 0) - (final < 0) if self.wld else value
