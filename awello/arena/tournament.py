"""The tournament of report 1: every bot meets every other under the same terms, and each round counts.

A round is two games with the first player exchanged; it goes to the larger sum of both scores and is worth 3 points,
a drawn one 1 point to either.  Bots live in processes of their own (`guard.py`): whatever they do, they can lose no
more than a game.  A game lost that way is worth all the points of the board to the opponent and none to the loser.
"""

import random
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import closing
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import combinations, islice
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from pydantic import TypeAdapter, ValidationError

from awello.arena.elo import ratings
from awello.arena.guard import MIB, Guarded, Terms, Used
from awello.arena.journal import Journal, own_players
from awello.arena.match import Match, play_one
from awello.arena.openings import random_opening
from awello.arena.workers import Jobs, check_jobs, uninterrupted, work
from awello.errors import ConfigError
from awello.formats.transcript import format_transcript
from awello.players.player import Forfeit, find_player
from awello.players.spec import parse_spec
from awello.rules.game import Game

WIN, DRAW = 3, 1  # points of a round


@dataclass(frozen=True)
class Tournament:
    """What is to be played."""

    game: Game
    specs: tuple[str, ...]
    rounds: int = 100
    seed: int = 0
    terms: Terms = field(default_factory=Terms)
    opening_plies: int = 0
    """Random moves before both games of a round, the same for all pairs."""

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

    def match(self, pair: int, number: int) -> Match:
        """The match of a pair, of which a round is the games 2 * number and 2 * number + 1."""
        first, second = (self.specs[bot] for bot in self.pairs[pair])
        seed = random.Random(f"{self.seed}/{first}/{second}").getrandbits(63)
        return Match(self.game, first, second, 2 * self.rounds, seed, (self.opening(number),))

    def configuration(self) -> dict[str, Any]:
        """What decides the results, players of one's own included."""
        return {**asdict(self), "game": self.game.name.lower(), **own_players()}


@dataclass(frozen=True)
class Played:
    """A game of a round; of two entries the first is that of the pair's first bot."""

    score: tuple[int, int]
    moves: str
    """The transcript."""
    forfeits: tuple[tuple[str, str] | None, tuple[str, str] | None]
    """How each bot forfeited the game, if it did: the reason and a message."""
    used: tuple[Used, Used]


@dataclass(frozen=True)
class Round:
    """Two games of a pair; the first bot of the pair is the first player of the first game."""

    pair: int
    number: int
    games: tuple[Played, Played]

    @property
    def score(self) -> tuple[int, int]:
        """The summed scores of the pair's bots."""
        first, second = zip(*(game.score for game in self.games), strict=True)
        return sum(first), sum(second)


def play_round(tournament: Tournament, bots: Sequence[Guarded], pair: int, number: int) -> Round:
    """Play a round with the bots of a tournament, given in its order."""
    match = tournament.match(pair, number)
    one, other = (bots[bot] for bot in tournament.pairs[pair])
    first, second = (_play(match, (one, other), game) for game in (2 * number, 2 * number + 1))
    return Round(pair, number, (first, second))


def _play(match: Match, bots: tuple[Guarded, Guarded], number: int) -> Played:
    record, side = play_one(match, bots, number), match.first_side(number)
    one, other = bots
    scores = record.final.score()
    score = scores[side], scores[1 - side]
    if one.forfeit or other.forfeit:
        score = 0 if one.forfeit else match.game.points, 0 if other.forfeit else match.game.points
    forfeits = _reason(one.forfeit), _reason(other.forfeit)
    return Played(score, format_transcript(record), forfeits, (one.used, other.used))


def _reason(forfeit: Forfeit | None) -> tuple[str, str] | None:
    return (forfeit.reason, forfeit.message) if forfeit else None


@dataclass
class Standing:
    """What a bot has achieved, and what it used for it."""

    spec: str
    points: int = 0
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
    def mean_score(self) -> float:
        """The mean score of a game."""
        return self.score / max(1, self.games)

    @property
    def mean(self) -> float:
        """The mean seconds of a move."""
        return self.seconds / max(1, self.moves)

    @property
    def mebibytes(self) -> float:
        """The MiB of its tables and processes."""
        return self.memory / MIB

    @property
    def processors(self) -> float:
        """How many processors were busy on its moves."""
        return self.processor / self.seconds if self.seconds else 0.0

    def add_round(self, own: int, theirs: int) -> None:
        """Count a round with these summed scores."""
        self.won += own > theirs
        self.drawn += own == theirs
        self.lost += own < theirs
        self.points = WIN * self.won + DRAW * self.drawn

    def add_game(self, score: int, forfeit: tuple[str, str] | None, used: Used) -> None:
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
            "mean_ms": 1000 * self.mean,
            "worst_ms": 1000 * self.worst,
            "memory_mib": self.mebibytes,
            "learning_s": self.learning,
            "processors": self.processors,
        }


@dataclass
class Results:
    """The rounds of a tournament that have been played."""

    tournament: Tournament
    rounds: list[Round]

    @property
    def wanted(self) -> int:
        """The rounds of the whole tournament."""
        return self.tournament.rounds * len(self.tournament.pairs)

    def standings(self) -> list[Standing]:
        """The bots, the best first: by points, then by mean score."""
        bots = [Standing(spec) for spec in self.tournament.specs]
        for played in self.rounds:
            one, other = played.score
            first, second = (bots[bot] for bot in self.tournament.pairs[played.pair])
            first.add_round(one, other)
            second.add_round(other, one)
            for game in played.games:
                for place, bot in enumerate((first, second)):
                    bot.add_game(game.score[place], game.forfeits[place], game.used[place])
        table = [[won + drawn / 2 for won, drawn, _ in row] for row in self.cross()]
        for bot, elo, margin in zip(bots, *ratings(table), strict=True):
            bot.elo, bot.elo_margin = elo, margin
        return sorted(bots, key=lambda bot: (-bot.points, -bot.mean_score))

    def cross(self) -> list[list[tuple[int, int, int]]]:
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
        tournament, game, cross = self.tournament, self.tournament.game, self.cross()
        return {
            "game": game.family,
            **({"variant": game.variant} if game.variant else {"size": game.size}),
            "seed": tournament.seed,
            "opening_plies": tournament.opening_plies,
            "terms": asdict(tournament.terms),
            "rounds": tournament.rounds,
            "played": len(self.rounds),
            "complete": len(self.rounds) == self.wanted,
            "standings": [bot.as_json() for bot in self.standings()],
            "pairs": [
                {
                    "first": tournament.specs[one],
                    "second": tournament.specs[other],
                    **dict(zip(("won", "drawn", "lost"), cross[one][other], strict=True)),
                }
                for one, other in tournament.pairs
            ],
        }


def run(
    tournament: Tournament,
    folder: Path,
    jobs: Jobs = 1,
    report: Callable[[Results], None] = lambda results: None,
    stop: "Future[Any] | None" = None,
) -> Results:
    """Play what is missing in a folder, so many games at a time; `report` is told at first and after each round.

    An exception that another thread sets in `stop` ends the bots and comes out here: at once, on a cluster after the
    next round.
    """
    check_jobs(jobs)
    with Journal(folder, "tournament", tournament.configuration(), "rounds.jsonl") as journal:
        done = {(played.pair, played.number): played for played in _read(journal)}
        results = Results(tournament, list(done.values()))
        report(results)
        wanted = [(pair, number) for number in range(tournament.rounds) for pair in range(len(tournament.pairs))]
        if missing := [job for job in wanted if job not in done]:
            with closing(_play_all(tournament, missing, jobs, stop or Future())) as rounds:
                for played in rounds:
                    results.rounds.append(played)
                    journal.write(asdict(played))
                    report(results)
        results.rounds.sort(key=lambda played: (played.number, played.pair))
        return results


def _read(journal: Journal) -> list[Round]:
    try:
        return TypeAdapter(list[Round]).validate_python(journal.done)
    except ValidationError:
        raise ConfigError(f"{journal.lines} is damaged: choose another --out, or remove the folder") from None


def _play_all(
    tournament: Tournament, missing: Sequence[tuple[int, int]], jobs: Jobs, stop: "Future[Any]"
) -> Generator[Round, None, None]:
    """Rounds as they are finished.  Each job has bots of its own and plays one game at a time with them."""
    if isinstance(jobs, int):
        return _play_here(tournament, missing, min(jobs, len(missing)), stop)
    return _play_afar(tournament, missing, jobs, stop)


def _play_here(
    tournament: Tournament, missing: Sequence[tuple[int, int]], jobs: int, stop: "Future[Any]"
) -> Generator[Round, None, None]:
    teams = [_team(tournament) for _ in range(jobs)]
    free: SimpleQueue[list[Guarded]] = SimpleQueue()
    pool = ThreadPoolExecutor(jobs)

    def play(job: tuple[int, int]) -> Round:
        team = free.get()
        try:
            return play_round(tournament, team, *job)
        finally:
            free.put(team)

    def end_all(_: object = None) -> None:
        _close([bot for team in teams for bot in team])

    try:
        stop.add_done_callback(end_all)
        pool.submit(_make_ready, teams[0]).result()  # in a thread, where no Ctrl-C can cut it in two
        for team in teams:
            free.put(team)
        for future in islice(as_completed([stop, *(pool.submit(play, job) for job in missing)]), len(missing)):
            if stop.done():
                stop.result()  # raises; a bot that was ended has lost nothing
            yield future.result()
    finally:
        with uninterrupted():
            pool.shutdown(wait=False, cancel_futures=True)
            end_all()
            pool.shutdown()


def _play_afar(
    tournament: Tournament, missing: Sequence[tuple[int, int]], cluster: str, stop: "Future[Any]"
) -> Generator[Round, None, None]:
    with closing(work(_play_job, missing, cluster, _prepare, tournament)) as rounds:
        for played in rounds:
            if stop.done():
                stop.result()
            yield played


_work: tuple[Tournament, Sequence[Guarded]]


def _prepare(tournament: Tournament) -> Callable[[], None]:
    """Make a worker of a cluster ready: its own bots, which it ends afterwards."""
    global _work
    team = _team(tournament)
    _work = tournament, team
    try:
        _make_ready(team)
    except ConfigError:
        _close(team)
        raise
    return partial(_close, team)


def _play_job(job: tuple[int, int]) -> Round:
    return play_round(*_work, *job)


def _team(tournament: Tournament) -> list[Guarded]:
    return [Guarded(spec, tournament.game, tournament.terms) for spec in tournament.specs]


def _close(bots: Sequence[Guarded]) -> None:
    for bot in bots:
        bot.stop()
    for bot in bots:
        bot.close()


def _make_ready(bots: Sequence[Guarded]) -> None:
    """Make the bots, one after the other; a wrong spec is the caller's error, everything else costs games."""
    for bot in bots:
        try:
            bot.ready()
        except Forfeit as forfeit:
            if forfeit.reason == "refused":
                raise ConfigError(forfeit.message) from None
