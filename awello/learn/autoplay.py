"""Otage against itself (report 4, sections II.5.1 and III.6.6): games that build its book and teach its patterns.

First come all openings of so many plies, one game each and as often as asked; without them the book would only grow
where it is thick already.  Then it perfects what it knows: where all moves that it remembers lost, they are forbidden
and the search finds another; now and then it is curious although it knows a good one.

Games are played in rounds.  Those of a round do not know of each other and are learnt from in order when all have been
played, so that the results do not depend on how many processes or machines play them.  Each game goes into the archive
at once, so nothing is lost if the learning is interrupted.
"""

import json
import random
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from awello.archive.archive import Archive, Wanted
from awello.archive.tree import Tree
from awello.arena.game import play_game
from awello.errors import ConfigError
from awello.evaluate.otage_memory import FILE, Memory
from awello.learn.replay import DEPTHS, Lesson, format_depths, learn
from awello.limits import Clock, Limit
from awello.players.otage import GAMES, Otage
from awello.position import Position
from awello.record import Record
from awello.rules.game import Game

EVENT = "Autoplay"
ROUND = 20  # games that do not know of each other
EXPLORE = 15  # percent of the moves in the opening
FIRST = "c4"  # of the first moves, which are one by symmetry, the one that the report takes


@dataclass(frozen=True)
class Plan:
    """How it plays; the same plan and the same number of games give the same games, unless the limit is a time."""

    limit: Limit | None
    """For each move; None if the clock decides."""
    clock: Clock = field(default_factory=Clock)
    seed: int = 0
    plies: int = 6
    """Of the openings that are played first; 0 for none."""
    passes: int = 1
    """How often each of them is played."""


@dataclass(frozen=True)
class Task:
    """A game to play: its number, and what was known when its round began."""

    plan: Plan
    number: int
    opening: tuple[int, ...]
    known: bytes


@dataclass(frozen=True)
class Played:
    """A game that has been learnt from."""

    number: int
    record: Record
    lesson: Lesson


Each = Callable[[Callable[[Task], Record], Iterable[Task]], Iterable[Record]]


def all_openings(plies: int) -> list[tuple[int, ...]]:
    """All sequences of so many moves, the first move always the same: 2,050 of six plies."""
    start = Position.start()
    lines = [((move := start.parse_move(FIRST)),)] if plies else []
    return [line for first in lines for line in _longer(first, start.after(move), plies - 1)]


def _longer(line: tuple[int, ...], position: Position, plies: int) -> Iterator[tuple[int, ...]]:
    if not plies or position.over:
        yield line
        return
    for move in position.legal_moves():
        yield from _longer((*line, move), position.after(move), plies - 1)


# ---- one game -------------------------------------------------------------------------------------------------------
def play_task(task: Task) -> Record:
    """Play a game of Otage against itself."""
    memory, tree = _unpack(task.known)
    players = [Otage(task.plan.limit, explore=0 if task.opening else EXPLORE) for _ in range(2)]
    for side, player in enumerate(players):
        player.know(memory, tree)
        player.begin(Game.OTHELLO, random.Random(f"{task.plan.seed}/{task.number}/{side}").getrandbits(63))
    record = play_game(players, Position.start(), task.opening, task.plan.clock)
    depths = format_depths(record, players[0].depths | players[1].depths)
    tags = {"Black": "otage", "White": "otage", "Event": EVENT, "Round": str(task.number + 1), DEPTHS: depths}
    return Record(record.start, record.moves, tags=tags, loser=record.loser, reason=record.reason)


def _pack(memory: Memory, games: Iterable[Record]) -> bytes:
    """What is known, for workers wherever they are."""
    return zlib.compress(json.dumps([memory.format(), [record.moves for record in games]]).encode(), 1)


@lru_cache(2)
def _unpack(known: bytes) -> tuple[Memory, Tree]:
    text, games = json.loads(zlib.decompress(known))
    return Memory.parse(text), Tree(Record(Position.start(), tuple(moves)) for moves in games)


# ---- many -----------------------------------------------------------------------------------------------------------
def autoplay(folder: Path, plan: Plan, games: int, each: Each = map, place: str = "") -> Iterator[Record | Played]:
    """Play until so many games have been played and learnt from: each game as it ends, then what it taught.

    The archive is in the folder unless it is at another place.
    """
    if folder.exists() and not folder.is_dir():
        raise ConfigError(f"{str(folder)!r} is a file: name a folder for what Otage learns")
    folder.mkdir(parents=True, exist_ok=True)
    memory, archive = Memory.read(folder / FILE), Archive(place or folder / GAMES)
    openings = all_openings(plan.plies) * plan.passes
    try:
        kept = {int(record.tags["Round"]) - 1: record for record in _of_autoplay(archive)}
        if lacking := sum(number not in kept for number in range(memory.autoplay)):
            told = f"{lacking} of the {memory.autoplay} games that {folder} has learnt from are missing"
            raise ConfigError(f"{told}: say --archive as before, or begin in a new folder")
        others = [record for record in archive.records(archive.numbers(Wanted())) if record.tags.get("Event") != EVENT]
        while memory.autoplay < games:
            numbers = range(memory.autoplay, min(games, memory.autoplay + ROUND))
            known = _pack(memory, [*others, *(kept[number] for number in range(memory.autoplay))])
            missing = [number for number in numbers if number not in kept]
            tasks = [Task(plan, n, openings[n] if n < len(openings) else (), known) for n in missing]
            for number, record in zip(missing, each(play_task, tasks), strict=True):
                archive.add(record)
                kept[number] = record
                yield record
            lessons = [learn(memory, kept[number], _loser(kept[number])) for number in numbers]
            memory.autoplay = numbers.stop
            memory.write(folder / FILE)
            yield from (Played(number, kept[number], lesson) for number, lesson in zip(numbers, lessons, strict=True))
    finally:
        archive.close()


def _of_autoplay(archive: Archive) -> Iterator[Record]:
    return archive.records(archive.numbers(Wanted(event=EVENT)))


def _loser(record: Record) -> int:
    """The side that lost, or either if nobody did."""
    return 0 if record.winner is None else 1 - record.winner
