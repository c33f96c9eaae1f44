"""Measure what must be fast, print one table and write results.json beside this file; nothing here can fail.

Each row is the best of several runs on one core.  Machines differ, and the first row is the yardstick: other
rows are compared across machines after dividing them by it.
"""

import json
import platform
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from awello import Game, Position, __version__, parse_transcript
from awello.arena.match import Match, play_match
from awello.engine.bench import measure
from awello.engine.engine import Engine
from awello.evaluate.network import network_for
from awello.evaluate.settings import Block, Heuristic
from awello.kernel import U
from awello.limits import Limit
from awello.rules.game import perft
from awello.search.montecarlo import LearningTree, NetworkTree, Tree
from awello.search.root import analyse


@dataclass(frozen=True)
class Row:
    """A line of the table: what was measured, how often a second, and by which command one can repeat it."""

    name: str
    rate: float
    unit: str
    command: str


def best_rate(work: Callable[[], int], runs: int) -> float:
    """The most that one run did in a second."""
    rates = []
    for _ in range(runs):
        begun = time.perf_counter()
        done = work()
        rates.append(done / (time.perf_counter() - begun))
    return max(rates)


def perft_row(game: Game, depth: int) -> Row:
    """Leaves a second from the start of a game, every leaf played."""
    start = Position.start(game)
    rate = best_rate(lambda: perft(int(game), U(start.own), U(start.opp), depth), 5)
    option = f" --variant {game.variant}" if game > Game.ABAPA else ""
    return Row(
        f"perft, {' '.join(filter(None, (game.family, game.variant)))}",
        rate / 1e6,
        "M leaves/s",
        f"awello perft {game.family} {depth}{option}",
    )


def match_row() -> Row:
    """Games a second between two random players."""
    rate = best_rate(lambda: play_match(Match(Game.OTHELLO, "random", "random", 100)).games, 3)
    return Row("games of random players", rate, "games/s", "awello match othello random random --games 1000")


def search_row(spec: str, depth: int) -> Row:
    """Nodes a second of a search without pruning, five plies into a game."""
    position, block = parse_transcript("f5d6c3d3c4").final, Block(Game.OTHELLO, Heuristic("positional"))
    rate = best_rate(lambda: analyse(position, spec, depth, block).nodes, 3)
    return Row(
        f"{spec}, depth {depth}", rate / 1e6, "M nodes/s", f"awello match othello {spec}:positional@{depth} random"
    )


def thinking_row(depth: int) -> Row:
    """Milliseconds a move of alpha-beta against random."""
    spec = f"alphabeta:positional@{depth}"
    mean, _ = play_match(Match(Game.OTHELLO, spec, "random", games=20)).mean_ms()
    return Row(f"{spec} against random", mean, "ms a move", f"awello match othello {spec} random --games 20")


def champion_row() -> Row:
    """Nodes a second of the champion on its fixed set; the name carries the signature of the search."""
    runs = [list(measure()) for _ in range(3)]
    nodes, seconds = sum(row.nodes for row in runs[0]), min(sum(row.seconds for row in run) for run in runs)
    return Row(f"champion, signature {nodes:,}", nodes / seconds / 1e6, "M nodes/s", "awello bench")


def awale_rows() -> list[Row]:
    """Milliseconds of Awalé's champion from the start to two depths with DiffScore, and nodes a second to a third."""
    start, rows = Position.start(Game.TOURNAMENT), []
    with Engine(start.game, hash=16, heuristic=Heuristic("diffscore")) as engine:
        for depth, runs in ((12, 40), (14, 40), (16, 10)):
            times, nodes = [], 0
            for _ in range(runs):
                engine.clear()
                begun = time.perf_counter()
                *_, found = engine.analyse(start, Limit(depth=depth))
                times.append(time.perf_counter() - begun)
                nodes = found.nodes
            name = f"champion:diffscore of Awalé to depth {depth}"
            rows.append(Row(name, 1000 * min(times), "ms", "make bench"))
    return [*rows[:2], Row(name, nodes / min(times) / 1e6, "M nodes/s", "make bench")]


def playouts_row(game: Game, tree: Tree) -> Row:
    """Rounds a second of a tree that grows by random games or a network, from the start of a game."""
    name = {Tree: "uct", LearningTree: "ppaf", NetworkTree: "puct"}[type(tree)]
    rate = best_rate(lambda: tree.analyse(Position.start(game), 0.1, None, 1).leaves, 10)
    return Row(f"{name}, {game}", rate / 1e3, "thousand rounds/s", "make bench")


def main() -> None:
    """Measure everything."""
    rows = [perft_row(Game.OTHELLO, 11), perft_row(Game.ABAPA, 10), perft_row(Game.ROMEIN, 10), match_row()]
    rows += [search_row("minimax", 8), search_row("negamax", 8), thinking_row(8), thinking_row(10), champion_row()]
    rows += awale_rows()
    for game in (Game.TOURNAMENT, Game.OTHELLO):
        rows += [playouts_row(game, tree) for tree in (Tree(), LearningTree(), NetworkTree(network=network_for(game)))]
    table = Table("what", "rate", "unit", "command", title=f"awello {__version__}, {platform.machine()}")
    for row in rows:
        table.add_row(row.name, f"{row.rate:,.1f}", row.unit, row.command)
    Console().print(table)
    results = Path(__file__).with_name("results.json")
    results.write_text(json.dumps([asdict(row) for row in rows], indent=2) + "\n")


if __name__ == "__main__":
    main()
