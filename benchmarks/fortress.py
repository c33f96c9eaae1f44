"""Whether the engine stands whatever it is asked: random analyses of random positions, stopped, left and disturbed.

python benchmarks/fortress.py [--analyses 10000] [--seed 1]
python benchmarks/fortress.py --seed 1 --only 4711

Positions come from play, or are made up, or are none at all, or are constructed so that a hash takes them for one
another (`fortress_collisions.py`) or so that no game reaches them (`fortress_odd.py`); limits are of every kind;
searches are stopped from other threads, left half-way, interrupted by other questions, and up to three engines search
at the same time.  As on a server, the hash of their tables is secret.  What is no position and no limit must be refused
in one line; what is called exact is compared with the truth, which `fortress_truth.py` knows.  The analyses run in a
process of their own, so that a crash is counted and the next one begins; `--only` repeats one of them alone, as far as
it is not the clock that decides.  It needs Linux, which tells the memory of a process.
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

from fortress_collisions import constructed_positions
from fortress_positions import damaged_text, no_position, random_limit, random_position
from fortress_truth import Verdict, endgames

from awello import PASS, Clock, Game, Position, parse_position
from awello.analysis import Analysis
from awello.cli.app import progress
from awello.engine.engine import Engine
from awello.errors import AwelloError
from awello.limits import Limit

LANES = 3  # engines that search at the same time, at most
WARM = 500  # analyses before memory is first measured
LEAK = 50.0  # MB that may be lost
MARGIN = 0.25  # seconds after its limit before a search counts as late
PATIENCE = 60.0  # seconds without a sign of life before the process is given up
NO_LIMITS: list[dict[str, Any]] = [{"depth": -1}, {"depth": 0}, {"depth": 10**30}, {"nodes": -5}, {"nodes": 1 << 64}]
NO_LIMITS += [{"seconds": -0.001}, {"seconds": math.nan}, {"seconds": -math.inf}, {"level": -1}, {"level": 31}]
NO_ENGINES: list[dict[str, Any]] = [{"threads": 0}, {"threads": 10**9}, {"hash": -1}, {"hash": 1 << 40}]


class Thrown(Exception):
    """What somebody throws into a search."""


@dataclass
class Tally:
    """What has happened."""

    counts: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    latest: float = 0.0
    """By how many seconds the slowest search was late."""

    def add(self, other: "Tally") -> None:
        """Count in what happened elsewhere."""
        self.counts += other.counts
        self.faults += other.faults
        self.latest = max(self.latest, other.latest)


# ---- one analysis after the other -----------------------------------------------------------------------------------
class Siege:
    """What one process does to its engines, and what comes of it."""

    def __init__(self, seed: int) -> None:
        self.seed, self.tally = seed, Tally()
        self.engines: dict[tuple[int, Game], Engine] = {}

    def attack(self, number: int, lane: int = 0) -> None:
        """The analysis of a number: all that is random about it but the clock depends on it and the seed."""
        chance = random.Random(f"{self.seed} {number}")
        game = chance.choice(list(Game))
        try:
            engine = self.engine(game, chance, lane)
            ways = self.ask, self.ask_constructed, self.ask_nonsense, self.read_nonsense
            chance.choices(ways, (75, 5, 12, 8))[0](engine, chance)
        except Exception:
            self.tally.faults.append(f"analysis {number}: {traceback.format_exc(limit=-3)}")
        self.tally.counts["analyses"] += 1

    def engine(self, game: Game, chance: random.Random, lane: int) -> Engine:
        """The engine of a lane, from time to time a new one; the old one is closed, or just forgotten."""
        if (lane, game) not in self.engines or chance.random() < 0.1:
            old = self.engines.pop((lane, game), None)
            if old is not None and chance.random() < 0.5:
                old.close()
            self.engines[lane, game] = Engine(game, chance.randint(1, 4), chance.choice((1, 2, 8)), secret=True)
        return self.engines[lane, game]

    @contextmanager
    def refused(self) -> Iterator[None]:
        """What must be refused in one line."""
        try:
            yield
        except AwelloError as error:
            assert "\n" not in str(error) and 0 < len(str(error)) < 200, f"no single line: {error!r}"
            self.tally.counts["refused"] += 1
        else:
            raise AssertionError("this was not refused")

    def ask(self, engine: Engine, chance: random.Random) -> None:
        """A question about a position, which may be over."""
        position = random_position(engine.game, chance)
        if position.over:
            with self.refused():
                list(engine.analyse(position, Limit(depth=3)))
        else:
            self.search(engine, position, chance)

    def ask_constructed(self, engine: Engine, chance: random.Random) -> None:
        """Boards that an attacker constructs, one after the other, each to its exact score."""
        for position in constructed_positions(chance) if engine.game == Game.OTHELLO else ():
            *_, last = engine.solve(position)
            counts = Verdict(position, set(position.legal_moves()), 1, False).judge(last)
            self.tally.counts.update(counts, constructed=1)

    def ask_nonsense(self, engine: Engine, chance: random.Random) -> None:
        """Words that are no position, limits and settings that are none."""
        position, none, what = Position.start(engine.game), no_position(engine.game, chance), chance.randrange(10)
        ways: list[Callable[[Position, Limit], object]] = [
            lambda position, limit: list(engine.analyse(position, limit)),
            lambda position, limit: engine.choose(position, Clock(), limit),
            lambda position, limit: engine.find_best_move(position, limit),
            lambda position, limit: list(engine.solve(position)),
            lambda position, limit: engine.ponder(position),
        ]
        with self.refused():
            if what < 3:
                ways[what](position, Limit(**chance.choice(NO_LIMITS)))
            elif what == 3:
                list(engine.analyse(position, multipv=chance.choice((0, -7))))
            elif what == 4:
                Engine(engine.game, **chance.choice(NO_ENGINES))
            else:
                ways[what - 5](none, Limit(depth=1))

    def read_nonsense(self, engine: Engine, chance: random.Random) -> None:
        """A text that was damaged: it is a position, or it is refused."""
        try:
            position = parse_position(damaged_text(engine.game, chance), chance.choice((engine.game, None)))
        except AwelloError as error:
            with self.refused():
                raise error
            return
        position.check()
        if position.game == engine.game and not position.over:
            self.search(engine, position, chance)

    def search(self, engine: Engine, position: Position, chance: random.Random) -> None:
        """A search in one of all ways, with a stop and perhaps another question from other threads."""
        limit, best, over = random_limit(chance), chance.choice((1, 1, 2, 40)), threading.Event()
        stop = chance.choice((0.0, chance.uniform(0, 0.05), 0.2, 0.2))
        again = chance.choice((0.0005, 0.02))  # a stop that comes before the search has begun is not heard
        other, moment = random_position(position.game, chance), chance.uniform(0, 0.03)
        legal = position.legal_moves()
        without = chance.sample([*legal, PASS, 99], 1) if chance.random() < 0.3 else []
        clock = chance.choice((Clock(), Clock(chance.uniform(-1, 3)), Clock(0.0), Clock(math.nan)))
        ways: list[Callable[[], Iterable[Analysis]]] = [
            lambda: engine.analyse(position, limit, best),
            lambda: engine.think(position, clock, chance.choice((None, limit)), without, best),
            lambda: [engine.choose(position, clock, limit, without, best)],
            lambda: engine.solve(position),
            lambda: engine.solve(position, wld=True),
        ]
        rivals: list[Callable[[], object]] = [
            engine.clear,
            engine.close,
            lambda: engine.ponder(other),
            lambda: engine.find_best_move(other, Limit(depth=2)),
            lambda: list(engine.analyse(other, Limit(depth=4))),
        ]
        way, rival = chance.choice((0, 0, 0, 1, 2, 3, 4)), chance.choice(rivals)

        def halt() -> None:
            over.wait(stop)
            while not over.wait(again):
                engine.stop()

        def disturb() -> None:
            over.wait(moment)
            with suppress(AwelloError):  # the other position may be over
                rival()

        helpers = [threading.Thread(target=work) for work in (halt, disturb)[: 1 + (chance.random() < 0.2)]]
        if chance.random() < 0.1:
            engine.ponder(other)
        begun = time.perf_counter()
        for helper in helpers:
            helper.start()
        try:
            if chance.random() < 0.05:
                assert engine.find_best_move(position, limit) in legal
            answers = self.listen(ways[way](), chance)
        finally:
            due = limit.seconds if way == 0 and limit.seconds is not None else math.inf
            late = time.perf_counter() - begun - min(stop, due)
            over.set()
            for helper in helpers:
                helper.join()
        self.tally.latest = max(self.tally.latest, late)
        self.tally.counts.update(late=int(late > MARGIN), answers=len(answers))
        free = set(legal) - (set(without) if way in (1, 2) else set())
        verdict = Verdict(position, free or set(legal), best if way < 3 else 1, way == 4)
        for answer in answers:
            self.tally.counts.update(verdict.judge(answer))

    def listen(self, stream: Iterable[Analysis], chance: random.Random) -> list[Analysis]:
        """The answers as they come; some streams are left before the end, in one way or another."""
        stay, answers = chance.choice((math.inf, math.inf, math.inf, 1, 2, 4)), list[Analysis]()
        for answer in stream:
            answers.append(answer)
            if len(answers) >= stay:
                if hasattr(stream, "throw") and chance.random() < 0.3:
                    with suppress(Thrown):
                        stream.throw(Thrown())
                break
        assert answers, "there was no answer"
        return answers


# ---- the process, and who watches it --------------------------------------------------------------------------------
def at_rest() -> tuple[float, int, int]:
    """The memory of this process in MB, its threads and its open files."""
    gc.collect()
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)  # what is free and yet held by the allocator is no leak
    words, files = Path("/proc/self/status").read_text("utf-8").split(), [*Path("/proc/self/fd").iterdir()]
    return int(words[words.index("VmRSS:") + 1]) / 1000, threading.active_count(), len(files)


def besiege(channel: Connection, seed: int, numbers: range) -> None:
    """Tell which analyses begin, what came of them, and what the process holds after the first ones and at the end."""
    siege, done, measured = Siege(seed), 0, False
    for game in (Game.ABAPA, Game.TOURNAMENT, Game.ROMEIN):
        endgames(game)
    with ThreadPoolExecutor(LANES) as pool:
        while done < len(numbers):
            size = min(random.Random(f"{seed} lanes {numbers[done]}").choice((1, 1, 2, LANES)), len(numbers) - done)
            some = numbers[done : done + size]
            channel.send(some)
            list(pool.map(siege.attack, some, range(size)))
            done, news, siege.tally = done + size, siege.tally, Tally()
            channel.send(news)
            if done == len(numbers) or (done >= WARM and not measured):
                siege.engines.clear()
                measured = True
                channel.send(at_rest())


def besiege_alone(channel: Connection, seed: int, numbers: range) -> None:
    """Besiege in a process of its own: it says where it crashes, and Ctrl-C is for whoever watches it."""
    faulthandler.enable()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    besiege(channel, seed, numbers)


def watch(
    seed: int, numbers: range, tally: Tally, step: Callable[[int], object], work: Any = besiege_alone
) -> list[Any]:
    """Have all analyses done, in a new process after each crash; what the last process held, first and last."""
    context, held = multiprocessing.get_context("spawn"), list[Any]()
    while numbers:
        ours, theirs = context.Pipe()
        process = context.Process(target=work, args=(theirs, seed, numbers), daemon=True)
        process.start()
        theirs.close()
        some, held = numbers[:1], []
        try:
            while ours.poll(PATIENCE):
                news = ours.recv()
                if isinstance(news, Tally):
                    tally.add(news)
                    step(len(some))
                    numbers = numbers[len(some) :]
                elif isinstance(news, range):
                    some = news
                else:
                    held.append(news)
            crashed, how = True, f"gave no sign of life for {PATIENCE:.0f} s"
        except (EOFError, ConnectionError):
            process.join()
            crashed, how = bool(numbers) or process.exitcode != 0, f"ended with {process.exitcode}"
        finally:
            process.kill()
        if crashed:
            tally.counts["crashes"] += 1
            tally.faults.append(f"analyses {[*some]}: the process {how}")
            numbers = numbers[len(some) :]
    return held


def main() -> None:
    """Besiege the engine and say what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--analyses", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="the number of one analysis")
    options = parser.parse_args()
    numbers = range(options.analyses) if options.only is None else range(options.only, options.only + 1)
    tally, held, begun = Tally(), list[Any](), time.perf_counter()
    with suppress(KeyboardInterrupt), progress("analyses", len(numbers)) as step:
        held = watch(options.seed, numbers, tally, step)
    for fault in tally.faults:
        print(fault)
    counts = tally.counts
    asked, compared = (
        ("analyses", "answers", "refused", "constructed"),
        ("exact scores", "best moves", "lines to the end"),
    )
    for names in (asked, compared):
        print(", ".join(f"{counts[name]:,d} {name}" for name in names))
    print(f"{counts['crashes']} crashes, {len(tally.faults)} faults, {time.perf_counter() - begun:.0f} s")
    print(f"{counts['late']} searches more than {MARGIN} s late, the latest {tally.latest:.2f} s")
    for megabytes, threads, files in held:
        print(f"at rest {megabytes:.0f} MB, {threads} threads, {files} open files")
    sys.exit(bool(tally.faults) or (bool(held) and held[-1][0] - held[0][0] > LEAK))


if __name__ == "__main__":
    main()
