"""Clusters: results equal those of local runs, no result is lost if a worker dies, and errors fit on one line."""

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
from waiting import TIMEOUT, wait_until

from awello import Game, Match, Position, Record, play_match
from awello.archive.archive import Archive, GameFilter
from awello.arena import cluster
from awello.arena.cluster import ClusterRun, _load_players, compute_fingerprint, execute_task
from awello.arena.duel import Duel, play_duel
from awello.arena.runner import Runner, _init_worker, _run_batch
from awello.arena.tournament import Tournament, play_tournament
from awello.arena.workers import Jobs, open_worker_pool
from awello.errors import ConfigError, IllegalMoveError, SpecError
from awello.evaluate.otage_memory import MEMORY_FILE
from awello.learn.autoplay import AutoplayPlan, autoplay
from awello.learn.genetic import GeneticConfig, run_generation, start_evolution
from awello.learn.selfplay import SelfplayPlan
from awello.limits import Limit
from awello.players.player import find_player, register, unregister_user_players
from awello.web import cluster_slots, engine_pool
from awello.web.cluster_slots import ClusterSlot, ClusterWorkers
from awello.web.engine_pool import EnginePool
from awello.web.engine_tasks import AnalyseTask, ChooseTask, ReviewTask, Task, TaskResponse

MATCH = Match(Game.OTHELLO, "random", "alphabeta@2", games=12, seed=3)
PLAYERS = """
import os, signal
from dataclasses import dataclass
from pathlib import Path
from awello import Choice, Player, register

@register("dies-once", "kills its process once, near the end of a game")
@dataclass
class DyingOncePlayer(Player):
    marker: Path

    def choose(self, position, clock):
        if len(position.legal_moves()) == 1 and not self.marker.exists():
            self.marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return Choice(position.legal_moves()[0])

@register("dies", "kills its process at every move")
@dataclass
class DyingPlayer(Player):
    def choose(self, position, clock):
        os.kill(os.getpid(), signal.SIGKILL)

@register("illegal-move", "plays an illegal move")
@dataclass
class IllegalMovePlayer(Player):
    def choose(self, position, clock):
        return Choice(0)
"""


@contextmanager
def run_dask(*words: str) -> Iterator[None]:
    """Run a dask command during the `with` block."""
    command = [sys.executable, "-m", "dask", *words, "--no-dashboard"]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.terminate()
        process.wait()


@pytest.fixture(scope="module")
def scheduler() -> Iterator[str]:
    """Run a scheduler; yield its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with run_dask("scheduler", "--host", "127.0.0.1", "--port", str(port)):
        yield f"tcp://127.0.0.1:{port}"


@pytest.fixture(scope="module")
def address(scheduler: str) -> Iterator[str]:
    """Run two workers connected to the scheduler; yield the scheduler's address."""
    words = ("--nthreads", "1", "--nworkers", "2", "--memory-limit", "0")
    with (
        pytest.MonkeyPatch.context() as patch,
        run_dask("worker", scheduler, *words),
        distributed.Client(scheduler, timeout=TIMEOUT, set_as_default=False) as client,
    ):
        client.wait_for_workers(2, timeout=TIMEOUT)
        patch.setattr(cluster, "CONNECT_TIMEOUT", TIMEOUT)
        yield scheduler


@pytest.fixture
def user_players(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Set AWELLO_PLAYERS to a file of players that the workers have not loaded."""
    file = tmp_path / "own.py"
    file.write_text(PLAYERS)
    monkeypatch.setenv("AWELLO_PLAYERS", str(file))
    yield
    unregister_user_players()


def moves(match: Match, jobs: Jobs = 1) -> list[tuple[int, ...]]:
    return [record.moves for record in play_match(match, jobs).records]


# --- errors without a cluster -----------------------------------------------------------------------------------------
def run_and_read_error(*words: str) -> str:
    """Run a match that cannot be played; return the error message."""
    left = awello("match", "othello", "random", "random", *words)
    assert (left.returncode, left.stdout, left.stderr.count("\n")) == (2, "", 1)
    return left.stderr


def test_no_scheduler_and_no_workers_are_one_line_errors(scheduler: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with distributed.Client(scheduler, timeout=TIMEOUT, set_as_default=False):
        wait = distributed.Client.wait_for_workers
        monkeypatch.setattr(cluster, "CONNECT_TIMEOUT", TIMEOUT)
        monkeypatch.setattr(distributed.Client, "wait_for_workers", lambda *words, timeout: wait(*words, timeout=0.1))
        error = run_and_read_error("--cluster", scheduler)
        command = f"dask worker {scheduler} --nthreads 1 --nworkers N"
        assert f"the scheduler at {scheduler} has no workers: start some with '{command}'" in error
    monkeypatch.setattr(cluster, "CONNECT_TIMEOUT", 0.3)
    error = run_and_read_error("--cluster", "tcp://127.0.0.1:9")
    assert "no scheduler answers at tcp://127.0.0.1:9: start one with 'dask scheduler'" in error
    assert "'dask worker tcp://HOST:8786 --nthreads 1 --nworkers N'" in error
    assert "is not a scheduler address" in run_and_read_error("--cluster", "somewhere")
    assert "omit one" in run_and_read_error("--cluster", scheduler, "--jobs", "2")
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert "pip install 'awello[cluster]'" in run_and_read_error("--cluster", scheduler)


# --- same results as local runs ---------------------------------------------------------------------------------------
def test_a_match_is_the_same(address: str) -> None:
    assert moves(MATCH, address) == moves(MATCH)


def test_two_jobs_do_not_mix(address: str) -> None:
    others = [replace(MATCH, second="greedy"), replace(MATCH, game=Game.ABAPA, second="greedy")]
    singles = [(None, range(number, number + 1)) for number in range(6)]
    with (
        open_worker_pool(address, _init_worker, others[0]) as first,
        open_worker_pool(address, _init_worker, others[1]) as second,
    ):
        both = zip(first(_run_batch, singles), second(_run_batch, singles), strict=True)
        found = [(one[0].record.moves, other[0].record.moves) for one, other in both]
    assert found == list(zip(*(moves(replace(match, games=6)) for match in others), strict=True))


def test_a_duel_is_the_same(address: str) -> None:
    duel = Duel(Game.OTHELLO, "alphabeta@2", "random", games=8, fixed=True)
    local, remote = play_duel(duel), play_duel(duel, address)
    assert [game.moves for game in remote.results] == [game.moves for game in local.results]


def test_selfplay_is_the_same(address: str) -> None:
    found = []
    for jobs in (address, 1):
        with Runner(SelfplayPlan(Game.OTHELLO4, 1, 40, opening_plies=(1, 4)), jobs) as runner:
            runner.run()
            found.append(runner.results)
    assert found[0] == found[1] and len(found[0]) == 40


def test_generations_are_the_same(address: str) -> None:
    config = GeneticConfig("h2", nodes=1, population_size=6, opponents=2, reference_depth=1)
    local = remote = start_evolution(config)
    with open_worker_pool(address) as each:
        for _ in range(2):
            local, remote = run_generation(config, local), run_generation(config, remote, each)
    assert (remote.population, remote.best, remote.history) == (local.population, local.best, local.history)


def test_a_tournament_is_the_same_and_its_bots_end(address: str, tmp_path: Path) -> None:
    tournament = Tournament(Game.OTHELLO4, ("random", "greedy"), rounds=6)
    with distributed.Client(address, set_as_default=False) as client:

        def bots() -> int:
            return sum(client.run(lambda: len(multiprocessing.active_children())).values())

        seen: list[int] = []
        remote = play_tournament(tournament, address, tmp_path / "remote", lambda result: seen.append(bots()))
        assert max(seen) > 0
        wait_until(lambda: bots() == 0)
    local = play_tournament(tournament)
    assert [game.moves for game in remote.results] == [game.moves for game in local.results]


# --- failures ---------------------------------------------------------------------------------------------------------
def test_a_worker_that_dies_loses_nothing(address: str, user_players: None, tmp_path: Path) -> None:
    marker = tmp_path / "has died"
    match = replace(MATCH, second=f"dies-once,marker={marker}")
    remote = moves(match, address)
    assert marker.exists()
    assert remote == moves(match)


def test_otage_learns_the_same_although_a_worker_is_killed(address: str, tmp_path: Path) -> None:
    """Every game is archived exactly once; if PostgreSQL is installed, the cluster's games are archived there."""
    plan = AutoplayPlan(Limit(depth=2), seed=5, opening_plies=0, games=12)
    local, remote = tmp_path / "local", tmp_path / "remote"
    with nullcontext("") if find_programs() is None else postgres() as server:
        database = new_database(server, "otage") if server else str(tmp_path / "games.sqlite")
        with distributed.Client(address, set_as_default=False) as client:

            def kill(played: int) -> None:
                if played == 2:
                    os.kill(min(client.run(os.getpid).values()), signal.SIGKILL)

            list(autoplay(remote, plan, address, database, kill))
        list(autoplay(local, plan))
        with closing(Archive(database)) as archive, closing(Archive(local / "games.sqlite")) as local_archive:
            games = [list(each.load_records(each.find_numbers(GameFilter()))) for each in (archive, local_archive)]
        rounds = [[int(record.tags["Round"]) for record in each] for each in games]
        assert rounds == [list(range(1, 13))] * 2
        assert [record.moves for record in games[0]] == [record.moves for record in games[1]]
        assert (remote / MEMORY_FILE).read_text() == (local / MEMORY_FILE).read_text()


@pytest.mark.slow
def test_a_game_that_kills_every_worker_is_an_error(address: str, user_players: None) -> None:
    with pytest.raises(ConfigError, match="4 workers died one after another while executing the same task"):
        play_match(replace(MATCH, second="dies", games=1), address)


def test_errors_in_a_game_are_raised_unchanged(address: str, user_players: None) -> None:
    with pytest.raises(IllegalMoveError, match="player illegal-move chose an illegal move: a1"):
        play_match(replace(MATCH, second="illegal-move"), address)


def test_ctrl_c_keeps_results_and_cancels_pending_items(address: str) -> None:
    def interrupt(played: int) -> None:
        if played == 3:
            raise KeyboardInterrupt

    result = play_match(replace(MATCH, games=500), address, on_progress=interrupt)
    assert (result.games, result.interrupted) == (3, True)
    with distributed.Client(address, set_as_default=False) as client:
        wait_until(lambda: client.run_on_scheduler(lambda dask_scheduler: not dask_scheduler.tasks))


def test_another_version_is_refused(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "__version__", "0.0.1")
    compute_fingerprint.cache_clear()
    try:
        with pytest.raises(
            ConfigError, match=r"the scheduler and the client have different versions of Awello \(.*, 0.0.1"
        ):
            play_match(MATCH, address)
        # Skip the check of the versions, as if the worker had joined after this check.
        monkeypatch.setattr(cluster, "_check_fingerprints", lambda client: None)
        with pytest.raises(
            ConfigError, match=r"the worker tcp.* and the client have different versions of Awello \(.*, 0.0.1"
        ):
            play_match(MATCH, address)
    finally:
        compute_fingerprint.cache_clear()


def test_workers_lack_players_without_a_file(address: str) -> None:
    register("local_only", "registered only in this process")(find_player("random").player_class)
    with pytest.raises(ConfigError, match=r"unknown player 'local_only'.*--import FILE"):
        play_match(replace(MATCH, second="local_only"), address)


# --- inside a worker --------------------------------------------------------------------------------------------------
def test_user_players_are_loaded_and_unloaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWELLO_PLAYERS", "")
    for name in ("IllegalMovePlayer", "RenamedPlayer"):
        content = PLAYERS.replace("IllegalMovePlayer", name).encode()
        _load_players(ClusterRun("", "", ("/nowhere/own.py", content), b""))
        assert Path(os.environ["AWELLO_PLAYERS"]).read_bytes() == content
        assert find_player("illegal-move").player_class.__name__ == name
    _load_players(ClusterRun("", "", None, b""))
    with pytest.raises(SpecError, match="unknown player 'illegal-move'"):
        find_player("illegal-move")


def test_a_worker_has_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    worker = SimpleNamespace(address="tcp://somewhere", state=SimpleNamespace(nthreads=4))
    monkeypatch.setattr(distributed, "get_worker", lambda: worker)
    with pytest.raises(ConfigError, match="has 4 threads instead of one: restart it with 'dask worker ADDRESS --nth"):
        execute_task(ClusterRun("new", compute_fingerprint(), None, b""), b"")


# --- engine processes of the page -------------------------------------------------------------------------------------
START = Record(Position.start(Game.OTHELLO))


@asynccontextmanager
async def engines(address: str, count: int = 1, max_seconds: float = TIMEOUT) -> AsyncIterator[EnginePool]:
    """Run a pool of engine processes on a cluster."""
    workers = ClusterWorkers(address)
    pool = EnginePool(count, max_seconds, partial(ClusterSlot, workers))
    await pool.start()
    try:
        yield pool
    finally:
        await pool.close()
        await workers.close()


async def collect_responses(pool: EnginePool, task: Task) -> list[TaskResponse]:
    return [response async for response in pool.run(task)]


def test_engine_processes_run_on_workers(address: str, user_players: None) -> None:
    async def use() -> None:
        before = multiprocessing.active_children()
        async with engines(address, 2) as pool:
            *analyses, done = await collect_responses(pool, AnalyseTask(START, 0.3))
            assert done["type"] == "done" and {response["type"] for response in analyses} == {"analysis"}
            review = ReviewTask(replace(START, moves=(37,)), 0.1)
            assert [response["type"] for response in await collect_responses(pool, review)] == [
                "move_review",
                "summary",
                "done",
            ]
            (error,) = await collect_responses(pool, ChooseTask(START, "illegal-move"))
            assert "illegal move" in error["message"], "the worker has loaded the user's players"
            assert multiprocessing.active_children() == before
        assert not any((await count_engine_processes(address)).values())

    asyncio.run(asyncio.wait_for(use(), TIMEOUT))


async def count_engine_processes(address: str) -> dict[str, int]:
    """Return the number of engine processes on each worker."""
    async with distributed.Client(address, asynchronous=True, set_as_default=False) as client:
        found: dict[str, int] = await client.run(lambda: len(cluster_slots._worker_slots))
        return found


def test_an_engine_process_on_a_worker_can_be_stopped_and_killed(address: str) -> None:
    async def use() -> None:
        async with engines(address, max_seconds=1.0) as pool:
            async with aclosing(pool.run(AnalyseTask(START, 3600))) as responses:
                await anext(responses)
            (choice, _) = await collect_responses(pool, ChooseTask(START, "greedy"))
            assert choice["type"] == "choice", "the analysis was stopped when its client left"
            (error,) = await collect_responses(pool, ChooseTask(START, "minimax@30"))
            assert error["code"] == "player_timeout", "the search does not stop, so its process is killed"
            assert (await collect_responses(pool, ChooseTask(START, "greedy")))[0]["type"] == "choice"

    asyncio.run(asyncio.wait_for(use(), TIMEOUT))


def test_a_worker_that_dies_loses_one_response(address: str) -> None:
    async def use() -> None:
        async with engines(address) as pool:
            async with aclosing(pool.run(AnalyseTask(START, 3600))) as responses:
                await anext(responses)
                worker = next(worker for worker, count in (await count_engine_processes(address)).items() if count)
                async with distributed.Client(address, asynchronous=True, set_as_default=False) as client:
                    victim = (await client.run(os.getpid, workers=[worker]))[worker]
                    os.kill(victim, signal.SIGKILL)
                rest = [response async for response in responses]
            assert rest[-1]["code"] in ("player_crashed", "search_crashed")
            choice, *_ = await collect_responses(pool, ChooseTask(START, "greedy"))
            assert choice["type"] == "choice", choice

    asyncio.run(asyncio.wait_for(use(), TIMEOUT))


def test_a_dead_worker_that_the_scheduler_still_lists_is_skipped() -> None:
    called: list[str] = []

    class Workers(ClusterWorkers):
        async def list_workers(self) -> list[str]:
            return ["dead", "alive"]

        async def call(self, worker: str, function: object, *given: object) -> None:
            called.append(worker)
            if worker == "dead" or len(called) > 2:
                raise ConnectionError

    async def use() -> None:
        workers = Workers("")
        slot = ClusterSlot(workers)
        await slot.start()
        assert called == ["dead", "alive"] and workers.slot_counts == {"dead": 0, "alive": 1}
        await slot.close()
        with pytest.raises(ConnectionError, match="no worker"):
            await ClusterSlot(workers).start()
        assert not workers.slot_counts.total()

    asyncio.run(use())


def test_a_pool_recovers_when_its_scheduler_returns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_pool, "RESTART_DELAY", 0.1)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"tcp://127.0.0.1:{port}"

    def cluster_of_one() -> ExitStack:
        stack = ExitStack()
        stack.enter_context(run_dask("scheduler", "--host", "127.0.0.1", "--port", str(port)))
        words = ("--nthreads", "1", "--no-nanny", "--memory-limit", "0", "--death-timeout", "1")
        stack.enter_context(run_dask("worker", address, *words))
        return stack

    async def use() -> None:
        monkeypatch.setattr(cluster, "CONNECT_TIMEOUT", TIMEOUT)
        with cluster_of_one():
            workers = ClusterWorkers(address)
            pool = EnginePool(1, TIMEOUT, partial(ClusterSlot, workers))
            await pool.start()
            assert (await collect_responses(pool, ChooseTask(START, "greedy")))[0]["type"] == "choice"
        monkeypatch.setattr(cluster, "CONNECT_TIMEOUT", 0.5)
        codes = ("player_crashed", "engine_unavailable", "engine_not_started")
        while (error := (await collect_responses(pool, ChooseTask(START, "greedy")))[-1]).get("code") not in codes:
            pass
        while "no scheduler answers" not in error["message"]:
            (error,) = await collect_responses(pool, ChooseTask(START, "greedy"))
        monkeypatch.setattr(cluster, "CONNECT_TIMEOUT", TIMEOUT)
        with cluster_of_one():
            while (await collect_responses(pool, ChooseTask(START, "greedy")))[0]["type"] != "choice":
                pass
            await pool.close()
            await workers.close()

    asyncio.run(asyncio.wait_for(use(), TIMEOUT))


def test_a_server_refuses_a_cluster_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "CONNECT_TIMEOUT", 0.3)
    words = ("serve", "--no-browser", "--port", "0", "--no-archive", "--cluster", "tcp://127.0.0.1:9")
    done = awello(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("awello: no scheduler answers at tcp://127.0.0.1:9: start one with 'dask scheduler'")
