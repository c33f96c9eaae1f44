"""Otage, the program of report 4: it deepens step by step, opens by the games it remembers, and solves endgames.

What it knows is in a folder: its patterns and factors in a file that people can read, and an archive of games, its
book.  It learns from every game that it plays (`otage_learning`), and from games against itself (`awello autoplay`).
"""

import math
import threading
import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from awello.analysis import Analysis
from awello.engine.time_management import SPARE, moves_left, time_budget
from awello.errors import SpecError
from awello.evaluate.otage_memory import FILE, OtageMemory, shipped_memory
from awello.folders import lock_path
from awello.limits import Clock, Limit
from awello.players.player import Choice, Player, register
from awello.position import Position
from awello.record import Record
from awello.rules.game import Game
from awello.search.iterative_deepening import Iteration, IterativeDeepening, OtageOptions
from awello.search.iterative_kernels import DEEPEST

if TYPE_CHECKING:  # these load kernels or the database library, which most processes do without
    from awello.archive.game_tree import GameTree
    from awello.engine.engine import Engine

GAMES_FILE = "games.sqlite"  # the book's archive in the folder
LOCK_FILE = "memory.lock"  # held by the process that learns: a run may lock the folder itself
EVENT = "Learning"  # the tag of games that enter the book
STRONG_OPPONENT_SHARE = 0.25  # of the points against it make an opponent strong
DEFAULT_LIMIT = Limit(depth=6)  # without a limit and without a clock
# From where endgames are solved: empty squares, the fewer the more moves there are, the more the more time there is.
EMPTIES_AT_ONE_SECOND, EMPTIES_PER_DOUBLING, EMPTIES_WITHOUT_TIME = 18.0, 1.0, 12.0
REFERENCE_MOVES, EMPTIES_PER_MOVE = 8, 0.15
SOLVE_TIME_SHARE = 0.7  # the share of the time after which it gives up to solve and searches instead
PONDER_SOLVE_SECONDS = 1.0  # seconds in which an endgame must be in reach to be solved on the opponent's time
MIN_VARIETY_EMPTIES = 44  # empty squares down to which it may try other moves


@register("otage", "report 4's program, which learns from every game: patterns, refutation tables, a book of its games")
@dataclass
class OtagePlayer(Player):
    """Plays Othello by what it has learnt; techniques can be switched off."""

    limit: Limit | None = None
    memory: str = ""
    """The folder of what it has learnt; unless said, what is shipped, and no book."""
    archive: str = ""
    """Where the games that it remembers are; unless said, in the folder."""
    learning: bool = True
    """Whether the folder learns from the games played."""
    book: bool = True
    """Whether it plays by the games it remembers."""
    patterns: bool = True
    """Whether edges and corners count, and the factors that were learnt with them."""
    hints: Literal["none", "move", "branch", "tables"] = "tables"
    """What is kept from one depth to the next."""
    move_ordering: bool = True
    """Whether corners are tried first and X squares last."""
    aspiration: bool = True
    """Whether values are expected near those of earlier depths."""
    threads: Annotated[int, Field(ge=1, le=64)] = 1
    variety_percent: Annotated[int, Field(ge=0, le=100)] = 0
    """How often, in percent, it tries another move in the opening than the one it would play."""
    ponder: bool = False
    """Whether it thinks on the opponent's time."""

    def __post_init__(self) -> None:
        self.engine: Engine | None = None
        self.search: IterativeDeepening | None = None
        self.tree: GameTree | None = None
        self.ponder_thread: threading.Thread | None = None
        self.expected: Position | None = None
        self.ponder_iterations: list[Iteration] = []  # what the depths found in the position that was expected
        self.depths: dict[Position, int] = {}  # of this game's positions that it searched with a free choice
        self.results: dict[str, list[float]] = {}  # what it lost in each game, by opponent
        self.memory_read_at = 0  # when the memory's file had been written that was read, in nanoseconds

    def begin(self, game: Game, seed: int) -> None:
        from awello.engine.engine import Engine

        if game is not Game.OTHELLO:
            raise SpecError(f"otage plays Othello on 8x8 only, not {game}: choose champion")
        if self.limit is not None and (self.limit.level is not None or 0 in (self.limit.depth, self.limit.nodes)):
            raise SpecError(f"player {self} needs a depth, a time or nodes, such as otage@100ms")
        if self.search is None or self._memory_time() != self.memory_read_at:
            folder = Path(self.memory)
            if self.memory and not folder.is_dir():
                raise SpecError(f"no folder {self.memory!r}: 'awello autoplay {self.memory}' makes it")
            self.memory_read_at = self._memory_time()
            memory = OtageMemory.read(folder / FILE) if self.memory else shipped_memory()
            archive = self.archive or (str(folder / GAMES_FILE) if (folder / GAMES_FILE).exists() else "")
            self.set_memory(memory, load_game_tree(archive) if archive else None)
        if self.engine is None:
            self.engine = Engine(game, self.threads, hash=16)
        self.end()
        self.engine.clear()
        self.depths = {}
        super().begin(game, seed)

    def _memory_time(self) -> int:
        """When the folder's memory was last written: another player may have learnt since."""
        file = Path(self.memory) / FILE
        return file.stat().st_mtime_ns if self.memory and file.exists() else 0

    def set_memory(self, memory: OtageMemory, tree: "GameTree | None") -> None:
        """Play by what was learnt and by a book."""
        options = OtageOptions(self.hints, self.move_ordering, self.aspiration)
        self.search, self.tree = IterativeDeepening(memory, options, self.patterns, self.threads), tree

    def choose(self, position: Position, clock: Clock) -> Choice:
        if self.search is None or self.engine is None:
            raise RuntimeError("begin comes first")
        self.end()
        analysis = self._think(self.search, self.engine, position, clock)
        if self.ponder:
            self._ponder(self.search, self.engine, position.after(analysis.move), analysis.line[1:2])
        return Choice(analysis.move, analysis)

    def learn(self, record: Record, side: int) -> Mapping[str, int]:
        """Update the folder's memory and, if the game is worth remembering, its book."""
        if not (self.memory and self.learning) or not record.moves or record.start != Position.start():
            return {}
        from awello.archive.archive import Archive
        from awello.players import otage_learning

        folder, tags = Path(self.memory), {**record.tags, "Event": EVENT}
        if self.depths:
            tags[otage_learning.DEPTHS_TAG] = otage_learning.format_depths(record, self.depths)
        game, strong = replace(record, seconds=(), tags=tags), self._is_strong(record, side)
        with lock_path(folder / LOCK_FILE):
            memory = OtageMemory.read(folder / FILE)
            lesson = otage_learning.learn_game(memory, game, side)
            memory.write(folder / FILE)
            if kept := otage_learning.is_worth_keeping(game, side, strong):
                with closing(Archive(self.archive or folder / GAMES_FILE)) as archive:
                    archive.add(game)
        self.search = None  # the next game begins with what was learnt
        return {"kept": int(kept), "changed": int(lesson.ply is not None)}

    def _is_strong(self, record: Record, side: int) -> bool:
        """Whether the opponent has taken enough points from it so far."""
        opponent = record.tags.get(record.start.game.sides[1 - side], "")
        results = self.results.setdefault(opponent, [])
        results.append(0.5 if record.winner is None else float(record.winner != side))
        return sum(results) >= STRONG_OPPONENT_SHARE * len(results)

    def end(self) -> None:
        while self.search and self.ponder_thread and self.ponder_thread.is_alive():
            self.search.stop()
            self.ponder_thread.join(0.01)
        if self.engine is not None:
            self.engine.close()

    # ---- thoughts ---------------------------------------------------------------------------------------------------
    def _ponder(
        self, search: IterativeDeepening, engine: "Engine", position: Position, answer: tuple[int, ...]
    ) -> None:
        """Search on while the opponent thinks: near the end everything, before it what follows the expected answer."""
        if position.over or is_endgame(position, PONDER_SOLVE_SECONDS):
            engine.ponder(position)
        elif answer and answer[0] in position.legal_moves() and not (expected := position.after(answer[0])).over:
            self.expected, self.ponder_iterations = expected, []
            self.ponder_thread = threading.Thread(
                target=_deepen, args=(search, expected, self.ponder_iterations), daemon=True
            )
            self.ponder_thread.start()

    def _think(self, search: IterativeDeepening, engine: "Engine", position: Position, clock: Clock) -> Analysis:
        started, limit = time.perf_counter(), self.limit or (DEFAULT_LIMIT if math.isinf(clock.seconds) else Limit())
        seconds = time_budget(clock, moves_left(position)).aim
        if limit.seconds is not None:
            seconds = min(seconds, limit.seconds * (1 - SPARE))
        advice = self.tree.advise(position) if self.tree and self.book else None
        forbidden: tuple[int, ...] = ()
        if advice is not None and advice.move is not None:
            value = float(advice.value)
            analysis = Analysis(advice.move, value, False, 0, 0, 0, 0.0, ((advice.move, value),), (advice.move,))
        elif is_endgame(position, seconds) and (solved := solve_twice(engine, position, SOLVE_TIME_SHARE * seconds)):
            return solved
        else:
            forbidden = advice.forbidden if advice else ()
            earlier = self.ponder_iterations if position == self.expected and not forbidden else []
            analysis = search.choose(position, limit, seconds - (time.perf_counter() - started), forbidden, earlier)
        if position.empties > MIN_VARIETY_EMPTIES and self.rng.randrange(100) < self.variety_percent:
            return search.choose(
                position, limit, seconds - (time.perf_counter() - started), (*forbidden, analysis.move)
            )
        if not forbidden and analysis.depth:
            self.depths[position] = analysis.depth
        return analysis


def _deepen(search: IterativeDeepening, position: Position, iterations: list[Iteration]) -> None:
    """Search deeper and deeper until somebody stops it."""
    for iteration in search.deepen(position, DEEPEST - 2):
        iterations.append(iteration)


def load_game_tree(place: str) -> "GameTree":
    """The tree of the games of an archive."""
    from awello.archive.archive import Archive, GameFilter
    from awello.archive.game_tree import GameTree

    with closing(Archive(place)) as archive:
        return GameTree.of(archive, GameFilter(kinds=(Game.OTHELLO,)))


# ---- the end of the game (section I.2.3) ----------------------------------------------------------------------------
def is_endgame(position: Position, seconds: float) -> bool:
    """Whether the rest of the game can be searched, by the empty squares, the moves there are and the time."""
    limit = EMPTIES_WITHOUT_TIME
    if math.isfinite(seconds):
        limit = EMPTIES_AT_ONE_SECOND + EMPTIES_PER_DOUBLING * math.log2(max(seconds, 1e-3))
    moves = len(position.legal_moves())
    return position.empties <= limit - EMPTIES_PER_MOVE * (moves - REFERENCE_MOVES)


def solve_twice(engine: "Engine", position: Position, seconds: float) -> Analysis | None:
    """Find out first who wins, and then, if there is time left, by how much; None if there was no time for either."""
    timer = threading.Timer(min(seconds, threading.TIMEOUT_MAX), engine.stop)
    timer.start()
    try:
        *_, outcome = engine.solve(position, wld=True)
        if not outcome.exact:
            return None
        *_, score = engine.solve(position)
        return score if score.exact and not timer.finished.is_set() else outcome
    finally:
        timer.cancel()
