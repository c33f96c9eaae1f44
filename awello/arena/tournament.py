"""The tournament of report 1: a round robin of bots under the same resource limits.

A round consists of two games, in which each bot moves first once.  The bot with the larger total score wins the round
and gets 3 points; after a drawn round each bot gets 1 point.  Bots run in sandboxes (`sandbox.py`), so a faulty bot
loses only its own games.  After a forfeit, the opponent scores all discs or seeds of the game, and the loser none.
"""

import random
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any, ClassVar

from awello.arena.elo import fit_ratings
from awello.arena.match import first_side, make_pair_job
from awello.arena.openings import draw_random_opening
from awello.arena.runner import GameJob, GamePlan, GameResult, Runner
from awello.arena.sandbox import MIB, ResourceLimits, Usage
from awello.arena.workers import Jobs
from awello.errors import ConfigError
from awello.players.player import find_player
from awello.players.spec import parse_spec
from awello.rules.game import Game

WIN_POINTS, DRAW_POINTS = 3, 1  # per round


@dataclass(frozen=True)
class Tournament(GamePlan):
    """The settings of a tournament."""

    game: Game
    specs: tuple[str, ...]
    rounds: int = 100
    seed: int = 0
    limits: ResourceLimits = field(default_factory=ResourceLimits)
    opening_plies: int = 0
    """Number of random opening moves; all games with the same round number have the same opening."""
    kind: ClassVar[str] = "tournament"
    batch_size: ClassVar[int] = 2

    def __post_init__(self) -> None:
        object.__setattr__(self, "game", Game(self.game))  # the name of a game is valid, too
        specs = [parse_spec(spec) for spec in self.specs]
        if len(specs) < 2:
            raise ConfigError("a tournament needs at least two bots: give two or more specs")
        for spec in specs:
            find_player(spec.name)
            if spec.name == "human":
                raise ConfigError("a tournament cannot have human players: replace 'human', or play with 'awello play'")
            if specs.count(spec) > 1:
                message = f"'{spec}' appears twice: give each bot once"
                raise ConfigError(message, "repeated_player", player=str(spec))
        if self.rounds < 1 or self.opening_plies < 0:
            given = f"the number of rounds ({self.rounds}) or of opening plies ({self.opening_plies})"
            raise ConfigError(f"{given} is too small: give at least 1 round, and 0 or more opening plies")
        self.opening(0)

    @property
    def pairings(self) -> list[tuple[int, int]]:
        """The pairs of bots, as indexes into `specs`."""
        return list(combinations(range(len(self.specs)), 2))

    def opening(self, number: int) -> tuple[int, ...]:
        """Return the random opening of round `number`, which is the same for all pairings."""
        return draw_random_opening(self.game, self.opening_plies, f"{self.seed}/{number}")

    @property
    def total(self) -> int:
        return 2 * self.rounds * len(self.pairings)

    def locate(self, number: int) -> tuple[int, int, int]:
        """Return the index of a game's pairing, the number of its round, and its number in the round (0 or 1)."""
        unit, game = divmod(number, 2)
        played, pairing = divmod(unit, len(self.pairings))
        return pairing, played, game

    def make_job(self, number: int) -> GameJob:
        pairing, played, game = self.locate(number)
        first, second = (self.specs[bot] for bot in self.pairings[pairing])
        seed = random.Random(f"{self.seed}/{first}/{second}").getrandbits(63)
        opening = self.opening(played)
        return make_pair_job(self.game, (first, second), 2 * played + game, seed, opening, limits=self.limits)

    def configuration(self) -> dict[str, Any]:
        return {**asdict(self), "game": str(self.game)}


@dataclass(frozen=True)
class BotGame:
    """A game of a round.  Entry 0 of `score`, `forfeits` and `usage` belongs to the first bot of the pairing."""

    score: tuple[int, int]
    forfeits: tuple[tuple[str, str] | None, tuple[str, str] | None]
    usage: tuple[Usage, Usage]
    result: GameResult


def to_bot_game(result: GameResult, game: int) -> BotGame:
    """Build the `BotGame` of game 0 or 1 in a round; after a forfeit, the opponent scores all discs or seeds."""
    one, other = first_side(game), 1 - first_side(game)
    score, usage = result.score, result.usage or (Usage(), Usage())
    if any(result.forfeits):
        max_score = Game(result.game).max_score  # type: ignore[arg-type]
        score = 0 if result.forfeits[0] else max_score, 0 if result.forfeits[1] else max_score
    forfeits = result.forfeits[one], result.forfeits[other]
    return BotGame((score[one], score[other]), forfeits, (usage[one], usage[other]), result)


@dataclass(frozen=True)
class Round:
    """The two games of a round; the first bot of the pairing moves first in the first game."""

    pairing: int
    """Index in `Tournament.pairings`."""
    number: int
    games: tuple[BotGame, BotGame]

    @property
    def score(self) -> tuple[int, int]:
        """Total score of each bot in the two games."""
        first, second = zip(*(game.score for game in self.games), strict=True)
        return sum(first), sum(second)


@dataclass
class BotStanding:
    """The results and the resource use of a bot."""

    spec: str
    wins: int = 0
    draws: int = 0
    losses: int = 0
    """Number of rounds lost; `wins` and `draws` are numbers of rounds, too."""
    games: int = 0
    score: int = 0
    """Total score of all games."""
    elo: float = 0.0
    elo_margin: float = 0.0
    """Half width of the 95 % confidence interval of `elo`."""
    forfeits: dict[str, int] = field(default_factory=dict)
    """Number of forfeits by reason."""
    messages: dict[str, str] = field(default_factory=dict)
    """For each reason, the message of the first forfeit."""
    moves: int = 0
    seconds: float = 0.0
    max_seconds: float = 0.0
    cpu_seconds: float = 0.0
    memory_bytes: int = 0
    learning_seconds: float = 0.0

    @property
    def points(self) -> int:
        """Points for won and drawn rounds."""
        return WIN_POINTS * self.wins + DRAW_POINTS * self.draws

    @property
    def mean_score(self) -> float:
        """Mean score per game."""
        return self.score / max(1, self.games)

    @property
    def mean_seconds(self) -> float:
        """Mean time per move, in seconds."""
        return self.seconds / max(1, self.moves)

    @property
    def memory_mib(self) -> float:
        """Maximum memory use of the bot and its processes in any game, in MiB."""
        return self.memory_bytes / MIB

    @property
    def mean_cpus(self) -> float:
        """Mean number of busy CPUs: CPU seconds per second of move time."""
        return self.cpu_seconds / self.seconds if self.seconds else 0.0

    def add_game(self, score: int, forfeit: tuple[str, str] | None, used: Usage) -> None:
        """Add the result and the resource use of a game."""
        self.games += 1
        self.score += score
        if forfeit:
            reason, message = forfeit
            self.forfeits[reason] = self.forfeits.get(reason, 0) + 1
            self.messages.setdefault(reason, message)
        self.moves += used.moves
        self.seconds += used.seconds
        self.cpu_seconds += used.cpu_seconds
        self.max_seconds = max(self.max_seconds, used.max_seconds)
        self.memory_bytes = max(self.memory_bytes, used.memory_bytes)
        self.learning_seconds = max(self.learning_seconds, used.learning_seconds)

    def to_json(self) -> dict[str, Any]:
        """Return the standing for JSON output."""
        return {
            "bot": self.spec,
            "points": self.points,
            "rounds": {"wins": self.wins, "draws": self.draws, "losses": self.losses},
            "games": self.games,
            "mean_score": self.mean_score,
            "elo": self.elo,
            "elo_margin": self.elo_margin,
            "forfeits": self.forfeits,
            "messages": self.messages,
            "moves": self.moves,
            "mean_ms": 1000 * self.mean_seconds,
            "max_ms": 1000 * self.max_seconds,
            "memory_mib": self.memory_mib,
            "learning_seconds": self.learning_seconds,
            "mean_cpus": self.mean_cpus,
        }


@dataclass
class TournamentResult:
    """The games played so far in a tournament."""

    tournament: Tournament
    results: list[GameResult]
    interrupted: bool = False

    @property
    def rounds_total(self) -> int:
        """Total number of rounds in the tournament."""
        return self.tournament.rounds * len(self.tournament.pairings)

    @property
    def rounds_played(self) -> int:
        """Number of complete rounds."""
        return len(self.results) // 2

    @property
    def rounds(self) -> list[Round]:
        """The complete rounds."""
        rounds = []
        for at in range(0, 2 * self.rounds_played, 2):
            pairing, number, _ = self.tournament.locate(at)
            first, second = (to_bot_game(self.results[at + game], game) for game in (0, 1))
            rounds.append(Round(pairing, number, (first, second)))
        return rounds

    def standings(self) -> list[BotStanding]:
        """Return the bots, ranked by points, then by mean score."""
        bots = [BotStanding(spec) for spec in self.tournament.specs]
        for played in self.rounds:
            for game in played.games:
                for index, number in enumerate(self.tournament.pairings[played.pairing]):
                    bots[number].add_game(game.score[index], game.forfeits[index], game.usage[index])
        cross_table = self.cross_table()
        table = [[wins + draws / 2 for wins, draws, _ in row] for row in cross_table]
        for bot, row, elo, margin in zip(bots, cross_table, *fit_ratings(table), strict=True):
            bot.wins, bot.draws, bot.losses = map(sum, zip(*row, strict=True))
            bot.elo, bot.elo_margin = elo, margin
        return sorted(bots, key=lambda bot: (-bot.points, -bot.mean_score))

    def cross_table(self) -> list[list[tuple[int, int, int]]]:
        """Return how many rounds each bot won, drew and lost against every other bot, in the order of the specs."""
        size = range(len(self.tournament.specs))
        table = [[[0, 0, 0] for _ in size] for _ in size]
        for played in self.rounds:
            one, other = self.tournament.pairings[played.pairing]
            own, theirs = played.score
            outcome = 0 if own > theirs else 1 if own == theirs else 2
            table[one][other][outcome] += 1
            table[other][one][2 - outcome] += 1
        return [[(wins, draws, losses) for wins, draws, losses in row] for row in table]

    def to_json(self) -> dict[str, Any]:
        """Return the results for JSON output."""
        tournament, cross_table = self.tournament, self.cross_table()
        return {
            **tournament.game.options,
            "seed": tournament.seed,
            "opening_plies": tournament.opening_plies,
            "limits": asdict(tournament.limits),
            "rounds": tournament.rounds,
            "rounds_played": self.rounds_played,
            "complete": self.rounds_played == self.rounds_total,
            "standings": [bot.to_json() for bot in self.standings()],
            "pairings": [
                {
                    "first": tournament.specs[one],
                    "second": tournament.specs[other],
                    **dict(zip(("wins", "draws", "losses"), cross_table[one][other], strict=True)),
                }
                for one, other in tournament.pairings
            ],
        }


def play_tournament(
    tournament: Tournament,
    jobs: Jobs = 1,
    out: Path | None = None,
    on_progress: Callable[[TournamentResult], None] = lambda result: None,
) -> TournamentResult:
    """Play a tournament; call `on_progress` at the start and after each game.

    Ctrl-C ends the tournament early; with a folder `out` it can be resumed.
    """
    with Runner(tournament, jobs, out) as runner:
        result = TournamentResult(tournament, runner.results)
        on_progress(result)
        result.interrupted = not runner.run(lambda: on_progress(result))
        return result
