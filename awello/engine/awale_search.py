"""Awalé's search: the memory of a thread, the question put to the kernels, and one search from start to end.

Inside the table of solved endgames there is nothing to search: every move has its value.  Outside it a search goes ply
by ply, and ends when its value needed no estimate: then it is proved.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from awello.analysis import Analysis
from awello.engine import awale
from awello.engine.awale import UNIT
from awello.engine.block import STOP
from awello.engine.levels import FULL_WIDTH, level_of
from awello.engine.table import NO_MOVE, Table, hash_of
from awello.engine.tablebase import Tablebase, need, seeds_on_board
from awello.engine.thinking import Step, Thinking
from awello.engine.threads import Found, Question, Team, Worker
from awello.errors import ConfigError
from awello.evaluate.settings import Heuristic
from awello.evaluate.weights import pit_weights
from awello.kernel import U
from awello.limits import Limit
from awello.memory import address_of
from awello.position import Position
from awello.rules.awale import ROW
from awello.rules.game import Game

ENTRY_BYTES = 8  # of the table of positions met
TOGETHER = 12  # the depth from which more than one thread pays
LATE = 3  # the depth from which quiet moves late in the order are searched less deep, in searches beyond FULL_WIDTH
FADING = 3  # bits that the history of refutations loses from one search to the next
LINE = 40  # moves of a line that are shown
STRIDE = 4  # plies from one search to the next on the way to a given depth


class AwaleWorker(Worker):
    """The memory of one thread that searches Awalé."""

    def __init__(self, number: int, base: Tablebase, table: Table, weights: npt.NDArray[np.int16] | None) -> None:
        super().__init__(awale.WORDS, table)
        self.number = number
        self.recalled: Position | None = None
        self.base, self.table, self.weights = base, table, weights  # kept as long as their addresses are used
        self.words[awale.GAME] = int(base.game)
        self.words[awale.TABLE], self.words[awale.MASK] = address_of(table.words), table.buckets - 1
        self.words[awale.BASE] = address_of(base.table)
        self.words[awale.WEIGHTS] = 0 if weights is None else address_of(weights)

    def prepare(self, question: Question, threads: int, age: int) -> None:
        self.words[STOP] = self.words[awale.GUESSES] = 0
        self.words[awale.BEST] = awale.NONE if question.first == NO_MOVE else question.first
        self.words[awale.BASE_SEEDS] = min(question.certainty, self.base.seeds)  # a larger table may be built meanwhile
        selective = self.weights is not None and question.depth > FULL_WIDTH
        self.words[awale.LATE] = LATE if selective else awale.DEEPEST + 1
        if question.position is not self.recalled:  # a search leaves the rows before its root as they were
            self._recall_past(question.position)
            self.recalled = question.position

    def _recall_past(self, position: Position) -> None:
        """Write the positions since the last capture before the root; only whose turn it was matters in their order."""
        rows = self.words[awale.ROWS : awale.ROOT + awale.ROW_WORDS].reshape(-1, awale.ROW_WORDS)[::-1]
        rows[:, awale.OWN : awale.QUIET + 1] = 0
        if not position.past:
            return
        boards: tuple[list[tuple[int, int]], list[tuple[int, int]]] = [], []
        for own, opp, side in position.past:
            boards[side != position.side].append((own & int(ROW), opp & int(ROW)))
        for theirs, pairs in enumerate(boards):
            places = rows[awale.CYCLE - 2 + theirs :: 2, awale.OWN : awale.OPP + 1][: len(pairs)]
            places[:] = np.array(pairs[: len(places)], np.int64).reshape(-1, 2)
        rows[0, awale.QUIET] = min(awale.CYCLE + 2 * len(position.past), len(rows) - 1)

    def search(self, question: Question) -> Found:
        own, opp = U(question.position.own) & ROW, U(question.position.opp) & ROW
        window = question.alpha, question.beta
        depth = min(awale.DEEPEST, question.depth + self.number % 2)  # every other thread looks one ply further
        value = awale.search_root(own, opp, question.moves, *window, depth, self.address)
        return Found(int(value), int(self.words[awale.BEST]), not self.words[awale.GUESSES])

    def best_move(self, position: Position) -> int:
        key = U(hash_of(U(position.own) & ROW, U(position.opp) & ROW, self.address))
        entry = U(self.table.words.view(np.uint64)[key & U(self.table.buckets - 1)])
        return int(entry & U(7)) if (entry ^ key) & awale.KEY == 0 else NO_MOVE

    def pays_together(self, question: Question) -> bool:
        return question.depth >= TOGETHER

    def begin(self) -> None:
        super().begin()
        self.words[awale.HISTORY : awale.ROWS] >>= FADING

    def forget(self) -> None:
        self.words[awale.HISTORY :] = 0
        self.recalled = None


def awale_team(
    game: Game, threads: int, size: int, heuristic: Heuristic | None, weights: Path | None, multipliers: tuple[int, ...]
) -> Team:
    """The threads of an engine with a table of so many MiB; a heuristic can only be DiffScore."""
    if heuristic is not None and heuristic.name != "diffscore":
        raise ConfigError(f"the champion of Awalé does not use {heuristic.name}: leave it out, or choose diffscore")
    table, base = Table(size, multipliers, bucket=ENTRY_BYTES), need(game)
    learnt = pit_weights(weights) if heuristic is None else None
    return Team([AwaleWorker(number, base, table, learnt) for number in range(threads)], table)


class AwaleThinking(Thinking):
    """A position of Awalé that is being searched; how sure to be is up to how many seeds endgames are known."""

    WINDOW = UNIT // 4

    def __post_init__(self) -> None:
        super().__post_init__()
        self.base, self.seeds = need(self.position.game), seeds_on_board(self.position)
        self.most = UNIT * self.seeds

    def plan(self, limit: Limit) -> Iterator[Step]:
        known, depths = self.base.seeds, range(1, awale.DEEPEST + 1)
        if limit.level is not None:
            depths, known = range(1, level_of(limit.level).depth + 1), min(known, 2 * limit.level)
        elif limit.depth is not None:
            deepest = min(limit.depth, awale.DEEPEST)
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

    def search_moves(self, depth: int, certainty: int) -> list[Found]:
        if self.seeds > certainty:
            return super().search_moves(depth, certainty)
        values, best = self.base.values(self.position), self.base.choose(self.position)
        values = {move: value for move, value in values.items() if self.moves >> move & 1}
        order = sorted(values, key=lambda move: (-values[move], move != best))
        return [Found(UNIT * values[move], move, True) for move in order[: self.best]]

    def found_before_stop(self) -> Found | None:
        move = int(self.team.workers[0].words[awale.BEST])
        if self.best > 1 or not self.found or move in (awale.NONE, self.found[0].move):
            return None
        return Found(self.found[0].value, move)

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
