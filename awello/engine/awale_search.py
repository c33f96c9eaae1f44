"""The search of Awalé: `AwaleWorker` runs the kernels in a thread, and `AwaleIterativeSearch` plans the depths.

Positions in the endgame tablebase are not searched.  Other positions are searched by iterative deepening, which ends
early when a search has used no estimate, because its value is then proven.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from awello.analysis import Analysis
from awello.engine.awale_kernels import MIN_CYCLE_PLIES, probe_best_pit, search_root_at
from awello.engine.awale_state import MAX_DEPTH, NO_PIT, PAST_PLIES, SEED_VALUE, AwaleState
from awello.engine.awale_transposition_table import ENTRY_BYTES
from awello.engine.iterative_search import IterativeSearch, PlanStep
from awello.engine.levels import MAX_FULL_WIDTH_DEPTH, find_level
from awello.engine.tablebase import Tablebase, count_board_seeds, load_or_build_tablebase
from awello.engine.thread_state import NO_MOVE
from awello.engine.threads import SearchRequest, SearchResult, SearchThreads, SearchWorker
from awello.engine.transposition_table import TranspositionTable
from awello.errors import ConfigError
from awello.evaluate.awale_network import AwaleNetworkWeights
from awello.evaluate.evaluator import Heuristic
from awello.evaluate.weights import load_awale_network_weights
from awello.kernel import U
from awello.limits import Limit
from awello.memory import address_of
from awello.position import Position
from awello.rules.awale import ROW_MASK
from awello.rules.game import Game

MIN_PARALLEL_DEPTH = 12  # shallower searches use one thread, because they end before other threads have started
# The depth from which late quiet moves are reduced, in searches deeper than MAX_FULL_WIDTH_DEPTH.  With a smaller
# value, the search gets deeper in the same time but overlooks more.
REDUCE_FROM_DEPTH = 3
NO_REDUCTIONS = MAX_DEPTH + 1
HISTORY_DECAY_SHIFT = 3  # history values are shifted right by this many bits between searches
MAX_PV_MOVES = 40  # longer principal variations are truncated
TABLEBASE_SEEDS_PER_LEVEL = 2  # level n uses the tablebase for positions with up to n times this many seeds
DEPTH_STEP = 4  # plies from one iteration to the next in a search to a fixed depth; a larger step worsens move ordering


class AwaleWorker(SearchWorker):
    """A worker that searches Awalé in one thread."""

    def __init__(
        self, number: int, tablebase: Tablebase, tt: TranspositionTable, weights: AwaleNetworkWeights | None
    ) -> None:
        super().__init__(AwaleState.new_array(1), tt)
        self.number, self.stack, self.history = number, self.fields["stack"][0], self.fields["history"]
        self.loaded_position: Position | None = None
        self.tablebase, self.tt = tablebase, tt  # kept alive, because the state holds their addresses
        self.state.game = int(tablebase.game)
        self.state.tt, self.state.tt_mask = address_of(tt.words), tt.buckets - 1
        self.state.tablebase = address_of(tablebase.table)
        self.set_weights(weights)

    def set_weights(self, weights: AwaleNetworkWeights | None) -> None:
        """Set the weights of the Awalé network; with None, evaluate by the largest capture of one move (DiffScore)."""
        self.weights = weights  # kept alive, because the state holds their address
        self.state.weights = 0 if weights is None else address_of(np.asarray(weights.rows))
        self.state.horizon = 1 if weights is None else 0

    def prepare(self, request: SearchRequest, threads: int, age: int) -> None:
        # The precision may refer to a larger tablebase that was built after this worker was created.
        tablebase_seeds = min(request.precision, self.tablebase.seeds)
        selective = self.weights is not None and request.depth > MAX_FULL_WIDTH_DEPTH
        reduce_from_depth = REDUCE_FROM_DEPTH if selective else NO_REDUCTIONS
        root_best_pit = NO_PIT if request.first_move == NO_MOVE else request.first_move
        self.set_fields(stop=0, estimates=0, root_best_pit=root_best_pit)
        self.set_fields(tablebase_seeds=tablebase_seeds, reduce_from_depth=reduce_from_depth)
        if request.position is not self.loaded_position:  # a search does not change the frames before its root
            self._load_past(request.position)
            self.loaded_position = request.position

    def _load_past(self, position: Position) -> None:
        """Write the positions since the last capture to the frames before the root.

        Their order is not kept: only the side to move in each position matters.
        """
        frames = self.stack[PAST_PLIES::-1]  # backwards from the root
        for field in ("own", "opp", "plies_since_capture"):
            frames[field] = 0
        boards: tuple[list[tuple[int, int]], list[tuple[int, int]]] = [], []
        for own, opp, side in position.past:
            boards[side != position.side].append((own & int(ROW_MASK), opp & int(ROW_MASK)))
        for theirs, pairs in enumerate(boards):
            places = frames[MIN_CYCLE_PLIES - 2 + theirs :: 2][: len(pairs)]
            places["own"], places["opp"] = np.array(pairs[: len(places)], np.uint64).reshape(-1, 2).T
        if position.past:
            frames["plies_since_capture"][0] = min(MIN_CYCLE_PLIES + 2 * len(position.past), PAST_PLIES)

    def search(self, request: SearchRequest) -> SearchResult:
        own, opp = U(request.position.own) & ROW_MASK, U(request.position.opp) & ROW_MASK
        depth = min(MAX_DEPTH, request.depth + self.number % 2)  # every other thread searches one ply deeper
        value = search_root_at(own, opp, request.moves, request.alpha, request.beta, depth, self.address)
        return SearchResult(int(value), self.get_field("root_best_pit"), not self.get_field("estimates"))

    def probe_best_move(self, position: Position) -> int:
        pit = int(probe_best_pit(U(position.own) & ROW_MASK, U(position.opp) & ROW_MASK, self.address))
        return NO_MOVE if pit == NO_PIT else pit

    def uses_all_threads(self, request: SearchRequest) -> bool:
        return request.depth >= MIN_PARALLEL_DEPTH

    def begin_search(self) -> None:
        super().begin_search()
        self.history[:] >>= HISTORY_DECAY_SHIFT

    def clear(self) -> None:
        self.history[:] = 0
        self.stack.view(np.uint8)[:] = 0
        self.loaded_position = None


def create_awale_threads(
    game: Game,
    threads: int,
    hash_mib: int,
    heuristic: Heuristic | None,
    weights: Path | None,
    multipliers: tuple[int, ...],
) -> SearchThreads:
    """Create the search threads of an engine; the only supported heuristic is DiffScore."""
    if heuristic is not None and heuristic.name != "diffscore":
        raise ConfigError(
            f"the Awalé champion does not support the heuristic '{heuristic.name}': omit it, or choose diffscore"
        )
    tt, tablebase = TranspositionTable(hash_mib, multipliers, bucket_bytes=ENTRY_BYTES), load_or_build_tablebase(game)
    learnt = load_awale_network_weights(weights) if heuristic is None else None
    return SearchThreads([AwaleWorker(number, tablebase, tt, learnt) for number in range(threads)], tt)


class AwaleIterativeSearch(IterativeSearch):
    """The iterative search of an Awalé position.

    The precision is the largest number of seeds for which the tablebase is used.
    """

    ASPIRATION_DELTA = SEED_VALUE // 4

    def __post_init__(self) -> None:
        super().__post_init__()
        self.tablebase, self.seeds = load_or_build_tablebase(self.position.game), count_board_seeds(self.position)
        self.max_value = SEED_VALUE * self.seeds

    def plan(self, limit: Limit) -> Iterator[PlanStep]:
        tablebase_seeds, depths = self.tablebase.seeds, range(1, MAX_DEPTH + 1)
        if limit.level is not None:
            tablebase_seeds = min(tablebase_seeds, TABLEBASE_SEEDS_PER_LEVEL * limit.level)
            depths = range(1, find_level(limit.level).depth + 1)
        elif limit.depth is not None:
            deepest = min(limit.depth, MAX_DEPTH)
            depths = range(1 + (deepest - 1) % DEPTH_STEP, deepest + 1, DEPTH_STEP)  # the last depth is `deepest`
        for depth in depths:
            if self.results and all(result.exact for result in self.results):
                return
            yield depth, tablebase_seeds

    def solve(self, wld: bool) -> Iterator[Analysis]:
        for analysis in self.deepen(Limit()):
            yield self._to_outcome(analysis) if wld and analysis.exact else analysis

    def _to_outcome(self, analysis: Analysis) -> Analysis:
        """Replace the exact value of an analysis with the game's outcome (1, 0 or -1), counting captured seeds, too."""
        final = self.position.lead + analysis.value
        value = float((final > 0) - (final < 0))
        return replace(analysis, value=value, candidates=((analysis.move, value),), exact_moves=(analysis.move,))

    def search_multipv(self, depth: int, tablebase_seeds: int) -> list[SearchResult]:
        if self.seeds > tablebase_seeds:
            return super().search_multipv(depth, tablebase_seeds)
        values, best = self.tablebase.move_values(self.position), self.tablebase.choose(self.position)
        values = {move: value for move, value in values.items() if self.moves >> move & 1}
        order = sorted(values, key=lambda move: (-values[move], move != best))
        return [SearchResult(SEED_VALUE * values[move], move, True) for move in order[: self.multipv]]

    def find_partial_result(self) -> SearchResult | None:
        move = self.search_threads.workers[0].get_field("root_best_pit")
        if self.multipv > 1 or not self.results or move in (NO_PIT, self.results[0].move):
            return None
        return SearchResult(self.results[0].value, move)

    def make_analysis(self, depth: int, tablebase_seeds: int) -> Analysis:
        value, move, exact = self.results[0]
        pv = (move, *self._extend_pv(self.position.after(move)))
        candidates = tuple((result.move, result.value / SEED_VALUE) for result in self.results)
        nodes, seconds = self.search_threads.nodes, self.elapsed()
        exact_moves = tuple(result.move for result in self.results if result.exact)
        return Analysis(
            move, value / SEED_VALUE, exact, depth, nodes, 0, seconds, candidates, pv, exact_moves=exact_moves
        )

    def _extend_pv(self, position: Position) -> tuple[int, ...]:
        """Read the principal variation from the transposition table, then from the tablebase."""
        pv = list(self.read_pv(position, MAX_PV_MOVES))
        for move in pv:
            position = position.after(move)
        while not position.over and self.tablebase.covers(position) and len(pv) < MAX_PV_MOVES:
            pv.append(self.tablebase.choose(position))
            position = position.after(pv[-1])
        return tuple(pv)
