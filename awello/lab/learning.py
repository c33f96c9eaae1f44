"""What a network learns, and what it is worth at play: the comparison that report 0 wished for.

The player `cnn`, which plays what the network expects of a winner, meets alpha-beta with each of report 0's heuristics,
Otage, and the champion level by level; two players that search with the network meet the champion in fewer games.  A
player equals the level against which it takes half of the points.  With the folder of a training the report shows the
strength of its network at some ages too.

Games start from balanced random openings, each played with both colours, because the network plays without chance.
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

from awello.arena.elo import DEVIATIONS
from awello.arena.openings import balanced_opening
from awello.arena.sprt import mean
from awello.errors import ConfigError
from awello.lab import published
from awello.lab.curves import TrainingCurves, find_snapshots, load_shipped_trainings, read_training
from awello.lab.experiment import ExperimentGame, ExperimentPlan, mean_ms
from awello.lab.report import Report
from awello.rules.game import Game, find_game

DEFAULT_GAME, DEFAULT_GAMES, DEFAULT_DEPTHS = "othello", 100, (2, 4, 6)
OPENING_PLIES = 8
SLOW_GAMES_SHARE = 0.4  # the share of games that players have who take long
SNAPSHOT_GAMES_FACTOR = 3  # times as many have networks on the way, which are fast and differ little
OTAGE = ("otage@20ms", "otage@100ms")
LEVELS = {"cnn": (1, 2, 3, 4, 5, 6), "cnn-value@2": (1, 2, 4, 6, 8), "puct:cnn@100ms": (1, 2, 4, 6, 8)}
SNAPSHOT_OPPONENTS = ("alphabeta:positional@2", "alphabeta:mixed@4")  # whom the ages of a network meet
REMARKS = (
    "Four trainings that Awello tells of, all on the games of 1977 to 2015. The last two columns are the share of "
    "moves in games of 2016 to 2025, of winners and of both sides, that were the first choice of the network, without "
    "search and without turning the board; those of the shipped network are from before it was written in whole "
    "numbers.",
    "- *The shipped network* has a teacher, a large network that was trained before it: four fifths of what it is told "
    "of a position is what the teacher thinks of all its moves.\n"
    "- *Report 0's network* has the layers of the report, its one plane, the moves of winners alone, and nothing about "
    "who wins. How it is trained is ours: boards are turned by chance, illegal moves do not count.\n"
    "- *Small, by colours* and *small, by the mover* are the same network, trained alike for 1.2 minutes without a "
    "teacher. They differ in what they see: one has Black's and White's discs and who moves, the other the mover's and "
    "the opponent's discs and the legal moves.",
    "So only the two small ones differ in one thing alone. The first two differ from each other, and from these, in "
    "network, teaching and time at once, and their distance has no single cause. Nor can the loss of the shipped "
    "network be compared with that of the others: it measures how far from its teacher it is, theirs how far from what "
    "was played.",
)


@dataclass(frozen=True)
class LearningPlan(ExperimentPlan):
    """A plan whose pairings have different numbers of games, from balanced openings."""

    counts: tuple[int, ...] = ()
    """The games of each pairing."""
    training: str = ""
    """The folder of a training, if one is to be shown too."""
    networks: tuple[str, ...] = ()
    """The fingerprints of its networks."""

    @cached_property
    def schedule(self) -> list[tuple[int, int]]:
        return [(pairing, number) for pairing, number in super().schedule if number < self.counts[pairing]]

    def opening(self, pair: int) -> tuple[int, ...]:
        return balanced_opening(Game.OTHELLO, self.opening_plies, f"{self.seed}/{pair}")


def make_plan(
    game: str, variant: str | None, games: int, depths: Sequence[int], seed: int, training: Path | None = None
) -> LearningPlan:
    """The network's players against everybody, and the ages of a training's network against some."""
    if find_game(game, variant=variant) is not Game.OTHELLO:
        raise ConfigError("the experiment learning is for Othello on 8x8")
    policy_player, *searching = LEVELS
    opponents = [alphabeta_spec(name, depth) for name in published.STRATEGIES for depth in depths] + list(OTAGE)
    quick = [(policy_player, opponent) for opponent in (*opponents, *map(champion_spec, LEVELS[policy_player]))]
    slow = [(name, champion_spec(level)) for name in searching for level in LEVELS[name]]
    networks = find_snapshots(training) if training else {}
    if training:
        read_training(training, str(training))  # what is wrong with it shows here
    snapshots = [(snapshot_spec(file), opponent) for file in networks.values() for opponent in SNAPSHOT_OPPONENTS]
    many, few = games + games % 2, max(2, 2 * round(games * SLOW_GAMES_SHARE / 2))
    counts = (*(many for _ in quick), *(few for _ in slow), *(SNAPSHOT_GAMES_FACTOR * many for _ in snapshots))
    fingerprints = tuple(hashlib.sha256(file.read_bytes()).hexdigest() for file in networks.values())
    folder, pairings = str(training) if training else "", (*quick, *slow, *snapshots)
    return LearningPlan(
        "learning", game, None, pairings, max(counts), seed, OPENING_PLIES, counts, folder, fingerprints
    )


def alphabeta_spec(heuristic: str, depth: int) -> str:
    """Alpha-beta with a heuristic of report 0."""
    return f"alphabeta:{heuristic}@{depth}"


def champion_spec(level: int) -> str:
    """A level of the champion; there are many, and small tables do."""
    return f"champion@level={level},hash=4"


def snapshot_spec(file: Path) -> str:
    """The player of a network on the way, which does not hide behind the mean of turned boards."""
    if "," in str(file):
        raise ConfigError(f"{file}: a player's file can have no comma in its name: rename the folder")
    return f"cnn,file={file},symmetries=1"


# ---- results --------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class PairingResult:
    """What a player achieved against another."""

    won: int
    drawn: int
    lost: int
    points: float
    """Its share of the points, of which a draw gives half."""
    margin: float
    """How far the 95 % interval of that share reaches either way."""
    mean_lead: float
    """Its mean lead at the end, in discs."""
    milliseconds: tuple[float, float]
    """The mean time of a move, its own and the other's."""

    @property
    def games(self) -> int:
        """How many were played."""
        return self.won + self.drawn + self.lost


def summarise_pairings(plan: ExperimentPlan, games: Sequence[ExperimentGame]) -> dict[tuple[str, str], PairingResult]:
    """The outcome of each pairing; both games of an opening are one trial."""
    results = {}
    for pair, played in zip(plan.pairings, plan.group_by_pairing(games), strict=True):
        leads = [game.score[0] - game.score[1] for game in played]
        points = [(lead > 0) + (lead == 0) / 2 for lead in leads]
        sums = [one + other for one, other in zip(points[::2], points[1::2], strict=True)]
        _, error = mean([sums.count(half / 2) for half in range(5)])
        won, drawn, lost = (points.count(result) for result in (1, 0.5, 0))
        times = mean_ms(played, 0), mean_ms(played, 1)
        results[pair] = PairingResult(won, drawn, lost, fmean(points), DEVIATIONS * error, fmean(leads), times)
    return results


def fit_decreasing(shares: Sequence[float]) -> list[float]:
    """The falling row that is nearest to shares: neighbours that rise are replaced by their mean."""
    groups: list[list[float]] = []
    for share in shares:
        groups.append([share])
        while len(groups) > 1 and fmean(groups[-2]) < fmean(groups[-1]):
            groups[-2:] = [groups[-2] + groups[-1]]
    return [fmean(group) for group in groups for _ in group]


def find_equal_level(points: Mapping[int, float]) -> float:
    """The level against which a player takes half of the points, on a line between two levels; beyond all infinite."""
    shares = dict(zip(points, fit_decreasing(list(points.values())), strict=True))
    if min(shares.values()) > 0.5:
        return math.inf
    for (level, more), (next_level, less) in pairwise(shares.items()):
        if more >= 0.5 >= less:
            return level + (next_level - level) * ((more - 0.5) / (more - less) if more > less else 0.5)
    return -math.inf


def format_level(level: float, levels: Sequence[int]) -> str:
    """A level to a digit, or that it is beyond those that were played."""
    if math.isfinite(level):
        return f"{level:.1f}"
    return f"above {levels[-1]}" if level > 0 else f"below {levels[0]}"


# ---- the report -----------------------------------------------------------------------------------------------------
def write_report(plan: LearningPlan, games: Sequence[ExperimentGame], depths: Sequence[int], folder: Path) -> None:
    """Write the report of the experiment."""
    report, results = Report(folder, "Players that learn from a network"), summarise_pairings(plan, games)
    trainings, own = load_shipped_trainings(), None
    if plan.training:
        own = read_training(Path(plan.training), f"`{plan.training}`")
        trainings.append(own)
    _write_trainings(report, trainings)
    if own and plan.networks:
        networks = find_snapshots(Path(plan.training)).items()
        ages = {
            opponent: {
                step: results[pair] for step, file in networks if (pair := (snapshot_spec(file), opponent)) in results
            }
            for opponent in SNAPSHOT_OPPONENTS
        }
        _write_snapshots(report, own, ages, plan.counts[-1])
    _write_heuristics(report, plan, depths, results)
    _write_levels(report, results)
    _write_games(report, plan, results)
    report.write()


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _write_trainings(report: Report, trainings: Sequence[TrainingCurves]) -> None:
    rows: list[list[object]] = []
    for each in trainings:
        spent = [each.last("seconds") / 60, int(each.last("step")), each.last("epochs")]
        shares = map(_percent, (each.winners_top1, each.all_top1))
        rows.append([each.name, *each.describe(), each.parameters, *spent, *shares])
    header = ["training", "network", "sees", "learns from", "parameters", "minutes", "steps", "epochs"]
    report.add_text("## Learning curves", *REMARKS)
    report.add_table("trainings", "Trainings", [*header, "winners' moves, %", "all moves, %"], rows)
    label = "winners' moves that were the first choice, %"
    report.add_plot("curves-top1", f"On games set aside: {label}", partial(_draw_curves, trainings, "top1", label, 100))
    label = "loss of the moves"
    report.add_plot(
        "curves-moves", f"On the games that teach: {label}", partial(_draw_curves, trainings, "moves", label, 1)
    )


def _draw_curves(trainings: Sequence[TrainingCurves], column: str, label: str, factor: float, axes: Any) -> None:
    for each in trainings:
        figures = [factor * figure for figure in each.column(column)]
        axes.plot(each.column("epochs"), figures, marker=".", label=each.name.strip("`"))
    axes.set(xlabel="epochs", ylabel=label, xscale="log")


def _write_snapshots(
    report: Report, training: TrainingCurves, ages: Mapping[str, Mapping[int, PairingResult]], games: int
) -> None:
    """What a network of each step achieved against each opponent."""
    measured = {row[0]: row for row in zip(*map(training.column, ("step", "epochs", "top1")), strict=True)}
    rows: list[list[object]] = []
    for step in ages[SNAPSHOT_OPPONENTS[0]]:
        _, epochs, top1 = measured.get(step, (step, None, None))
        against = [100 * figure for points in ages.values() for figure in (points[step].points, points[step].margin)]
        rows.append([step, epochs, _percent(top1), *against])
    report.add_text(
        "## Strength by age",
        f"The networks that the training {training.name} kept on its way, without turned boards, against two opponents "
        f"that stay the same, {games} games each: percent of the points, and how far the 95 % interval reaches.",
    )
    header = ["step", "epochs", "winners' moves set aside, %"]
    header += [name for opponent in SNAPSHOT_OPPONENTS for name in (f"`{opponent}`, %", f"`{opponent}`, ±")]
    report.add_table("ages", "Points of a network by its age", header, rows)
    draw = partial(_draw_points, {f"against {opponent}": of for opponent, of in ages.items()}, "step", "log")
    report.add_plot("ages", "Points of a network by the steps of its training", draw)


def _draw_points(lines: Mapping[str, Mapping[int, PairingResult]], label: str, scale: str, axes: Any) -> None:
    for name, of in lines.items():
        shares, margins = [100 * each.points for each in of.values()], [100 * each.margin for each in of.values()]
        axes.errorbar(list(of), shares, margins, marker="o", capsize=3, label=name)
    axes.axhline(50, color="grey", linewidth=1, linestyle="--")
    axes.set(xlabel=label, ylabel="points, %", xscale=scale, ylim=(-2, 102))


def _write_heuristics(
    report: Report, plan: LearningPlan, depths: Sequence[int], results: Mapping[tuple[str, str], PairingResult]
) -> None:
    policy_player, *_ = LEVELS
    report.add_text(
        "## Against the heuristics and Otage",
        f"`{policy_player}` does not search: it plays what the network expects of a winner, the mean over the eight "
        f"ways to turn the board. It plays {plan.counts[0]} games against each, from openings of {plan.opening_plies} "
        f"random plies after which neither side is ahead, each played with both colours; seed {plan.seed}. Points are "
        "in percent, a draw is half a point.",
    )
    rows: list[list[object]] = [
        [name, *(100 * results[policy_player, alphabeta_spec(name, depth)].points for depth in depths)]
        for name in published.STRATEGIES
    ]
    header = ["heuristic", *(f"depth {depth}, %" for depth in depths)]
    report.add_table("heuristics", f"Points of `{policy_player}` against alpha-beta", header, rows)
    lines = ", ".join(
        f"{100 * results[policy_player, opponent].points:.1f} % against `{opponent}`" for opponent in OTAGE
    )
    report.add_text(f"Against Otage, report 4's program as it is shipped, which searches and has learnt: {lines}.")


def _write_levels(report: Report, results: Mapping[tuple[str, str], PairingResult]) -> None:
    against = {
        name: {level: results[name, champion_spec(level)] for level in levels} for name, levels in LEVELS.items()
    }
    rows, equals = list[list[object]](), list[list[object]]()
    for level in sorted({level for levels in LEVELS.values() for level in levels}):
        shares = [_percent(of[level].points) if level in of else None for of in against.values()]
        rows.append([level, *shares])
    for name, of in against.items():
        bounds = (
            format_level(
                find_equal_level({at: each.points + sign * each.margin for at, each in of.items()}), LEVELS[name]
            )
            for sign in (0, -1, 1)
        )
        spent = fmean(each.milliseconds[0] for each in of.values())
        equals.append([f"`{name}`", *bounds, spent])
    many, few, *_ = (next(iter(of.values())).games for of in against.values())
    report.add_text(
        "## Against the champion",
        "Level n of the champion searches n plies and solves the last 2n squares. Two players search with the network: "
        "`cnn-value` by alpha-beta that ends at its value, `puct:cnn` by a tree that its moves guide. They take long "
        f"and play {few} games against each level, `{next(iter(LEVELS))}` plays {many}. A player equals "
        "the level against which it takes half of the points, on a line between the levels that were played; shares "
        "that rise from one level to the next are replaced by their mean first. The bounds are where the ends of the "
        "95 % intervals cross the half.",
    )
    report.add_table(
        "levels", "Points against the champion by level, %", ["level", *(f"`{name}`" for name in LEVELS)], rows
    )
    header = ["player", "equals level", "at least", "at most", "mean time of a move, ms"]
    report.add_table("equal", "The level that a player equals", header, equals)
    report.add_plot("levels", "Points against the champion by level", partial(_draw_points, against, "level", "linear"))


def _write_games(report: Report, plan: ExperimentPlan, results: Mapping[tuple[str, str], PairingResult]) -> None:
    rows: list[list[object]] = []
    for first, second in plan.pairings:
        each = results[first, second]
        shares = 100 * each.points, 100 * each.margin
        rows.append(
            [f"`{first}`", f"`{second}`", each.won, each.drawn, each.lost, *shares, each.mean_lead, *each.milliseconds]
        )
    report.add_text(
        "## All games",
        "With the mean time of a move. Players with a limit of time do more on a faster or quieter machine.",
    )
    header = ["player", "against", "won", "drawn", "lost", "points, %", "±"]
    header += ["lead, discs", "its move, ms", "theirs, ms"]
    report.add_table("games", "Outcomes", header, rows)
