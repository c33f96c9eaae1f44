"""Analyse a position with a textbook search: find all best moves and their value, and count the nodes.

Each move is searched with a window whose lower end is one below the best value so far.  So all best moves are found,
and one of them can be chosen at random.  The upper end is the value of a complete win, which no value exceeds.
"""

import time

from awello.analysis import Analysis
from awello.evaluate.evaluator import Evaluator, Heuristic
from awello.evaluate.heuristics import EXACT_SCALE
from awello.kernel import U
from awello.memory import address_of
from awello.position import Position
from awello.rules.game import Game
from awello.search import alphabeta_tt, negamax
from awello.search.alphabeta_tt import AlphaBetaEntry, AlphaBetaState
from awello.search.negamax import NO_CUTOFFS


class AlphaBetaEvaluator(Evaluator):
    """An evaluator with the settings of `alphabeta_tt` and a transposition table that is kept from move to move."""

    def __init__(
        self, game: Game, heuristic: Heuristic, tt_entries: int, move_ordering: bool, skip_mirrors: bool
    ) -> None:
        states = AlphaBetaState.new_array(1)
        super().__init__(game, heuristic, states["evaluation"])
        self.search_state: AlphaBetaState = states[0]
        self.address = address_of(states)
        if tt_entries:
            entries = 1 << (tt_entries - 1).bit_length()
            self.tt = AlphaBetaEntry.new_array(entries)  # kept alive: the state contains only its address
            self.search_state.tt, self.search_state.tt_mask = address_of(self.tt), entries - 1
        self.search_state.move_ordering = move_ordering
        self.search_state.skip_mirrors = skip_mirrors and game.adapter.has_symmetries


TEXTBOOK_ALGORITHMS = ("minimax", "alphabeta", "negamax", "negamax-alphabeta")
# Minimax and negamax are two names for the same search; both also exist with alpha-beta.
MINIMAX_ALGORITHMS = TEXTBOOK_ALGORITHMS[::2]
ALPHABETA_ALGORITHMS = TEXTBOOK_ALGORITHMS[1::2]
ALGORITHMS = dict.fromkeys(TEXTBOOK_ALGORITHMS, negamax.search_at) | {"alphabeta_tt": alphabeta_tt.search_at}


def analyse(position: Position, algorithm: str, depth: int, evaluator: Evaluator) -> Analysis:
    """Analyse a position to a depth; the game must not be over.

    The algorithm `alphabeta_tt` requires an `AlphaBetaEvaluator`.
    """
    started = time.perf_counter()
    evaluator.prepare(position, depth)
    evaluator.state_array["inner_nodes"] = 1
    evaluator.state_array["cutoff_margin"] = NO_CUTOFFS if algorithm in MINIMAX_ALGORITHMS else evaluator.cutoff_margin
    search, max_value, candidates = ALGORITHMS[algorithm], EXACT_SCALE * position.game.max_score, []
    tail, best = (depth - 1, evaluator.heuristic_id, evaluator.address), -max_value
    for move in position.legal_moves():
        child = position.after(move)
        value = -int(search(int(position.game), U(child.own), U(child.opp), -max_value, 1 - best, *tail))
        candidates.append((move, value))
        best = max(best, value)
    return make_analysis(candidates, depth, evaluator, started)


def make_analysis(candidates: list[tuple[int, int]], depth: int, evaluator: Evaluator, started: float) -> Analysis:
    """Build the result of a search from the values of the moves and the counts of the evaluator."""
    best = max(value for _, value in candidates)
    exact = abs(best) >= EXACT_SCALE
    scale = EXACT_SCALE if exact else 1
    return Analysis(
        next(move for move, value in candidates if value == best),
        best / scale,
        exact,
        depth,
        evaluator.nodes,
        evaluator.leaves,
        time.perf_counter() - started,
        tuple((move, value / scale) for move, value in candidates),
    )
