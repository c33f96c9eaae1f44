"""One search of Awalé from its first ply to its last.

Inside the table of solved endgames there is nothing to search: every move has its value.  Outside it a search goes ply
by ply, and ends when its value needed no estimate: then it is proved.
"""

from collections.abc import Iterator
from dataclasses import replace

from awello.analysis import Analysis
from awello.engine.awale import BEST, DEEPEST, NONE, UNIT
from awello.engine.levels import level_of
from awello.engine.tablebase import need, seeds_on_board
from awello.engine.thinking import Step, Thinking
from awello.engine.threads import Found
from awello.limits import Limit
from awello.position import Position

LINE = 40  # moves of a line that are shown
STRIDE = 4  # plies from one search to the next on the way to a given depth


class AwaleThinking(Thinking):
    """A position of Awalé that is being searched; how sure to be is up to how many seeds endgames are known."""

    WINDOW = UNIT // 4

    def __post_init__(self) -> None:
        super().__post_init__()
        self.base, self.seeds = need(self.position.game), seeds_on_board(self.position)

    @property
    def most(self) -> int:
        return UNIT * self.seeds

    def plan(self, limit: Limit) -> Iterator[Step]:
        known, depths = self.base.seeds, range(1, DEEPEST + 1)
        if limit.level is not None:
            depths, known = range(1, level_of(limit.level).depth + 1), min(known, 2 * limit.level)
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

    def search_moves(self, depth: int, certainty: int) -> list[Found]:
        if self.seeds > certainty:
            return super().search_moves(depth, certainty)
        values, best = self.base.values(self.position), self.base.choose(self.position)
        values = {move: value for move, value in values.items() if self.moves >> move & 1}
        order = sorted(values, key=lambda move: (-values[move], move != best))
        return [Found(UNIT * values[move], move, True) for move in order[: self.best]]

    def found_before_stop(self) -> Found | None:
        move = int(self.team.workers[0].words[BEST])
        if self.best > 1 or not self.found or move in (NONE, self.found[0].move):
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
