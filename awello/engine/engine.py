"""The engine: searches positions and streams analyses, each deeper or more precise than the one before.

    with Engine(threads=2, hash=128) as engine:
        for analysis in engine.analyse(position, Limit(seconds=5)):
            print(analysis.depth, analysis.value, position.format_move(analysis.move))

After its first analysis, a search runs in a background thread.  It can be stopped at any time; its result is then the
last analysis.  An engine runs one search at a time: a new one stops the previous one.  Invalid positions and limits
raise `AwelloError`.
"""

import math
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from queue import SimpleQueue
from typing import Self, TypeVar

from awello.analysis import Analysis
from awello.engine.awale_search import AwaleIterativeSearch, create_awale_threads
from awello.engine.iterative_search import IterativeSearch
from awello.engine.levels import DEFAULT_LEVEL, find_level
from awello.engine.othello_search import OthelloIterativeSearch, create_othello_threads
from awello.engine.othello_state import MAX_THREADS
from awello.engine.threads import SearchStopped
from awello.engine.time_management import (
    RESERVED_TIME_SHARE,
    UNLIMITED_TIME,
    TimeBudget,
    allocate_time,
    estimate_moves_left,
)
from awello.engine.transposition_table import FIXED_MULTIPLIERS, draw_multipliers
from awello.errors import AwelloError, ConfigError, SpecError
from awello.evaluate.evaluator import Heuristic
from awello.limits import Clock, Limit
from awello.position import Position
from awello.rules.game import PASS, Game

DEFAULT_HASH_MIB, MIN_HASH_MIB, MAX_HASH_MIB = 64, 1, 1 << 16  # size of the transposition table
SMALL_BOARD_HEURISTIC = Heuristic("mobility", corners=4)  # the patterns are only trained for 8x8

SEARCHES_BY_FAMILY = {
    "othello": (create_othello_threads, OthelloIterativeSearch),
    "awale": (create_awale_threads, AwaleIterativeSearch),
}

AnalysisStream = Iterator[Analysis]
AnalysisQueue = SimpleQueue[Analysis | BaseException | None]
Result = TypeVar("Result")


class Engine:
    """Searches positions of one game and keeps its transposition table from one search to the next.

    `hash` is the size of the table in MiB.  With `random_hash`, the hash function is drawn at random, so that users
    cannot construct colliding positions; node counts and the results of depth-limited searches can then differ from
    engine to engine.
    """

    def __init__(
        self,
        game: Game | str = Game.OTHELLO,
        threads: int = 1,
        hash: int = DEFAULT_HASH_MIB,
        heuristic: Heuristic | str | None = None,
        weights: Path | None = None,
        random_hash: bool = False,
    ) -> None:
        if not 1 <= threads <= MAX_THREADS:
            raise ConfigError(f"{threads} is not a valid number of threads: choose 1 to {MAX_THREADS}")
        if not MIN_HASH_MIB <= hash <= MAX_HASH_MIB:
            raise ConfigError(f"{hash} MiB is not a valid hash size: choose {MIN_HASH_MIB} to {MAX_HASH_MIB} MiB")
        game = Game(game)  # type: ignore[arg-type]  # names are accepted, too
        heuristic = Heuristic(heuristic) if isinstance(heuristic, str) else heuristic
        if heuristic is None and game in (Game.OTHELLO4, Game.OTHELLO6):
            heuristic = SMALL_BOARD_HEURISTIC
        self.game = game
        create_threads, self._search_class = SEARCHES_BY_FAMILY[game.family]
        multipliers = draw_multipliers() if random_hash else FIXED_MULTIPLIERS
        try:
            self.search_threads = create_threads(game, threads, hash, heuristic, weights, multipliers)
        except MemoryError:
            raise ConfigError(f"not enough memory for a hash size of {hash} MiB: choose a smaller one") from None
        self._background_threads: tuple[threading.Thread, ...] = ()
        self._lock = threading.RLock()  # held while a search is started or ended

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if hasattr(self, "search_threads") and not is_finalizing():  # a background search would otherwise never end
            self.search_threads.stop()

    def close(self) -> None:
        """Stop searching and pondering, and join the threads."""
        self.stop()
        with self._lock:
            self.stop()  # again, for a search that has started since the first stop
            threads, self._background_threads = self._background_threads, ()
            for thread in threads:
                if isinstance(thread, threading.Timer):
                    thread.cancel()
                if thread.ident is not None and thread is not threading.current_thread():
                    thread.join()  # ident is None if Ctrl-C came before the thread started

    def stop(self) -> None:
        """Stop the current search, which ends its stream of analyses.  May be called from any thread."""
        self.search_threads.stop()

    def clear(self) -> None:
        """Clear the transposition table and all other results of previous searches."""
        self.stop()
        with self._lock:
            self.close()
            self.search_threads.clear()

    @property
    def nodes(self) -> int:
        """The number of positions visited by the current or last search."""
        return self.search_threads.nodes

    # ---- searching --------------------------------------------------------------------------------------------------
    def analyse(self, position: Position, limit: Limit | None = None, multipv: int = 1) -> AnalysisStream:
        """Analyse a position within a limit (default: until the game is solved).

        Yields an analysis after each iteration of the search, with the values of the `multipv` best moves.
        """
        limit = limit or Limit()
        maximum = math.inf if limit.seconds is None else limit.seconds
        return self._stream_analyses(position, limit, TimeBudget(math.inf, maximum), multipv)

    def solve(self, position: Position, wld: bool = False) -> AnalysisStream:
        """Search for the exact value or, with `wld`, for the outcome: win (1), draw (0) or loss (-1)."""
        return self._stream_analyses(position, Limit(), UNLIMITED_TIME, 1, lambda search: search.solve(wld))

    def choose(
        self,
        position: Position,
        clock: Clock,
        limit: Limit | None = None,
        excluded_moves: Iterable[int] = (),
        multipv: int = 1,
    ) -> Analysis:
        """Return the last analysis of `analyse_with_clock`."""
        *_, last = self.analyse_with_clock(position, clock, limit, excluded_moves, multipv)
        return last

    def analyse_with_clock(
        self,
        position: Position,
        clock: Clock,
        limit: Limit | None = None,
        excluded_moves: Iterable[int] = (),
        multipv: int = 1,
    ) -> AnalysisStream:
        """Analyse a position to choose a move in a game, within the limit and the time that the clock allows.

        `excluded_moves` are searched only if there are no other moves.
        """
        self._check_position(position)
        budget = allocate_time(clock, estimate_moves_left(position))
        if limit is not None and limit.seconds is not None:
            budget = TimeBudget(budget.optimum, min(budget.maximum, limit.seconds * (1 - RESERVED_TIME_SHARE)))
        if limit is None:
            limit = Limit(level=DEFAULT_LEVEL) if budget == UNLIMITED_TIME else Limit()
        if len(position.legal_moves()) == 1:
            limit = Limit(depth=1)
        return self._stream_analyses(position, limit, budget, multipv, excluded_moves=excluded_moves)

    def find_best_move(self, position: Position, limit: Limit) -> int:
        """Return the best move for a depth or level limit, without an analysis and without a background thread."""
        self._check(position, limit)
        if position.legal_moves() == (PASS,):
            return PASS
        return self._search_uninterrupted(
            lambda: self._search_class(self.search_threads, position).find_best_move(limit)
        )

    def ponder(self, position: Position) -> None:
        """Search in the background to fill the transposition table, until the next search, `stop` or `close`."""
        self._check_position(position)
        self.stop()
        with self._lock:
            self.close()
            if not position.over:
                self.search_threads.begin_search()
                stream = self._search_class(self.search_threads, position.skip_pass()).deepen(Limit())
                queue: AnalysisQueue = SimpleQueue()  # never read
                self._start_threads(threading.Thread(target=_enqueue_analyses, args=(stream, queue), daemon=True))

    # ---- threads and streams ----------------------------------------------------------------------------------------
    def _check_position(self, position: Position) -> None:
        if position.game != self.game:
            raise AwelloError(f"this engine plays {self.game}, not {position.game}: create an engine for that game")
        position.check()

    def _check(self, position: Position, limit: Limit, multipv: int = 1) -> None:
        """Raise an error for invalid input, because kernels do not check it."""
        self._check_position(position)
        if position.over:
            raise AwelloError("the game is over: choose a position with a legal move")
        if limit.level is not None:
            find_level(limit.level)
        if limit.depth == 0:
            raise SpecError("depth 0 is too small: choose at least 1")
        if multipv < 1:
            raise SpecError(f"multipv {multipv} is too small: choose at least 1")

    def _start_threads(self, *threads: threading.Thread) -> None:
        self._background_threads = threads
        for thread in threads:
            thread.start()

    def _stream_analyses(
        self,
        position: Position,
        limit: Limit,
        budget: TimeBudget,
        multipv: int,
        run: "Callable[[IterativeSearch], AnalysisStream] | None" = None,
        excluded_moves: Iterable[int] = (),
    ) -> AnalysisStream:
        """Stream the analyses of `run`, or of `deepen` if `run` is None; there is always at least one."""
        self._check(position, limit, multipv)
        searched, excluded = position.skip_pass(), frozenset(excluded_moves)

        def start(budget: TimeBudget) -> AnalysisStream:
            search = self._search_class(self.search_threads, searched, multipv, budget, excluded)
            return run(search) if run else search.deepen(limit)

        stream = self._start_stream(start, limit.nodes, budget)
        return stream if searched is position else (_prepend_pass(analysis) for analysis in stream)

    def _start_stream(
        self, start: Callable[[TimeBudget], AnalysisStream], node_limit: int | None, budget: TimeBudget
    ) -> AnalysisStream:
        """Compute the first analysis in this thread and the others in a background thread."""
        queue: AnalysisQueue = SimpleQueue()
        self.stop()
        with self._lock:
            self.close()
            self.search_threads.begin_search(node_limit)
            stream = start(budget)
            try:
                first = next(stream)
                threads = [threading.Thread(target=_enqueue_analyses, args=(stream, queue), daemon=True)]
            except SearchStopped:
                first, threads = self._search_uninterrupted(lambda: next(start(UNLIMITED_TIME))), []
                queue.put(None)
            if threads and budget.maximum < threading.TIMEOUT_MAX:
                threads.append(threading.Timer(max(0.0, budget.maximum), self.stop))
            self._start_threads(*threads)
        try:
            yield first
            while (item := queue.get()) is not None:
                if isinstance(item, BaseException):
                    raise item
                yield item
        finally:
            self._end_stream(tuple(threads))

    def _search_uninterrupted(self, find: Callable[[], Result]) -> Result:
        """Run a short search; if another thread stops it, start it again, until it is complete."""
        self.stop()
        with self._lock:
            while True:
                self.close()
                self.search_threads.begin_search()
                with suppress(SearchStopped):
                    return find()

    def _end_stream(self, threads: tuple[threading.Thread, ...]) -> None:
        """End the search of a closed stream.

        If another thread holds the lock, it is starting a search or closing the engine, and so ends this search.
        """
        if self._lock.acquire(blocking=False):
            try:
                if threads and self._background_threads == threads:
                    self.close()
            finally:
                self._lock.release()


def _enqueue_analyses(stream: AnalysisStream, queue: AnalysisQueue) -> None:
    """Put the analyses of a search into the queue, then None.

    If the search fails, its error is put into the queue before None; the receiver raises the error.
    """
    try:
        for analysis in stream:
            queue.put(analysis)
    except SearchStopped:
        pass
    except BaseException as error:
        queue.put(error)
    finally:
        queue.put(None)


def _prepend_pass(analysis: Analysis) -> Analysis:
    """Convert an analysis of the position after a forced pass to an analysis of the position before the pass."""
    value, pv = -analysis.value, (PASS, *analysis.pv)
    exact_moves = (PASS,) if analysis.exact else ()
    return replace(analysis, move=PASS, value=value, candidates=((PASS, value),), pv=pv, exact_moves=exact_moves)
