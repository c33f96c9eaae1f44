"""Awalé's search: the memory of a thread, the question put to the kernels, and one search from start to end.

Inside the table of solved endgames there is nothing to search: every move has its value.  Outside it a search goes ply
by ply, and ends when its value needed no estimate: then it is proved.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from awello.analysis import Analysis
from awello.engine.awale import CYCLE, search_root_at, stored_pit
from awello.engine.awale_state import DEEPEST, NONE, PAST, UNIT, AwaleState
from awello.engine.awale_transposition_table import ENTRY_BYTES
from awello.engine.iterative_search import IterativeSearch, Step
from awello.engine.levels import FULL_WIDTH, level_of
from awello.engine.state import NO_MOVE
from awello.engine.tablebase import Tablebase, load_or_build, seeds_on_board
from awello.engine.threads import SearchRequest, SearchResult, SearchThreads, SearchWorker
from awello.engine.transposition_table import TranspositionTable
from awello.errors import ConfigError
from awello.evaluate.awale_network import AwaleNetworkWeights
from awello.evaluate.settings import Heuristic
from awello.evaluate.weights import load_awale_network_weights
from awello.kernel import U
from awello.limits import Limit
from awello.memory import address_of
from awello.position import Position
from awello.rules.awale import ROW
from awello.rules.game import Game

TOGETHER = 12  # the depth from which more than one thread pays: shallower searches end before helpers have begun
# The depth from which late quiet moves are searched less deep, in searches beyond FULL_WIDTH: a smaller one
# reaches deeper in the same time but overlooks more.
REDUCE_FROM_DEPTH = 3
NO_REDUCTIONS = DEEPEST + 1
FADING = 3  # bits that the history of refutations loses between searches: new refutations soon outweigh it, ties do not
LINE = 40  # moves of a line that are shown
SEEDS_PER_LEVEL = 2  # a level knows the endgames of so many seeds for each of its plies
STRIDE = 4  # plies between the searches on the way to a depth: fewer searches, but each with a worse order of moves


class AwaleWorker(SearchWorker):
    """The memory of one thread that searches Awalé."""

    def __init__(
        self, number: int, base: Tablebase, table: TranspositionTable, weights: AwaleNetworkWeights | None
    ) -> None:
        super().__init__(AwaleState.new_array(1), table)
        self.number, self.rows, self.history = number, self.fields["rows"][0], self.fields["history"]
        self.recalled: Position | None = None
        self.base, self.table = base, table  # kept as long as their addresses are used
        self.state.game = int(base.game)
        self.state.table, self.state.table_mask = address_of(table.words), table.buckets - 1
        self.state.tablebase = address_of(base.table)
        self.evaluate_by(weights)

    def evaluate_by(self, weights: AwaleNetworkWeights | None) -> None:
        """Use learnt weights, or DiffScore, which looks at the captures of one more move."""
        self.weights = weights  # kept as long as their address is used
        self.state.weights = 0 if weights is None else address_of(np.asarray(weights.rows))
        self.state.horizon = 1 if weights is None else 0

    def prepare(self, question: SearchRequest, threads: int, age: int) -> None:
        seeds = min(question.certainty, self.base.seeds)  # a larger table may be built meanwhile
        selective = self.weights is not None and question.depth > FULL_WIDTH
        reduce_from_depth = REDUCE_FROM_DEPTH if selective else NO_REDUCTIONS
        best_pit = NONE if question.first == NO_MOVE else question.first
        self.set(stop=0, guesses=0, best_pit=best_pit, tablebase_seeds=seeds, reduce_from_depth=reduce_from_depth)
        if question.position is not self.recalled:  # a search leaves the rows before its root as they were
            self._recall_past(question.position)
            self.recalled = question.position

    def _recall_past(self, position: Position) -> None:
        """Write the positions since the last capture before the root; only whose turn it was matters in their order."""
        rows = self.rows[PAST::-1]  # the root, then backwards
        for field in ("own", "opp", "quiet_moves"):
            rows[field] = 0
        boards: tuple[list[tuple[int, int]], list[tuple[int, int]]] = [], []
        for own, opp, side in position.past:
            boards[side != position.side].append((own & int(ROW), opp & int(ROW)))
        for theirs, pairs in enumerate(boards):
            places = rows[CYCLE - 2 + theirs :: 2][: len(pairs)]
            places["own"], places["opp"] = np.array(pairs[: len(places)], np.uint64).reshape(-1, 2).T
        if position.past:
            rows["quiet_moves"][0] = min(CYCLE + 2 * len(position.past), PAST)

    def search(self, question: SearchRequest) -> SearchResult:
        own, opp = U(question.position.own) & ROW, U(question.position.opp) & ROW
        depth = min(DEEPEST, question.depth + self.number % 2)  # every other thread looks one ply further
        value = search_root_at(own, opp, question.moves, question.alpha, question.beta, depth, self.address)
        return SearchResult(int(value), self.get("best_pit"), not self.get("guesses"))

    def best_move(self, position: Position) -> int:
        pit = int(stored_pit(U(position.own) & ROW, U(position.opp) & ROW, self.address))
        return NO_MOVE if pit == NONE else pit

    def pays_together(self, question: SearchRequest) -> bool:
        return question.depth >= TOGETHER

    def begin(self) -> None:
        super().begin()
        self.history[:] >>= FADING

    def forget(self) -> None:
        self.history[:] = 0
        self.rows.view(np.uint8)[:] = 0
        self.recalled = None


def awale_threads(
    game: Game, threads: int, size: int, heuristic: Heuristic | None, weights: Path | None, multipliers: tuple[int, ...]
) -> SearchThreads:
    """The threads of an engine with a table of so many MiB; a heuristic can only be DiffScore."""
    if heuristic is not None and heuristic.name != "diffscore":
        raise ConfigError(f"the champion of Awalé does not use {heuristic.name}: leave it out, or choose diffscore")
    table, base = TranspositionTable(size, multipliers, bucket=ENTRY_BYTES), load_or_build(game)
    learnt = load_awale_network_weights(weights) if heuristic is None else None
    return SearchThreads([AwaleWorker(number, base, table, learnt) for number in range(threads)], table)


class AwaleIterativeSearch(IterativeSearch):
    """A position of Awalé that is being searched; how sure to be is up to how many seeds endgames are known."""

    WINDOW = UNIT // 4

    def __post_init__(self) -> None:
        super().__post_init__()
        self.base, self.seeds = load_or_build(self.position.game), seeds_on_board(self.position)
        self.most = UNIT * self.seeds

    def plan(self, limit: Limit) -> Iterator[Step]:
        known, depths = self.base.seeds, range(1, DEEPEST + 1)
        if limit.level is not None:
            depths, known = range(1, level_of(limit.level).depth + 1), min(known, SEEDS_PER_LEVEL * limit.level)
        elif limit.depth is not None:
            deepest = min(limit.depth, DEEPEST)
            depths = range(1 + (deepest - 1) % STRIDE, deepest + 1, STRIDE)  # only the last depth counts
        for depth in depths:
            if self.found and all(found.proved for found in self.found):
                return
            yield depth, known

    def solve(self, wld: bool) -> Iterator[Analysis]:
        for answer in self.deepen(Limit()):
            yield self._outcome(answer) if wld and answer.exact else answer

    def _outcome(self, answer: Analysis) -> Analysis:
        """Whether the game is won, drawn or lost, with the seeds already taken."""
        final = self.position.lead + answer.value
        value = float((final > 0) - (final < 0))
        return replace(answer, value=value, candidates=((answer.move, value),), exact_moves=(answer.move,))

    def search_moves(self, depth: int, certainty: int) -> list[SearchResult]:
        if self.seeds > certainty:
            return super().search_moves(depth, certainty)
        values, best = self.base.values(self.position), self.base.choose(self.position)
        values = {move: value for move, value in values.items() if self.moves >> move & 1}
        order = sorted(values, key=lambda move: (-values[move], move != best))
        return [SearchResult(UNIT * values[move], move, True) for move in order[: self.best]]

    def found_before_stop(self) -> SearchResult | None:
        move = self.team.workers[0].get("best_pit")
        if self.best > 1 or not self.found or move in (NONE, self.found[0].move):
            return None
        return SearchResult(self.found[0].value, move)

    def answer(self, depth: int, certainty: int) -> Analysis:
        value, move, exact = self.found[0]
        line = (move, *self._line(self.position.after(move)))
        candidates = tuple((found.move, found.value / UNIT) for found in self.found)
        nodes, seconds = self.team.nodes, self.elapsed()
        proved = tuple(found.move for found in self.found if found.proved)
        return Analysis(move, value / UNIT, exact, depth, nodes, 0, seconds, candidates, line, exact_moves=proved)

    def _line(self, position: Position) -> tuple[int, ...]:
        """The best line: what the search remembers, then what the endgames know."""
        line = list(self.remembered_line(position, LINE))
        for move in line:
            position = position.after(move)
        while not position.over and self.base.covers(position) and len(line) < LINE:
            line.append(self.base.choose(position))
            position = position.after(line[-1])
        return tuple(line)
