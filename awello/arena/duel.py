"""A duel: pairs of games between two players until it is clear whether the first is the stronger one.

Both games of a pair have the same opening, with the colours exchanged.  Pair `n` depends on the seed and on `n` alone,
and pairs are counted in their order, so a duel ends with the same pair for any number of worker processes.
"""

import hashlib
import random
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from awello.arena.journal import Journal, own_players
from awello.arena.match import Match, play_one, tally
from awello.arena.openings import balanced_opening
from awello.arena.sprt import Hypotheses, elo, superiority
from awello.arena.workers import Jobs, check_jobs, work
from awello.errors import ConfigError
from awello.formats.transcript import format_transcript
from awello.players.player import Player, make_player
from awello.record import Record
from awello.rules.game import Game


@dataclass(frozen=True)
class Duel:
    """What is to be played, and what is asked."""

    game: Game
    first: str
    second: str
    games: int = 1000
    """The most there may be; an even number."""
    seed: int = 0
    openings: tuple[tuple[int, ...], ...] = ()
    """Each is played once, in an order that follows from the seed; without any, they are random and balanced."""
    opening_plies: int = 8
    hypotheses: Hypotheses = field(default_factory=Hypotheses)
    fixed: bool = False
    """Whether all games are played, whatever is clear before."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "game", Game(self.game))  # it may be given by its name
        if self.games < 2 or self.games % 2:
            raise ConfigError(f"{self.games} games: a duel plays pairs, so give an even number")

    @property
    def pairs(self) -> int:
        """The most pairs there may be: an opening that came again would tell nothing new."""
        return min(self.games // 2, len(self.openings) or self.games)

    @cached_property
    def _shuffled(self) -> list[tuple[int, ...]]:
        return random.Random(self.seed).sample(self.openings, len(self.openings))

    def opening(self, number: int) -> tuple[int, ...]:
        """The opening of a pair."""
        if self.openings:
            return self._shuffled[number]
        return balanced_opening(self.game, self.opening_plies, f"{self.seed}/{number}")

    def match(self, number: int) -> Match:
        """The match of which a pair is the games 2 * number and 2 * number + 1."""
        return Match(self.game, self.first, self.second, self.games, self.seed, (self.opening(number),))

    def configuration(self) -> dict[str, Any]:
        """What decides a pair; how many there are and what is asked may change while a duel goes on."""
        lines = hashlib.sha256(repr(self.openings).encode()).hexdigest() if self.openings else self.opening_plies
        names = {"game": self.game.name.lower(), "first": self.first, "second": self.second}
        return {**names, "seed": self.seed, "openings": lines, **own_players()}


@dataclass(frozen=True)
class Pair:
    """Two games; the first player moves first in game 0.  Of two times, the first is the first player's."""

    points: tuple[float, float]
    """What each game gave the first player: 0, 0.5 or 1."""
    margins: tuple[int, int]
    """The first player's lead at the end of each game."""
    games: tuple[str, str]
    """As transcripts."""
    seconds: tuple[float, float]
    moves: tuple[int, int]
    reasons: tuple[str, str] = ("", "")
    """How each game was lost otherwise than on the board, if it was."""


def play_pair(duel: Duel, players: Sequence[Player], number: int) -> Pair:
    """Play a pair of a duel with its two players."""
    match = duel.match(number)
    one, other = (play_one(match, players, 2 * number + side) for side in (0, 1))
    spent = tally(match, (one, other))
    return Pair(
        (_points(one, 0), _points(other, 1)),
        (_margin(one, 0), _margin(other, 1)),
        (format_transcript(one), format_transcript(other)),
        spent.seconds,
        spent.moves,
        (one.reason, other.reason),
    )


def _points(record: Record, side: int) -> float:
    return 0.5 if record.winner is None else float(record.winner == side)


def _margin(record: Record, side: int) -> int:
    """A side's lead at the end; whoever gave the game up has lost everything."""
    scores = record.final.score()
    lead = scores[side] - scores[1 - side]
    return lead if record.loser is None else record.start.game.points * (-1 if record.loser == side else 1)


@dataclass
class DuelResult:
    """The pairs of a duel that have been played, in their order."""

    duel: Duel
    pairs: list[Pair]
    interrupted: bool = False

    @property
    def counts(self) -> list[int]:
        """How many pairs gave the first player 0, 0.5, 1, 1.5 and 2 points."""
        sums = [sum(pair.points) for pair in self.pairs]
        return [sums.count(half / 2) for half in range(5)]

    @property
    def outcomes(self) -> tuple[int, int, int]:
        """Games that the first player won, drew and lost."""
        points = [point for pair in self.pairs for point in pair.points]
        return points.count(1), points.count(0.5), points.count(0)

    @property
    def margin(self) -> float:
        """The first player's mean lead at the end of a game, in discs or seeds."""
        return sum(sum(pair.margins) for pair in self.pairs) / max(1, 2 * len(self.pairs))

    @property
    def ratio(self) -> float:
        """The log-likelihood ratio of the test."""
        return self.duel.hypotheses.ratio(self.counts)

    @property
    def verdict(self) -> str:
        """`stronger`, `not stronger` or `undecided`."""
        return self.duel.hypotheses.verdict(self.counts)

    @property
    def over(self) -> bool:
        """Whether there is nothing left to play."""
        return len(self.pairs) == self.duel.pairs or (not self.duel.fixed and self.verdict != "undecided")

    def mean_ms(self) -> tuple[float, float]:
        """The mean time of each player's moves."""
        first, second = (
            1000
            * sum(pair.seconds[player] for pair in self.pairs)
            / max(1, sum(pair.moves[player] for pair in self.pairs))
            for player in (0, 1)
        )
        return first, second

    def as_json(self) -> dict[str, Any]:
        """The result under the names that machines read."""
        duel, game, counts = self.duel, self.duel.game, self.counts
        wins, draws, losses = self.outcomes
        advantage, reach = elo(counts)
        return {
            "game": game.family,
            **({"variant": game.variant} if game.variant else {"size": game.size}),
            "first": duel.first,
            "second": duel.second,
            "seed": duel.seed,
            **asdict(duel.hypotheses),
            "games": 2 * len(self.pairs),
            "wins": wins,
            "draws": draws,
            "losses": losses,
            "pairs": counts,
            "elo": advantage,
            "elo_margin": reach,
            "superiority": superiority(counts),
            "llr": self.ratio,
            "llr_bounds": duel.hypotheses.bounds,
            "verdict": self.verdict,
            "mean_margin": self.margin,
            "mean_ms": dict(zip(("first", "second"), self.mean_ms(), strict=True)),
        }


Report = Callable[[DuelResult], None]


def play_duel(
    duel: Duel, jobs: Jobs = 1, folder: Path | None = None, report: Report = lambda result: None
) -> DuelResult:
    """Play a duel until it is over; `report` is told at first and after each pair.

    Ctrl-C ends it with what was played.  With a folder, every pair is written there, and the next call goes on.
    """
    check_jobs(jobs)
    players = [make_player(duel.first), make_player(duel.second)]
    if any(player.spec.name == "human" for player in players):
        raise ConfigError("a duel is for programs: people play with 'awello play'")
    if folder is None:
        return _play_on(DuelResult(duel, []), players, jobs, report, lambda pair: None)
    with Journal(folder, "duel", duel.configuration(), "pairs.jsonl") as journal:
        result = DuelResult(duel, [])
        for pair in _read(journal):
            if not result.over:
                result.pairs.append(pair)
        return _play_on(result, players, jobs, report, lambda pair: journal.write(asdict(pair)))


def _read(journal: Journal) -> list[Pair]:
    try:
        return TypeAdapter(list[Pair]).validate_python(journal.done)
    except ValidationError:
        raise ConfigError(f"{journal.lines} is damaged: choose another --out, or remove the folder") from None


def _play_on(
    result: DuelResult, players: Sequence[Player], jobs: Jobs, report: Report, keep: Callable[[Pair], None]
) -> DuelResult:
    report(result)
    if result.over:
        return result
    duel = result.duel
    for player in players:
        player.begin(duel.game, duel.seed)  # what is wrong with a player shows here, not in a worker
    numbers = range(len(result.pairs), duel.pairs)
    try:
        with closing(_pairs(duel, players, numbers, jobs)) as pairs:
            for pair in pairs:
                keep(pair)
                result.pairs.append(pair)
                report(result)
                if result.over:
                    break
    except KeyboardInterrupt:
        result.interrupted = True
    finally:
        for player in players:
            player.end()
    return result


def _pairs(duel: Duel, players: Sequence[Player], numbers: range, jobs: Jobs) -> Generator[Pair, None, None]:
    if jobs == 1:
        return (play_pair(duel, players, number) for number in numbers)
    return work(_play_number, numbers, jobs, _prepare, duel)


_work: tuple[Duel, Sequence[Player]]


def _prepare(duel: Duel) -> None:
    """Make a worker process ready: its own players."""
    global _work
    _work = duel, [make_player(duel.first), make_player(duel.second)]


def _play_number(number: int) -> Pair:
    return play_pair(*_work, number)
