"""A round robin of alpha-beta players, with results by strategy, square table, depth and colour.

In Othello, only players of the same depth meet; in Awalé, which has one strategy, players of all depths meet.

Games start from random openings, which are the same for all pairings; each pairing plays each opening with both
colours.  Without openings, deterministic searches would repeat the same game.
"""

import statistics
from collections.abc import Sequence
from itertools import combinations, product
from pathlib import Path

from awello.lab import published
from awello.lab.experiment import ExperimentGame, ExperimentPlan
from awello.lab.report import Report

DEFAULT_GAME, DEFAULT_GAMES, DEFAULT_DEPTHS = "othello", 20, (2, 4, 6)
TABLE_STRATEGIES = ("positional", "mixed")
STRATEGIES = {  # by game: each strategy with its settings, once per square table if the strategy uses one
    "othello": [*product(TABLE_STRATEGIES, (",square_table=1", ",square_table=2")), ("absolute", ""), ("mobility", "")],
    "awale": [("diffscore", "")],
}
VERDICT_ORDER = ("mixed", "positional", "mobility", "absolute")


def list_players(game: str, depth: int) -> list[str]:
    """List the players that search to this depth, one per strategy and square table."""
    return [f"alphabeta:{name}@{depth}{table}" for name, table in STRATEGIES[game]]


def group_players(game: str, depths: Sequence[int]) -> dict[str, list[str]]:
    """Return groups of players that meet: one group per depth, or a single group if the game has only one strategy."""
    groups = {str(depth): list_players(game, depth) for depth in depths}
    if len(STRATEGIES[game]) > 1 or len(depths) == 1:
        return groups
    return {"all": [spec for specs in groups.values() for spec in specs]}


def make_plan(game: str, variant: str | None, games: int, depths: Sequence[int], seed: int) -> ExperimentPlan:
    """Plan games of each player against every other player of its group; `random` belongs to every group."""
    specs = group_players(game, depths).values()
    pairings = tuple(pair for group in specs for pair in combinations([*group, "random"], 2))
    return ExperimentPlan("championship", game, variant, pairings, games, seed, opening_plies=4)


class ChampionshipResults:
    """Scores by spec, colour and opponent."""

    def __init__(self, plan: ExperimentPlan, games: Sequence[ExperimentGame]) -> None:
        self.scores: list[tuple[str, str, int, int, int]] = []
        for game in games:
            first, second = plan.pairings[game.pairing]
            one, other = game.score
            self.scores += [(first, second, game.side, one, other), (second, first, 1 - game.side, other, one)]

    def find_scores(self, specs: Sequence[str], side: int | None = None, opponents: Sequence[str] = ()) -> list[int]:
        """Return the scores of specs, filtered by side and opponents; by default, without games against `random`."""
        return [
            score
            for spec, opponent, played_side, score, _ in self.scores
            if spec in specs
            and (side is None or played_side == side)
            and (opponent in opponents if opponents else opponent != "random")
        ]

    def compute_points_share(self, spec: str, opponent: str) -> float:
        """Return the share of the points that a player scored against another; a draw is half a point."""
        results = [(one, other) for name, against, _, one, other in self.scores if (name, against) == (spec, opponent)]
        return statistics.fmean((one > other) + (one == other) / 2 for one, other in results)


def write_report(plan: ExperimentPlan, games: Sequence[ExperimentGame], depths: Sequence[int], folder: Path) -> None:
    """Write the report of the experiment."""
    results, report = ChampionshipResults(plan, games), Report(folder, f"Championship: {plan.game}")
    report.add_text(
        f"Each pairing plays {plan.games} games from {(plan.games + 1) // 2} random openings of {plan.opening_plies} "
        "plies. All pairings share the openings, and each opening is played with both colours; random seed "
        f"{plan.seed}. Scores are official final scores; in Othello, the winner gets the empty squares. A draw is "
        "half a point."
    )
    several_strategies = len(STRATEGIES[plan.game]) > 1
    if several_strategies:
        _write_table_scores(report, depths, results)
        _write_strategy_scores(report, depths, results)
    for label, names in group_players(plan.game, depths).items():
        _write_pairings(report, label, names, results)
    if several_strategies and 6 in depths:
        report.add_text("## Is mixed the best strategy at depth 6?", *_compare_mixed(results))
    report.write()


def _mean(values: Sequence[float]) -> float:
    return statistics.fmean(values) if values else float("nan")


def _write_table_scores(report: Report, depths: Sequence[int], results: ChampionshipResults) -> None:
    rows: list[list[object]] = []
    for depth in depths:
        for name in TABLE_STRATEGIES:
            for side, colour in enumerate(("Black", "White")):
                two, one = (
                    _mean(results.find_scores([f"alphabeta:{name}@{depth},square_table={table}"], side))
                    for table in (2, 1)
                )
                published_rows = published.REPORT0_TABLE_SCORES.get(depth, {})
                published_row = published_rows.get(name, ((None, None), (None, None)))[side]
                rows.append([depth, name, colour, two, one, 100 * two / one, *published_row])
    header = ["depth", "strategy", "colour", "table 2", "table 1", "ratio, %", "report 0: table 2", "report 0: table 1"]
    report.add_text("## Comparison of square tables")
    report.add_table("tables", "Mean score with table 2 and with table 1", header, rows)


def _write_strategy_scores(report: Report, depths: Sequence[int], results: ChampionshipResults) -> None:
    rows: list[list[object]] = []
    for depth in depths:
        for name in published.REPORT0_STRATEGIES:
            specs = [spec for spec in list_players("othello", depth) if f":{name}@" in spec]
            black, white = (results.find_scores(specs, side) for side in (0, 1))
            both = [*black, *white]
            published_row = published.REPORT0_SCORES.get(depth, {}).get(name, (None, None))
            rows.append(
                [depth, name, min(both), max(both), _mean(black), _mean(white), statistics.pstdev(both), *published_row]
            )
    header = ["depth", "strategy", "min", "max", "Black", "White", "std", "report 0: Black", "report 0: White"]
    report.add_text("## Scores by strategy and colour")
    report.add_table("strategies", "Mean score over all opponents of the same depth", header, rows)


def _write_pairings(report: Report, label: str, names: Sequence[str], results: ChampionshipResults) -> None:
    opponents = [*names, "random"]
    rows = [
        [f"`{name}`", *("" if name == r else f"{100 * results.compute_points_share(name, r):.0f}" for r in opponents)]
        for name in names
    ]
    header = ["", *(f"`{opponent}`" for opponent in opponents)]
    report.add_text(f"## Points by pairing, {'all depths' if label == 'all' else f'depth {label}'}")
    report.add_table(f"pairs-{label}", "Points of the row's player against the column's player, %", header, rows)


def _compare_mixed(results: ChampionshipResults) -> list[str]:
    """Compare `mixed` with the other strategies at depth 6; report 0 concludes that `mixed` is the best."""
    mixed, *opponents = ([spec for spec in list_players("othello", 6) if f":{name}@" in spec] for name in VERDICT_ORDER)
    lines, shares, scores = [], {}, {}
    for name, specs in zip(VERDICT_ORDER[1:], opponents, strict=True):
        shares[name] = _mean([results.compute_points_share(one, other) for one in mixed for other in specs])
        scores[name] = (
            _mean(results.find_scores(mixed, opponents=specs)),
            _mean(results.find_scores(specs, opponents=mixed)),
        )
        verb = "beats" if shares[name] > 0.5 else "does not beat"
        mean = "{:.1f} to {:.1f}".format(*scores[name])
        lines.append(f"- mixed {verb} {name}: {100 * shares[name]:.0f} % of the points, mean score {mean}")
    text = [
        "Report 0 concludes from mean scores over all opponents that mixed is the best strategy. In this experiment's "
        "games between mixed and each of the other strategies:",
        "\n".join(lines),
    ]
    if shares["positional"] <= 0.5:
        by_table = [
            100
            * _mean([results.compute_points_share(one, f"alphabeta:positional@6,square_table={t}") for one in mixed])
            for t in (1, 2)
        ]
        overall = [_mean(results.find_scores(specs)) for specs in (mixed, opponents[0])]
        text += [
            "This result differs from report 0. One reason is the square table: mixed scores "
            f"{by_table[0]:.0f} % of the points against positional with table 1, but {by_table[1]:.0f} % against "
            "positional with table 2. Report 0 does not separate the two tables. From 30 discs on, mixed ignores its "
            "table, which costs it more if the table is better. Another reason is the measure: the mean scores over "
            f"all opponents are {overall[0]:.1f} for mixed and {overall[1]:.1f} for positional, but a mean score also "
            "depends on the margins of the wins."
        ]
    return text
