"""Otage, the player of report 4: iterative deepening, an opening book of its own games, and exact endgames.

Otage's memory is a folder with two files: a text file of patterns and factors, and an archive of games, which serves as
the opening book.  Otage learns from every game that it plays (`otage_learning`) and from self-play (`awello autoplay`).
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
from awello.engine.time_management import RESERVED_TIME_SHARE, allocate_time, estimate_moves_left
from awello.errors import SpecError
from awello.evaluate.otage_memory import MEMORY_FILE, OtageMemory, load_shipped_memory
from awello.folders import lock_path
from awello.limits import Clock, Limit
from awello.players.player import Choice, Player, register
from awello.position import Position
from awello.record import Record
from awello.rules.game import Game
from awello.search.iterative_deepening import Iteration, IterativeDeepening, OtageOptions
from awello.search.iterative_kernels import MAX_DEPTH

if TYPE_CHECKING:  # at run time imported only when needed: these modules load kernels or the database library
    from awello.archive.opening_tree import OpeningTree
    from awello.engine.engine import Engine

ARCHIVE_FILE = "games.sqlite"  # file name of the book's archive in the memory folder
# A player that learns locks this file in the memory folder; `awello autoplay` locks the folder itself.
LOCK_FILE = "memory.lock"
LEARNING_EVENT = "Learning"  # Event tag of the games in the book
STRONG_OPPONENT_SHARE = 0.25  # an opponent who has won at least this share of the points is strong
DEFAULT_LIMIT = Limit(depth=6)  # the limit of a player that has neither a limit nor a clock
# Number of empty squares from which endgames are solved: higher with more time, lower with more legal moves.
EMPTIES_AT_ONE_SECOND, EMPTIES_PER_TIME_DOUBLING, EMPTIES_WITHOUT_TIME_LIMIT = 18.0, 1.0, 12.0
REFERENCE_LEGAL_MOVES, EMPTIES_PER_LEGAL_MOVE = 8, 0.15
SOLVE_TIME_SHARE = 0.7  # share of a move's time for the endgame search; without a result, a midgame search follows
PONDER_SOLVE_SECONDS = 1.0  # while pondering, Otage chooses the endgames to solve as if it had this time per move
MIN_VARIETY_EMPTIES = 44  # `variety_percent` applies above this number of empty squares


@register(
    "otage",
    "Otage of report 4, which learns from every game: patterns, refutation tables, an opening book of its own games",
)
@dataclass
class OtagePlayer(Player):
    """Plays Othello and learns from its games; most techniques can be switched off."""

    limit: Limit | None = None
    memory: str = ""
    """Memory folder; default: the shipped memory, without a book."""
    archive: str = ""
    """Archive that serves as the book; default: `games.sqlite` in the memory folder."""
    learning: bool = True
    """Whether to update the memory folder after each game."""
    book: bool = True
    """Whether to play from the book."""
    patterns: bool = True
    """Whether the evaluation includes edge and corner patterns with their learnt factors."""
    hints: Literal["none", "move", "pv", "refutations"] = "refutations"
    """Results passed from one depth to the next: none, the best move, the principal variation, or the refutations."""
    move_ordering: bool = True
    """Whether to search corners first and X-squares last."""
    aspiration: bool = True
    """Whether to use aspiration windows around the values of earlier depths."""
    threads: Annotated[int, Field(ge=1, le=64)] = 1
    variety_percent: Annotated[int, Field(ge=0, le=100)] = 0
    """Percentage of opening positions in which Otage plays the second-best move."""
    ponder: bool = False
    """Whether to search on the opponent's time."""

    def __post_init__(self) -> None:
        self.engine: Engine | None = None
        self.search: IterativeDeepening | None = None
        self.opening_tree: OpeningTree | None = None
        self.ponder_thread: threading.Thread | None = None
        self.expected_position: Position | None = None
        self.ponder_iterations: list[Iteration] = []  # search results for the expected position, one per depth
        self.depths: dict[Position, int] = {}  # search depths in this game, except for forced, book and solved moves
        self.results: dict[str, list[float]] = {}  # each opponent's points in all games, by the opponent's name
        self.memory_read_at = 0  # modification time of the memory file when it was read, in nanoseconds

    def begin(self, game: Game, seed: int) -> None:
        from awello.engine.engine import Engine

        if game is not Game.OTHELLO:
            raise SpecError(f"player otage plays Othello on 8x8 only, not {game}: choose a player such as champion")
        if self.limit is not None and (self.limit.level is not None or 0 in (self.limit.depth, self.limit.nodes)):
            raise SpecError(
                f"player {self.spec.typed} needs a depth, a time or a number of nodes: write otage@6 or otage@100ms"
            )
        if self.search is None or self._read_memory_time() != self.memory_read_at:
            folder = Path(self.memory)
            if self.memory and not folder.is_dir():
                advice = f"create it with 'awello autoplay --out {self.memory}'"
                raise SpecError(f"memory folder {self.memory!r} does not exist or is not a folder: {advice}")
            self.memory_read_at = self._read_memory_time()
            memory = OtageMemory.load(folder / MEMORY_FILE) if self.memory else load_shipped_memory()
            archive = self.archive or (str(folder / ARCHIVE_FILE) if (folder / ARCHIVE_FILE).exists() else "")
            self.set_memory(memory, load_opening_tree(archive) if archive else None)
        if self.engine is None:
            self.engine = Engine(game, self.threads, hash=16)
        self.end()
        self.engine.clear()
        self.depths = {}
        super().begin(game, seed)

    def _read_memory_time(self) -> int:
        """Return the modification time of the memory file, which other players may update."""
        file = Path(self.memory) / MEMORY_FILE
        return file.stat().st_mtime_ns if self.memory and file.exists() else 0

    def set_memory(self, memory: OtageMemory, opening_tree: "OpeningTree | None") -> None:
        """Replace the memory and the book."""
        options = OtageOptions(self.hints, self.move_ordering, self.aspiration)
        self.search = IterativeDeepening(memory, options, self.patterns, self.threads)
        self.opening_tree = opening_tree

    def choose(self, position: Position, clock: Clock) -> Choice:
        if self.search is None or self.engine is None:
            raise RuntimeError("call begin() before choose()")
        self.end()
        analysis = self._analyse(self.search, self.engine, position, clock)
        if self.ponder:
            self._ponder(self.search, self.engine, position.after(analysis.move), analysis.pv[1:2])
        return Choice(analysis.move, analysis)

    def learn(self, record: Record, side: int) -> Mapping[str, int]:
        """Update the memory folder, and add the game to the book if `should_keep` returns true.

        Does nothing without a memory folder, if `learning` is off, or if the game has a custom start or no moves.
        """
        if not (self.memory and self.learning) or not record.moves or record.start != Position.start():
            return {}
        from awello.archive.archive import Archive
        from awello.players import otage_learning

        folder, tags = Path(self.memory), {**record.tags, "Event": LEARNING_EVENT}
        if self.depths:
            tags[otage_learning.DEPTHS_TAG] = otage_learning.format_depths(record, self.depths)
        game, strong = replace(record, seconds=(), tags=tags), self._is_opponent_strong(record, side)
        with lock_path(folder / LOCK_FILE):
            memory = OtageMemory.load(folder / MEMORY_FILE)
            result = otage_learning.learn_game(memory, game, side)
            memory.save(folder / MEMORY_FILE)
            if kept := otage_learning.should_keep(game, side, strong):
                with closing(Archive(self.archive or folder / ARCHIVE_FILE)) as archive:
                    archive.add(game)
        self.search = None  # makes the next `begin` load the updated memory
        return {"kept": int(kept), "changed": int(result.changed_ply is not None)}

    def _is_opponent_strong(self, record: Record, side: int) -> bool:
        """Record the result of a game; return whether the opponent is strong, judging by all games against them."""
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

    # ---- search ------------------------------------------------------------------------------------------------------
    def _ponder(self, search: IterativeDeepening, engine: "Engine", position: Position, reply: tuple[int, ...]) -> None:
        """Search on the opponent's time: in the endgame all replies, otherwise only the expected reply."""
        if position.over or is_endgame(position, PONDER_SOLVE_SECONDS):
            engine.ponder(position)
        elif reply and reply[0] in position.legal_moves() and not (expected := position.after(reply[0])).over:
            self.expected_position, self.ponder_iterations = expected, []
            self.ponder_thread = threading.Thread(
                target=_deepen, args=(search, expected, self.ponder_iterations), daemon=True
            )
            self.ponder_thread.start()

    def _analyse(self, search: IterativeDeepening, engine: "Engine", position: Position, clock: Clock) -> Analysis:
        started, limit = time.perf_counter(), self.limit or (DEFAULT_LIMIT if math.isinf(clock.seconds) else Limit())
        seconds = allocate_time(clock, estimate_moves_left(position)).optimum
        if limit.seconds is not None:
            seconds = min(seconds, limit.seconds * (1 - RESERVED_TIME_SHARE))
        advice = self.opening_tree.advise(position) if self.opening_tree and self.book else None
        excluded_moves: tuple[int, ...] = ()
        if advice is not None and advice.move is not None:
            value = float(advice.value)
            analysis = Analysis(advice.move, value, False, 0, 0, 0, 0.0, ((advice.move, value),), (advice.move,))
        elif is_endgame(position, seconds) and (
            solved := solve_outcome_then_score(engine, position, SOLVE_TIME_SHARE * seconds)
        ):
            return solved
        else:
            excluded_moves = advice.excluded_moves if advice else ()
            earlier = self.ponder_iterations if position == self.expected_position and not excluded_moves else []
            analysis = search.analyse(
                position, limit, seconds - (time.perf_counter() - started), excluded_moves, earlier
            )
        if position.empties > MIN_VARIETY_EMPTIES and self.rng.randrange(100) < self.variety_percent:
            return search.analyse(
                position, limit, seconds - (time.perf_counter() - started), (*excluded_moves, analysis.move)
            )
        if not excluded_moves and analysis.depth:
            self.depths[position] = analysis.depth
        return analysis


def _deepen(search: IterativeDeepening, position: Position, iterations: list[Iteration]) -> None:
    """Search deeper and deeper until the search is stopped."""
    for iteration in search.deepen(position, MAX_DEPTH - 2):
        iterations.append(iteration)


def load_opening_tree(database: str) -> "OpeningTree":
    """Load the opening tree of the Othello games in an archive."""
    from awello.archive.archive import Archive, GameFilter
    from awello.archive.opening_tree import OpeningTree

    with closing(Archive(database)) as archive:
        return OpeningTree.of(archive, GameFilter(games=(Game.OTHELLO,)))


# ---- endgame (section I.2.3) -----------------------------------------------------------------------------------------
def is_endgame(position: Position, seconds: float) -> bool:
    """Return whether the endgame can be solved, judging by the empty squares, the legal moves and the time."""
    limit = EMPTIES_WITHOUT_TIME_LIMIT
    if math.isfinite(seconds):
        limit = EMPTIES_AT_ONE_SECOND + EMPTIES_PER_TIME_DOUBLING * math.log2(max(seconds, 1e-3))
    moves = len(position.legal_moves())
    return position.empties <= limit - EMPTIES_PER_LEGAL_MOVE * (moves - REFERENCE_LEGAL_MOVES)


def solve_outcome_then_score(engine: "Engine", position: Position, seconds: float) -> Analysis | None:
    """Find the winner, then the score if time remains; return None if the time is too short to find the winner."""
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
