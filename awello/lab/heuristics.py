"""An Awalé tournament between nine players: figure 3 of report 1.

Each pairing plays rounds of two games; each player moves first in one of them.  The player with the larger total score
wins the round and gets 3 points; a draw gives each player 1 point.  A player's mean points per round are added up over
all opponents, which gives at most 24.  Seven players use learnt weights and a node budget: `DEFAULT_NODES` at depth 8,
multiplied by 4 for each further ply.  Report 1's `MinMax` is alpha-beta with the heuristic `diffscore`.  Report 1 does
not describe two of the nine players; the final agent of report 1 and the player `greedy` replace them.
"""

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from statistics import fmean

from awello.arena.tournament import DRAW_POINTS, WIN_POINTS
from awello.errors import ConfigError
from awello.lab import published
from awello.lab.experiment import ExperimentGame, ExperimentPlan
from awello.lab.report import Report
from awello.search.budget_search import DEFAULT_NODES

DEFAULT_GAME, DEFAULT_GAMES, DEFAULT_DEPTHS = "awale", 20, (8,)
OPENING_PLIES = 4
SEARCH_SPECS = {
    "MinMaxH1": "budget:h1",
    "MinMaxH2": "budget:h2",
    "MinMaxH3.2": "budget:h3",
    "MinMaxH4": "budget:h4",
    "MinMaxH5.3": "budget:h5",
    "MinMaxH6": "budget:h6",
    "Awariness": "travers",
}
GREEDY_SPEC = {"Le crocodile crétin": "greedy"}
REPLACEMENTS = {"Awariness": SEARCH_SPECS["Awariness"], **GREEDY_SPEC}


def list_players(depth: int) -> dict[str, str]:
    """Return the specs of the nine players, keyed by their names in report 1."""
    nodes = max(1, int(DEFAULT_NODES * 4.0 ** (depth - DEFAULT_DEPTHS[0])))
    specs = {name: f"{spec}@{nodes}n" for name, spec in SEARCH_SPECS.items()}
    return {**specs, "MinMax": f"alphabeta:diffscore@{depth}", **GREEDY_SPEC}


def make_plan(game: str, variant: str | None, games: int, depths: Sequence[int], seed: int) -> ExperimentPlan:
    """Plan an even number of games for each pair of players; the default variant is that of report 1."""
    if game != "awale":
        raise ConfigError("the experiment 'heuristics' is for Awalé: omit --game")
    pairings = tuple(combinations(list_players(depths[-1]).values(), 2))
    return ExperimentPlan("heuristics", game, variant or "tournament", pairings, games + games % 2, seed, OPENING_PLIES)


def compute_mean_round_points(plan: ExperimentPlan, games: Sequence[ExperimentGame]) -> dict[tuple[str, str], float]:
    """Compute, for each ordered pair of specs, the mean points per round of the first against the second."""
    points = {}
    for (one, other), played in zip(plan.pairings, plan.group_by_pairing(games), strict=True):
        margins = [game.score[0] - game.score[1] for game in played]
        rounds = [first + second for first, second in zip(margins[::2], margins[1::2], strict=True)]
        points[one, other] = fmean(_compute_round_points(margin) for margin in rounds)
        points[other, one] = fmean(_compute_round_points(-margin) for margin in rounds)
    return points


def _compute_round_points(margin: int) -> int:
    """Return the points for a round, given the margin in seeds."""
    return WIN_POINTS if margin > 0 else DRAW_POINTS if margin == 0 else 0


def write_report(plan: ExperimentPlan, games: Sequence[ExperimentGame], depths: Sequence[int], folder: Path) -> None:
    """Write the report of the experiment."""
    report, names = Report(folder, "Awalé's heuristics: the tournament of report 1"), list_players(depths[-1])
    points = compute_mean_round_points(plan, games)
    ranks = {
        name: sum(points[spec, opponent] for opponent in names.values() if opponent != spec)
        for name, spec in names.items()
    }
    report.add_text(
        f"Each pairing plays {plan.games // 2} rounds by the rules `{plan.variant}`. Both games of a round begin with "
        f"the same {plan.opening_plies} random moves, which all pairings share; random seed {plan.seed}. The player "
        "with the larger total score in the two games of a round gets 3 points; a draw gives each player 1 point. The "
        "mean points per round are added up over all opponents.",
        "Report 1 names "
        + " and ".join(f"*{name}* (here: `{spec}`)" for name, spec in REPLACEMENTS.items())
        + " without describing them.",
    )
    order = sorted(ranks, key=lambda name: -ranks[name])
    published_order = sorted(published.REPORT1_POINTS, key=lambda name: -published.REPORT1_POINTS[name])
    rows = [
        [rank, name, f"`{names[name]}`", ranks[name], published.REPORT1_POINTS[name], published_order.index(name) + 1]
        for rank, name in enumerate(order, 1)
    ]
    header = ["rank", "player", "spec", "points", "report 1: points", "report 1: rank"]
    report.add_table("ranks", "Points of each player, at most 24", header, rows)
    report.add_text("## Points by pairing")
    pairs = [
        [name, *(None if name == opponent else points[names[name], names[opponent]] for opponent in order)]
        for name in order
    ]
    report.add_table(
        "pairs", "Mean points per round of the row's player against the column's player", ["", *order], pairs
    )
    better = "beats" if points[names["MinMaxH3.2"], names["MinMax"]] > 1.5 else "does not beat"
    report.add_text(f"Here, H3 {better} DiffScore; in report 1, H3 beats DiffScore.")
    report.write()
