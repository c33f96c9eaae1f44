"""The cost of search, with and without alpha-beta and with various settings: time per game and nodes per move.

Searches with the same heuristic and depth choose the same moves, so with the same seed they play the same games, and
their nodes can be compared move by move.
"""

import statistics
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

from awello.lab import published
from awello.lab.experiment import ExperimentGame, ExperimentPlan
from awello.lab.report import Report
from awello.rules.game import DEFAULT_BY_FAMILY

DEFAULT_GAME, DEFAULT_GAMES, DEFAULT_DEPTHS = "othello", 100, (2, 4, 6)
TEXTBOOK_SETTINGS = "tt_entries=0,move_ordering=false"
REPORT0_SETTINGS = f"{TEXTBOOK_SETTINGS},strict_cutoff=true"  # report 0's alpha-beta: no cutoff if alpha equals beta
SEARCH_SETTINGS = {
    "transposition table": "tt_entries=65536,move_ordering=false",
    "move ordering": "tt_entries=0,move_ordering=true",
    "mirror images": "tt_entries=0,move_ordering=false,skip_mirrors=true",
    "all": "tt_entries=65536,move_ordering=true,skip_mirrors=true",
}


def list_compared_heuristics(game: str) -> tuple[str, ...]:
    """Return the heuristics to compare for a game."""
    return {"othello": published.REPORT0_STRATEGIES, "awale": ("diffscore",)}[game]


def make_spec(heuristic: str, depth: int, settings: str | None) -> str:
    """Return the spec of alpha-beta with `settings`, or of plain negamax if `settings` is None.

    Heuristics with a square table use table 2, as in report 0.
    """
    table = "square_table=2" if heuristic in ("positional", "mixed") else ""
    name = "negamax" if settings is None else "negamax-alphabeta"
    return ",".join(filter(None, [f"{name}:{heuristic}@{depth}", table, settings]))


def make_plan(game: str, variant: str | None, games: int, depths: Sequence[int], seed: int) -> ExperimentPlan:
    """Plan games of plain negamax, and of alpha-beta with and without `strict_cutoff`, for every heuristic and depth.

    The effect of each of the `SEARCH_SETTINGS` is measured at the maximum depth only.
    """
    settings = [
        text
        for name, text in SEARCH_SETTINGS.items()
        if DEFAULT_BY_FAMILY[game].adapter.has_symmetries or name != "mirror images"
    ]
    specs = []
    for heuristic in list_compared_heuristics(game):
        for depth in depths:
            specs += [make_spec(heuristic, depth, text) for text in (None, TEXTBOOK_SETTINGS, REPORT0_SETTINGS)]
        specs += [make_spec(heuristic, max(depths), text) for text in settings]
    return ExperimentPlan("complexity", game, variant, tuple((spec, "random") for spec in specs), games, seed)


class ComplexityResults:
    """The games of each player, by spec."""

    def __init__(self, plan: ExperimentPlan, games: Sequence[ExperimentGame]) -> None:
        specs = (spec for spec, _ in plan.pairings)
        self.games = dict(zip(specs, plan.group_by_pairing(games), strict=True))

    def list_nodes(self, spec: str) -> list[int]:
        """List the nodes searched for each move of a player."""
        return [nodes for game in self.games[spec] for nodes in game.nodes[0]]

    def list_seconds(self, spec: str) -> list[float]:
        """List the time that a player used in each game, in seconds."""
        return [game.seconds[0] for game in self.games[spec]]

    def compute_mean_nodes_by_move(self, spec: str) -> list[float]:
        """Compute the mean number of nodes for a player's first move, second move, and so on."""
        return compute_means_by_move([game.nodes[0] for game in self.games[spec]])


def compute_means_by_move(games: Sequence[Sequence[int]]) -> list[float]:
    """Compute the mean of the games' first numbers, the mean of their second numbers, and so on."""
    columns = zip_longest(*games)
    return [statistics.fmean(number for number in column if number is not None) for column in columns]


def compute_max_mean_std(values: Sequence[float]) -> tuple[float, float, float]:
    """Compute the maximum, the mean and the standard deviation."""
    return max(values), statistics.fmean(values), statistics.pstdev(values)


def write_report(plan: ExperimentPlan, games: Sequence[ExperimentGame], depths: Sequence[int], folder: Path) -> None:
    """Write the report of the experiment."""
    results, report = ComplexityResults(plan, games), Report(folder, f"Complexity of search: {plan.game}")
    report.add_text(
        f"Each configuration plays {plan.games} games against `random`, with alternating sides and random seed "
        f"{plan.seed}. With the same seed, all searches with the same heuristic and depth play the same games. Every "
        "visited position is a node, including the root."
    )
    _write_time_table(report, plan.game, depths, results)
    _write_node_tables(report, plan.game, depths, results)
    for depth in depths:
        _write_curves(report, plan.game, depth, results)
    _write_savings(report, plan.game, max(depths), results)
    report.write()


def _list_rows(game: str, depths: Sequence[int]) -> list[tuple[int, str]]:
    return [(depth, heuristic) for depth in depths for heuristic in list_compared_heuristics(game)]


def _write_time_table(report: Report, game: str, depths: Sequence[int], results: ComplexityResults) -> None:
    rows = []
    for depth, heuristic in _list_rows(game, depths):
        pruned, plain = (
            statistics.fmean(results.list_seconds(make_spec(heuristic, depth, text)))
            for text in (TEXTBOOK_SETTINGS, None)
        )
        published_seconds = published.REPORT0_SECONDS_PER_GAME.get(depth, {}).get(heuristic, (None, None))
        rows.append([depth, heuristic, 1000 * pruned, 1000 * plain, 100 * pruned / plain, *published_seconds])
    header = ["depth", "heuristic", "alpha-beta, ms", "plain, ms", "ratio, %"]
    report.add_text("## Time per game")
    header += ["report 0: alpha-beta, s", "report 0: plain, s"]
    report.add_table("time", "Time that the searching player uses in a whole game", header, rows)


def _write_node_tables(report: Report, game: str, depths: Sequence[int], results: ComplexityResults) -> None:
    ratios, counts, remarks = [], [], []
    for depth, heuristic in _list_rows(game, depths):
        pruned, strict, plain = (
            compute_max_mean_std(results.list_nodes(make_spec(heuristic, depth, text)))
            for text in (TEXTBOOK_SETTINGS, REPORT0_SETTINGS, None)
        )
        pruned_mean = 100 * pruned[1] / plain[1]
        strict_percents = [100 * one / other for one, other in zip(strict, plain, strict=True)]
        published_percents = published.REPORT0_NODE_PERCENTS.get(depth, {}).get(heuristic, (None, None, None))
        ratios.append([depth, heuristic, pruned_mean, *strict_percents, *published_percents])
        means = published.REPORT0_MEAN_NODES_10K.get(depth, {}).get(heuristic)
        counts.append([depth, heuristic, *pruned, *plain, *([1e4 * mean for mean in means] if means else (None, None))])
        if means and published_percents[1] is not None:
            percents = pruned_mean, strict_percents[1], published_percents[1]
            remarks += _describe_difference(depth, heuristic, percents, (strict[1], plain[1]), means)
    report.add_text("## Nodes per move")
    header = ["depth", "heuristic", "mean, %", *(f"strict cutoff: {statistic}, %" for statistic in STATISTIC_NAMES)]
    header += [f"report 0: {statistic}, %" for statistic in STATISTIC_NAMES]
    report.add_table("ratios", "Nodes with alpha-beta, in percent of the nodes without it", header, ratios)
    if remarks:
        report.add_text(RATIO_REMARK, "\n".join(remarks))
    header = [
        "depth",
        "heuristic",
        *(f"alpha-beta: {statistic}" for statistic in STATISTIC_NAMES),
        *(f"plain: {statistic}" for statistic in STATISTIC_NAMES),
    ]
    header += ["report 0: alpha-beta, mean", "report 0: plain, mean"]
    report.add_table("nodes", "Nodes per move", header, counts)


STATISTIC_NAMES = ("max", "mean", "std")
RATIO_REMARK = (
    "Report 0's alpha-beta cuts off only when alpha *exceeds* beta, not when they are equal. It visits more nodes, "
    'especially with heuristics that have few distinct values. The columns "strict cutoff" show its nodes. The column '
    '"mean, %" shows the nodes of the version that cuts off as soon as alpha reaches beta; both versions find the '
    'same values. In the following cases, the column "mean, %" differs from the mean in report 0 by more than a factor '
    "of two:"
)


def _describe_difference(
    depth: int,
    heuristic: str,
    percents: tuple[float, float, float],
    mean_nodes: tuple[float, float],
    published_means_10k: tuple[float, float],
) -> list[str]:
    """Return a list with one remark if the mean percentage differs from report 0's by more than a factor of two."""
    pruned, strict, published_percent = percents
    if published_percent / 2 <= pruned <= 2 * published_percent:
        return []
    shares = f"{pruned:.2f} % here, {published_percent} % in report 0; {strict:.2f} % with the strict cutoff"
    line = f"- depth {depth}, {heuristic}: {shares}"
    if published_percent / 2 <= strict <= 2 * published_percent:
        return [f"{line}, which is close to report 0."]
    pairs = mean_nodes, [1e4 * mean for mean in published_means_10k]
    our_means, published_means = (f"{one:,.0f} and {other:,.0f}" for one, other in pairs)
    means = (
        f"The mean numbers of nodes with and without alpha-beta are {our_means} here, and {published_means} in report 0"
    )
    return [f"{line}, which also differs. {means}. Alpha-beta saves more in positions with more moves."]


def _write_curves(report: Report, game: str, depth: int, results: ComplexityResults) -> None:
    def draw(axes: Any) -> None:
        for number, heuristic in enumerate(list_compared_heuristics(game)):
            for text, style, name in ((TEXTBOOK_SETTINGS, "-", "alpha-beta"), (None, "--", "plain")):
                curve = results.compute_mean_nodes_by_move(make_spec(heuristic, depth, text))
                axes.plot(range(1, len(curve) + 1), curve, style, color=f"C{number}", label=f"{heuristic}, {name}")
        axes.set(xlabel="number of the player's move", ylabel="nodes", yscale="log", title=f"depth {depth}")

    report.add_plot(f"nodes-depth-{depth}", f"Mean nodes of each move at depth {depth}", draw)


def _write_savings(report: Report, game: str, depth: int, results: ComplexityResults) -> None:
    rows = []
    for heuristic in list_compared_heuristics(game):
        textbook = make_spec(heuristic, depth, TEXTBOOK_SETTINGS)
        nodes = statistics.fmean(results.list_nodes(textbook))
        seconds = statistics.fmean(results.list_seconds(textbook))
        for name, text in SEARCH_SETTINGS.items():
            spec = make_spec(heuristic, depth, text)
            if spec in results.games:
                fewer_nodes = statistics.fmean(results.list_nodes(spec))
                less_time = statistics.fmean(results.list_seconds(spec))
                rows.append(
                    [heuristic, name, fewer_nodes, 100 * (1 - fewer_nodes / nodes), 100 * (1 - less_time / seconds)]
                )
    report.add_text(
        "## Savings by setting", "Savings are relative to alpha-beta without these settings, in the same games."
    )
    header = ["heuristic", "setting", "nodes per move", "nodes saved, %", "time saved, %"]
    report.add_table("savings", f"Savings at depth {depth}", header, rows)
