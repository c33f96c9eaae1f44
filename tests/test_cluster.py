"""A cluster: what its workers find is what is found here, whoever dies, and what is wrong is said in a line."""

import asyncio
import multiprocessing
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, aclosing, asynccontextmanager, closing, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import distributed
import pytest
from conftest import ROOT, awello
from database import find_programs, new_database, postgres
from waiting import PATIENCE, wait_until

from awello import Game, Match, Position, Record, play_match
from awello.archive.archive import Archive, GameFilter
from awello.arena import cluster
from awello.arena.cluster import ClusterJob, _take_players, do, fingerprint
from awello.arena.duel import Duel, play_duel
from awello.arena.runner import Runner, _prepare, _run_batch
from awello.arena.tournament import Tournament, play_tournament
from awello.arena.workers import Jobs, worker_pool
from awello.errors import ConfigError, IllegalMoveError, SpecError
from awello.evaluate.otage_memory import FILE
from awello.learn.autoplay import AutoplayPlan, autoplay
from awello.learn.genetic import GeneticConfig, advance, begin
from awello.learn.selfplay import SelfplayPlan
from awello.limits import Limit
from awello.players.player import find_player, forget_players, register
from awello.web import cluster_slots, engine_pool
from awello.web.cluster_slots import ClusterSlot, ClusterSlots
from awello.web.engine_pool import EnginePool
from awello.web.engine_tasks import AnalyseTask, Answer, ChooseTask, ReviewTask, Task

MATCH = Match(Game.OTHELLO, "random", "alphabeta@2", games=12, seed=3)
PLAYERS = """
import os, signal
from dataclasses import dataclass
from pathlib import Path
from awello import Choice, Player, register

@register("mortal", "takes the process with it, the first time it comes to the end of a game, unless there is a file")
@dataclass
class Mortal(Player):
    unless: Path

    def choose(self, position, clock):
        if len(position.legal_moves()) == 1 and not self.unless.exists():
            self.unless.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return Choice(position.legal_moves()[0])

@register("cursed", "takes every process with it")
@dataclass
class Cursed(Player):
    def choose(self, position, clock):
        os.kill(os.getpid(), signal.SIGKILL)

@register("crook", "plays what it likes")
@dataclass
class Crook(Player):
    def choose(self, position, clock):
        return Choice(0)
"""


@contextmanager
def started(*words: str) -> Iterator[None]:
    """A command of dask, while it lasts."""
    command = [sys.executable, "-m", "dask", *words, "--no-dashboard"]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.terminate()
        process.wait()


@pytest.fixture(scope="module")
def scheduler() -> Iterator[str]:
    """The address of a scheduler."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with started("scheduler", "--host", "127.0.0.1", "--port", str(port)):
        yield f"tcp://127.0.0.1:{port}"


@pytest.fixture(scope="module")
def address(scheduler: str) -> Iterator[str]:
    """The address of a scheduler with two workers."""
    words = ("--nthreads", "1", "--nworkers", "2", "--memory-limit", "0")
    with (
        pytest.MonkeyPatch.context() as patch,
        started("worker", scheduler, *words),
        distributed.Client(scheduler, timeout=PATIENCE, set_as_default=False) as client,
    ):
        client.wait_for_workers(2, timeout=PATIENCE)
        patch.setattr(cluster, "CONNECTING", PATIENCE)
        yield scheduler


@pytest.fixture
def own_players(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Players that workers do not know."""
    file = tmp_path / "own.py"
    file.write_text(PLAYERS)
    monkeypatch.setenv("AWELLO_PLAYERS", str(file))
    yield
    forget_players()


def moves(match: Match, jobs: Jobs = 1) -> list[tuple[int, ...]]:
    return [record.moves for record in play_match(match, jobs).records]


# --- who cannot be asked ----------------------------------------------------------------------------------------------
def one_line(*words: str) -> str:
    """What a match that cannot be played says."""
    left = awello("match", "othello", "random", "random", *words)
    assert (left.returncode, left.stdout, left.stderr.count("\n")) == (2, "", 1)
    return left.stderr


def test_no_scheduler_and_no_workers_are_errors_of_a_line(scheduler: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with distributed.Client(scheduler, timeout=PATIENCE, set_as_default=False):
        wait = distributed.Client.wait_for_workers
        monkeypatch.setattr(cluster, "CONNECTING", PATIENCE)
        monkeypatch.setattr(distributed.Client, "wait_for_workers", lambda *words, timeout: wait(*words, timeout=0.1))
        said = one_line("--cluster", scheduler)
        assert f"no workers at {scheduler}: start some with 'dask worker {scheduler} --nthreads 1 --nworkers N'" in said
    monkeypatch.setattr(cluster, "CONNECTING", 0.3)
    said = one_line("--cluster", "tcp://127.0.0.1:9")
    assert "no scheduler answers at tcp://127.0.0.1:9: start one with 'dask scheduler'" in said
    assert "'dask worker tcp://HOST:8786 --nthreads 1 --nworkers N'" in said
    assert "no address" in one_line("--cluster", "somewhere")
    assert "leave one out" in one_line("--cluster", scheduler, "--jobs", "2")
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert "pip install 'awello[cluster]'" in one_line("--cluster", scheduler)


# --- the same as here -------------------------------------------------------------------------------------------------
def test_a_match_is_the_same(address: str) -> None:
    assert moves(MATCH, address) == moves(MATCH)


def test_two_jobs_do_not_mix(address: str) -> None:
    others = [replace(MATCH, second="greedy"), replace(MATCH, game=Game.ABAPA, second="greedy")]
    singles = [(None, range(number, number + 1)) for number in range(6)]
    with worker_pool(address, _prepare, others[0]) as first, worker_pool(address, _prepare, others[1]) as second:
        both = zip(first(_run_batch, singles), second(_run_batch, singles), strict=True)
        found = [(one[0].record.moves, other[0].record.moves) for one, other in both]
    assert found == list(zip(*(moves(replace(match, games=6)) for match in others), strict=True))


def test_a_duel_is_the_same(address: str) -> None:
    duel = Duel(Game.OTHELLO, "alphabeta@2", "random", games=8, fixed=True)
    here, there = play_duel(duel), play_duel(duel, address)
    assert [game.moves for game in there.results] == [game.moves for game in here.results]


def test_selfplay_is_the_same(address: str) -> None:
    found = []
    for jobs in (address, 1):
        with Runner(SelfplayPlan(Game.OTHELLO4, 1, 40, plies=(1, 4)), jobs) as runner:
            runner.run()
            found.append(runner.done)
    assert found[0] == found[1] and len(found[0]) == 40


def test_generations_are_the_same(address: str) -> None:
    plan = GeneticConfig("h2", nodes=1, population=6, fighters=2, boss_depth=1)
    here = there = begin(plan)
    with worker_pool(address) as each:
        for _ in range(2):
            here, there = advance(plan, here), advance(plan, there, each)
    assert (there.population, there.best, there.history) == (here.population, here.best, here.history)


def test_a_tournament_is_the_same_and_its_bots_end(address: str, tmp_path: Path) -> None:
    tournament = Tournament(Game.OTHELLO4, ("random", "greedy"), rounds=6)
    with distributed.Client(address, set_as_default=False) as client:

        def bots() -> int:
            return sum(client.run(lambda: len(multiprocessing.active_children())).values())

        seen: list[int] = []
        there = play_tournament(tournament, tmp_path / "there", address, lambda result: seen.append(bots()))
        assert max(seen) > 0
        wait_until(lambda: bots() == 0)
    here = play_tournament(tournament)
    assert [game.moves for game in there.results] == [game.moves for game in here.results]


# --- what goes wrong --------------------------------------------------------------------------------------------------
def test_a_worker_that_dies_loses_nothing(address: str, own_players: None, tmp_path: Path) -> None:
    marker = tmp_path / "has died"
    match = replace(MATCH, second=f"mortal,unless={marker}")
    there = moves(match, address)
    assert marker.exists()
    assert there == moves(match)


def test_otage_learns_the_same_although_a_worker_is_killed(address: str, tmp_path: Path) -> None:
    """Every game is in the one archive exactly once, on PostgreSQL where there is a server."""
    plan, here, there = AutoplayPlan(Limit(depth=2), seed=5, plies=0, games=12), tmp_path / "here", tmp_path / "there"
    with nullcontext("") if find_programs() is None else postgres() as server:
        place = new_database(server, "otage") if server else str(tmp_path / "games.sqlite")
        with distributed.Client(address, set_as_default=False) as client:

            def kill(played: int) -> None:
                if played == 2:
                    os.kill(min(client.run(os.getpid).values()), signal.SIGKILL)

            list(autoplay(there, plan, address, place, kill))
        list(autoplay(here, plan))
        with closing(Archive(place)) as archive, closing(Archive(here / "games.sqlite")) as local:
            games = [list(each.records(each.numbers(GameFilter()))) for each in (archive, local)]
        rounds = [[int(record.tags["Round"]) for record in each] for each in games]
        assert rounds == [list(range(1, 13))] * 2
        assert [record.moves for record in games[0]] == [record.moves for record in games[1]]
        assert (there / FILE).read_text() == (here / FILE).read_text()


@pytest.mark.slow
def test_a_game_that_kills_every_worker_is_an_error(address: str, own_players: None) -> None:
    with pytest.raises(ConfigError, match="4 workers have died, one after the other, of the same item"):
        play_match(replace(MATCH, second="cursed", games=1), address)


def test_an_error_in_a_game_comes_out_as_it_was(address: str, own_players: None) -> None:
    with pytest.raises(IllegalMoveError, match="player crook chose an illegal move: a1"):
        play_match(replace(MATCH, second="crook"), address)


def test_ctrl_c_keeps_what_was_played_and_leaves_nothing_to_do(address: str) -> None:
    def interrupt(played: int) -> None:
        if played == 3:
            raise KeyboardInterrupt

    result = play_match(replace(MATCH, games=500), address, report=interrupt)
    assert (result.games, result.interrupted) == (3, True)
    with distributed.Client(address, set_as_default=False) as client:
        wait_until(lambda: client.run_on_scheduler(lambda dask_scheduler: not dask_scheduler.tasks))


def test_another_awello_is_refused(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "__version__", "0.0.1")
    fingerprint.cache_clear()
    try:
        with pytest.raises(ConfigError, match=r"the scheduler has another Awello .* than the one that asks \(0.0.1"):
            play_match(MATCH, address)
        monkeypatch.setattr(cluster, "_compare", lambda client: None)  # as if the worker had come later
        with pytest.raises(ConfigError, match=r"the worker tcp.* has another Awello .* than the one that asks \(0.0.1"):
            play_match(MATCH, address)
    finally:
        fingerprint.cache_clear()


def test_workers_lack_players_without_a_file(address: str) -> None:
    register("homeless", "known here alone")(find_player("random").make)
    with pytest.raises(ConfigError, match=r"unknown player 'homeless'.*--import FILE"):
        play_match(replace(MATCH, second="homeless"), address)


# --- in a worker ------------------------------------------------------------------------------------------------------
def test_players_come_along_and_go_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWELLO_PLAYERS", "")
    for name in ("Crook", "Villain"):
        content = PLAYERS.replace("Crook", name).encode()
        _take_players(ClusterJob("", "", ("/nowhere/own.py", content), b""))
        assert Path(os.environ["AWELLO_PLAYERS"]).read_bytes() == content
        assert find_player("crook").make.__name__ == name
    _take_players(ClusterJob("", "", None, b""))
    with pytest.raises(SpecError, match="unknown player 'crook'"):
        find_player("crook")


def test_a_worker_has_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    worker = SimpleNamespace(address="tcp://somewhere", state=SimpleNamespace(nthreads=4))
    monkeypatch.setattr(distributed, "get_worker", lambda: worker)
    with pytest.raises(ConfigError, match="tcp://somewhere has 4 threads: start it with 'dask worker ADDRESS --nthr"):
        do(ClusterJob("new", fingerprint(), None, b""), b"")


# --- engine processes of the page -------------------------------------------------------------------------------------
START = Record(Position.start(Game.OTHELLO))


@asynccontextmanager
async def engines(address: str, count: int = 1, most_seconds: float = PATIENCE) -> AsyncIterator[EnginePool]:
    """A pool of engine processes on a cluster."""
    slots = ClusterSlots(address)
    pool = EnginePool(count, most_seconds, partial(ClusterSlot, slots))
    await pool.start()
    try:
        yield pool
    finally:
        await pool.close()
        await slots.close()


async def ask(pool: EnginePool, task: Task) -> list[Answer]:
    return [answer async for answer in pool.think(task)]


def test_engine_processes_run_on_workers(address: str, own_players: None) -> None:
    async def use() -> None:
        before = multiprocessing.active_children()
        async with engines(address, 2) as pool:
            *analyses, done = await ask(pool, AnalyseTask(START, 0.3))
            assert done["type"] == "done" and {answer["type"] for answer in analyses} == {"analysis"}
            review = ReviewTask(replace(START, moves=(37,)), 0.1)
            assert [answer["type"] for answer in await ask(pool, review)] == ["judgement", "summary", "done"]
            (error,) = await ask(pool, ChooseTask(START, "crook"))
            assert "illegal move" in error["message"], "players of one's own come along"
            assert multiprocessing.active_children() == before
        assert not any((await served(address)).values())

    asyncio.run(asyncio.wait_for(use(), PATIENCE))


async def served(address: str) -> dict[str, int]:
    """The engine processes that each worker has."""
    async with distributed.Client(address, asynchronous=True, set_as_default=False) as client:
        found: dict[str, int] = await client.run(lambda: len(cluster_slots._served))
        return found


def test_an_engine_process_on_a_worker_can_be_stopped_and_killed(address: str) -> None:
    async def use() -> None:
        async with engines(address, most_seconds=1.0) as pool:
            async with aclosing(pool.think(AnalyseTask(START, 3600))) as answers:
                await anext(answers)
            (choice, _) = await ask(pool, ChooseTask(START, "greedy"))
            assert choice["type"] == "choice", "the analysis was stopped"
            (error,) = await ask(pool, ChooseTask(START, "minimax@30"))
            assert error["code"] == "slow", "it does not stop, so its process is killed"
            assert (await ask(pool, ChooseTask(START, "greedy")))[0]["type"] == "choice"

    asyncio.run(asyncio.wait_for(use(), PATIENCE))


def test_a_worker_that_dies_costs_one_answer(address: str) -> None:
    async def use() -> None:
        async with engines(address) as pool:
            async with aclosing(pool.think(AnalyseTask(START, 3600))) as answers:
                await anext(answers)
                worker = next(place for place, count in (await served(address)).items() if count)
                async with distributed.Client(address, asynchronous=True, set_as_default=False) as client:
                    victim = (await client.run(os.getpid, workers=[worker]))[worker]
                    os.kill(victim, signal.SIGKILL)
                rest = [answer async for answer in answers]
            assert rest[-1]["code"] == "crash"
            choice, *_ = await ask(pool, ChooseTask(START, "greedy"))
            assert choice["type"] == "choice", choice

    asyncio.run(asyncio.wait_for(use(), PATIENCE))


def test_a_worker_that_the_scheduler_has_not_missed_yet_is_passed_over() -> None:
    asked: list[str] = []

    class Workers(ClusterSlots):
        async def list_workers(self) -> list[str]:
            return ["dead", "alive"]

        async def call(self, worker: str, function: object, *given: object) -> None:
            asked.append(worker)
            if worker == "dead" or len(asked) > 2:
                raise ConnectionError

    async def use() -> None:
        workers = Workers("")
        slot = ClusterSlot(workers)
        await slot.start()
        assert asked == ["dead", "alive"] and workers.taken == {"dead": 0, "alive": 1}
        await slot.close()
        with pytest.raises(ConnectionError, match="no worker"):
            await ClusterSlot(workers).start()
        assert not workers.taken.total()

    asyncio.run(use())


def test_a_pool_recovers_when_its_scheduler_returns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_pool, "RESTART", 0.1)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"tcp://127.0.0.1:{port}"

    def cluster_of_one() -> ExitStack:
        stack = ExitStack()
        stack.enter_context(started("scheduler", "--host", "127.0.0.1", "--port", str(port)))
        words = ("--nthreads", "1", "--no-nanny", "--memory-limit", "0", "--death-timeout", "1")
        stack.enter_context(started("worker", address, *words))
        return stack

    async def use() -> None:
        monkeypatch.setattr(cluster, "CONNECTING", PATIENCE)
        with cluster_of_one():
            slots = ClusterSlots(address)
            pool = EnginePool(1, PATIENCE, partial(ClusterSlot, slots))
            await pool.start()
            assert (await ask(pool, ChooseTask(START, "greedy")))[0]["type"] == "choice"
        monkeypatch.setattr(cluster, "CONNECTING", 0.5)
        while (error := (await ask(pool, ChooseTask(START, "greedy")))[-1])["code"] != "crash":
            pass
        while "no scheduler answers" not in error["message"]:
            (error,) = await ask(pool, ChooseTask(START, "greedy"))
        monkeypatch.setattr(cluster, "CONNECTING", PATIENCE)
        with cluster_of_one():
            while (await ask(pool, ChooseTask(START, "greedy")))[0]["type"] != "choice":
                pass
            await pool.close()
            await slots.close()

    asyncio.run(asyncio.wait_for(use(), PATIENCE))


def test_a_server_refuses_a_cluster_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "CONNECTING", 0.3)
    words = ("serve", "--no-browser", "--port", "0", "--no-archive", "--cluster", "tcp://127.0.0.1:9")
    done = awello(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("awello: no scheduler answers at tcp://127.0.0.1:9: start one with 'dask scheduler'")
