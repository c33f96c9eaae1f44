"""The learning curves of the convolutional network, and its strength compared with other players (see report 0).

The player `cnn`, which plays the most probable move without search, plays against Otage, alpha-beta with each heuristic
of report 0, and several levels of the champion.  Two players that search with the network play fewer games, only
against the champion.  A player is as strong as the level against which it scores half of the points.  If the folder of
a training run is given, the report also shows the strength of the run's snapshots.

The network plays deterministically, so games start from balanced random openings, each played with both colours.
"""

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any

from awello.arena.elo import Z_95
from awello.arena.openings import find_balanced_opening
from awello.arena.sprt import mean_score
from awello.errors import ConfigError
from awello.lab import published
from awello.lab.experiment import ExperimentGame, ExperimentPlan, compute_mean_ms
from awello.lab.report import Report
from awello.lab.training_runs import TrainingRun, find_snapshots, load_shipped_training_runs, read_training_run
from awello.rules.game import Game, find_game

DEFAULT_GAME, DEFAULT_GAMES, DEFAULT_DEPTHS = "othello", 100, (2, 4, 6)
OPENING_PLIES = 8
SLOW_GAMES_SHARE = 0.4  # slow players play this share of the games that a fast player plays against an opponent
SNAPSHOT_GAMES_FACTOR = 3  # snapshots play three times as many games, because they are fast and differ little
OTAGE_SPECS = ("otage@20ms", "otage@100ms")
CHAMPION_LEVELS = {"cnn": (1, 2, 3, 4, 5, 6), "cnn-value@2": (1, 2, 4, 6, 8), "puct:cnn@100ms": (1, 2, 4, 6, 8)}
SNAPSHOT_OPPONENTS = ("alphabeta:positional@2", "alphabeta:mixed@4")
REMARKS = (
    "Awello contains the results of four training runs, all on the games of 1977 to 2015. The last two columns of the "
    "table are accuracies in games of 2016 to 2025. They say how often the most probable move of the network was the "
    "move played: first in positions where the later winner was to move, then in all positions. All networks were used "
    "without search and without averaging over symmetries. The shipped network was measured before its quantisation.",
    "- *The shipped network* learnt from a teacher, a larger network that was trained earlier. The teacher's "
    "predictions make up four fifths of its targets.\n"
    "- *Report 0's network* has the layers and the input that report 0 describes; the input is a single plane. As in "
    "report 0, the network learns only from winners' moves and does not predict the result. Unlike in report 0, the "
    "boards are transformed by random symmetries, and illegal moves are masked.\n"
    "- *Small, by colours* and *small, by the mover* have the same layers and were trained for 1.2 minutes each, "
    "without a teacher. Only their inputs differ: the first network receives Black's discs, White's discs and the side "
    "to move; the second receives the mover's discs, the opponent's discs and the legal moves.",
    "The two small networks therefore show the effect of the inputs. All other pairs of runs differ in network, "
    "targets and training time, so a difference in their results has no single cause. The losses cannot all be "
    "compared either: that of the shipped network is measured mainly against the teacher's predictions, those of the "
    "other networks against the moves played.",
)


@dataclass(frozen=True)
class LearningPlan(ExperimentPlan):
    """A plan with balanced openings, in which each pairing has its own number of games."""

    counts: tuple[int, ...] = ()
    """Number of games of each pairing."""
    training: str = ""
    """Folder of the training run to report on; empty for none."""
    networks: tuple[str, ...] = ()
    """SHA-256 hashes of the snapshots."""

    @cached_property
    def schedule(self) -> list[tuple[int, int]]:
        return [(pairing, number) for pairing, number in super().schedule if number < self.counts[pairing]]

    def opening(self, pair: int) -> tuple[int, ...]:
        return find_balanced_opening(Game.OTHELLO, self.opening_plies, f"{self.seed}/{pair}")


def make_plan(
    game: str, variant: str | None, games: int, depths: Sequence[int], seed: int, training: Path | None = None
) -> LearningPlan:
    """Plan the games of the players that use the network, and of snapshots against two opponents."""
    if find_game(game, variant=variant) is not Game.OTHELLO:
        raise ConfigError("the experiment 'learning' is for Othello on 8x8: omit --game and --variant")
    policy_player, *searching = CHAMPION_LEVELS
    opponents = [alphabeta_spec(name, depth) for name in published.REPORT0_STRATEGIES for depth in depths]
    opponents += OTAGE_SPECS
    quick = [
        (policy_player, opponent) for opponent in (*opponents, *map(champion_spec, CHAMPION_LEVELS[policy_player]))
    ]
    slow = [(name, champion_spec(level)) for name in searching for level in CHAMPION_LEVELS[name]]
    networks = find_snapshots(training) if training else {}
    if training:
        read_training_run(training, str(training))  # raises `ConfigError` if the run's files are damaged
    snapshots = [(snapshot_spec(file), opponent) for file in networks.values() for opponent in SNAPSHOT_OPPONENTS]
    many, few = games + games % 2, max(2, 2 * round(games * SLOW_GAMES_SHARE / 2))
    counts = (*(many for _ in quick), *(few for _ in slow), *(SNAPSHOT_GAMES_FACTOR * many for _ in snapshots))
    fingerprints = tuple(hashlib.sha256(file.read_bytes()).hexdigest() for file in networks.values())
    folder, pairings = str(training) if training else "", (*quick, *slow, *snapshots)
    return LearningPlan(
        "learning", game, None, pairings, max(counts), seed, OPENING_PLIES, counts, folder, fingerprints
    )


def alphabeta_spec(heuristic: str, depth: int) -> str:
    """Return the spec of alpha-beta with a heuristic."""
    return f"alphabeta:{heuristic}@{depth}"


def champion_spec(level: int) -> str:
    """Return the spec of a champion level, with a small transposition table because there are many players."""
    return f"champion@level={level},hash=4"


def snapshot_spec(file: Path) -> str:
    """Return the spec of a snapshot, without averaging over symmetries."""
    if "," in str(file):
        raise ConfigError(f"the path {file} contains a comma, which a spec does not allow: rename the folder")
    return f"cnn,weights={file},symmetries=1"


# ---- results --------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class PairingResult:
    """The result of a pairing, from the first player's view."""

    wins: int
    draws: int
    losses: int
    points_share: float
    """Share of the points; a draw is half a point."""
    half_interval: float
    """Half width of the 95 % interval of `points_share`."""
    mean_margin: float
    """Mean final margin, in discs."""
    milliseconds: tuple[float, float]
    """Mean time per move of the first and the second player."""

    @property
    def games(self) -> int:
        """Number of games."""
        return self.wins + self.draws + self.losses


def summarise_pairings(plan: ExperimentPlan, games: Sequence[ExperimentGame]) -> dict[tuple[str, str], PairingResult]:
    """Summarise each pairing; for the 95 % interval, the two games with the same opening count as one sample."""
    results = {}
    for pair, played in zip(plan.pairings, plan.group_by_pairing(games), strict=True):
        margins = [game.score[0] - game.score[1] for game in played]
        points = [(margin > 0) + (margin == 0) / 2 for margin in margins]
        sums = [one + other for one, other in zip(points[::2], points[1::2], strict=True)]
        _, error = mean_score([sums.count(half / 2) for half in range(5)])
        wins, draws, losses = (points.count(result) for result in (1, 0.5, 0))
        times = compute_mean_ms(played, 0), compute_mean_ms(played, 1)
        results[pair] = PairingResult(wins, draws, losses, fmean(points), Z_95 * error, fmean(margins), times)
    return results


def fit_decreasing(shares: Sequence[float]) -> list[float]:
    """Fit a decreasing sequence to shares by isotonic regression: increasing neighbours are replaced by their mean."""
    groups: list[list[float]] = []
    for share in shares:
        groups.append([share])
        while len(groups) > 1 and fmean(groups[-2]) < fmean(groups[-1]):
            groups[-2:] = [groups[-2] + groups[-1]]
    return [fmean(group) for group in groups for _ in group]


def find_equal_level(points_shares: Mapping[int, float]) -> float:
    """Interpolate the level against which a player scores half of the points; ±infinity outside the levels played."""
    shares = dict(zip(points_shares, fit_decreasing(list(points_shares.values())), strict=True))
    if min(shares.values()) > 0.5:
        return math.inf
    for (level, more), (next_level, less) in pairwise(shares.items()):
        if more >= 0.5 >= less:
            return level + (next_level - level) * ((more - 0.5) / (more - less) if more > less else 0.5)
    return -math.inf


def format_level(level: float, levels: Sequence[int]) -> str:
    """Format a level with one decimal, or as `above N` or `below N` if it is outside the levels played."""
    if math.isfinite(level):
        return f"{level:.1f}"
    return f"above {levels[-1]}" if level > 0 else f"below {levels[0]}"


# ---- report ---------------------------------------------------------------------------------------------------------
def write_report(plan: LearningPlan, games: Sequence[ExperimentGame], depths: Sequence[int], folder: Path) -> None:
    """Write the report of the experiment."""
    report, results = Report(folder, "Players with a network"), summarise_pairings(plan, games)
    training_runs, own_run = load_shipped_training_runs(), None
    if plan.training:
        own_run = read_training_run(Path(plan.training), f"`{plan.training}`")
        training_runs.append(own_run)
    _write_training_runs(report, training_runs)
    if own_run and plan.networks:
        networks = find_snapshots(Path(plan.training)).items()
        by_opponent = {
            opponent: {
                step: results[pair] for step, file in networks if (pair := (snapshot_spec(file), opponent)) in results
            }
            for opponent in SNAPSHOT_OPPONENTS
        }
        _write_snapshots(report, own_run, by_opponent, plan.counts[-1])
    _write_heuristics(report, plan, depths, results)
    _write_levels(report, results)
    _write_games(report, plan, results)
    report.write()


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _write_training_runs(report: Report, training_runs: Sequence[TrainingRun]) -> None:
    rows: list[list[object]] = []
    for each in training_runs:
        spent = [each.last("seconds") / 60, int(each.last("step")), each.last("epochs")]
        shares = map(_percent, (each.winners_top1, each.all_top1))
        rows.append([each.name, *each.describe(), each.parameters, *spent, *shares])
    header = ["training run", "network", "inputs", "targets", "parameters", "minutes", "steps", "epochs"]
    report.add_text("## Learning curves", *REMARKS)
    report.add_table("training_runs", "Training runs", [*header, "winners' moves, %", "all moves, %"], rows)
    label = "winners' moves, top-1 accuracy, %"
    report.add_plot(
        "curves-top1", f"On the validation set: {label}", partial(_draw_curves, training_runs, "top1", label, 100)
    )
    label = "policy loss"
    report.add_plot(
        "curves-policy-loss",
        f"On the training set: {label}",
        partial(_draw_curves, training_runs, "policy_loss", label, 1),
    )


def _draw_curves(training_runs: Sequence[TrainingRun], column: str, label: str, factor: float, axes: Any) -> None:
    for each in training_runs:
        figures = [factor * figure for figure in each.column(column)]
        axes.plot(each.column("epochs"), figures, marker=".", label=each.name.strip("`"))
    axes.set(xlabel="epochs", ylabel=label, xscale="log")


def _write_snapshots(
    report: Report, training_run: TrainingRun, by_opponent: Mapping[str, Mapping[int, PairingResult]], games: int
) -> None:
    """Write the results of the snapshots."""
    measured = {row[0]: row for row in zip(*map(training_run.column, ("step", "epochs", "top1")), strict=True)}
    rows: list[list[object]] = []
    for step in by_opponent[SNAPSHOT_OPPONENTS[0]]:
        _, epochs, top1 = measured.get(step, (step, None, None))
        played = [results[step] for results in by_opponent.values()]
        against = [100 * figure for result in played for figure in (result.points_share, result.half_interval)]
        rows.append([step, epochs, _percent(top1), *against])
    report.add_text(
        "## Strength of the snapshots",
        f"Snapshots of the training run {training_run.name}, without averaging over symmetries, play {games} games "
        "against each of two opponents. The columns show the points in percent and the half width of their 95 % "
        "interval.",
    )
    header = ["step", "epochs", "winners' moves (validation), %"]
    header += [name for opponent in SNAPSHOT_OPPONENTS for name in (f"`{opponent}`, %", f"`{opponent}`, ±")]
    report.add_table("snapshots", "Points of each snapshot", header, rows)
    draw = partial(_draw_points, {f"against {opponent}": of for opponent, of in by_opponent.items()}, "step", "log")
    report.add_plot("snapshots", "Points of a snapshot by training step", draw)


def _draw_points(lines: Mapping[str, Mapping[int, PairingResult]], label: str, scale: str, axes: Any) -> None:
    for name, of in lines.items():
        shares = [100 * each.points_share for each in of.values()]
        errors = [100 * each.half_interval for each in of.values()]
        axes.errorbar(list(of), shares, errors, marker="o", capsize=3, label=name)
    axes.axhline(50, color="grey", linewidth=1, linestyle="--")
    axes.set(xlabel=label, ylabel="points, %", xscale=scale, ylim=(-2, 102))


def _write_heuristics(
    report: Report, plan: LearningPlan, depths: Sequence[int], results: Mapping[tuple[str, str], PairingResult]
) -> None:
    policy_player, *_ = CHAMPION_LEVELS
    report.add_text(
        "## Against the heuristics and Otage",
        f"`{policy_player}` does not search: it plays the most probable move, averaged over the eight symmetries. "
        f"It plays {plan.counts[0]} games against each opponent, from balanced openings of {plan.opening_plies} random "
        f"plies, each played with both colours; random seed {plan.seed}. Points are in percent; a draw is half a "
        "point.",
    )
    rows: list[list[object]] = [
        [name, *(100 * results[policy_player, alphabeta_spec(name, depth)].points_share for depth in depths)]
        for name in published.REPORT0_STRATEGIES
    ]
    header = ["heuristic", *(f"depth {depth}, %" for depth in depths)]
    report.add_table("heuristics", f"Points of `{policy_player}` against alpha-beta", header, rows)
    lines = ", ".join(
        f"{100 * results[policy_player, opponent].points_share:.1f} % against `{opponent}`" for opponent in OTAGE_SPECS
    )
    report.add_text(
        f"Points of `{policy_player}` against Otage, the program of report 4, with Otage's shipped memory: {lines}."
    )


def _write_levels(report: Report, results: Mapping[tuple[str, str], PairingResult]) -> None:
    against = {
        name: {level: results[name, champion_spec(level)] for level in levels}
        for name, levels in CHAMPION_LEVELS.items()
    }
    rows, equals = list[list[object]](), list[list[object]]()
    for level in sorted({level for levels in CHAMPION_LEVELS.values() for level in levels}):
        shares = [_percent(of[level].points_share) if level in of else None for of in against.values()]
        rows.append([level, *shares])
    for name, of in against.items():
        bounds = (
            format_level(
                find_equal_level({at: each.points_share + sign * each.half_interval for at, each in of.items()}),
                CHAMPION_LEVELS[name],
            )
            for sign in (0, -1, 1)
        )
        spent = fmean(each.milliseconds[0] for each in of.values())
        equals.append([f"`{name}`", *bounds, spent])
    policy_player, *_ = CHAMPION_LEVELS
    many, few, *_ = (next(iter(of.values())).games for of in against.values())
    report.add_text(
        "## Against the champion",
        "Level n of the champion searches n plies; with 2n empty squares or fewer, it solves the game exactly. "
        "Two players search with the network: `cnn-value` by alpha-beta with the network's value at the leaves, "
        "`puct:cnn` by Monte Carlo tree search with the network's policy and value. These two are slower and play "
        f"{few} games against each level; `{policy_player}` plays {many} games. A player equals the level against "
        "which it scores half of the points, interpolated between the levels played; shares that increase from one "
        "level to the next are first replaced by their mean. The bounds are the levels at which the ends of the 95 % "
        "intervals cross one half.",
    )
    report.add_table(
        "levels", "Points against the champion by level, %", ["level", *(f"`{name}`" for name in CHAMPION_LEVELS)], rows
    )
    header = ["player", "equals level", "at least", "at most", "mean time per move, ms"]
    report.add_table("equal", "The champion's level that each player equals", header, equals)
    report.add_plot("levels", "Points against the champion by level", partial(_draw_points, against, "level", "linear"))


def _write_games(report: Report, plan: ExperimentPlan, results: Mapping[tuple[str, str], PairingResult]) -> None:
    rows: list[list[object]] = []
    for first, second in plan.pairings:
        each = results[first, second]
        shares = 100 * each.points_share, 100 * each.half_interval
        rows.append(
            [
                f"`{first}`",
                f"`{second}`",
                each.wins,
                each.draws,
                each.losses,
                *shares,
                each.mean_margin,
                *each.milliseconds,
            ]
        )
    report.add_text(
        "## All games",
        "The last two columns are the mean times per move. Players with a time limit are stronger on a faster machine.",
    )
    header = ["player", "against", "wins", "draws", "losses", "points, %", "±"]
    header += ["mean margin, discs", "time of the player, ms", "time of the opponent, ms"]
    report.add_table("games", "Results", header, rows)
