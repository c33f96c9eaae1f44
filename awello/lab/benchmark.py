"""Against random: report 2's tables, with the measure it wished for, the share of the board held throughout."""

import statistics
from collections.abc import Sequence
from pathlib import Path

from awello.lab import published
from awello.lab.complexity import heuristics_of
from awello.lab.experiment import ExperimentGame, ExperimentPlan, mean_ms
from awello.lab.report import Report

GAME, GAMES, DEPTHS = "othello", 20, (6, 8)
PLAIN = {"othello": ("minimax", "negamax")}  # searches that report 2 compares


def plan(game: str, variant: str | None, games: int, depths: Sequence[int], seed: int) -> ExperimentPlan:
    """Alpha-beta with each heuristic at each depth; the three algorithms that report 2 compares at depth 8 if asked."""
    specs = [f"alphabeta:{name}@{depth}" for depth in depths for name in heuristics_of(game)]
    specs += [f"{name}:positional@{depth}" for depth in depths if depth <= 6 for name in PLAIN.get(game, ())]
    return ExperimentPlan("benchmark", game, variant, tuple((spec, "random") for spec in specs), games, seed)


def write(plan: ExperimentPlan, games: Sequence[ExperimentGame], depths: Sequence[int], folder: Path) -> None:
    """Write the report of the experiment."""
    report, points = Report(folder, f"Against random: {plan.game}"), plan.chosen_game().points
    report.text(f"{plan.games} games for each player against `random`, seed {plan.seed}, colours alternating.")
    rows: list[list[object]] = []
    for (spec, _), played in zip(plan.pairings, plan.by_pairing(games), strict=True):
        won = sum(game.score[0] > game.score[1] for game in played)
        held = [100 * statistics.fmean(game.held[at] for game in played) / points for at in (0, 1)]
        throughout = [100 * statistics.fmean(game.throughout[at] for game in played) / points for at in (0, 1)]
        theirs = published.AGAINST_RANDOM.get(spec, (None, None, None, None))
        rows.append([f"`{spec}`", won, *held, *throughout, mean_ms(played, 0), theirs[0], theirs[1], theirs[3]])
    thing = plan.chosen_game().adapter.share_name
    header = ["player", "won", f"{thing} held at the end, %", "by random, %", "throughout, %", "by random, %"]
    header += ["mean time of a move, ms", "report 2: won of 20", "report 2: held, %", "report 2: ms"]
    report.table("players", "Games against random", header, rows)
    report.write()
