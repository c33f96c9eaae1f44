"""Play games between two values of a constant, for `constants.py`.

One engine runs in this process; the other engine runs in a separate process, which executes this file with the package
in `--base`.  The engines play every opening twice, once with each colour.  Searches have a node limit or a simulated
clock, which advances with the nodes searched (NODES_PER_SECOND) and by MOVE_OVERHEAD_SECONDS per move, so games are
reproducible on any machine.
"""

import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from awello import Game, Position
from awello.arena.match import Match, play_match
from awello.arena.openings import draw_random_opening, load_openings
from awello.engine.engine import Engine
from awello.engine.iterative_search import IterativeSearch
from awello.engine.levels import OPPONENT_SPECS
from awello.engine.time_management import MOVE_OVERHEAD_SECONDS, allocate_time, estimate_moves_left
from awello.limits import Clock, Limit

NODES_PER_SECOND = 50_000  # on a simulated clock
NODES_PER_MOVE = 30_000  # in a duel
OPENING_PLIES = {Game.OTHELLO: 8, Game.ABAPA: 6}  # length of random openings
TIMED_OPPONENT_PATTERN = re.compile(r"@\d+s$")  # an opponent of the page with a time limit in seconds
QUICK_LIMIT = "@300ms"  # replaces the limit of such an opponent
TIMED_OPPONENT_PAIRS = 10  # openings in a match with such an opponent

Result = dict[str, Any]


@dataclass
class MatchEngine:
    """An engine that plays a game and counts the nodes of each move."""

    engine: Engine

    def begin(self) -> None:
        """Start a new game."""
        self.engine.clear()
        self.position, self.played = Position.start(self.engine.game), 0

    def choose(self, moves: Sequence[int], clock: Clock | None) -> tuple[int, int]:
        """Choose a move after `moves`, by a clock or a node limit; return the move and the nodes searched."""
        for move in moves[self.played :]:
            self.position = self.position.after(move)
        self.played = len(moves)
        if clock is None:
            *_, last = self.engine.analyse(self.position, Limit(nodes=NODES_PER_MOVE))
        else:
            maximum = allocate_time(clock, estimate_moves_left(self.position)).maximum
            last = self.engine.choose(self.position, clock, Limit(nodes=max(1, int(maximum * NODES_PER_SECOND))))
        return last.move, self.engine.nodes


class RemoteMatchEngine(MatchEngine):
    """An engine in another process, which imports the package from a folder."""

    def __init__(self, game: Game, base: Path) -> None:
        cache = {"AWELLO_CACHE": str(base / "cache")} if base != Path() else {}
        environment = {**os.environ, "PYTHONPATH": str(base), **cache}
        command = [sys.executable, __file__, str(game)]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )

    def request(self, message: Result) -> Any:
        """Send a message and return the response."""
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def begin(self) -> None:
        self.request({"begin": True})

    def choose(self, moves: Sequence[int], clock: Clock | None) -> tuple[int, int]:
        remaining = None if clock is None else [clock.seconds, clock.increment]
        move, nodes = self.request({"moves": [int(move) for move in moves], "clock": remaining})
        return move, nodes


def serve(game: Game) -> None:
    """Serve the requests of a `RemoteMatchEngine`."""
    count_time_by_nodes()
    with Engine(game, hash=16) as engine:
        player = MatchEngine(engine)
        for line in sys.stdin:
            request = json.loads(line)
            if "begin" in request:
                player.begin()
                response: Any = None
            else:
                response = player.choose(request["moves"], Clock(*request["clock"]) if request["clock"] else None)
            print(json.dumps(response), flush=True)


def count_time_by_nodes() -> None:
    """Make searches measure their time by the nodes searched."""
    IterativeSearch.elapsed = lambda self: self.search_threads.nodes / NODES_PER_SECOND  # type: ignore[method-assign]


@contextmanager
def start_engines(game: Game, base: Path) -> Iterator[tuple[MatchEngine, MatchEngine]]:
    """Start the engine of this process and the one of the package in `base`; stop both at the end."""
    count_time_by_nodes()
    remote = RemoteMatchEngine(game, base)
    try:
        with Engine(game, hash=16) as engine:
            yield MatchEngine(engine), remote
    finally:
        remote.process.kill()
        remote.process.wait()


# ---- a match --------------------------------------------------------------------------------------------------------
def load_match_openings(game: Game, data: Path, count: int) -> list[tuple[int, ...]]:
    """Return `count` openings: balanced openings of Othello if the data folder has them, or else random openings."""
    file = data / "openings" / "xot_small.txt"
    if game == Game.OTHELLO and file.exists():
        openings = load_openings(file, game)
        return list(openings[:: len(openings) // count][:count])
    return [draw_random_opening(game, OPENING_PLIES[game], str(number)) for number in range(count)]


def play(
    players: Sequence[MatchEngine], game: Game, opening: tuple[int, ...], clock: Clock | None
) -> tuple[float, int, int]:
    """Play a game; return the points and the margin of side 0, and the side that lost on time, or -1."""
    position, moves, clocks = Position.start(game), list(opening), [clock, clock]
    for move in opening:
        position = position.after(move)
    for player in players:
        player.begin()
    while not position.over:
        side = position.side
        move, nodes = players[side].choose(moves, clocks[side])
        if (left := clocks[side]) is not None:
            clocks[side] = left = left.spend(nodes / NODES_PER_SECOND + MOVE_OVERHEAD_SECONDS)
            if left.seconds < 0:
                return float(side), 0, side
        moves.append(move)
        position = position.after(move)
    first, second = position.score()
    return (first > second) + (first == second) / 2, first - second, -1


def play_pairs(args: argparse.Namespace, game: Game, clock: Clock | None = None) -> Result:
    """Play each opening with both colours.

    Return the points (0 to 2) and margins of the first engine by pair, and the losses on time by engine.
    """
    points, margins, flags = [], [], [0, 0]
    with start_engines(game, args.base) as players:
        for opening in load_match_openings(game, args.data, args.pairs):
            first, margin, timed_out = play(players, game, opening, clock)
            other, return_margin, return_timed_out = play(players[::-1], game, opening, clock)
            points.append(first + 1 - other)
            margins.append(margin - return_margin)
            if timed_out >= 0:
                flags[timed_out] += 1
            if return_timed_out >= 0:
                flags[1 - return_timed_out] += 1
    return {"points": points, "margins": margins, "flags": flags}


def measure_levels(args: argparse.Namespace) -> Result:
    """Play a match between each opponent of the page and the next weaker one."""
    levels = []
    for game in (Game.OTHELLO, Game.ABAPA):
        steps = OPPONENT_SPECS[game.family]
        for weaker, stronger in pairwise(steps):
            pairs = TIMED_OPPONENT_PAIRS if TIMED_OPPONENT_PATTERN.search(stronger) else args.pairs
            played = TIMED_OPPONENT_PATTERN.sub(QUICK_LIMIT, stronger)
            openings = tuple(draw_random_opening(game, OPENING_PLIES[game], str(number)) for number in range(pairs))
            result = play_match(Match(game, played, weaker, 2 * pairs, 1, openings))
            step = {"game": str(game), "weaker": weaker, "stronger": played, "games": result.games}
            levels.append(step | {"wins": result.wins, "draws": result.draws, "losses": result.losses})
            print(levels[-1], file=sys.stderr, flush=True)
    return {"levels": levels}


MATCH_MEASURES = {
    "duel": lambda args: play_pairs(args, Game.OTHELLO),
    "awale-duel": lambda args: play_pairs(args, Game.ABAPA),
    "clock": lambda args: play_pairs(args, Game.OTHELLO, Clock(30)),
    "clock-increment": lambda args: play_pairs(args, Game.OTHELLO, Clock(10, 0.5)),
    "awale-clock": lambda args: play_pairs(args, Game.ABAPA, Clock(30)),
    "levels": measure_levels,
}

if __name__ == "__main__":
    serve(Game(sys.argv[1]))  # type: ignore[arg-type]  # the name of a game
