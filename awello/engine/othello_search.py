"""Othello's search: the memory of a thread, the question put to the kernels, and one search from start to end.

A search to the end of the game asks whether the score exceeds a number, again and again; each answer narrows the
bounds until they meet.  It is done first quickly, with probable cuts, and then ever more surely: the value and the move
of a quick search are where the next one begins to ask, and its best moves are in the table.
"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from awello.analysis import Analysis
from awello.engine.iterative_search import IterativeSearch, Step
from awello.engine.levels import FULL_WIDTH, MIDGAME_CERTAINTY, level_of
from awello.engine.midgame import search_at
from awello.engine.othello_state import BOARDS, BusyTable, OthelloState
from awello.engine.probcut import PERCENT, SURE, probcut_terms
from awello.engine.stability import EdgeTable, fill_edges
from awello.engine.state import NO_MOVE
from awello.engine.threads import SearchRequest, SearchResult, SearchStopped, SearchThreads, SearchWorker
from awello.engine.transposition_table import TranspositionTable, stored_move
from awello.evaluate.patterns import fill_row
from awello.evaluate.settings import Evaluator, Heuristic
from awello.evaluate.weights import Weights, load_pattern_weights, stage_of
from awello.kernel import U
from awello.limits import Limit
from awello.memory import address_of
from awello.position import Position
from awello.rules.game import PASS, Game, squares_of

TOGETHER_SOLVING, TOGETHER = 15, 9  # the depths from which more than one thread pays
# How much the evaluation counts in the order of moves.  Where a solution is near, small trees are preferred in all
# searches: their best moves are the first that the solution tries.
KEY_PER_DISC, KEY_PER_DISC_NEAR, NEAR_SOLUTION = 10, 4, 30
SCALES = {"positional": 8, "absolute": 128, "mobility": 128, "mixed": 16, "tactical": 8}  # UNITs of a heuristic's point
PASSES = (1, 2)  # certainties of the quick passes of a solution, one after the other
NEAR_END = 18  # up to so many empty squares a glance is enough before a solution
STRAIGHT = 13  # up to so many empty squares a solution needs no quick passes
AHEAD = 10  # a search without a depth goes over to solving when so many squares lie beyond it
LEAST_DEPTH = 6  # plies searched before a solution begins
LINE_NODES = 1 << 22  # what the rest of a solved line may cost


@cache
def edge_table() -> EdgeTable:
    """The stable discs of every edge."""
    table = EdgeTable.new()
    fill_edges(table)
    return table


class OthelloWorker(SearchWorker):
    """A thread that searches Othello."""

    state: OthelloState

    def __init__(
        self, game: Game, table: TranspositionTable, evaluator: Heuristic | Weights, busy: "npt.NDArray[Any]"
    ) -> None:
        super().__init__(OthelloState.new_array(1), table)
        self.pattern_rows = self.state.pattern_rows
        self.table, self.busy, self.evaluator = table, busy, evaluator  # kept as long as their addresses are used
        self.board = 0, 0
        self.state.table, self.state.table_mask = address_of(table.words), U(table.buckets - 1)
        self.state.busy, self.state.squares = address_of(busy), squares_of(int(game))
        self.state.stable_edges, self.state.probcut = edge_table(), probcut_terms()
        self._evaluate_by(game, evaluator)

    def _evaluate_by(self, game: Game, evaluator: Heuristic | Weights) -> None:
        """Use a heuristic, or learnt patterns."""
        state = self.state
        if isinstance(evaluator, Heuristic):
            self.settings = Evaluator(game, evaluator)
            state.game, state.heuristic = int(game), self.settings.heuristic
            state.heuristic_settings, state.heuristic_scale = self.settings.address, SCALES[evaluator.name]
            return
        for empties in range(BOARDS):  # a board that was set up by hand may hold fewer discs than the start
            state.weights[empties] = address_of(evaluator[stage_of(empties)])

    def prepare(self, question: SearchRequest, threads: int, age: int) -> None:
        board, empties = (question.position.own, question.position.opp), question.position.empties
        if board != self.board:  # a search leaves the row of its root as it was
            fill_row(*board, self.pattern_rows[empties])
            self.board = board
        key_per_disc = KEY_PER_DISC if empties > NEAR_SOLUTION else KEY_PER_DISC_NEAR
        self.set(certainty=question.certainty, root_empties=empties, best_move=question.first)
        self.set(threads=threads, table_age=age, key_per_disc=key_per_disc, path=0, stop=0)

    def search(self, question: SearchRequest) -> SearchResult:
        own, opp = U(question.position.own), U(question.position.opp)
        value = search_at(own, opp, question.moves, question.alpha, question.beta, question.depth, self.address)
        return SearchResult(int(value), self.get("best_move"))

    def best_move(self, position: Position) -> int:
        return int(stored_move(U(position.own), U(position.opp), self.address))

    def pays_together(self, question: SearchRequest) -> bool:
        solving = question.depth >= question.position.empties
        return question.depth >= (TOGETHER_SOLVING if solving else TOGETHER)

    def begin(self) -> None:
        super().begin()
        self.busy["hashes"][:] = 0

    def forget(self) -> None:
        self.fields["small_table"].view(np.uint8)[:] = 0


def othello_threads(
    game: Game, threads: int, size: int, heuristic: Heuristic | None, weights: Path | None, multipliers: tuple[int, ...]
) -> SearchThreads:
    """The threads of an engine with a table of so many MiB; without a heuristic they judge by learnt patterns."""
    table, busy = TranspositionTable(size, multipliers), BusyTable.new_array(1)
    evaluator = heuristic or load_pattern_weights(weights)
    workers = [OthelloWorker(game, table, evaluator, busy) for _ in range(threads)]
    for number, worker in enumerate(workers):
        worker.state.thread = number
        worker.state.thread_states[:threads] = [other.address for other in workers]
    return SearchThreads(workers, table)


class OthelloIterativeSearch(IterativeSearch):
    """A position of Othello that is being searched."""

    WINDOW = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        self.empties, self.most = self.position.empties, self.position.game.points

    # ---- plans: the searches that follow one another, each a depth and a certainty ----------------------------------
    def plan(self, limit: Limit) -> Iterator[Step]:
        if limit.level is not None:
            level = level_of(limit.level)
            sure = level.solving_certainty(self.empties)
            return self.plan_depth(level.depth, level.certainty) if sure is None else self.plan_solution(sure)
        if limit.depth is not None:
            return self.plan_depth(limit.depth, SURE if limit.depth <= FULL_WIDTH else MIDGAME_CERTAINTY)
        return self.plan_solution(SURE)

    def plan_depth(self, depth: int, certainty: int) -> Iterator[Step]:
        """Ply by ply to a depth; to the end of the game if that is no further."""
        if depth >= self.empties:
            return self.plan_solution(SURE)
        return ((plies, SURE if plies <= FULL_WIDTH else certainty) for plies in range(1, depth + 1))

    def plan_solution(self, certainty: int) -> Iterator[Step]:
        """Ply by ply until the end of the game is in reach, then to the end, more and more surely."""
        depths = range(1, min(self.empties, max(LEAST_DEPTH, self.empties - AHEAD)))
        for plies in depths if self.empties > NEAR_END else sorted({*depths[:1], *depths[-1:]}):
            yield plies, SURE if plies <= FULL_WIDTH else MIDGAME_CERTAINTY
        for sure in PASSES if self.empties > STRAIGHT else ():
            if sure < certainty:
                yield self.empties, sure
        yield self.empties, certainty

    # ---- the search -------------------------------------------------------------------------------------------------
    def solve(self, wld: bool) -> Iterator[Analysis]:
        """The plan of a solution; with `wld` the last passes only ask whether the game is won or drawn."""
        for depth, certainty in self.plan_solution(SURE):
            if wld and depth == self.empties:
                self.found = [self.outcome(certainty)]
            else:
                self.found = self.search_moves(depth, certainty)
            yield self.answer(depth, certainty, wld)

    def find(self, moves: int, depth: int, certainty: int, guess: SearchResult | None) -> SearchResult:
        search = self.solve_by_bounds if depth >= self.empties else super().find
        return search(moves, depth, certainty, guess)

    def solve_by_bounds(self, moves: int, depth: int, certainty: int, guess: SearchResult | None) -> SearchResult:
        """The score of a search to the end: questions of one number each, until the bounds meet.  Scores are even."""
        lower, upper = -self.most, self.most
        score, move, _ = guess or SearchResult(0, NO_MOVE)
        score = min(upper, max(lower, score - score % 2))
        while lower < upper:
            beta = score + 2 if score == lower else score
            value, best, _ = self.ask(moves, beta - 1, beta, depth, certainty, move)
            if value >= beta:
                score = lower = value + value % 2
                move = best
            else:
                score = upper = value - value % 2
        return SearchResult(score, move if move != NO_MOVE else moves.bit_length() - 1)

    def outcome(self, certainty: int) -> SearchResult:
        """Whether the game is won (1), drawn (0) or lost (-1), and by which move."""
        first = self.found[0].move if self.found else NO_MOVE
        value, move, _ = self.ask(self.moves, 0, 1, self.empties, certainty, first)
        if value >= 1:
            return SearchResult(1, move)
        value, move, _ = self.ask(self.moves, -1, 0, self.empties, certainty, first)
        return SearchResult(0 if value >= 0 else -1, move)

    # ---- the answer -------------------------------------------------------------------------------------------------
    def answer(self, depth: int, certainty: int, wld: bool = False) -> Analysis:
        value, move, _ = self.found[0]
        nodes, seconds = self.team.nodes, self.elapsed()
        exact = depth >= self.empties and certainty == SURE
        if exact and not wld:
            line = self.solved_line(move, value)
        else:
            line = (move, *self.remembered_line(self.position.after(move), self.empties))
        candidates = tuple((found.move, float(found.value)) for found in self.found)
        proved = tuple(found.move for found in self.found if exact)
        sure = PERCENT[certainty]
        return Analysis(move, float(value), exact, depth, nodes, 0, seconds, candidates, line, sure, proved)

    def solved_line(self, move: int, value: int) -> tuple[int, ...]:
        """The best line to the end of the game: in each position a move that has the score."""
        line, position, value = [move], self.position.after(move), -value
        self.team.allow(LINE_NODES)
        try:
            while moves := position.legal_moves():
                if moves == (PASS,):
                    move = PASS
                else:
                    word, first = sum(1 << move for move in moves), self.team.best_move(position)
                    first = first if first in moves else NO_MOVE
                    question = SearchRequest(position, U(word), value - 1, value, position.empties, SURE, first)
                    move = self.team.ask(question).move
                line.append(move)
                position, value = position.after(move), -value
        except SearchStopped:
            if self.team.stopped:
                raise
            line += self.remembered_line(position, self.empties)
        finally:
            self.team.allow(None)
        return tuple(line)
