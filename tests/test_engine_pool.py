"""Real engine processes with misbehaving players, cancelled tasks and many tasks at the same time."""

import asyncio
import multiprocessing
import signal
import subprocess
import sys
import threading
from collections.abc import Coroutine, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

import pytest
from conftest import ROOT
from reference_rules import ReferenceOthello
from waiting import TIMEOUT, wait_until, wait_until_async

from awello import PASS, Game, Position, Record, parse_position
from awello.engine.engine import Engine
from awello.engine.tablebase import load_or_build_tablebase
from awello.limits import Limit
from awello.review.review import review_game, summarise
from awello.web import engine_pool, engine_slots
from awello.web.engine_pool import EngineJob, EnginePool
from awello.web.engine_tasks import (
    AnalyseTask,
    ChooseTask,
    ReviewTask,
    Task,
    TaskProgress,
    TaskResponse,
    TaskRunner,
    TaskStopped,
    respond_immediately,
)

LONG = 3600.0  # seconds: longer than any test
Result = TypeVar("Result")


@dataclass
class PoolRunner:
    """A pool with one process, and its event loop."""

    runner: asyncio.Runner
    pool: EnginePool

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        return self.runner.run(asyncio.wait_for(work, TIMEOUT))

    def collect(self, task: Task) -> list[TaskResponse]:
        return self.run(collect(self.pool, task))


async def collect(pool: EnginePool, task: Task) -> list[TaskResponse]:
    async with aclosing(pool.run(task)) as responses:
        return [response async for response in responses]


@pytest.fixture(scope="module")
def runner_pool() -> Iterator[PoolRunner]:
    with pytest.MonkeyPatch.context() as patch, asyncio.Runner() as runner:
        patch.setenv("AWELLO_PLAYERS", str(ROOT / "tests" / "failing_bots.py"))
        pool = EnginePool(1)
        runner.run(pool.start())
        yield PoolRunner(runner, pool)
        runner.run(pool.close())
    assert not multiprocessing.active_children()


def play(game: Game, plies: int = 600) -> Record:
    """Return a deterministic game: the move at ply n is the legal move of index n modulo the number of legal moves."""
    position, moves = Position.start(game), list[int]()
    while len(moves) < plies and (legal := position.legal_moves()):
        moves.append(legal[len(moves) % len(legal)])
        position = position.after(moves[-1])
    return Record(Position.start(game), tuple(moves))


@cache
def solve(reference: ReferenceOthello) -> int:
    """Return the mover's margin with best play by both sides."""
    moves = reference.legal_moves()
    if not moves:
        black, white = reference.score()
        return (white - black) if reference.side else (black - white)
    return max(-solve(reference.play(move)) for move in moves)


def reference_at(position: Position) -> ReferenceOthello:
    letters = ("X" if position.first >> at & 1 else "O" if position.second >> at & 1 else "." for at in range(64))
    return ReferenceOthello(position.game.size, tuple(letters), position.side)


# --- choices ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("spec", ["greedy", "champion@level=2", "alphabeta@3", "uct@200n"])
def test_choices_are_legal(runner_pool: PoolRunner, game: Game, spec: str) -> None:
    record = play(game, 2)
    choice, done = runner_pool.collect(ChooseTask(record, spec, seed=3))
    legal = [record.final.format_move(move) for move in record.final.legal_moves()]
    assert done == {"type": "done"}
    assert choice["move"] in legal and choice["pv"][0] == choice["move"]
    assert (choice["value"] is None) == (not spec.startswith("champion") and not choice["exact"])
    assert (choice["depth"] is None) == (spec == "greedy")


@pytest.mark.parametrize("spec", ["champion@level=10", "minimax@20"])
def test_exact_values_of_choices_are_margins(runner_pool: PoolRunner, spec: str) -> None:
    board = parse_position("0-0-0-0-1-2-1-0-0-2-0-0-20-22-S", Game.ABAPA)
    choice, _ = runner_pool.collect(ChooseTask(Record(board), spec))
    assert choice["exact"] and choice["value"] == load_or_build_tablebase(Game.ABAPA).value(board) - 2


def test_a_pass_and_a_finished_game_need_no_process() -> None:
    passing = Record(parse_position("XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXO- O"))
    assert passing.final.legal_moves() == (PASS,)
    pool = EnginePool(0)
    choice, done = asyncio.run(collect(pool, ChooseTask(passing, "nobody")))
    assert (choice["move"], choice["pv"], done["type"]) == ("pass", ["pass"], "done")
    for task in (ChooseTask(play(Game.OTHELLO4), "greedy"), AnalyseTask(play(Game.ABAPA), 1)):
        (error,) = asyncio.run(collect(pool, task))
        assert (error["type"], error["code"]) == ("error", "final_position")
    assert not respond_immediately(AnalyseTask(passing, 1)) and not respond_immediately(ReviewTask(passing, 1))


@pytest.mark.parametrize(
    ("spec", "code", "word"),
    [
        ("nobody", "player_error", "unknown player"),
        ("human", "player_error", "terminal"),
        ("champion@1s,threads=64", "player_error", "threads"),
        ("minimax@99", "player_error", "depth"),
        ("first,failure=exception", "player_failed", "ZeroDivisionError"),
        ("first,failure=exception,where=begin", "player_failed", "ZeroDivisionError"),
        ("first,failure=leaves", "player_failed", "SystemExit"),
        ("first,failure=illegal", "player_illegal_move", "illegal"),
        ("first,failure=unwrapped", "player_illegal_move", "Choice"),
        ("first,failure=resigns", "player_resigned", "resigns"),
        ("first,failure=segfault", "player_crashed", "crashed"),
    ],
)
def test_failures_affect_one_request(runner_pool: PoolRunner, spec: str, code: str, word: str) -> None:
    (error,) = runner_pool.collect(ChooseTask(play(Game.OTHELLO, 3), spec))
    assert (error["type"], error["code"], error["params"]["player"]) == ("error", code, spec)
    assert word in error["message"]
    assert "Traceback" not in error["message"] and "\n" not in error["message"] and "/" not in error["message"]
    assert runner_pool.collect(ChooseTask(play(Game.OTHELLO, 3), "first,failure=prints"))[0]["move"]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the memory of a process")
def test_too_much_memory_fails_one_request(runner_pool: PoolRunner) -> None:
    (error,) = runner_pool.collect(ChooseTask(play(Game.OTHELLO, 3), "first,failure=hoards"))
    assert error["code"] == "out_of_memory" and "memory" in error["message"]
    assert runner_pool.collect(ChooseTask(play(Game.OTHELLO, 3), "greedy"))[0]["type"] == "choice"


def test_choices_have_a_time_limit(runner_pool: PoolRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner_pool.pool, "max_seconds", 0.3)
    (error,) = runner_pool.collect(ChooseTask(play(Game.OTHELLO, 3), "minimax@30"))
    assert error["code"] == "player_timeout" and error["message"].startswith("minimax@30 took longer than 0.3 s")
    assert error["params"] == {"player": "minimax@30", "seconds": 0.3}
    monkeypatch.undo()
    assert runner_pool.collect(ChooseTask(play(Game.OTHELLO, 3), "greedy"))[0]["type"] == "choice"


# --- analyses ---------------------------------------------------------------------------------------------------------
def test_an_analysis_improves_and_ends(runner_pool: PoolRunner, game: Game) -> None:
    record = play(game, 3)
    *responses, done = runner_pool.collect(AnalyseTask(record, 0.3))
    assert done["type"] == "done" and responses
    assert [response["depth"] for response in responses] == sorted(response["depth"] for response in responses)
    legal = sorted(record.final.format_move(move) for move in record.final.legal_moves())
    for response in responses:
        values = [move["value"] for move in response["moves"]]
        assert sorted(move["move"] for move in response["moves"]) == legal
        assert values == sorted(values, reverse=True) and values[0] == response["value"]


def test_the_end_of_othello_is_exact(runner_pool: PoolRunner) -> None:
    position = play(Game.OTHELLO4, 6).final
    *_, last, _ = runner_pool.collect(AnalyseTask(Record(position), LONG))
    values = {move["move"]: move["value"] for move in last["moves"] if move["exact"]}
    moves = position.legal_moves()
    assert values == {position.format_move(move): -solve(reference_at(position.after(move))) for move in moves}
    assert last["exact"] and last["value"] == solve(reference_at(position)) and last["confidence"] == 100


def test_the_end_of_awale_is_exact_and_counts_captured_seeds(runner_pool: PoolRunner) -> None:
    position = parse_position("0-2-0-0-1-2-1-0-0-2-0-0-20-20-S", Game.ABAPA)
    north = parse_position("0-2-0-0-1-2-1-0-0-2-0-0-24-16-N", Game.ABAPA)
    for board, taken in ((position, 0), (north, -8)):
        *_, last, _ = runner_pool.collect(AnalyseTask(Record(board), LONG))
        expected = {
            board.format_move(move): value + taken
            for move, value in load_or_build_tablebase(Game.ABAPA).move_values(board).items()
        }
        assert {move["move"]: move["value"] for move in last["moves"]} == expected and last["exact"]


def test_an_unfetched_analysis_is_replaced() -> None:
    job = EngineJob(AnalyseTask(play(Game.OTHELLO, 0), 1), 0.0)
    for depth in range(1000):
        job.post({"type": "analysis", "depth": depth})
    job.post({"type": "done"})
    assert list(job.responses) == [{"type": "analysis", "depth": 999}, {"type": "done"}]


# --- reviews ----------------------------------------------------------------------------------------------------------
def test_an_interrupted_review_searches_each_move_once(
    runner_pool: PoolRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_pool, "TIME_SLICE", 0.01)
    monkeypatch.setattr(engine_pool, "REVIEW_DELAY", 0.0)
    monkeypatch.setattr(engine_pool, "SCHEDULE_INTERVAL", 0.01)
    record = play(Game.OTHELLO4)

    async def both() -> list[TaskResponse]:
        disturbing = asyncio.create_task(collect(runner_pool.pool, AnalyseTask(play(Game.OTHELLO, 9), 1.0)))
        try:
            return await collect(runner_pool.pool, ReviewTask(record, 10))
        finally:
            await disturbing

    *reviews, summary, done = runner_pool.run(both())
    with Engine(Game.OTHELLO4) as engine:
        expected = list(review_game(record, engine, Limit(seconds=10)))
    assert done["type"] == "done"
    assert [review["ply"] for review in reviews] == list(range(len(record.moves), 0, -1))
    found = [(item["value"], item["best_value"], item["loss"], item["mark"], item["exact"]) for item in reviews]
    assert found == [(item.value, item.best_value, item.loss, item.mark, item.exact) for item in expected]
    for side, side_summary in enumerate(summary["sides"]):
        assert side_summary["blunders"] == summarise(expected, side).blunders
        assert side_summary["accuracy"] == round(summarise(expected, side).accuracy, 2)


def test_a_review_searches_nothing_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    task, progress = ReviewTask(play(Game.OTHELLO4), 10), TaskProgress()
    reviews = list(TaskRunner().run(task, progress))
    progress.reviews_sent = 3
    monkeypatch.delattr(TaskRunner, "get_engine")
    assert list(TaskRunner().run(task, progress)) == reviews[3:]


def test_a_stopped_analysis_resumes() -> None:
    runner, task, progress = TaskRunner(), AnalyseTask(play(Game.OTHELLO, 9), LONG), TaskProgress()
    depths, spent = [], [0.0]
    for _ in range(4):
        runner.stopped.clear()
        with pytest.raises(TaskStopped):
            for response in runner.run(task, progress):
                depths.append(response["depth"])
                if depths[-1] > depths[0] + len(spent):
                    runner.stop()
        (search,) = progress.searches.values()
        spent.append(search.seconds)
    assert depths == sorted(depths) and spent == sorted(set(spent))
    late = AnalyseTask(task.record, spent[-1])
    assert list(runner.run(late, progress)) == [] and search.finished


def test_a_review_of_awale(runner_pool: PoolRunner) -> None:
    record = play(Game.ABAPA, 7)
    *reviews, _, done = runner_pool.collect(ReviewTask(record, 0.05))
    assert done["type"] == "done" and [item["ply"] for item in reviews] == [7, 6, 5, 4, 3, 2, 1]
    for item, position, move in zip(reviews[::-1], record.positions(), record.moves, strict=False):
        assert (item["side"], item["move"]) == (position.side, position.format_move(move))
        assert item["loss"] >= 0 and item["pv"]


# --- cancelling and scheduling ----------------------------------------------------------------------------------------
def test_a_cancelled_analysis_frees_its_process(runner_pool: PoolRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_pool, "CANCEL_TIMEOUT", LONG)  # the process of the search must not be killed

    async def cancel() -> None:
        before = runner_pool.pool._processes[0]
        async with aclosing(runner_pool.pool.run(AnalyseTask(play(Game.OTHELLO, 5), LONG))) as responses:
            assert (await anext(responses))["type"] == "analysis"
        *_, done = await collect(runner_pool.pool, AnalyseTask(play(Game.OTHELLO, 6), 0.05))
        assert done["type"] == "done" and runner_pool.pool._processes == [before]

    runner_pool.run(cancel())


def test_a_cancelled_choice_that_does_not_stop_is_killed(runner_pool: PoolRunner) -> None:
    async def cancel() -> None:
        endless = asyncio.create_task(collect(runner_pool.pool, ChooseTask(play(Game.OTHELLO, 3), "minimax@30")))
        await wait_until_async(lambda: runner_pool.pool._processes[0].job)
        endless.cancel()
        waiting = asyncio.create_task(collect(runner_pool.pool, AnalyseTask(play(Game.OTHELLO, 3), 0.05)))
        await asyncio.sleep(0)  # let the task start
        waiting.cancel()
        assert (await collect(runner_pool.pool, ChooseTask(play(Game.OTHELLO, 3), "greedy")))[0]["type"] == "choice"
        assert endless.cancelled() and waiting.cancelled() and not runner_pool.pool._waiting

    runner_pool.run(cancel())


def test_a_stopped_champion_answers_immediately() -> None:
    """Because a stopped champion answers immediately, the pool need not kill its engine process."""
    runner, responses = TaskRunner(), list[TaskResponse]()
    task = ChooseTask(play(Game.OTHELLO, 3), "champion@level=30")  # a search that takes hours
    thread = threading.Thread(target=lambda: responses.extend(runner.run(task, TaskProgress())))
    thread.start()
    wait_until(lambda: runner.player and getattr(runner.player, "engine", None) and runner.player.engine.nodes)  # type: ignore[attr-defined]
    runner.stop()
    thread.join(TIMEOUT)
    assert [response["type"] for response in responses] == ["choice"]


def test_a_choice_preempts_an_analysis(runner_pool: PoolRunner) -> None:
    async def interrupt() -> None:
        async with aclosing(runner_pool.pool.run(AnalyseTask(play(Game.OTHELLO, 5), LONG))) as responses:
            first = await anext(responses)
            assert (await collect(runner_pool.pool, ChooseTask(play(Game.ABAPA, 3), "greedy")))[0]["type"] == "choice"
            later = [await anext(responses) for _ in range(3)]
            depths = [response["depth"] for response in [first, *later]]
            assert depths == sorted(depths) and depths[-1] > depths[0]

    runner_pool.run(interrupt())


def test_many_analyses_take_turns(runner_pool: PoolRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_pool, "TIME_SLICE", 0.02)
    monkeypatch.setattr(engine_pool, "SCHEDULE_INTERVAL", 0.02)
    log: dict[int, list[TaskResponse]] = {number: [] for number in range(12)}

    async def follow(number: int, seconds: float) -> None:
        async with aclosing(runner_pool.pool.run(AnalyseTask(play(Game.OTHELLO, 5 + number), seconds))) as responses:
            async for response in responses:
                log[number].append(response)

    async def all_at_once() -> None:
        endless = [asyncio.create_task(follow(number, LONG)) for number in range(6)]
        await asyncio.gather(*(follow(number, 0.05) for number in range(6, 12)))
        await wait_until_async(lambda: all(len(log[number]) > 2 for number in range(6)))
        for task in endless:
            task.cancel()
        await asyncio.gather(*endless, return_exceptions=True)

    runner_pool.run(all_at_once())
    for number, responses in log.items():
        depths = [response["depth"] for response in responses if response["type"] == "analysis"]
        assert depths and depths == sorted(depths)
        assert (responses[-1]["type"] == "done") == (number >= 6)
    assert len(multiprocessing.active_children()) == 1


def test_a_full_queue_refuses_tasks(runner_pool: PoolRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_pool, "MAX_WAITING_JOBS", 0)
    (error,) = runner_pool.collect(AnalyseTask(play(Game.OTHELLO, 3), 1))
    assert error["code"] == "queue_full"


# --- crashes and shutdown ---------------------------------------------------------------------------------------------
def test_a_process_that_is_killed_is_replaced(runner_pool: PoolRunner) -> None:
    async def kill() -> list[TaskResponse]:
        async with aclosing(runner_pool.pool.run(AnalyseTask(play(Game.OTHELLO, 5), LONG))) as responses:
            await anext(responses)
            (child,) = multiprocessing.active_children()
            child.kill()
            return [response async for response in responses]

    assert runner_pool.run(kill())[-1]["code"] == "search_crashed"
    assert runner_pool.collect(ChooseTask(play(Game.OTHELLO, 3), "greedy"))[0]["type"] == "choice"


def test_closing_answers_waiting_tasks() -> None:
    async def close() -> list[list[TaskResponse]]:
        pool = EnginePool(1)
        await pool.start()
        tasks = [asyncio.create_task(collect(pool, AnalyseTask(play(Game.OTHELLO, 5), LONG))) for _ in range(3)]
        await wait_until_async(lambda: len(pool._waiting) + sum(each.job is not None for each in pool._processes) == 3)
        await pool.close()
        return [*await asyncio.gather(*tasks), await collect(pool, AnalyseTask(play(Game.OTHELLO, 5), LONG))]

    assert [responses[-1]["code"] for responses in asyncio.run(close())] == ["shutting_down"] * 4


def refuse(*given: Any, **named: Any) -> None:
    raise OSError("no more processes")


@pytest.mark.parametrize(("name", "what"), [("run_engine_process", str), ("start_process", refuse)])
def test_processes_that_cannot_start(monkeypatch: pytest.MonkeyPatch, name: str, what: Any) -> None:
    monkeypatch.setattr(engine_slots, name, what)
    before = multiprocessing.active_children()

    async def try_to_start() -> list[TaskResponse]:
        pool = EnginePool(1)
        await pool.start()
        try:
            return await collect(pool, AnalyseTask(play(Game.OTHELLO, 5), LONG))
        finally:
            await pool.close()

    (error,) = asyncio.run(asyncio.wait_for(try_to_start(), TIMEOUT))
    assert error["code"] == "engine_unavailable" and multiprocessing.active_children() == before


def test_processes_end_with_the_server() -> None:
    """`subprocess.run` returns only when all processes have ended, because each keeps the script's output open."""
    script = """
import asyncio, os, signal
from awello import Position, Record
from awello.web.engine_tasks import ChooseTask
from awello.web.engine_pool import EnginePool

async def main():
    pool = EnginePool(1)
    await pool.start()
    async for response in pool.run(ChooseTask(Record(Position.start()), "greedy")):
        print(response["type"], flush=True)
    task = asyncio.create_task(anext(pool.run(ChooseTask(Record(Position.start()), "minimax@30"))))
    await asyncio.sleep(0)  # the task begins
    while not pool._processes[0].job:
        await asyncio.sleep(0)  # until a process has the task
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, timeout=TIMEOUT)
    assert ended.stdout.split() == ["choice", "done"] and ended.returncode == -signal.SIGKILL
