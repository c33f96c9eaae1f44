"""Games of the champion against itself, from which the evaluation learns.

Game `n` follows from the settings and `n` alone: its opening is drawn, then one engine, which has forgotten all
earlier games, plays both sides at one level.  The file has a line that tells the settings and then a line for each
game, `f5d6c3... +12`: the moves, and what the first player has more at the end.  Lines are written in order, so a file
that ends early is gone on with as if nothing had happened.
"""

import random
import zlib
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from awello.arena.openings import random_opening
from awello.arena.workers import Jobs, work
from awello.engine.engine import Engine
from awello.engine.levels import level_of
from awello.errors import ConfigError
from awello.formats.transcript import format_transcript
from awello.limits import Limit
from awello.position import Position
from awello.record import Record
from awello.rules.game import Game

HASH = 1  # MiB of the table, which is cleared before each game
BATCH = 16  # games that a worker plays before it hands them over
SLOW = 5  # the level from which it hands over each game


@dataclass(frozen=True)
class Settings:
    """Everything that decides how the games go."""

    game: Game
    level: int
    seed: int = 0
    openings: tuple[tuple[int, ...], ...] = ()
    """A game begins with one of these, if there are any."""
    plies: tuple[int, int] = (0, 0)
    """So many random moves, at least and at most, come after it."""
    weights: Path | None = None
    """A file of learnt weights in place of the shipped ones."""

    def __post_init__(self) -> None:
        level_of(self.level)

    def opening(self, number: int) -> tuple[int, ...]:
        """The moves that game `number` begins with."""
        chance = random.Random(f"{self.seed}/{number}")
        begun = chance.choice(self.openings) if self.openings else ()
        return random_opening(self.game, chance.randint(*self.plies), f"{self.seed}/{number}/moves", begun)

    def __str__(self) -> str:
        words = [f"# awello selfplay {self.game} level={self.level} seed={self.seed}"]
        if self.openings:
            words.append(f"openings={zlib.crc32(repr(self.openings).encode()):08x}")
        if self.plies != (0, 0):
            words.append("opening-plies={}-{}".format(*self.plies))
        if self.weights:
            words.append(f"weights={zlib.crc32(self.weights.read_bytes()):08x}")
        return " ".join(words)


def play_game(engine: Engine, settings: Settings, number: int) -> Record:
    """Game `number`; the engine plays both sides from the end of the opening."""
    engine.clear()
    start, moves, limit = Position.start(settings.game), list(settings.opening(number)), Limit(level=settings.level)
    position = Record(start, tuple(moves)).final
    while choices := position.legal_moves():
        moves.append(choices[0] if len(choices) == 1 else engine.decide(position, limit))
        position = position.after(moves[-1])
    return Record(start, tuple(moves))


def format_game(record: Record) -> str:
    """The line of a game: its moves, and what the first player has more at the end."""
    first, second = record.final.score()
    return f"{format_transcript(record)} {first - second:+d}"


def play_games(settings: Settings, numbers: range, jobs: Jobs) -> Iterator[str]:
    """The lines of some games, in order, from so many processes or from a cluster."""
    size = 1 if settings.level >= SLOW or jobs == 1 else BATCH
    batches = (numbers[place : place + size] for place in range(0, len(numbers), size))
    if jobs == 1 or len(numbers) <= size:
        prepare(settings)
        lines: Iterator[list[str]] = map(play_batch, batches)
    else:
        lines = work(play_batch, batches, jobs, prepare, settings, str(settings))
    return chain.from_iterable(lines)


_work: tuple[Engine, Settings]


def prepare(settings: Settings, told: str = "") -> None:
    """Make a process ready: its own engine, and the same weights as those of whoever told the settings."""
    global _work
    if told and told != str(settings):
        raise ConfigError(f"{settings.weights} is another file on a worker than here: copy it to all machines")
    _work = Engine(settings.game, hash=HASH, weights=settings.weights), settings


def play_batch(numbers: Iterable[int]) -> list[str]:
    """The lines of some games, by the engine of this process."""
    return [format_game(play_game(*_work, number)) for number in numbers]


# ---- the file -------------------------------------------------------------------------------------------------------
@dataclass
class Harvest:
    """The games of a file."""

    games: int = 0
    plies: int = 0
    """Of all games, without passes."""

    def add(self, line: str, game: Game) -> None:
        """Count the line of a game."""
        self.games += 1
        self.plies += len(line.partition(" ")[0]) // game.adapter.name_length

    @property
    def mean_plies(self) -> float:
        """The length of a game."""
        return self.plies / max(1, self.games)


def resume(file: Path, settings: Settings) -> Harvest:
    """What a file holds of the games of these settings; begun if it is not there, a torn last line is cut off."""
    harvest, end, header = Harvest(), 0, f"{settings}\n".encode()
    try:
        with file.open("a+b") as content:
            content.seek(0)
            first = content.readline()
            if not header.startswith(first):
                said = first.decode("utf-8", "replace").strip().removeprefix("# awello selfplay ")[:80]
                raise ConfigError(f"{file} holds something else ({said}): choose another --out, or remove it")
            if first == header:
                end = content.tell()
                for line in content:
                    if not line.endswith(b"\n"):
                        break
                    harvest.add(line.decode("utf-8", "replace"), settings.game)
                    end += len(line)
            content.truncate(end)
            content.write(b"" if end else header)
    except OSError as error:
        raise ConfigError(f"cannot write to {file}: {error.strerror}") from None
    return harvest


def write_games(
    settings: Settings, harvest: Harvest, games: int, file: Path, jobs: Jobs = 1
) -> Generator[None, None, None]:
    """Go on until a file, of which `resume` told the harvest, holds so many games; yields when one is written."""
    with file.open("a", encoding="utf-8") as content:
        for line in play_games(settings, range(harvest.games, games), jobs):
            content.write(line + "\n")
            content.flush()
            harvest.add(line, settings.game)
            yield
