"""An experiment that can be interrupted: games are played in worker processes and written down one by one."""

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import ClassVar, TypeVar

from awello.arena.journal import Journal
from awello.arena.match import Match, play_one
from awello.arena.openings import random_opening
from awello.arena.workers import work
from awello.players.player import Choice, Player, make_player
from awello.position import Position
from awello.rules.game import PASS, Game, find_game

Job = TypeVar("Job")
Part = TypeVar("Part")


@dataclass(frozen=True)
class Plan:
    """What an experiment plays: so many games of each pairing of specs, the colours alternating."""

    name: str
    game: str
    variant: str | None
    pairings: tuple[tuple[str, str], ...]
    games: int
    seed: int
    opening_plies: int = 0
    """Random moves before the players take over; two games in a row share them."""
    unit: ClassVar[str] = "games"

    @property
    def wanted(self) -> list[tuple[int, int]]:
        """The pairing and the number of each game, in the order of play."""
        return [(pairing, number) for number in range(self.games) for pairing in range(len(self.pairings))]

    @property
    def parts(self) -> int:
        """How many games there are."""
        return len(self.wanted)

    def chosen_game(self) -> Game:
        """The game with its variant."""
        return find_game(self.game, variant=self.variant)

    def match(self, pairing: int) -> Match:
        """The match of a pairing; all pairings play the same openings."""
        pairs = range((self.games + 1) // 2) if self.opening_plies else ()
        openings = tuple(
            random_opening(self.chosen_game(), self.opening_plies, f"{self.seed}/{pair}") for pair in pairs
        )
        return Match(self.chosen_game(), *self.pairings[pairing], self.games, self.seed, openings)


@dataclass(frozen=True)
class Played:
    """What is kept of a game; of two entries the first is the first spec's."""

    pairing: int
    number: int
    side: int
    """The side that the first spec had."""
    score: list[int]
    held: list[int]
    """Discs or seeds held at the end."""
    throughout: list[float]
    """The mean of what was held after each move."""
    seconds: list[float]
    moves: list[int]
    nodes: list[list[int]]
    """The nodes of each move, for players that search."""


def play_job(plan: Plan, pairing: int, number: int) -> Played:
    """Play one game of a plan."""
    match, players = _ready(plan, pairing)
    side, after_moves = match.first_side(number), []
    nodes: list[list[int]] = [[], []]

    def watch(before: Position, choice: Choice, after: Position) -> None:
        after_moves.append(after.holdings())
        if choice.analysis and choice.analysis.nodes:  # another program may not tell them
            nodes[before.side ^ side].append(choice.analysis.nodes)

    record = play_one(match, players, number, watch)
    seconds, moves = [0.0, 0.0], [0, 0]
    for ply, used in enumerate(each or 0.0 for each in record.seconds):
        if ply >= plan.opening_plies and record.moves[ply] != PASS:
            seconds[ply % 2 ^ side] += used
            moves[ply % 2 ^ side] += 1
    order = (side, 1 - side)
    score, held = ([pair[at] for at in order] for pair in (record.final.score(), record.final.holdings()))
    throughout = [sum(pair[at] for pair in after_moves) / max(1, len(after_moves)) for at in order]
    return Played(pairing, number, side, score, held, throughout, seconds, moves, nodes)


@cache
def _ready(plan: Plan, pairing: int) -> tuple[Match, list[Player]]:
    """A pairing's match and players, made once in each process."""
    match = plan.match(pairing)
    return match, [make_player(match.first), make_player(match.second)]


def _play(job: tuple[Plan, int, int]) -> Played:
    return play_job(*job)


def _prepare() -> None:
    """Nothing: what a process needs is made when its first job comes."""


def run(plan: Plan, folder: Path, jobs: int, report: Callable[[int], None]) -> list[Played]:
    """Play what is missing in a folder, calling `report` with the games done; all games, in order."""
    for spec in {spec for pair in plan.pairings for spec in pair}:
        make_player(spec).begin(plan.chosen_game(), plan.seed)  # what is wrong with a player shows here
    with Journal(folder, "experiment", asdict(plan), "games.jsonl") as journal:
        done = {(game.pairing, game.number): game for game in (Played(**line) for line in journal.done)}
        report(len(done))
        missing = [(plan, *job) for job in plan.wanted if job not in done]
        with closing(do_all(_play, missing, jobs)) as games:
            for game in games:
                done[game.pairing, game.number] = game
                journal.write(asdict(game))
                report(1)
    return [done[job] for job in sorted(done)]


def do_all(function: Callable[[Job], Part], missing: Sequence[Job], jobs: int) -> Generator[Part, None, None]:
    """The function of each job, in order, here or in so many processes."""
    if jobs == 1:
        yield from map(function, missing)
    else:
        yield from work(function, missing, jobs, _prepare)
