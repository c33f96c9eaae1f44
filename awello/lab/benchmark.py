"""Games against `random`, measured as in report 2.

The experiment also measures the mean share of the discs or seeds held during the game, as report 2 proposes.
"""

import statistics
from collections.abc import Sequence
from pathlib import Path

from awello.lab import published
from awello.lab.complexity import list_compared_heuristics
from awello.lab.experiment import ExperimentGame, ExperimentPlan, compute_mean_ms
from awello.lab.report import Report

DEFAULT_GAME, DEFAULT_GAMES, DEFAULT_DEPTHS = "othello", 20, (6, 8)
COMPARED_SEARCHES = {"othello": ("minimax", "negamax")}  # by game: searches that report 2 compares with alpha-beta


def make_plan(game: str, variant: str | None, games: int, depths: Sequence[int], seed: int) -> ExperimentPlan:
    """Plan games against `random`, for alpha-beta with each heuristic and, up to depth 6, for `COMPARED_SEARCHES`."""
    specs = [f"alphabeta:{name}@{depth}" for depth in depths for name in list_compared_heuristics(game)]
    specs += [
        f"{name}:positional@{depth}" for depth in depths if depth <= 6 for name in COMPARED_SEARCHES.get(game, ())
    ]
    return ExperimentPlan("benchmark", game, variant, tuple((spec, "random") for spec in specs), games, seed)


def write_report(plan: ExperimentPlan, games: Sequence[ExperimentGame], depths: Sequence[int], folder: Path) -> None:
    """Write the report of the experiment."""
    report, max_score = Report(folder, f"Against random: {plan.game}"), plan.find_rules().max_score
    report.add_text(
        f"Each player plays {plan.games} games against `random`, with alternating sides and random seed {plan.seed}."
    )
    rows: list[list[object]] = []
    for (spec, _), played in zip(plan.pairings, plan.group_by_pairing(games), strict=True):
        won = sum(game.score[0] > game.score[1] for game in played)
        held = [100 * statistics.fmean(game.final_counts[player] for game in played) / max_score for player in (0, 1)]
        throughout = [
            100 * statistics.fmean(game.mean_counts[player] for game in played) / max_score for player in (0, 1)
        ]
        published_row = published.REPORT2_AGAINST_RANDOM.get(spec, (None, None, None, None))
        rows.append(
            [
                f"`{spec}`",
                won,
                *held,
                *throughout,
                compute_mean_ms(played, 0),
                published_row[0],
                published_row[1],
                published_row[3],
            ]
        )
    unit = plan.find_rules().adapter.share_name
    header = ["player", "games won", f"{unit} held at the end, %", "held by random at the end, %"]
    header += ["mean share during the game, %", "mean share of random during the game, %"]
    header += ["mean time per move, ms", "report 2: won of 20", "report 2: held, %", "report 2: ms"]
    report.add_table("players", "Games against random", header, rows)
    report.write()
