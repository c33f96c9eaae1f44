"""The tournament of report 1: a round robin of bots under the same resource limits.

A round consists of two games, in which the bots take turns to move first.  The bot with the larger total score wins the
round and gets 3 points; after a drawn round each bot gets 1 point.  Bots run in sandboxes (`sandbox.py`), so a faulty
bot only loses its own games.  A forfeit scores all points of the board for the opponent and none for the loser.
"""

import random
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any, ClassVar

from awello.arena.elo import fit_ratings
from awello.arena.match import first_side, make_pair_job
from awello.arena.openings import random_opening
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
    """The plan of a tournament."""

    game: Game
    specs: tuple[str, ...]
    rounds: int = 100
    seed: int = 0
    limits: ResourceLimits = field(default_factory=ResourceLimits)
    opening_plies: int = 0
    """Random moves at the start of both games of a round, the same for all pairs."""
    kind: ClassVar[str] = "tournament"
    batch_size: ClassVar[int] = 2

    def __post_init__(self) -> None:
        object.__setattr__(self, "game", Game(self.game))  # converts names
        specs = [parse_spec(spec) for spec in self.specs]
        if len(specs) < 2:
            raise ConfigError("a tournament needs at least two bots: give their specs after the game")
        for spec in specs:
            find_player(spec.name)
            if spec.name == "human":
                raise ConfigError("a tournament cannot have human players: use 'awello play'")
            if specs.count(spec) > 1:
                message = f"'{spec}' appears twice: give each bot once"
                raise ConfigError(message, "repeated_player", player=str(spec))
        if self.rounds < 1 or self.opening_plies < 0:
            given = f"{self.rounds} rounds with {self.opening_plies} opening plies"
            raise ConfigError(f"cannot play {given}: give at least 1 round and 0 plies")
        self.opening(0)

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The pairs of bots, as indexes into `specs`."""
        return list(combinations(range(len(self.specs)), 2))

    def opening(self, number: int) -> tuple[int, ...]:
        """Return the random opening of a round."""
        return random_opening(self.game, self.opening_plies, f"{self.seed}/{number}")

    @property
    def total(self) -> int:
        return 2 * self.rounds * len(self.pairs)

    def locate(self, number: int) -> tuple[int, int, int]:
        """Return the pair of a game, its round, and its number in the round, 0 or 1."""
        unit, game = divmod(number, 2)
        played, pair = divmod(unit, len(self.pairs))
        return pair, played, game

    def job(self, number: int) -> GameJob:
        pair, played, game = self.locate(number)
        first, second = (self.specs[bot] for bot in self.pairs[pair])
        seed = random.Random(f"{self.seed}/{first}/{second}").getrandbits(63)
        opening = self.opening(played)
        return make_pair_job(self.game, (first, second), 2 * played + game, seed, opening, limits=self.limits)

    def configuration(self) -> dict[str, Any]:
        return {**asdict(self), "game": str(self.game)}


@dataclass(frozen=True)
class BotGame:
    """A game of a round.  In pairs, entry 0 belongs to the pair's first bot."""

    score: tuple[int, int]
    forfeits: tuple[tuple[str, str] | None, tuple[str, str] | None]
    usage: tuple[Usage, Usage]
    result: GameResult


def to_bot_game(result: GameResult, game: int) -> BotGame:
    """Reorder the result of game 0 or 1 of a round by the pair's bots; a forfeit scores all points for the opponent."""
    one, other = first_side(game), 1 - first_side(game)
    score, usage = result.score, result.usage or (Usage(), Usage())
    if any(result.forfeits):
        points = Game(result.game).points  # type: ignore[arg-type]
        score = 0 if result.forfeits[0] else points, 0 if result.forfeits[1] else points
    forfeits = result.forfeits[one], result.forfeits[other]
    return BotGame((score[one], score[other]), forfeits, (usage[one], usage[other]), result)


@dataclass(frozen=True)
class Round:
    """Two games of a pair; the first bot of the pair moves first in the first game."""

    pair: int
    number: int
    games: tuple[BotGame, BotGame]

    @property
    def score(self) -> tuple[int, int]:
        """Total score of each bot of the pair."""
        first, second = zip(*(game.score for game in self.games), strict=True)
        return sum(first), sum(second)


@dataclass
class BotStanding:
    """The results and the resource use of a bot."""

    spec: str
    won: int = 0
    drawn: int = 0
    lost: int = 0
    """Rounds."""
    games: int = 0
    score: int = 0
    """Total over all games."""
    elo: float = 0.0
    elo_margin: float = 0.0
    """Half width of the 95 % interval."""
    forfeits: dict[str, int] = field(default_factory=dict)
    messages: dict[str, str] = field(default_factory=dict)
    """The first message for each reason."""
    moves: int = 0
    seconds: float = 0.0
    worst: float = 0.0
    processor: float = 0.0
    memory: int = 0
    learning: float = 0.0

    @property
    def points(self) -> int:
        """Points for won and drawn rounds."""
        return WIN_POINTS * self.won + DRAW_POINTS * self.drawn

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
        """Maximum memory of the bot and its processes, in MiB."""
        return self.memory / MIB

    @property
    def cpus(self) -> float:
        """Mean number of busy CPUs during moves."""
        return self.processor / self.seconds if self.seconds else 0.0

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
        self.processor += used.processor
        self.worst, self.memory = max(self.worst, used.worst), max(self.memory, used.memory)
        self.learning = max(self.learning, used.learning)

    def as_json(self) -> dict[str, Any]:
        """Return the standing for JSON output."""
        return {
            "bot": self.spec,
            "points": self.points,
            "rounds": {"won": self.won, "drawn": self.drawn, "lost": self.lost},
            "games": self.games,
            "mean_score": self.mean_score,
            "elo": self.elo,
            "elo_margin": self.elo_margin,
            "forfeits": self.forfeits,
            "messages": self.messages,
            "moves": self.moves,
            "mean_ms": 1000 * self.mean_seconds,
            "worst_ms": 1000 * self.worst,
            "memory_mib": self.memory_mib,
            "learning_s": self.learning,
            "processors": self.cpus,
        }


@dataclass
class TournamentResult:
    """The games played so far in a tournament."""

    tournament: Tournament
    results: list[GameResult]
    interrupted: bool = False

    @property
    def total_rounds(self) -> int:
        """Total number of rounds in the tournament."""
        return self.tournament.rounds * len(self.tournament.pairs)

    @property
    def played(self) -> int:
        """Number of complete rounds."""
        return len(self.results) // 2

    @property
    def rounds(self) -> list[Round]:
        """The complete rounds."""
        rounds = []
        for at in range(0, 2 * self.played, 2):
            pair, number, _ = self.tournament.locate(at)
            first, second = (to_bot_game(self.results[at + game], game) for game in (0, 1))
            rounds.append(Round(pair, number, (first, second)))
        return rounds

    def standings(self) -> list[BotStanding]:
        """Return the bots, ranked by points, then by mean score."""
        bots = [BotStanding(spec) for spec in self.tournament.specs]
        for played in self.rounds:
            for game in played.games:
                for index, number in enumerate(self.tournament.pairs[played.pair]):
                    bots[number].add_game(game.score[index], game.forfeits[index], game.usage[index])
        cross_table = self.cross_table()
        table = [[won + drawn / 2 for won, drawn, _ in row] for row in cross_table]
        for bot, row, elo, margin in zip(bots, cross_table, *fit_ratings(table), strict=True):
            bot.won, bot.drawn, bot.lost = map(sum, zip(*row, strict=True))
            bot.elo, bot.elo_margin = elo, margin
        return sorted(bots, key=lambda bot: (-bot.points, -bot.mean_score))

    def cross_table(self) -> list[list[tuple[int, int, int]]]:
        """Return the rounds won, drawn and lost by each bot against each other bot, in the order of the specs."""
        size = range(len(self.tournament.specs))
        table = [[[0, 0, 0] for _ in size] for _ in size]
        for played in self.rounds:
            one, other = self.tournament.pairs[played.pair]
            own, theirs = played.score
            outcome = 0 if own > theirs else 1 if own == theirs else 2
            table[one][other][outcome] += 1
            table[other][one][2 - outcome] += 1
        return [[(won, drawn, lost) for won, drawn, lost in row] for row in table]

    def as_json(self) -> dict[str, Any]:
        """Return the results for JSON output."""
        tournament, cross_table = self.tournament, self.cross_table()
        return {
            **tournament.game.options,
            "seed": tournament.seed,
            "opening_plies": tournament.opening_plies,
            "limits": asdict(tournament.limits),
            "rounds": tournament.rounds,
            "played": self.played,
            "complete": self.played == self.total_rounds,
            "standings": [bot.as_json() for bot in self.standings()],
            "pairs": [
                {
                    "first": tournament.specs[one],
                    "second": tournament.specs[other],
                    **dict(zip(("won", "drawn", "lost"), cross_table[one][other], strict=True)),
                }
                for one, other in tournament.pairs
            ],
        }


def play_tournament(
    tournament: Tournament,
    folder: Path | None = None,
    jobs: Jobs = 1,
    on_progress: Callable[[TournamentResult], None] = lambda result: None,
) -> TournamentResult:
    """Play a tournament; call `on_progress` at the start and after each game.

    Ctrl-C ends it early; with a folder it can be resumed.
    """
    with Runner(tournament, jobs, folder) as runner:
        result = TournamentResult(tournament, runner.results)
        on_progress(result)
        result.interrupted = not runner.run(lambda: on_progress(result))
        return result
