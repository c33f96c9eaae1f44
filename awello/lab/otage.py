"""The effect of hints from the previous depth: the measurements of report 4, repeated on example trees and in Othello.

Alpha-beta without hints from the previous depth is compared with searches that use more and more of them.  All searches
must find the same values, which is checked, so the numbers of leaves can be compared.  The square order and the
aspiration window are switched off one at a time to measure their effect.  All searches use the evaluation of an
untrained Otage.
"""

import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

from awello.arena.runner import PlayerCache, RunPlan
from awello.errors import ConfigError
from awello.evaluate.otage_memory import OtageMemory
from awello.formats.transcript import parse_transcript
from awello.lab import example_trees, published
from awello.lab.report import Report
from awello.position import Position
from awello.record import Record
from awello.rules.game import Game, find_game
from awello.search.iterative_deepening import IterativeDeepening, OtageOptions

DEFAULT_GAME, DEFAULT_POSITIONS, DEFAULT_DEPTHS = "othello", 50, (8,)
HINT_LEVELS = {"alpha-beta": "none", "best move": "move", "best branch": "pv", "refutation tables": "refutations"}
ALL_TECHNIQUES, NO_ORDER, NO_WINDOW = "refutation tables", "tables, no order", "tables, no window"
SEARCHES = {
    **{name: OtageOptions(hints) for name, hints in HINT_LEVELS.items()},
    NO_ORDER: OtageOptions(move_ordering=False),
    NO_WINDOW: OtageOptions(aspiration=False),
    "alpha-beta alone": OtageOptions("none", move_ordering=False, aspiration=False),
}
GAME_SEARCHES = ("best move", ALL_TECHNIQUES)  # for report 4's game: without variations, with variations
RANDOM_TREES = 200
DISC_RANGE = (14, 30)
PLAY_DEPTH, RANDOM_MOVE_SHARE = 2, 0.25  # in the games from which positions are sampled
VARIATIONS_PLY = 8  # report 4 shows the variations of the position after this many plies of its game


@dataclass(frozen=True)
class SearchedPosition:
    """The results of several searches of a position, at each depth."""

    kind: str
    number: int
    values: list[int]
    leaves: dict[str, list[int]]
    seconds: dict[str, list[float]]


@dataclass(frozen=True)
class SearchPlan(RunPlan[SearchedPosition]):
    """The positions to search: random positions, and the positions of report 4's game in which Otage is to move."""

    name: str
    game: str
    positions: int
    depth: int
    seed: int
    kind: ClassVar[str] = "experiment"
    unit: ClassVar[str] = "positions"
    result_type: ClassVar[type[Any]] = SearchedPosition

    @property
    def schedule(self) -> list[tuple[str, int]]:
        """Each position as `sample` and its number, or as `game` and its ply."""
        return [*(("sample", number) for number in range(self.positions)), *(("game", ply) for ply in _otage_plies())]

    @property
    def total(self) -> int:
        return len(self.schedule)

    def configuration(self) -> dict[str, Any]:
        return asdict(self)

    def run_job(self, number: int, cache: PlayerCache) -> SearchedPosition:
        kind, at = self.schedule[number]
        if kind == "game":
            return search_position(report4_position(at), kind, at, GAME_SEARCHES, self.depth)
        return search_position(sample_position(self.seed, at), kind, at, tuple(SEARCHES), self.depth)


def make_plan(game: str, variant: str | None, positions: int, depths: Sequence[int], seed: int) -> SearchPlan:
    """Plan searches of `positions` random positions and of report 4's game, to the greatest of `depths`."""
    if find_game(game, variant=variant) is not Game.OTHELLO:
        raise ConfigError("the experiment 'otage' is for Othello on 8x8: omit --game and --variant")
    return SearchPlan("otage", game, positions, max(depths), seed)


# ---- search ---------------------------------------------------------------------------------------------------------
def search_position(position: Position, kind: str, number: int, names: Sequence[str], depth: int) -> SearchedPosition:
    """Search a position with each named search, and check that all searches find the same values."""
    results = {name: list(_make_search(name).deepen(position, depth)) for name in names}
    values = {name: [each.value for each in iterations] for name, iterations in results.items()}
    if any(others != values[names[0]] for others in values.values()):
        raise AssertionError(f"searches of {position} disagree: {values}")
    leaves = {name: [each.leaves for each in iterations] for name, iterations in results.items()}
    seconds = {name: [each.seconds for each in iterations] for name, iterations in results.items()}
    return SearchedPosition(kind, number, values[names[0]], leaves, seconds)


@cache
def _make_search(name: str) -> IterativeDeepening:
    """Return the search with this name; it is made only once per process."""
    return IterativeDeepening(OtageMemory(), SEARCHES[name])


# ---- positions ------------------------------------------------------------------------------------------------------
def sample_position(seed: int, number: int) -> Position:
    """Sample a midgame position, reached by shallow searches and random moves, with more than one legal move."""
    rng = random.Random(f"{seed}/{number}")
    discs = rng.randint(*DISC_RANGE)
    while True:
        position = Position.start()
        while not position.over and (position.own | position.opp).bit_count() < discs:
            position = position.after(_choose_move(position, rng))
        if len(position.legal_moves()) > 1:
            return position


def _choose_move(position: Position, rng: random.Random) -> int:
    if rng.random() < RANDOM_MOVE_SHARE:
        return rng.choice(position.legal_moves())
    *_, results = _make_search(ALL_TECHNIQUES).deepen(position, PLAY_DEPTH)
    return results.move


def report4_position(plies: int) -> Position:
    """Return the position after `plies` plies of report 4's game."""
    record = parse_transcript(published.REPORT4_GAME)
    return Record(record.start, record.moves[:plies]).final


def _otage_plies() -> range:
    """Return the plies of report 4's game at which Otage (Black) is to move."""
    return range(0, len(published.REPORT4_GAME) // 2, 2)


# ---- report ---------------------------------------------------------------------------------------------------------
def write_report(plan: SearchPlan, results: Sequence[SearchedPosition], depths: Sequence[int], folder: Path) -> None:
    """Write the report of the experiment."""
    report = Report(folder, "Otage: leaves saved by the variations of the previous depth")
    report.add_text(
        "A variation is a root move with its best continuation: for the best move, the principal variation; for every "
        "other move, the replies that refute it. The searches differ in what they try first at the next depth: nothing "
        "(alpha-beta), the best move, the best branch (the principal variation), or the variations of all moves (the "
        "refutation tables). All searches find the same values."
    )
    _write_trees(report, plan.seed)
    for depth in depths:
        _write_sample(report, depth, [each for each in results if each.kind == "sample"], plan.seed)
    _write_plot(report, plan.depth, [each for each in results if each.kind == "sample"])
    _write_game(report, plan.depth, [each for each in results if each.kind == "game"])
    _write_variations(report, range(max(1, plan.depth - 3), plan.depth + 2))
    report.write()


def count_leaves(tree: example_trees.ExampleNode) -> dict[str, int]:
    """Count the leaves that each algorithm visits in a search to depth 3 that follows a search to depth 2."""
    value, leaves = example_trees.minimax(tree, 3)
    counts = {"minimax": leaves}
    for name, hints in HINT_LEVELS.items():
        *_, last = example_trees.deepen(tree, (2, 3), hints)
        if last.value != value:
            raise AssertionError(f"{name} finds {last.value}, minimax {value}")
        counts[name] = last.leaves
    return counts


def count_random_leaves(trees: int, seed: int) -> dict[str, int]:
    """Count the leaves that each algorithm visits in `trees` random trees, in total."""
    rng = random.Random(seed)
    counts = [count_leaves(example_trees.make_random_tree(rng)) for _ in range(trees)]
    return {name: sum(each[name] for each in counts) for name in counts[0]}


def _write_trees(report: Report, seed: int) -> None:
    one, many = count_leaves(example_trees.make_report4_tree()), count_random_leaves(RANDOM_TREES, seed)
    rows = []
    for name in one:
        shares = [100 * counts[name] / counts["minimax"] for counts in (one, many)]
        rows.append([name, one[name], published.REPORT4_TREE_LEAVES[name], shares[0], many[name], shares[1]])
    report.add_text(
        "## Trees",
        "Report 4 shows its tree of 27 leaves without values; the values here were chosen to reproduce the report's "
        f"leaf counts. The other {RANDOM_TREES} trees are random, with {example_trees.BRANCHING[0]} to "
        f"{example_trees.BRANCHING[1]} moves per node; their values at depth 2 approximate the values that a "
        "search to depth 3 finds.",
    )
    header = [
        "algorithm",
        "one tree: leaves",
        "report 4",
        "one tree: %",
        f"{RANDOM_TREES} trees: leaves",
        f"{RANDOM_TREES} trees: %",
    ]
    report.add_table("trees", "Leaves at depth 3 after a search to depth 2", header, rows)


def _write_sample(report: Report, depth: int, results: Sequence[SearchedPosition], seed: int) -> None:
    last = {name: sum(sum(each.leaves[name][depth - 1 : depth]) for each in results) for name in SEARCHES}
    base = max(1, last["alpha-beta"])  # the sum is 0 if all games end before this depth
    rows = []
    for name in SEARCHES:
        whole = sum(sum(each.leaves[name][:depth]) for each in results)
        milliseconds = 1000 * sum(sum(each.seconds[name][:depth]) for each in results) / len(results)
        rows.append([name, last[name], 100 * last[name] / base, whole, milliseconds])
    order, window = (100 * (1 - last[ALL_TECHNIQUES] / max(1, last[without])) for without in (NO_ORDER, NO_WINDOW))
    report.add_text(
        f"## Positions at depth {depth}",
        f"The {len(results)} positions have {DISC_RANGE[0]} to {DISC_RANGE[1]} discs (random seed {seed}). They are "
        "from games in which a quarter of the moves are random and the others are chosen by a search to depth "
        f"{PLAY_DEPTH}. The first four searches use the square order and the aspiration window. The next two use the "
        "refutation tables with only one of these techniques; the last search uses no hints and neither technique. "
        f"With the refutation tables, the square order saves {order:.1f} % of the leaves at this depth, and the "
        f"aspiration window saves {window:.1f} %.",
    )
    header = ["search", "leaves of this depth", "share, %", "leaves up to this depth", "time per position, ms"]
    report.add_table(f"positions-{depth}", f"Leaves and time at depth {depth}", header, rows)


def _write_plot(report: Report, depth: int, results: Sequence[SearchedPosition]) -> None:
    def draw(axes: Any) -> None:
        for name in SEARCHES:
            totals = [sum(sum(each.leaves[name][ply : ply + 1]) for each in results) for ply in range(depth)]
            axes.plot(range(1, depth + 1), totals, label=name)
        axes.set(xlabel="depth", ylabel="leaves", yscale="log")

    report.add_plot("leaves", "Leaves of all positions at each depth", draw)


def _write_game(report: Report, depth: int, results: Sequence[SearchedPosition]) -> None:
    record, rows = parse_transcript(published.REPORT4_GAME), list[list[object]]()
    totals = [0, 0, 0]
    for turn, each in enumerate(results):
        before, after = (sum(each.leaves[name]) for name in GAME_SEARCHES)
        published_leaves = published.REPORT4_LEAVES_SAVED[turn]
        moves = [record.start.format_move(move) for move in record.moves[each.number : each.number + 2]]
        rows.append([str(turn + 1), *moves, before, after, before - after, published_leaves])
        totals = [total + added for total, added in zip(totals, (before, after, published_leaves), strict=True)]
    rows.append(["sum", "", "", *totals[:2], totals[0] - totals[1], totals[2]])
    report.add_text(
        "## A game",
        f"The table counts the leaves of all depths up to {depth} in report 4's game, in which Otage is Black. "
        "Searches without variations use only the best move as a hint; searches with variations use the refutation "
        "tables. The original Otage searched as deep as its clock allowed, to depth 9 for the sixth move; the report "
        "gives savings at equal depths.",
    )
    header = ["", "Black", "White", "without variations", "with variations", "saved", "report 4: saved"]
    report.add_table("game", "Leaves for each move of a game", header, rows)


def _write_variations(report: Report, depths: range) -> None:
    position = report4_position(VARIATIONS_PLY)
    columns = []
    for results in list(_make_search(ALL_TECHNIQUES).deepen(position, depths[-1]))[depths[0] - 1 :]:
        columns.append([" ".join(map(position.format_move, line)) for line in results.variations.values()])
    names = ["P", *map(str, range(1, len(columns[0])))]
    rows: list[list[object]] = [[name, *lines] for name, *lines in zip(names, *columns, strict=True)]
    rows.append(["report 4: P", *(published.REPORT4_VARIATIONS.get(depth) for depth in depths)])
    report.add_text(
        "## Variations",
        f"The table shows the principal variation (P) after `{published.REPORT4_GAME[: 2 * VARIATIONS_PLY]}`, then the "
        "refutations of the other moves. A long refutation belongs to a move that was the best one so far when it was "
        "searched.",
    )
    report.add_table("variations", "Variations by depth", ["", *(f"depth {depth}" for depth in depths)], rows)
