"""An experiment that can be interrupted: games are played in worker processes and written down one by one.

A folder holds the exact configuration (`configuration.json`) and one line for each game (`games.jsonl`).  Run again
with the same configuration, it plays only what is missing; with another one, it refuses to mix the two.
"""

import json
import random
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from awello import __version__
from awello.arena.match import Match, play_one
from awello.arena.workers import work
from awello.errors import ConfigError
from awello.players.player import Choice, Player, make_player
from awello.position import Position
from awello.rules.game import PASS, Game, find_game


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


def random_opening(game: Game, plies: int, seed: str) -> tuple[int, ...]:
    """So many random moves from the start of a game."""
    chance, position, moves = random.Random(seed), Position.start(game), []
    for _ in range(plies):
        moves.append(chance.choice(position.legal_moves()))
        position = position.after(moves[-1])
    return tuple(moves)


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
        if choice.analysis:
            nodes[before.side ^ side].append(choice.analysis.nodes)

    record = play_one(match, players, number, watch)
    seconds, moves = [0.0, 0.0], [0, 0]
    for ply, used in enumerate(record.seconds):
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
    """Nothing: players are made when their first game comes."""


def run(plan: Plan, folder: Path, jobs: int, report: Callable[[int], None]) -> list[Played]:
    """Play what is missing in a folder, calling `report` with the games done; all games, in order."""
    for spec in {spec for pair in plan.pairings for spec in pair}:
        make_player(spec).begin(plan.chosen_game(), plan.seed)  # what is wrong with a player shows here
    done = {(game.pairing, game.number): game for game in _resume(plan, folder)}
    report(len(done))
    wanted = [(pairing, number) for number in range(plan.games) for pairing in range(len(plan.pairings))]
    missing = [(plan, *job) for job in wanted if job not in done]
    with (folder / "games.jsonl").open("a", encoding="utf-8") as file, closing(_play_all(missing, jobs)) as games:
        for game in games:
            done[game.pairing, game.number] = game
            file.write(json.dumps(asdict(game)) + "\n")
            file.flush()
            report(1)
    return [done[job] for job in sorted(done)]


def _play_all(missing: list[tuple[Plan, int, int]], jobs: int) -> Generator[Played, None, None]:
    if jobs == 1:
        yield from map(_play, missing)
    else:
        yield from work(_play, missing, jobs, _prepare)


def _resume(plan: Plan, folder: Path) -> Iterator[Played]:
    """The games that a folder holds already; a line cut short by an interruption is left out."""
    configuration = json.loads(json.dumps({"awello": __version__, **asdict(plan)}))
    file = folder / "configuration.json"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not file.exists():
            file.write_text(json.dumps(configuration, indent=2) + "\n", "utf-8")
        elif json.loads(file.read_text("utf-8")) != configuration:
            raise ConfigError(f"{folder} holds another experiment: choose another --out, or remove it")
    except OSError as error:
        raise ConfigError(f"cannot write to {folder}: {error.strerror}") from None
    games = folder / "games.jsonl"
    lines = games.read_text("utf-8").splitlines(keepends=True) if games.exists() else []
    whole = [line for line in lines if line.endswith("\n")]
    if whole != lines:
        games.write_text("".join(whole), "utf-8")
    yield from (Played(**json.loads(line)) for line in whole)
