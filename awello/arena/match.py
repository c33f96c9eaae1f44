"""A match: games between two players with alternating sides; a seed determines all random choices."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar

from awello.arena.runner import GameJob, GamePlan, GameResult, Runner, check_players
from awello.arena.workers import Jobs
from awello.errors import ConfigError
from awello.limits import Clock
from awello.record import Record
from awello.rules.game import Game


@dataclass(frozen=True)
class Match(GamePlan):
    """The settings of a match."""

    game: Game
    first: str
    second: str
    games: int = 1
    seed: int = 0
    openings: tuple[tuple[int, ...], ...] = ()
    clock: Clock = field(default_factory=Clock)
    kind: ClassVar[str] = "match"

    def __post_init__(self) -> None:
        object.__setattr__(self, "game", Game(self.game))  # the name of a game is valid, too

    def opening(self, number: int) -> tuple[int, ...]:
        """Return the opening of a game; games 2n and 2n + 1 share an opening, with sides swapped."""
        return self.openings[number // 2 % len(self.openings)] if self.openings else ()

    def make_job(self, number: int) -> GameJob:
        return make_pair_job(self.game, (self.first, self.second), number, self.seed, self.opening(number), self.clock)

    def configuration(self) -> dict[str, Any]:
        """Return the settings that must not change when a match is resumed; the number of games may change."""
        names = {"game": str(self.game), "first": self.first, "second": self.second, "seed": self.seed}
        return {**names, "openings": hash_openings(self.openings), "clock": str(self.clock)}

    def describe(self) -> dict[str, Any]:
        """Return the fields of the JSON result that describe the match rather than its games."""
        return {**self.game.options, "first": self.first, "second": self.second, "seed": self.seed}


def first_side(number: int) -> int:
    """Return the side that the first player has in a game: 0 (Black or South) in games with even numbers, else 1."""
    return number % 2


def make_pair_job(
    game: Game,
    players: tuple[str, str],
    number: int,
    seed: int,
    opening: tuple[int, ...] = (),
    clock: Clock | None = None,
    **options: Any,
) -> GameJob:
    """Make the job of game `number` between two players; the second player moves first if `number` is odd."""
    seeds = [random.Random(f"{seed}/{number}/{place}").getrandbits(63) for place in (0, 1)]
    order = slice(None, None, -1 if first_side(number) else 1)
    first, second = zip(players[order], seeds[order], strict=True)
    return GameJob(game, (first[0], second[0]), (first[1], second[1]), opening, clock or Clock(), **options)


def hash_openings(openings: Sequence[Sequence[int]]) -> str:
    """Return a hash of a list of openings, or an empty string if the list is empty."""
    return sha256(repr(openings).encode()).hexdigest() if openings else ""


@dataclass
class MatchResult:
    """The result of a match, from the first player's view.

    Some attributes are pairs of numbers, the first player's number first: `moves` (number of moves), `max_seconds`
    (longest time for a move), `total_counts` (sum of the discs or seeds at the end of each game) and `forfeits`.
    """

    match: Match
    results: list[GameResult]
    interrupted: bool = False

    def __post_init__(self) -> None:
        points, (first, second) = points_of_first(self.results), move_times(self.results)
        self.wins, self.draws, self.losses = (points.count(each) for each in (1, 0.5, 0))
        self.moves = len(first), len(second)
        self.max_seconds = max(first, default=0.0), max(second, default=0.0)
        games = [(first_side(number), result) for number, result in enumerate(self.results)]
        held = [(side, result.record.final.counts()) for side, result in games]
        self.total_counts = sum(each[side] for side, each in held), sum(each[1 - side] for side, each in held)
        forfeits = [result.loser ^ side for side, result in games if result.loser is not None]
        self.forfeits = forfeits.count(0), forfeits.count(1)
        """Number of games that each player lost by resignation, on time or by a failure."""

    @property
    def games(self) -> int:
        """Number of games played."""
        return len(self.results)

    @property
    def records(self) -> list[Record]:
        """The records of the games."""
        return [result.record for result in self.results]

    @property
    def learnt(self) -> dict[str, dict[str, int]]:
        """For each spec, the number of games the player learnt from, and the sums of the counts from `Player.learn`."""
        learnt: dict[str, dict[str, int]] = {}
        for result in self.results:
            for spec, counts in zip(result.players, result.learnt, strict=True):
                if counts:
                    sums = learnt.setdefault(spec, {"games": 0})
                    for name, count in {"games": 1, **counts}.items():
                        sums[name] = sums.get(name, 0) + count
        return learnt

    def board_shares(self) -> tuple[float, float, float]:
        """Return the mean final shares of squares or seeds held by the first player, by the second, and by neither."""
        first, second = self.total_counts
        total = self.games * self.match.game.max_score
        return first / max(1, total), second / max(1, total), (total - first - second) / max(1, total)

    def mean_ms(self) -> tuple[float, float]:
        """Return the mean time per move of each player, in milliseconds."""
        return mean_ms(self.results)

    def to_json(self, records: bool = False) -> dict[str, object]:
        """Return the result for JSON output."""
        first, second, left = self.board_shares()
        return {
            **self.match.describe(),
            "games": self.games,
            "wins": self.wins,
            "draws": self.draws,
            "losses": self.losses,
            "board_share": {"first": first, "second": second, "left": left},
            "mean_ms": dict(zip(("first", "second"), self.mean_ms(), strict=True)),
            "max_ms": {"first": 1000 * self.max_seconds[0], "second": 1000 * self.max_seconds[1]},
            "moves": {"first": self.moves[0], "second": self.moves[1]},
            "forfeits": {"first": self.forfeits[0], "second": self.forfeits[1]},
            **({"learnt": self.learnt} if self.learnt else {}),
            **({"records": [result.moves for result in self.results]} if records else {}),
        }


def points_of_first(results: Sequence[GameResult]) -> list[float]:
    """Return the first player's points (0, 0.5 or 1) in each game of a series with alternating sides."""
    games = enumerate(results)
    return [0.5 if game.winner is None else float(game.winner == first_side(number)) for number, game in games]


def move_times(results: Sequence[GameResult]) -> tuple[list[float], list[float]]:
    """Return the times of each player's moves, in seconds, in a series of games with alternating sides."""
    times: tuple[list[float], list[float]] = [], []
    for number, result in enumerate(results):
        for player in (0, 1):
            times[player].extend(result.move_times(player ^ first_side(number)))
    return times


def mean_ms(results: Sequence[GameResult]) -> tuple[float, float]:
    """Return each player's mean time per move, in milliseconds, in a series of games with alternating sides."""
    first, second = (1000 * sum(each) / max(1, len(each)) for each in move_times(results))
    return first, second


def play_match(
    match: Match, jobs: Jobs = 1, out: Path | None = None, on_progress: Callable[[int], None] = lambda games: None
) -> MatchResult:
    """Play a match; call `on_progress` at the start and after each game, with the number of games played so far.

    Ctrl-C ends the match early; with a folder `out` it can be resumed.
    """
    if match.games < 1:
        raise ConfigError(f"a match cannot have {match.games} games: give at least one")
    check_players((match.first, match.second), match.kind)
    with Runner(match, jobs, out) as runner:
        on_progress(len(runner.results))
        finished = runner.run(lambda: on_progress(len(runner.results)))
        return MatchResult(match, runner.results, not finished)
