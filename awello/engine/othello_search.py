"""Othello's search: a worker that runs the kernels in one thread, and the plan of the depths to search.

The score at the end of the game is found by a series of null-window searches.  Each of them tests whether the score
exceeds a number, and so narrows the bounds on the score; the series ends when the bounds meet.  Quick selective
searches (with ProbCut) to the end precede the exact search.  Each search starts with the value and the best move of the
previous search, and finds the best moves of other positions in the transposition table.
"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from awello.analysis import Analysis
from awello.engine.iterative_search import IterativeSearch, PlanStep
from awello.engine.levels import MAX_FULL_WIDTH_DEPTH, MIDGAME_SELECTIVITY, find_level
from awello.engine.midgame import search_at
from awello.engine.othello_state import EMPTIES_SLOTS, BusyTable, OthelloState
from awello.engine.probcut import CONFIDENCE_PERCENT, NO_SELECTIVITY, load_probcut_coefficients
from awello.engine.stability import EdgeTable, fill_edge_table
from awello.engine.thread_state import NO_MOVE
from awello.engine.threads import SearchRequest, SearchResult, SearchStopped, SearchThreads, SearchWorker
from awello.engine.transposition_table import TranspositionTable, probe_best_move
from awello.evaluate.evaluator import Evaluator, Heuristic
from awello.evaluate.patterns import fill_indices
from awello.evaluate.weights import load_pattern_weights, stage_of
from awello.kernel import Int16Array, U
from awello.limits import Limit
from awello.memory import address_of
from awello.position import Position
from awello.rules.game import PASS, Game, board_mask_of

MIN_PARALLEL_SOLVE_DEPTH, MIN_PARALLEL_DEPTH = 15, 9  # searches below these depths use one thread
# The weight of one disc of evaluation in move ordering.  With NEAR_END_EMPTIES empty squares or fewer, the weight is
# lower, so that moves with few replies come first: the exact search that follows tries the best move found here first,
# and the tree below a move with few replies is small.
SORT_KEY_PER_DISC, SORT_KEY_PER_DISC_NEAR_END, NEAR_END_EMPTIES = 10, 4, 30
# The value of one point of a heuristic, in units of 1/DISC_VALUE disc.
HEURISTIC_SCALES = {"positional": 8, "absolute": 128, "mobility": 128, "mixed": 16, "tactical": 8}
SELECTIVE_PASSES = (1, 2)  # selectivities of the quick searches to the end that precede the exact one
SHORT_PLAN_EMPTIES = 18  # up to this many empty squares, only the first and last depth are searched before solving
DIRECT_SOLVE_EMPTIES = 13  # up to this many empty squares, the game is solved without quick searches first
SOLVE_AHEAD_PLIES = 10  # depths within this many plies of the end are skipped: the position is solved instead
MIN_DEPTH_BEFORE_SOLVING = 6  # depths below this one are never skipped
MAX_PV_NODES = 1 << 22  # the node limit for extending the PV of a solved position


@cache
def build_edge_table() -> EdgeTable:
    """Return the table of stable discs on edges, computed once."""
    table = EdgeTable.new()
    fill_edge_table(table)
    return table


class OthelloWorker(SearchWorker):
    """A worker that searches Othello in one thread."""

    state: OthelloState

    def __init__(
        self, game: Game, tt: TranspositionTable, evaluation: Heuristic | Int16Array, busy_table: "npt.NDArray[Any]"
    ) -> None:
        super().__init__(OthelloState.new_array(1), tt)
        self.pattern_indices = self.state.pattern_indices
        self.tt, self.busy_table = tt, busy_table  # kept alive: the state stores their addresses
        self.root_board = 0, 0
        self.state.tt, self.state.tt_mask = address_of(tt.words), U(tt.buckets - 1)
        self.state.busy_table, self.state.board_mask = address_of(busy_table), board_mask_of(int(game))
        self.state.stable_edges, self.state.probcut = build_edge_table(), load_probcut_coefficients()
        self._set_evaluation(game, evaluation)

    def _set_evaluation(self, game: Game, evaluation: Heuristic | Int16Array) -> None:
        """Set the evaluation of the search: a heuristic, or the weights of trained patterns."""
        state = self.state
        if isinstance(evaluation, Heuristic):
            self.evaluator = Evaluator(game, evaluation)  # kept alive, like the weights: the state stores addresses
            state.game, state.heuristic_id = int(game), self.evaluator.heuristic_id
            state.heuristic_state, state.heuristic_scale = self.evaluator.address, HEURISTIC_SCALES[evaluation.name]
            return
        self.weights = evaluation
        for empties in range(EMPTIES_SLOTS):  # up to 64: a custom position may have fewer than four discs
            state.weights[empties] = address_of(evaluation[stage_of(empties)])

    def prepare(self, request: SearchRequest, threads: int, age: int) -> None:
        root_board, empties = (request.position.own, request.position.opp), request.position.empties
        if root_board != self.root_board:  # after a search, the indices of its root are still valid
            fill_indices(*root_board, self.pattern_indices[empties])
            self.root_board = root_board
        sort_key_per_disc = SORT_KEY_PER_DISC if empties > NEAR_END_EMPTIES else SORT_KEY_PER_DISC_NEAR_END
        self.set_fields(selectivity=request.precision, root_empties=empties, root_best_move=request.first_move)
        self.set_fields(thread_count=threads, tt_age=age, sort_key_per_disc=sort_key_per_disc, path_hashes=0, stop=0)

    def search(self, request: SearchRequest) -> SearchResult:
        own, opp = U(request.position.own), U(request.position.opp)
        value = search_at(own, opp, request.moves, request.alpha, request.beta, request.depth, self.address)
        return SearchResult(int(value), self.get_field("root_best_move"))

    def probe_best_move(self, position: Position) -> int:
        return int(probe_best_move(U(position.own), U(position.opp), self.address))

    def uses_all_threads(self, request: SearchRequest) -> bool:
        solving = request.depth >= request.position.empties
        return request.depth >= (MIN_PARALLEL_SOLVE_DEPTH if solving else MIN_PARALLEL_DEPTH)

    def begin_search(self) -> None:
        super().begin_search()
        self.busy_table["hashes"][:] = 0

    def clear(self) -> None:
        self.fields["endgame_tt"].view(np.uint8)[:] = 0


def create_othello_threads(
    game: Game,
    threads: int,
    hash_mib: int,
    heuristic: Heuristic | None,
    weights: Path | None,
    multipliers: tuple[int, ...],
) -> SearchThreads:
    """Create the search threads of an engine; without a heuristic, they evaluate with trained patterns."""
    tt, busy_table = TranspositionTable(hash_mib, multipliers), BusyTable.new_array(1)
    evaluation = heuristic or load_pattern_weights(weights)
    workers = [OthelloWorker(game, tt, evaluation, busy_table) for _ in range(threads)]
    for number, worker in enumerate(workers):
        worker.state.thread_index = number
        worker.state.thread_states[:threads] = [other.address for other in workers]
    return SearchThreads(workers, tt)


class OthelloIterativeSearch(IterativeSearch):
    """The iterative search of an Othello position, to a depth or to the end of the game."""

    ASPIRATION_DELTA = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        self.empties, self.max_value = self.position.empties, self.position.game.max_score

    # ---- plans ------------------------------------------------------------------------------------------------------
    def plan(self, limit: Limit) -> Iterator[PlanStep]:
        if limit.level is not None:
            level = find_level(limit.level)
            selectivity = level.endgame_selectivity(self.empties)
            return (
                self.plan_depth(level.depth, level.selectivity)
                if selectivity is None
                else self.plan_solution(selectivity)
            )
        if limit.depth is not None:
            return self.plan_depth(
                limit.depth, NO_SELECTIVITY if limit.depth <= MAX_FULL_WIDTH_DEPTH else MIDGAME_SELECTIVITY
            )
        return self.plan_solution(NO_SELECTIVITY)

    def plan_depth(self, depth: int, selectivity: int) -> Iterator[PlanStep]:
        """Plan iterative deepening to a depth; if that reaches the end of the game, plan to solve the position."""
        if depth >= self.empties:
            return self.plan_solution(NO_SELECTIVITY)
        return (
            (plies, NO_SELECTIVITY if plies <= MAX_FULL_WIDTH_DEPTH else selectivity) for plies in range(1, depth + 1)
        )

    def plan_solution(self, selectivity: int) -> Iterator[PlanStep]:
        """Plan iterative deepening until the end is near, then searches to the end with increasing accuracy."""
        depths = range(1, min(self.empties, max(MIN_DEPTH_BEFORE_SOLVING, self.empties - SOLVE_AHEAD_PLIES)))
        for plies in depths if self.empties > SHORT_PLAN_EMPTIES else sorted({*depths[:1], *depths[-1:]}):
            yield plies, NO_SELECTIVITY if plies <= MAX_FULL_WIDTH_DEPTH else MIDGAME_SELECTIVITY
        for selective in SELECTIVE_PASSES if self.empties > DIRECT_SOLVE_EMPTIES else ():
            if selective < selectivity:
                yield self.empties, selective
        yield self.empties, selectivity

    # ---- the search -------------------------------------------------------------------------------------------------
    def solve(self, wld: bool) -> Iterator[Analysis]:
        """Solve the position and yield an analysis after each search; with `wld`, find only the outcome."""
        for depth, selectivity in self.plan_solution(NO_SELECTIVITY):
            if wld and depth == self.empties:
                self.results = [self.solve_outcome(selectivity)]
            else:
                self.results = self.search_multipv(depth, selectivity)
            yield self.make_analysis(depth, selectivity, wld)

    def find_best(self, moves: int, depth: int, selectivity: int, guess: SearchResult | None) -> SearchResult:
        search = self.solve_by_bounds if depth >= self.empties else self.aspiration_search
        return search(moves, depth, selectivity, guess)

    def solve_by_bounds(self, moves: int, depth: int, selectivity: int, guess: SearchResult | None) -> SearchResult:
        """Find the score by null-window searches that narrow its bounds until they meet; every score is even."""
        lower, upper = -self.max_value, self.max_value
        score, move, _ = guess or SearchResult(0, NO_MOVE)
        score = min(upper, max(lower, score - score % 2))
        while lower < upper:
            beta = score + 2 if score == lower else score
            value, best, _ = self.search_window(moves, beta - 1, beta, depth, selectivity, move)
            if value >= beta:
                score = lower = value + value % 2
                move = best
            else:
                score = upper = value - value % 2
        return SearchResult(score, move if move != NO_MOVE else moves.bit_length() - 1)

    def solve_outcome(self, selectivity: int) -> SearchResult:
        """Find the best move and the outcome of the game: 1 for a win, 0 for a draw, -1 for a loss."""
        first_move = self.results[0].move if self.results else NO_MOVE
        value, move, _ = self.search_window(self.moves, 0, 1, self.empties, selectivity, first_move)
        if value >= 1:
            return SearchResult(1, move)
        value, move, _ = self.search_window(self.moves, -1, 0, self.empties, selectivity, first_move)
        return SearchResult(0 if value >= 0 else -1, move)

    # ---- results ----------------------------------------------------------------------------------------------------
    def make_analysis(self, depth: int, selectivity: int, wld: bool = False) -> Analysis:
        value, move, _ = self.results[0]
        nodes, seconds = self.search_threads.nodes, self.elapsed()
        exact = depth >= self.empties and selectivity == NO_SELECTIVITY
        if exact and not wld:
            pv = self.solve_pv(move, value)
        else:
            pv = (move, *self.read_pv(self.position.after(move), self.empties))
        candidates = tuple((result.move, float(result.value)) for result in self.results)
        exact_moves = tuple(result.move for result in self.results if exact)
        confidence = CONFIDENCE_PERCENT[selectivity]
        return Analysis(move, float(value), exact, depth, nodes, 0, seconds, candidates, pv, confidence, exact_moves)

    def solve_pv(self, move: int, value: int) -> tuple[int, ...]:
        """Extend the principal variation to the end of the game: in each position, find a move that keeps the score."""
        pv, position, value = [move], self.position.after(move), -value
        self.search_threads.limit_nodes(MAX_PV_NODES)
        try:
            while moves := position.legal_moves():
                if moves == (PASS,):
                    move = PASS
                else:
                    word, first_move = sum(1 << move for move in moves), self.search_threads.probe_best_move(position)
                    first_move = first_move if first_move in moves else NO_MOVE
                    request = SearchRequest(
                        position, U(word), value - 1, value, position.empties, NO_SELECTIVITY, first_move
                    )
                    move = self.search_threads.search(request).move
                pv.append(move)
                position, value = position.after(move), -value
        except SearchStopped:
            if self.search_threads.stopped:
                raise
            pv += self.read_pv(position, self.empties)
        finally:
            self.search_threads.limit_nodes(None)
        return tuple(pv)
