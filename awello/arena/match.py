"""A match: many games between two players, the colours alternating, repeatable by its seed.

Game `n` depends on the seed and on `n` alone, so the results are the same for any number of worker
processes, here or on a cluster.  With openings, each is played twice, once with either colour.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from awello.arena.game import Watcher, ignore, play_game
from awello.arena.workers import Jobs, check_jobs, work
from awello.errors import ConfigError
from awello.formats.transcript import format_transcript
from awello.limits import Clock
from awello.players.player import Player, make_player
from awello.position import Position
from awello.record import Record
from awello.rules.game import PASS, Game


@dataclass(frozen=True)
class Match:
    """What is to be played."""

    game: Game
    first: str
    second: str
    games: int = 1
    seed: int = 0
    openings: tuple[tuple[int, ...], ...] = ()
    clock: Clock = field(default_factory=Clock)

    def __post_init__(self) -> None:
        object.__setattr__(self, "game", Game(self.game))  # it may be given by its name

    def opening(self, number: int) -> tuple[int, ...]:
        """The opening of a game: the same for a game and the one after it, with the colours exchanged."""
        return self.openings[number // 2 % len(self.openings)] if self.openings else ()

    def first_side(self, number: int) -> int:
        """The side that the first player has in a game: Black or South in even ones."""
        return number % 2


def play_one(match: Match, players: Sequence[Player], number: int, watch: Watcher = ignore) -> Record:
    """Play game `number` of a match with its two players."""
    side = match.first_side(number)
    for place, player in enumerate(players):
        player.begin(match.game, random.Random(f"{match.seed}/{number}/{place}").getrandbits(63))
    seated = (players[1], players[0]) if side else (players[0], players[1])
    return play_game(seated, Position.start(match.game), match.opening(number), match.clock, watch)


@dataclass
class MatchResult:
    """The tally of a match, from the first player's view; entry 0 of a pair is the first player's."""

    match: Match
    wins: int
    draws: int
    losses: int
    held: tuple[int, int]
    seconds: tuple[float, float]
    worst: tuple[float, float]
    moves: tuple[int, int]
    forfeits: tuple[int, int]
    """Games that each player lost otherwise than on the board: by resigning, by the clock, by failing."""
    records: list[Record]
    interrupted: bool = False

    @property
    def games(self) -> int:
        """The games played so far."""
        return len(self.records)

    def shares(self) -> tuple[float, float, float]:
        """The mean share of the board (or of the seeds) held at the end by each player, and left over."""
        first, second = self.held
        total = self.games * self.match.game.points
        return first / max(1, total), second / max(1, total), (total - first - second) / max(1, total)

    def mean_ms(self) -> tuple[float, float]:
        """The mean time of each player's moves."""
        first, second = (1000 * spent / max(1, n) for spent, n in zip(self.seconds, self.moves, strict=True))
        return first, second

    def as_json(self, records: bool = False) -> dict[str, object]:
        """The tally under the names that machines read."""
        first, second, left = self.shares()
        game = self.match.game
        tally: dict[str, object] = {
            "game": game.family,
            **({"variant": game.variant} if game.variant else {"size": game.size}),
            "first": self.match.first,
            "second": self.match.second,
            "seed": self.match.seed,
            "games": self.games,
            "wins": self.wins,
            "draws": self.draws,
            "losses": self.losses,
            "board_share": {"first": first, "second": second, "left": left},
            "mean_ms": dict(zip(("first", "second"), self.mean_ms(), strict=True)),
            "worst_ms": {"first": 1000 * self.worst[0], "second": 1000 * self.worst[1]},
            "moves": {"first": self.moves[0], "second": self.moves[1]},
            "forfeits": {"first": self.forfeits[0], "second": self.forfeits[1]},
        }
        return tally | ({"records": [format_transcript(record) for record in self.records]} if records else {})


def tally(match: Match, records: Sequence[Record]) -> MatchResult:
    """Add up the games of a match, given in their order."""
    outcomes, held, moves, forfeits = [0, 0, 0], [0, 0], [0, 0], [0, 0]
    seconds, worst = [0.0, 0.0], [0.0, 0.0]
    for number, record in enumerate(records):
        side = match.first_side(number)
        outcomes[1 if record.winner is None else 0 if record.winner == side else 2] += 1
        if record.loser is not None:
            forfeits[record.loser ^ side] += 1
        at_end = record.final.holdings()
        held = [held[0] + at_end[side], held[1] + at_end[1 - side]]
        for ply, used in enumerate(each or 0.0 for each in record.seconds):
            if ply >= len(match.opening(number)) and record.moves[ply] != PASS:
                player = (record.start.side + ply) % 2 ^ side
                moves[player] += 1
                seconds[player] += used
                worst[player] = max(worst[player], used)
    return MatchResult(match, *outcomes, *map(tuple, (held, seconds, worst, moves, forfeits)), list(records))  # type: ignore


Report = Callable[[], None]


def play_match(match: Match, jobs: Jobs = 1, report: Report = lambda: None) -> MatchResult:
    """Play a match, calling `report` after each game; Ctrl-C ends it with the tally of what was played."""
    check_jobs(jobs)
    if match.games < 1:
        raise ConfigError(f"a match needs at least one game, not {match.games}")
    players = [make_player(match.first), make_player(match.second)]
    if any(player.spec.name == "human" for player in players):
        raise ConfigError("a match is for programs: people play with 'awello play'")
    for player in players:
        player.begin(match.game, match.seed)  # what is wrong with a player shows here, not in a worker
    records, interrupted = [], False
    try:
        for record in _serial(match, players) if jobs == 1 else _parallel(match, jobs):
            records.append(record)
            report()
    except KeyboardInterrupt:
        interrupted = True
    return replace(tally(match, records), interrupted=interrupted)


def _serial(match: Match, players: Sequence[Player]) -> Iterator[Record]:
    return (play_one(match, players, number) for number in range(match.games))


def _parallel(match: Match, jobs: Jobs) -> Iterator[Record]:
    return work(_play_number, range(match.games), jobs, _prepare, match)


_work: tuple[Match, Sequence[Player]]


def _prepare(match: Match) -> None:
    """Make a worker process ready: its own players."""
    global _work
    _work = match, [make_player(match.first), make_player(match.second)]


def _play_number(number: int) -> Record:
    return play_one(*_work, number)
