"""The tournament of report 1: every bot meets every other under the same limits, and each round counts.

A round is two games with the first player exchanged; it goes to the larger sum of both scores and is worth 3 points,
a drawn one 1 point to either.  Bots run in sandboxes (`sandbox.py`): whatever they do, they can lose no more than a
game.  A game lost that way is worth all the points of the board to the opponent and none to the loser.
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

WIN_POINTS, DRAW_POINTS = 3, 1  # points of a round


@dataclass(frozen=True)
class Tournament(GamePlan):
    """What is to be played."""

    game: Game
    specs: tuple[str, ...]
    rounds: int = 100
    seed: int = 0
    limits: ResourceLimits = field(default_factory=ResourceLimits)
    opening_plies: int = 0
    """Random moves before both games of a round, the same for all pairs."""
    kind: ClassVar[str] = "tournament"
    batch_size: ClassVar[int] = 2

    def __post_init__(self) -> None:
        object.__setattr__(self, "game", Game(self.game))  # it may be given by its name
        specs = [parse_spec(spec) for spec in self.specs]
        if len(specs) < 2:
            raise ConfigError("a tournament needs at least two bots: name them after the game")
        for spec in specs:
            find_player(spec.name)
            if spec.name == "human":
                raise ConfigError("a tournament is for programs: people play with 'awello play'")
            if specs.count(spec) > 1:
                raise ConfigError(f"'{spec}' is there twice: each bot enters a tournament once")
        if self.rounds < 1 or self.opening_plies < 0:
            raise ConfigError(f"{self.rounds} rounds after {self.opening_plies} random moves: give at least 1 and 0")
        self.opening(0)

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Who meets whom, by their places in `specs`."""
        return list(combinations(range(len(self.specs)), 2))

    def opening(self, number: int) -> tuple[int, ...]:
        """The random moves before a round."""
        return random_opening(self.game, self.opening_plies, f"{self.seed}/{number}")

    @property
    def total(self) -> int:
        return 2 * self.rounds * len(self.pairs)

    def locate(self, number: int) -> tuple[int, int, int]:
        """The pair of a game, its round, and whether it is game 0 or 1 of that round."""
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
    """A game of a round; of two entries the first is that of the pair's first bot."""

    score: tuple[int, int]
    forfeits: tuple[tuple[str, str] | None, tuple[str, str] | None]
    usage: tuple[Usage, Usage]
    result: GameResult


def to_bot_game(result: GameResult, game: int) -> BotGame:
    """Game 0 or 1 of a round, in the order of the pair's bots; a forfeited game is worth everything to the opponent."""
    one, other = first_side(game), 1 - first_side(game)
    score, usage = result.score, result.usage or (Usage(), Usage())
    if any(result.forfeits):
        points = Game(result.game).points  # type: ignore[arg-type]
        score = 0 if result.forfeits[0] else points, 0 if result.forfeits[1] else points
    forfeits = result.forfeits[one], result.forfeits[other]
    return BotGame((score[one], score[other]), forfeits, (usage[one], usage[other]), result)


@dataclass(frozen=True)
class Round:
    """Two games of a pair; the first bot of the pair is the first player of the first game."""

    pair: int
    number: int
    games: tuple[BotGame, BotGame]

    @property
    def score(self) -> tuple[int, int]:
        """The summed scores of the pair's bots."""
        first, second = zip(*(game.score for game in self.games), strict=True)
        return sum(first), sum(second)


@dataclass
class BotStanding:
    """What a bot has achieved, and what it used for it."""

    spec: str
    won: int = 0
    drawn: int = 0
    lost: int = 0
    """Rounds."""
    games: int = 0
    score: int = 0
    """The sum over all games."""
    elo: float = 0.0
    elo_margin: float = 0.0
    """How far the 95 % interval reaches either way."""
    forfeits: dict[str, int] = field(default_factory=dict)
    messages: dict[str, str] = field(default_factory=dict)
    """For each reason what was said the first time."""
    moves: int = 0
    seconds: float = 0.0
    worst: float = 0.0
    processor: float = 0.0
    memory: int = 0
    learning: float = 0.0

    @property
    def points(self) -> int:
        """What its rounds are worth."""
        return WIN_POINTS * self.won + DRAW_POINTS * self.drawn

    @property
    def mean_score(self) -> float:
        """The mean score of a game."""
        return self.score / max(1, self.games)

    @property
    def mean_seconds(self) -> float:
        """The mean seconds of a move."""
        return self.seconds / max(1, self.moves)

    @property
    def memory_mib(self) -> float:
        """The MiB that it and its processes took."""
        return self.memory / MIB

    @property
    def cpus(self) -> float:
        """How many processors were busy on its moves."""
        return self.processor / self.seconds if self.seconds else 0.0

    def add_game(self, score: int, forfeit: tuple[str, str] | None, used: Usage) -> None:
        """Count a game."""
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
        """The standing under the names that machines read."""
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
    """The games of a tournament that have been played."""

    tournament: Tournament
    results: list[GameResult]
    interrupted: bool = False

    @property
    def total_rounds(self) -> int:
        """The rounds of the whole tournament."""
        return self.tournament.rounds * len(self.tournament.pairs)

    @property
    def played(self) -> int:
        """The rounds of which both games have been played."""
        return len(self.results) // 2

    @property
    def rounds(self) -> list[Round]:
        """The rounds played."""
        rounds = []
        for at in range(0, 2 * self.played, 2):
            pair, number, _ = self.tournament.locate(at)
            first, second = (to_bot_game(self.results[at + game], game) for game in (0, 1))
            rounds.append(Round(pair, number, (first, second)))
        return rounds

    def standings(self) -> list[BotStanding]:
        """The bots, the best first: by points, then by mean score."""
        bots = [BotStanding(spec) for spec in self.tournament.specs]
        for played in self.rounds:
            for game in played.games:
                for place, number in enumerate(self.tournament.pairs[played.pair]):
                    bots[number].add_game(game.score[place], game.forfeits[place], game.usage[place])
        cross_table = self.cross_table()
        table = [[won + drawn / 2 for won, drawn, _ in row] for row in cross_table]
        for bot, row, elo, margin in zip(bots, cross_table, *fit_ratings(table), strict=True):
            bot.won, bot.drawn, bot.lost = map(sum, zip(*row, strict=True))
            bot.elo, bot.elo_margin = elo, margin
        return sorted(bots, key=lambda bot: (-bot.points, -bot.mean_score))

    def cross_table(self) -> list[list[tuple[int, int, int]]]:
        """Rounds won, drawn and lost by each bot against each, in the order of the specs."""
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
        """The results under the names that machines read."""
        tournament, cross_table = self.tournament, self.cross_table()
        return {
            **tournament.game.choices,
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
    report: Callable[[TournamentResult], None] = lambda result: None,
) -> TournamentResult:
    """Play a tournament, reporting at first and after each game; Ctrl-C ends it early, a folder continues it."""
    with Runner(tournament, jobs, folder) as runner:
        result = TournamentResult(tournament, runner.results)
        report(result)
        result.interrupted = not runner.run(lambda: report(result))
        return result
