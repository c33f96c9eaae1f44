"""The champion: what a position is worth and what to play, as a stream of answers that grow better.

    with Engine(threads=2, hash=128) as engine:
        for analysis in engine.analyse(position, Limit(seconds=5)):
            print(analysis.depth, analysis.value, position.format_move(analysis.move))

The search runs in a thread of its own and can be stopped at any time; the last complete answer stands.  An engine does
one search at a time: a new one ends the one before.  Invalid positions and limits raise `AwelloError`.
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
from awello.engine.levels import DEFAULT_LEVEL, level_of
from awello.engine.othello_search import OthelloIterativeSearch, create_othello_threads
from awello.engine.othello_state import MAX_THREADS
from awello.engine.threads import SearchStopped
from awello.engine.time_management import RESERVED_TIME_SHARE, UNLIMITED, TimeBudget, allocate_time, estimate_moves_left
from awello.engine.transposition_table import PUBLIC_MULTIPLIERS, draw_multipliers
from awello.errors import AwelloError, ConfigError, SpecError
from awello.evaluate.settings import Heuristic
from awello.limits import Clock, Limit
from awello.position import Position
from awello.rules.game import PASS, Game

DEFAULT_HASH_MIB, MIN_HASH_MIB, MAX_HASH_MIB = 64, 1, 1 << 16  # MiB of the table
SMALL_BOARD_HEURISTIC = Heuristic("mobility", corners=4)  # the patterns are learnt on 8x8

SEARCHES = {
    "othello": (create_othello_threads, OthelloIterativeSearch),
    "awale": (create_awale_threads, AwaleIterativeSearch),
}

AnalysisStream = Iterator[Analysis]
AnalysisQueue = SimpleQueue[Analysis | BaseException | None]
Result = TypeVar("Result")


class Engine:
    """Searches positions of one game, and keeps what it found in its table from one to the next.

    With `secret` the hash of the table is drawn at random: colliding positions cannot be constructed, but node counts
    and what a search to a depth finds can differ from one engine to the next.
    """

    def __init__(
        self,
        game: Game | str = Game.OTHELLO,
        threads: int = 1,
        hash: int = DEFAULT_HASH_MIB,
        heuristic: Heuristic | str | None = None,
        weights: Path | None = None,
        secret: bool = False,
    ) -> None:
        if not 1 <= threads <= MAX_THREADS:
            raise ConfigError(f"{threads} threads: choose 1 to {MAX_THREADS}")
        if not MIN_HASH_MIB <= hash <= MAX_HASH_MIB:
            raise ConfigError(f"a table of {hash} MiB: choose {MIN_HASH_MIB} to {MAX_HASH_MIB}")
        game = Game(game)  # type: ignore[arg-type]  # a name too
        heuristic = Heuristic(heuristic) if isinstance(heuristic, str) else heuristic
        if heuristic is None and game in (Game.OTHELLO4, Game.OTHELLO6):
            heuristic = SMALL_BOARD_HEURISTIC
        self.game = game
        create_threads, self._search = SEARCHES[game.family]
        multipliers = draw_multipliers() if secret else PUBLIC_MULTIPLIERS
        try:
            self.search_threads = create_threads(game, threads, hash, heuristic, weights, multipliers)
        except MemoryError:
            raise ConfigError(f"there is no memory for a table of {hash} MiB: choose a smaller one") from None
        self._background_threads: tuple[threading.Thread, ...] = ()
        self._lock = threading.RLock()  # held by whoever ends a search or begins one

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if hasattr(self, "search_threads") and not is_finalizing():  # a search in the background would never end
            self.search_threads.stop()

    def close(self) -> None:
        """End whatever is searched or pondered, and its threads."""
        self.stop()
        with self._lock:
            self.stop()  # a search that began meanwhile has not heard the first
            threads, self._background_threads = self._background_threads, ()
            for thread in threads:
                if isinstance(thread, threading.Timer):
                    thread.cancel()
                if thread.ident is not None and thread is not threading.current_thread():
                    thread.join()  # without a number, Ctrl-C came before it had begun

    def stop(self) -> None:
        """End the search under way, from any thread; its stream ends with the last complete answer."""
        self.search_threads.stop()

    def clear(self) -> None:
        """Forget everything that earlier searches found."""
        self.stop()
        with self._lock:
            self.close()
            self.search_threads.clear()

    @property
    def nodes(self) -> int:
        """The positions visited by the search under way, or by the last one."""
        return self.search_threads.nodes

    # ---- what to ask ------------------------------------------------------------------------------------------------
    def analyse(self, position: Position, limit: Limit | None = None, multipv: int = 1) -> AnalysisStream:
        """Growing answers within a limit, without one until the game is solved; the values of the `best` moves."""
        limit = limit or Limit()
        maximum = math.inf if limit.seconds is None else limit.seconds
        return self._analyses(position, limit, TimeBudget(math.inf, maximum), multipv)

    def solve(self, position: Position, wld: bool = False) -> AnalysisStream:
        """Growing answers up to the exact score; with `wld` only whether it is won (1), drawn (0) or lost (-1)."""
        return self._analyses(position, Limit(), UNLIMITED, 1, lambda search: search.solve(wld))

    def choose(
        self,
        position: Position,
        clock: Clock,
        limit: Limit | None = None,
        excluded_moves: Iterable[int] = (),
        multipv: int = 1,
    ) -> Analysis:
        """The last answer of `think`."""
        *_, last = self.think(position, clock, limit, excluded_moves, multipv)
        return last

    def think(
        self,
        position: Position,
        clock: Clock,
        limit: Limit | None = None,
        excluded_moves: Iterable[int] = (),
        multipv: int = 1,
    ) -> AnalysisStream:
        """Growing answers in the time that the clock allows and within the limit; some moves may be left out."""
        self._check_position(position)
        budget = allocate_time(clock, estimate_moves_left(position))
        if limit is not None and limit.seconds is not None:
            budget = TimeBudget(budget.optimum, min(budget.maximum, limit.seconds * (1 - RESERVED_TIME_SHARE)))
        if limit is None:
            limit = Limit(level=DEFAULT_LEVEL) if budget == UNLIMITED else Limit()
        if len(position.legal_moves()) == 1:
            limit = Limit(depth=1)
        return self._analyses(position, limit, budget, multipv, excluded_moves=excluded_moves)

    def find_best_move(self, position: Position, limit: Limit) -> int:
        """The move within a depth or a level, at once and nothing else: no thread to stop, no line to follow."""
        self._check(position, limit)
        if position.legal_moves() == (PASS,):
            return PASS
        return self._search_uninterrupted(lambda: self._search(self.search_threads, position).find_best_move(limit))

    def ponder(self, position: Position) -> None:
        """Search in the background until the next question, `stop` or `close`: the table remembers what it finds."""
        self._check_position(position)
        self.stop()
        with self._lock:
            self.close()
            if not position.over:
                self.search_threads.start()
                answers = self._search(self.search_threads, position.skip_pass()).deepen(Limit())
                self._start_threads(
                    threading.Thread(target=_enqueue_analyses, args=(answers, SimpleQueue()), daemon=True)
                )

    # ---- how it is answered -----------------------------------------------------------------------------------------
    def _check_position(self, position: Position) -> None:
        if position.game != self.game:
            raise AwelloError(f"this engine was made for {self.game}, not for {position.game}")
        position.check()

    def _check(self, position: Position, limit: Limit, multipv: int = 1) -> None:
        """Refuse what cannot be searched: kernels believe what they are told."""
        self._check_position(position)
        if position.over:
            raise AwelloError("the game is over: there is nothing to search")
        if limit.level is not None:
            level_of(limit.level)
        if limit.depth == 0:
            raise SpecError("a depth of 0: choose at least 1")
        if multipv < 1:
            raise SpecError(f"the best {multipv} moves: choose at least 1")

    def _start_threads(self, *threads: threading.Thread) -> None:
        self._background_threads = threads
        for thread in threads:
            thread.start()

    def _analyses(
        self,
        position: Position,
        limit: Limit,
        budget: TimeBudget,
        multipv: int,
        think: "Callable[[IterativeSearch], AnalysisStream] | None" = None,
        excluded_moves: Iterable[int] = (),
    ) -> AnalysisStream:
        """The answers of a thread that thinks until it has finished or is stopped; there is always a first one."""
        self._check(position, limit, multipv)
        searched, left_out = position.skip_pass(), frozenset(excluded_moves)

        def answers(budget: TimeBudget) -> AnalysisStream:
            search = self._search(self.search_threads, searched, multipv, budget, left_out)
            return think(search) if think else search.deepen(limit)

        found = self._start_stream(answers, limit.nodes, budget)
        return found if searched is position else (_prepend_pass(answer) for answer in found)

    def _start_stream(
        self, answers: Callable[[TimeBudget], AnalysisStream], nodes: int | None, budget: TimeBudget
    ) -> AnalysisStream:
        """The first answer at once, the others from a thread."""
        queue: AnalysisQueue = SimpleQueue()
        self.stop()
        with self._lock:
            self.close()
            self.search_threads.start(nodes)
            stream = answers(budget)
            try:
                first, threads = (
                    next(stream),
                    [threading.Thread(target=_enqueue_analyses, args=(stream, queue), daemon=True)],
                )
            except SearchStopped:
                first, threads = self._search_uninterrupted(lambda: next(answers(UNLIMITED))), []
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
        """What a short search finds, however often it is stopped."""
        self.stop()
        with self._lock:
            while True:
                self.close()
                self.search_threads.start()
                with suppress(SearchStopped):
                    return find()

    def _end_stream(self, threads: tuple[threading.Thread, ...]) -> None:
        """End a search that nobody listens to any more; whoever is about to ask something else does it for us."""
        if self._lock.acquire(blocking=False):
            try:
                if threads and self._background_threads == threads:
                    self.close()
            finally:
                self._lock.release()


def _enqueue_analyses(answers: AnalysisStream, queue: AnalysisQueue) -> None:
    """Hand the answers of a search over as they come, then None; whatever goes wrong is raised by who receives it."""
    try:
        for answer in answers:
            queue.put(answer)
    except SearchStopped:
        pass
    except BaseException as error:
        queue.put(error)
    finally:
        queue.put(None)


def _prepend_pass(answer: Analysis) -> Analysis:
    """The answer for the one who must pass."""
    value, pv = -answer.value, (PASS, *answer.pv)
    proved = (PASS,) if answer.exact else ()
    return replace(answer, move=PASS, value=value, candidates=((PASS, value),), pv=pv, exact_moves=proved)
