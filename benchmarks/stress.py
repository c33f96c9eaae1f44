"""Stress test of the engine: random analyses of random positions, with stops, abandoned generators and invalid input.

python benchmarks/stress.py [--analyses 10000] [--seed 1]
python benchmarks/stress.py --seed 1 --only 4711

Some positions come from random games; others are artificial, invalid, unreachable (`stress_unreachable.py`), or
constructed to collide in a hash table (`stress_collisions.py`). The limits are random, too. Other threads stop searches
or call the same engine during a search; some generators are abandoned early. Up to three engines run at the same time,
with random hash functions, as on a server. Invalid positions and limits must be refused with a one-line message; exact
values are checked (`stress_checks.py`). The analyses run in a separate process; after a crash, the test counts it and
continues in a new process. `--only` repeats one analysis with the same random choices, but the timing may differ. The
test needs Linux, because it reads the memory use of a process from /proc.
"""

import argparse
import ctypes
import faulthandler
import gc
import math
import multiprocessing
import random
import signal
import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from stress_checks import AnalysisChecker, load_endgames
from stress_collisions import make_colliding_positions
from stress_positions import make_damaged_text, make_invalid_position, make_random_limit, make_random_position

from awello import PASS, Clock, Game, Position, parse_position
from awello.analysis import Analysis
from awello.cli.progress import show_step_progress
from awello.engine.engine import Engine
from awello.errors import AwelloError
from awello.limits import Limit

MAX_CONCURRENT_ENGINES = 3  # engines that search at the same time
WARMUP_ANALYSES = 500  # analyses before the memory use is first measured
MAX_LEAK_MB = 50.0  # allowed growth of memory
MAX_LATENESS_SECONDS = 0.25  # a search that ends later than this after its limit is late
PROGRESS_TIMEOUT_SECONDS = 60.0  # the process is killed after this time without progress
INVALID_LIMITS: list[dict[str, Any]] = [{"depth": -1}, {"depth": 0}, {"depth": 10**30}]
INVALID_LIMITS += [{"nodes": -5}, {"nodes": 1 << 64}]
INVALID_LIMITS += [{"seconds": -0.001}, {"seconds": math.nan}, {"seconds": -math.inf}, {"level": -1}, {"level": 31}]
INVALID_ENGINES: list[dict[str, Any]] = [{"threads": 0}, {"threads": 10**9}, {"hash": -1}, {"hash": 1 << 40}]


class ThrownError(Exception):
    """An exception that is thrown into a generator."""


@dataclass
class Tally:
    """Counts of analyses and checks, and descriptions of failures."""

    counts: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    max_delay: float = 0.0
    """The longest delay of a search after its limit, in seconds."""

    def add(self, other: "Tally") -> None:
        """Add another tally."""
        self.counts += other.counts
        self.failures += other.failures
        self.max_delay = max(self.max_delay, other.max_delay)


# ---- analyses -------------------------------------------------------------------------------------------------------
class StressTest:
    """The engines of one process and the tally of their analyses."""

    def __init__(self, seed: int) -> None:
        self.seed, self.tally = seed, Tally()
        self.engines: dict[tuple[int, Game], Engine] = {}

    def run_analysis(self, number: int, slot: int = 0) -> None:
        """Run one analysis; its number and the seed determine everything except timing."""
        rng = random.Random(f"{self.seed} {number}")
        game = rng.choice(list(Game))
        try:
            engine = self.get_engine(game, rng, slot)
            methods = self.analyse_random, self.solve_constructed, self.analyse_invalid, self.parse_damaged
            rng.choices(methods, (75, 5, 12, 8))[0](engine, rng)
        except Exception:
            self.tally.failures.append(f"analysis {number}: {traceback.format_exc(limit=-3)}")
        self.tally.counts["analyses"] += 1

    def get_engine(self, game: Game, rng: random.Random, slot: int) -> Engine:
        """Return the engine of a slot; in a tenth of all calls, replace it first, and close every second old engine."""
        if (slot, game) not in self.engines or rng.random() < 0.1:
            old = self.engines.pop((slot, game), None)
            if old is not None and rng.random() < 0.5:
                old.close()
            self.engines[slot, game] = Engine(game, rng.randint(1, 4), rng.choice((1, 2, 8)), random_hash=True)
        return self.engines[slot, game]

    @contextmanager
    def expect_refusal(self) -> Iterator[None]:
        """Expect an `AwelloError` with a one-line message."""
        try:
            yield
        except AwelloError as error:
            assert "\n" not in str(error) and 0 < len(str(error)) < 200, f"the message is not one short line: {error!r}"
            self.tally.counts["refused"] += 1
        else:
            raise AssertionError("invalid input was accepted")

    def analyse_random(self, engine: Engine, rng: random.Random) -> None:
        """Analyse a random position; if the game is over there, expect a refusal."""
        position = make_random_position(engine.game, rng)
        if position.over:
            with self.expect_refusal():
                list(engine.analyse(position, Limit(depth=3)))
        else:
            self.search(engine, position, rng)

    def solve_constructed(self, engine: Engine, rng: random.Random) -> None:
        """Solve boards that were constructed to collide in a hash table."""
        for position in make_colliding_positions(rng) if engine.game == Game.OTHELLO else ():
            *_, last = engine.solve(position)
            counts = AnalysisChecker(position, set(position.legal_moves()), 1, False).check(last)
            self.tally.counts.update(counts, constructed=1)

    def analyse_invalid(self, engine: Engine, rng: random.Random) -> None:
        """Pass an invalid position, limit or setting to the engine, and expect a refusal."""
        position, invalid, case = (
            Position.start(engine.game),
            make_invalid_position(engine.game, rng),
            rng.randrange(10),
        )
        methods: list[Callable[[Position, Limit], object]] = [
            lambda position, limit: list(engine.analyse(position, limit)),
            lambda position, limit: engine.choose(position, Clock(), limit),
            lambda position, limit: engine.find_best_move(position, limit),
            lambda position, limit: list(engine.solve(position)),
            lambda position, limit: engine.ponder(position),
        ]
        with self.expect_refusal():
            if case < 3:
                methods[case](position, Limit(**rng.choice(INVALID_LIMITS)))
            elif case == 3:
                list(engine.analyse(position, multipv=rng.choice((0, -7))))
            elif case == 4:
                Engine(engine.game, **rng.choice(INVALID_ENGINES))
            else:
                methods[case - 5](invalid, Limit(depth=1))

    def parse_damaged(self, engine: Engine, rng: random.Random) -> None:
        """Parse a damaged text: the result must be a valid position or an error."""
        try:
            position = parse_position(make_damaged_text(engine.game, rng), rng.choice((engine.game, None)))
        except AwelloError as error:
            with self.expect_refusal():
                raise error
            return
        position.check()
        if position.game == engine.game and not position.over:
            self.search(engine, position, rng)

    def search(self, engine: Engine, position: Position, rng: random.Random) -> None:
        """Call a random search method; one thread stops the search, and sometimes another calls a second method."""
        limit, multipv, finished = make_random_limit(rng), rng.choice((1, 1, 2, 40)), threading.Event()
        stop_after = rng.choice((0.0, rng.uniform(0, 0.05), 0.2, 0.2))
        stop_interval = rng.choice((0.0005, 0.02))  # stop repeatedly: a stop before the search begins has no effect
        other, delay = make_random_position(position.game, rng), rng.uniform(0, 0.03)
        legal = position.legal_moves()
        excluded = rng.sample([*legal, PASS, 99], 1) if rng.random() < 0.3 else []
        clock = rng.choice((Clock(), Clock(rng.uniform(-1, 3)), Clock(0.0), Clock(math.nan)))
        methods: list[Callable[[], Iterable[Analysis]]] = [
            lambda: engine.analyse(position, limit, multipv),
            lambda: engine.analyse_with_clock(position, clock, rng.choice((None, limit)), excluded, multipv),
            lambda: [engine.choose(position, clock, limit, excluded, multipv)],
            lambda: engine.solve(position),
            lambda: engine.solve(position, wld=True),
        ]
        disturbances: list[Callable[[], object]] = [
            engine.clear,
            engine.close,
            lambda: engine.ponder(other),
            lambda: engine.find_best_move(other, Limit(depth=2)),
            lambda: list(engine.analyse(other, Limit(depth=4))),
        ]
        method, disturbance = rng.choice((0, 0, 0, 1, 2, 3, 4)), rng.choice(disturbances)

        def stop_search() -> None:
            finished.wait(stop_after)
            while not finished.wait(stop_interval):
                engine.stop()

        def disturb() -> None:
            finished.wait(delay)
            with suppress(AwelloError):  # the game may be over in the other position
                disturbance()

        helpers = [threading.Thread(target=work) for work in (stop_search, disturb)[: 1 + (rng.random() < 0.2)]]
        if rng.random() < 0.1:
            engine.ponder(other)
        started = time.perf_counter()
        for helper in helpers:
            helper.start()
        try:
            if rng.random() < 0.05:
                assert engine.find_best_move(position, limit) in legal
            analyses = self.read_some(methods[method](), rng)
        finally:
            time_limit = limit.seconds if method == 0 and limit.seconds is not None else math.inf
            lateness = time.perf_counter() - started - min(stop_after, time_limit)
            finished.set()
            for helper in helpers:
                helper.join()
        self.tally.max_delay = max(self.tally.max_delay, lateness)
        self.tally.counts.update(late=int(lateness > MAX_LATENESS_SECONDS), answers=len(analyses))
        allowed_moves = set(legal) - (set(excluded) if method in (1, 2) else set())
        checker = AnalysisChecker(position, allowed_moves or set(legal), multipv if method < 3 else 1, method == 4)
        for analysis in analyses:
            self.tally.counts.update(checker.check(analysis))

    def read_some(self, stream: Iterable[Analysis], rng: random.Random) -> list[Analysis]:
        """Read the analyses of a generator; sometimes abandon it early, or throw an exception into it."""
        max_analyses, analyses = rng.choice((math.inf, math.inf, math.inf, 1, 2, 4)), list[Analysis]()
        for analysis in stream:
            analyses.append(analysis)
            if len(analyses) >= max_analyses:
                if hasattr(stream, "throw") and rng.random() < 0.3:
                    with suppress(ThrownError):
                        stream.throw(ThrownError())
                break
        assert analyses, "the engine returned no analysis"
        return analyses


# ---- processes ------------------------------------------------------------------------------------------------------
def measure_resources() -> tuple[float, int, int]:
    """Return the memory of this process in MB, and the numbers of its threads and open files."""
    gc.collect()
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)  # free memory that the allocator holds is not a leak
    words, files = Path("/proc/self/status").read_text("utf-8").split(), [*Path("/proc/self/fd").iterdir()]
    return int(words[words.index("VmRSS:") + 1]) / 1000, threading.active_count(), len(files)


def run_analyses(channel: Connection, seed: int, numbers: range) -> None:
    """Run analyses in batches; send each batch's numbers and tally, and resource use after warm-up and at the end."""
    stress_test, done, measured = StressTest(seed), 0, False
    for game in (Game.ABAPA, Game.TOURNAMENT, Game.ROMEIN):
        load_endgames(game)
    with ThreadPoolExecutor(MAX_CONCURRENT_ENGINES) as pool:
        while done < len(numbers):
            size = min(
                random.Random(f"{seed} lanes {numbers[done]}").choice((1, 1, 2, MAX_CONCURRENT_ENGINES)),
                len(numbers) - done,
            )
            batch = numbers[done : done + size]
            channel.send(batch)
            list(pool.map(stress_test.run_analysis, batch, range(size)))
            done, update, stress_test.tally = done + size, stress_test.tally, Tally()
            channel.send(update)
            if done == len(numbers) or (done >= WARMUP_ANALYSES and not measured):
                stress_test.engines.clear()
                measured = True
                channel.send(measure_resources())


def run_in_process(channel: Connection, seed: int, numbers: range) -> None:
    """Run analyses in a child process, which prints where it crashes and ignores Ctrl-C."""
    faulthandler.enable()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    run_analyses(channel, seed, numbers)


def supervise(
    seed: int, numbers: range, tally: Tally, step: Callable[[int], object], work: Any = run_in_process
) -> list[Any]:
    """Run all analyses, in a new process after each crash; return the resource use of the last process."""
    context, resources = multiprocessing.get_context("spawn"), list[Any]()
    while numbers:
        ours, theirs = context.Pipe()
        process = context.Process(target=work, args=(theirs, seed, numbers), daemon=True)
        process.start()
        theirs.close()
        batch, resources = numbers[:1], []
        try:
            while ours.poll(PROGRESS_TIMEOUT_SECONDS):
                update = ours.recv()
                if isinstance(update, Tally):
                    tally.add(update)
                    step(len(batch))
                    numbers = numbers[len(batch) :]
                elif isinstance(update, range):
                    batch = update
                else:
                    resources.append(update)
            crashed, reason = True, f"made no progress for {PROGRESS_TIMEOUT_SECONDS:.0f} s"
        except (EOFError, ConnectionError):
            process.join()
            crashed, reason = bool(numbers) or process.exitcode != 0, f"exited with {process.exitcode}"
        finally:
            process.kill()
        if crashed:
            tally.counts["crashes"] += 1
            tally.failures.append(f"analyses {[*batch]}: the process {reason}")
            numbers = numbers[len(batch) :]
    return resources


def main() -> None:
    """Run the stress test and print the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--analyses", type=int, default=10_000, help="number of analyses; default: 10000")
    parser.add_argument("--seed", type=int, default=1, help="random seed; default: 1")
    parser.add_argument("--only", type=int, help="run only the analysis with this number")
    options = parser.parse_args()
    numbers = range(options.analyses) if options.only is None else range(options.only, options.only + 1)
    tally, resources, started = Tally(), list[Any](), time.perf_counter()
    with suppress(KeyboardInterrupt), show_step_progress("analyses", len(numbers)) as step:
        resources = supervise(options.seed, numbers, tally, step)
    for failure in tally.failures:
        print(failure)
    counts = tally.counts
    run, compared = (
        ("analyses", "answers", "refused", "constructed"),
        ("exact scores", "best moves", "complete variations"),
    )
    for names in (run, compared):
        print(", ".join(f"{counts[name]:,d} {name}" for name in names))
    print(f"{counts['crashes']} crashes, {len(tally.failures)} failures, {time.perf_counter() - started:.0f} s")
    print(f"{counts['late']} searches more than {MAX_LATENESS_SECONDS} s late, longest delay {tally.max_delay:.2f} s")
    for megabytes, threads, files in resources:
        print(f"idle: {megabytes:.0f} MB, {threads} threads, {files} open files")
    sys.exit(bool(tally.failures) or (bool(resources) and resources[-1][0] - resources[0][0] > MAX_LEAK_MB))


if __name__ == "__main__":
    main()
