"""Self-play of Otage (report 4, sections II.5.1 and III.6.6): games that build its book and train its patterns.

All openings of a given length are played first; otherwise the book would grow only where it is already dense.  Later
games refine the book: where every move in the book has lost, Otage searches for another move.  In addition, some of
its opening moves are the second choice of its search.

Games are played in rounds.  After each round, Otage learns from the games of the round in the order of their numbers,
so the results do not depend on the number of processes or machines.
"""

import json
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

from awello.archive.archive import Archive, GameFilter
from awello.archive.opening_tree import OpeningTree
from awello.arena.match import make_pair_job
from awello.arena.runner import GameJob, GamePlan, GameResult, PlayerCache, Runner, open_workers
from awello.arena.workers import Jobs, OrderedMap
from awello.errors import ConfigError
from awello.evaluate.otage_memory import MEMORY_FILE, OtageMemory
from awello.limits import Clock, Limit, format_limit
from awello.players.otage import ARCHIVE_FILE, OtagePlayer
from awello.players.otage_learning import DEPTHS_TAG, LearningResult, format_depths, learn_game
from awello.position import Position
from awello.record import Record
from awello.rules.game import Game

AUTOPLAY_EVENT = "Autoplay"
GAMES_PER_ROUND = 20  # games between two updates of the memory
EXPLORATION_PERCENT = 15  # percentage of opening moves that are the second choice of the search
FIRST_MOVE = "c4"  # all first moves are equivalent by symmetry; report 4 plays this one


@dataclass(frozen=True)
class AutoplayPlan(GamePlan):
    """A plan of self-play games: of a whole run or, with a snapshot of Otage's memory, up to the end of a round."""

    limit: Limit | None
    """Limit per move; None: Otage derives its limits from the clock, or uses its default limit if there is no clock."""
    clock: Clock = field(default_factory=Clock)
    seed: int = 0
    opening_plies: int = 6
    """Length in plies of the openings that are played first; 0: no openings."""
    repeats: int = 1
    """Number of games per opening."""
    games: int = 0
    snapshot: bytes = b""
    """Otage's memory and the games so far, serialised for the workers."""
    kind: ClassVar[str] = "autoplay run"

    def opening(self, number: int) -> tuple[int, ...]:
        """Return the opening of game `number`; empty if earlier games have played every opening `repeats` times."""
        openings = list_openings(self.opening_plies)
        return openings[number % len(openings)] if number < len(openings) * self.repeats else ()

    def make_job(self, number: int) -> GameJob:
        limit, opening = f"@{format_limit(self.limit)}" if self.limit else "", self.opening(number)
        spec = f"otage{limit},variety_percent={0 if opening else EXPLORATION_PERCENT}"
        return make_pair_job(Game.OTHELLO, (spec, spec), number, self.seed, opening, self.clock, brief=True)

    def run_job(self, number: int, cache: PlayerCache) -> GameResult:
        players = cache.get_players(self.make_job(number))
        for player in players:
            assert isinstance(player, OtagePlayer)
            player.set_memory(*_unpack_snapshot(self.snapshot))
        result = super().run_job(number, cache)
        depths = {position: depth for player in players for position, depth in player.depths.items()}  # type: ignore
        return replace(result, tags={DEPTHS_TAG: format_depths(result.record, depths)})

    def configuration(self) -> dict[str, Any]:
        """Return an empty dictionary, so that a run can be resumed with other settings."""
        return {}


@lru_cache(1)
def list_openings(plies: int) -> list[tuple[int, ...]]:
    """List all sequences of `plies` moves that begin with `FIRST_MOVE`; there are 2,050 sequences of six moves."""
    start = Position.start()
    lines = [((move := start.parse_move(FIRST_MOVE)),)] if plies else []
    return [extended for line in lines for extended in _extend(line, start.after(move), plies - 1)]


def _extend(line: tuple[int, ...], position: Position, plies: int) -> Iterator[tuple[int, ...]]:
    if not plies or position.over:
        yield line
        return
    for move in position.legal_moves():
        yield from _extend((*line, move), position.after(move), plies - 1)


# ---- snapshots ------------------------------------------------------------------------------------------------------
def _pack_snapshot(memory: OtageMemory, games: Iterable[Record]) -> bytes:
    """Serialise Otage's memory and the games for the workers."""
    return zlib.compress(json.dumps([memory.format(), [record.moves for record in games]]).encode(), 1)


@lru_cache(2)
def _unpack_snapshot(snapshot: bytes) -> tuple[OtageMemory, OpeningTree]:
    text, games = json.loads(zlib.decompress(snapshot))
    return OtageMemory.parse(text), OpeningTree(Record(Position.start(), tuple(moves)) for moves in games)


# ---- rounds ---------------------------------------------------------------------------------------------------------
def autoplay(
    folder: Path,
    plan: AutoplayPlan,
    jobs: Jobs = 1,
    archive_location: str = "",
    on_progress: Callable[[int], None] = lambda games: None,
) -> Iterator[tuple[Record, LearningResult]]:
    """Play rounds until the plan's number of games is reached; yield each new game with its `LearningResult`.

    `on_progress` receives the number of games played so far.  The games are also added to the archive at
    `archive_location` (default: an archive in `folder`).  Ctrl-C raises `KeyboardInterrupt`; another call resumes the
    run.
    """
    if folder.exists() and not folder.is_dir():
        raise ConfigError(f"{str(folder)!r} is a file: give a folder for Otage's memory")
    folder.mkdir(parents=True, exist_ok=True)
    memory = OtageMemory.load(folder / MEMORY_FILE)
    own_games = _read_own_games(folder, replace(plan, games=memory.autoplay_games))
    with closing(Archive(archive_location or folder / ARCHIVE_FILE)) as archive, open_workers(jobs) as workers:
        archived_numbers = archive.find_numbers(GameFilter(event=AUTOPLAY_EVENT))
        if len(archived_numbers) < len(own_games):  # an earlier call used another archive
            for record in own_games:
                archive.add(record)
        archived = archive.load_records(archive.find_numbers(GameFilter()))
        records = [*(record for record in archived if record.tags.get("Event") != AUTOPLAY_EVENT), *own_games]
        while memory.autoplay_games < plan.games:
            first, end = memory.autoplay_games, min(plan.games, memory.autoplay_games + GAMES_PER_ROUND)
            round_plan = replace(plan, games=end, snapshot=_pack_snapshot(memory, records))
            new_records = _play_round(round_plan, first, workers, folder, on_progress)
            results = [learn_game(memory, record, _loser(record)) for record in new_records]
            for record in new_records:
                archive.add(record)
            records += new_records
            memory.autoplay_games = end
            memory.save(folder / MEMORY_FILE)
            yield from zip(new_records, results, strict=True)


def _read_own_games(folder: Path, plan: AutoplayPlan) -> list[Record]:
    """Read the autoplay games in `folder` that Otage's memory has learnt from."""
    with Runner(plan, out=folder) as runner:
        if missing := plan.games - len(runner.results):
            problem = f"the memory in {folder} has learnt from {plan.games} games, of which games.jsonl lacks {missing}"
            raise ConfigError(f"{problem}: restore games.jsonl, or start in a new folder")
        return [_add_tags(number, result.record) for number, result in enumerate(runner.results)]


def _play_round(
    plan: AutoplayPlan, first: int, workers: Jobs | OrderedMap, folder: Path, on_progress: Callable[[int], None]
) -> list[Record]:
    """Play a round whose first game is number `first`, except games already in the folder; return all its games."""
    with Runner(plan, workers, folder) as runner:
        on_progress(len(runner.results))
        if not runner.run(lambda: on_progress(len(runner.results))):
            raise KeyboardInterrupt
        return [_add_tags(number, runner.results[number].record) for number in range(first, plan.games)]


def _add_tags(number: int, record: Record) -> Record:
    tags = {**record.tags, "Black": "otage", "White": "otage", "Event": AUTOPLAY_EVENT, "Round": str(number + 1)}
    return replace(record, tags=tags)


def _loser(record: Record) -> int:
    """Return the side that lost; after a draw, side 0."""
    return 0 if record.winner is None else 1 - record.winner
