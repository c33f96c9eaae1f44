"""Experiments: pairs of players play games, and tables and plots show the results."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from typing import Any, ClassVar

from awello.arena.match import first_side, make_pair_job
from awello.arena.openings import draw_random_opening
from awello.arena.runner import GameJob, GamePlan, GameResult, Runner, RunPlan
from awello.arena.workers import Jobs
from awello.players.player import make_player
from awello.rules.game import Game, find_game


@dataclass(frozen=True)
class ExperimentPlan(GamePlan):
    """The settings of an experiment: a number of games per pairing of specs, with alternating sides."""

    name: str
    game: str
    variant: str | None
    pairings: tuple[tuple[str, str], ...]
    games: int
    seed: int
    opening_plies: int = 0
    """Number of random moves at the start; two consecutive games of a pairing share them."""
    kind: ClassVar[str] = "experiment"
    unit: ClassVar[str] = "games"

    @cached_property
    def schedule(self) -> list[tuple[int, int]]:
        """The pairing of each game, and the number of the game within the pairing, in playing order."""
        return [(pairing, number) for number in range(self.games) for pairing in range(len(self.pairings))]

    @property
    def total(self) -> int:
        return len(self.schedule)

    def find_rules(self) -> Game:
        """Return the rules selected by `game` and `variant`."""
        return find_game(self.game, variant=self.variant)

    def opening(self, pair: int) -> tuple[int, ...]:
        """Return the opening of both games of pair number `pair`; it is the same for all pairings."""
        return draw_random_opening(self.find_rules(), self.opening_plies, f"{self.seed}/{pair}")

    def make_job(self, number: int) -> GameJob:
        pairing, game = self.schedule[number]
        return make_pair_job(self.find_rules(), self.pairings[pairing], game, self.seed, self.opening(game // 2))

    def configuration(self) -> dict[str, Any]:
        return asdict(self)

    def group_by_pairing(self, games: "Sequence[ExperimentGame]") -> "list[list[ExperimentGame]]":
        """Return a list of games for each pairing."""
        return [[game for game in games if game.pairing == number] for number in range(len(self.pairings))]


@dataclass(frozen=True)
class ExperimentGame:
    """A game of an experiment; the entries of each tuple belong to the first and the second player of the pairing."""

    pairing: int
    number: int
    side: int
    """The side of the first player."""
    score: tuple[int, int]
    final_counts: tuple[int, int]
    """Discs or seeds held at the end."""
    mean_counts: tuple[float, float]
    """Mean number of discs or seeds held, over all positions that follow the opening."""
    seconds: tuple[float, float]
    moves: tuple[int, int]
    nodes: tuple[list[int], list[int]]
    """Nodes searched for each move; empty for players that do not report them."""


def run_experiment(
    plan: RunPlan[Any], out: Path, jobs: Jobs = 1, on_progress: Callable[[int], None] = lambda done: None
) -> list[Any]:
    """Run the jobs whose results are not in the folder `out` yet, and return all results.

    `on_progress` receives the number of finished jobs.
    """
    if isinstance(plan, ExperimentPlan):
        check_experiment(plan)
    with Runner(plan, jobs, out) as runner:
        on_progress(len(runner.results))
        if not runner.run(lambda: on_progress(len(runner.results))):
            raise KeyboardInterrupt
    return describe_games(plan, runner.results) if isinstance(plan, ExperimentPlan) else runner.results


def check_experiment(plan: ExperimentPlan) -> None:
    """Check that all players support the rules, before the first game starts."""
    for spec in {spec for pair in plan.pairings for spec in pair}:
        player = make_player(spec)
        player.begin(plan.find_rules(), plan.seed)
        player.end()


def describe_games(plan: ExperimentPlan, results: Sequence[GameResult]) -> list[ExperimentGame]:
    """Convert the results of all jobs to games, sorted by pairing and number."""
    games = [describe_game(*at, result) for at, result in zip(plan.schedule, results, strict=True)]
    return sorted(games, key=attrgetter("pairing", "number"))


def describe_game(pairing: int, number: int, result: GameResult) -> ExperimentGame:
    """Convert the result of a job to a game of the experiment."""
    side = first_side(number)
    _, *positions = (position.counts() for position in result.record.positions())
    after_moves = positions[result.opening :]
    means = [sum(each[at] for each in after_moves) / max(1, len(after_moves)) for at in (0, 1)]
    times = [result.move_times(at) for at in (0, 1)]
    searched = [[nodes for nodes in result.nodes[at::2] if nodes] for at in (0, 1)]
    spent: list[Sequence[Any]] = [[sum(each) for each in times], [len(each) for each in times], searched]
    by_side = [result.score, result.record.final.counts(), means, *spent]
    return ExperimentGame(pairing, number, side, *((column[side], column[1 - side]) for column in by_side))


def compute_mean_ms(games: Sequence[ExperimentGame], player: int) -> float:
    """Compute the mean time per move of the first or second player, in milliseconds."""
    return 1000 * sum(game.seconds[player] for game in games) / max(1, sum(game.moves[player] for game in games))
