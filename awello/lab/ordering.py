"""The effect of move ordering: figure 2 of report 1.

Textbook alpha-beta is compared at the same depth with three versions of the search in `search/budget_kernels.py`: the
first does not order moves, the second orders them by scores learnt in advance, and the third updates the scores during
the games.  Each search plays against itself.  All searches choose the same moves, so with the same seed they play the
same games, and their nodes and times can be compared.
"""

from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

from awello.evaluate.evaluator import list_heuristics
from awello.lab import published
from awello.lab.complexity import TEXTBOOK_SETTINGS, compute_means_by_move
from awello.lab.experiment import ExperimentGame, ExperimentPlan
from awello.lab.report import Report
from awello.rules.game import DEFAULT_BY_FAMILY
from awello.search.budget_search import SHIPPED_SCORES

DEFAULT_GAME, DEFAULT_GAMES, DEFAULT_DEPTHS = "awale", 1, (12,)
SEARCH_SPECS = {
    "textbook": f"alphabeta:HEURISTIC@DEPTH,{TEXTBOOK_SETTINGS}",
    "without order": "budget:HEURISTIC@DEPTH,learnt_ordering=none",
    "frozen order": "budget:HEURISTIC@DEPTH,learnt_ordering=frozen",
    "live order": "budget:HEURISTIC@DEPTH,learnt_ordering=live",
}
DEFAULT_VARIANTS = {"awale": "tournament"}
REMARKS = (
    "Nodes saved are relative to textbook alpha-beta. The time of report 1 in the first row is that of its initial "
    "implementation, which represents the board differently. The times of report 1 are from another machine and "
    "language, so only the savings can be compared.",
    "The score of a move category that is tried first can only fall; the score of a category that is tried late rises "
    "by a large amount if its move is the best so far. So the scores stay close to each other and adapt to the current "
    "positions, and live scores save more nodes than frozen ones.",
)


def list_searches(game: str) -> dict[str, str]:
    """Return the specs of the searches to compare, by name; omit `frozen order` if the game has no shipped scores."""
    return {name: spec for name, spec in SEARCH_SPECS.items() if game in SHIPPED_SCORES or name != "frozen order"}


def default_heuristic(game: str) -> str:
    """Return the heuristic that all searches use."""
    return list_heuristics(DEFAULT_BY_FAMILY[game])[0]


def make_plan(game: str, variant: str | None, games: int, depths: Sequence[int], seed: int) -> ExperimentPlan:
    """Plan games of each search against itself at each depth; the default variant is that of report 1."""
    specs = [
        spec.replace("HEURISTIC", default_heuristic(game)).replace("DEPTH", str(depth))
        for depth in depths
        for spec in list_searches(game).values()
    ]
    rules = variant or DEFAULT_VARIANTS.get(game)
    return ExperimentPlan("ordering", game, rules, tuple((spec, spec) for spec in specs), games, seed)


def list_nodes_by_ply(game: ExperimentGame) -> list[int]:
    """List the nodes searched for each move of a game, in order."""
    first, second = game.nodes[game.side], game.nodes[1 - game.side]
    return [nodes for pair in zip_longest(first, second) for nodes in pair if nodes is not None]


def write_report(plan: ExperimentPlan, games: Sequence[ExperimentGame], depths: Sequence[int], folder: Path) -> None:
    """Write the report of the experiment."""
    report, names = Report(folder, f"Move ordering: {plan.game}"), list(list_searches(plan.game))
    rules = f", rules: `{plan.variant}`" if plan.variant else ""
    report.add_text(
        f"Each search uses the heuristic `{default_heuristic(plan.game)}` and plays against itself (games: "
        f"{plan.games}, random seed: {plan.seed}{rules}). With the same seed, all searches play the same games. Every "
        "visited position is a node, including the root."
    )
    played = iter(plan.group_by_pairing(games))
    for depth in depths:
        _write_comparison(report, depth, {name: next(played) for name in names})
    report.add_text(*REMARKS)
    report.write()


def _write_comparison(report: Report, depth: int, played: dict[str, list[ExperimentGame]]) -> None:
    """Write the table and the plot of one depth."""
    curves = {name: [list_nodes_by_ply(game) for game in games] for name, games in played.items()}
    totals = {name: sum(map(sum, lists)) for name, lists in curves.items()}
    rows: list[list[object]] = []
    for name, games in played.items():
        mean = 1000 * sum(sum(game.seconds) for game in games) / sum(sum(game.moves) for game in games)
        saved = 100 * (1 - totals[name] / totals["textbook"])
        published_row = published.REPORT1_ORDERING.get(depth, {}).get(name, (None, None))
        rows.append([name, mean, totals[name], saved, *published_row])
    header = ["search", "mean time per move, ms", "nodes", "nodes saved, %", "report 1: ms", "report 1: saved, %"]
    report.add_table(f"ordering-{depth}", f"Searches to depth {depth}", header, rows)

    def draw(axes: Any) -> None:
        for name in [name for name in curves if name != "textbook"]:
            means = compute_means_by_move(curves[name])
            axes.plot(range(1, len(means) + 1), means, label=name)
        axes.set(xlabel="number of the move in the game", ylabel="nodes", yscale="log", title=f"depth {depth}")

    report.add_plot(f"nodes-depth-{depth}", f"Mean nodes of each move at depth {depth}", draw)
