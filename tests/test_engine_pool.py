"""The engine processes: real ones, with players that misbehave, tasks that are cancelled, and many at once."""

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
from twins import OthelloTwin
from waiting import PATIENCE, wait_until, wait_until_async

from awello import PASS, Game, Position, Record, parse_position
from awello.engine.engine import Engine
from awello.engine.tablebase import load_or_build
from awello.limits import Limit
from awello.review.review import review, summarise
from awello.web import engine_pool, engine_slots
from awello.web.engine_pool import EngineJob, EnginePool
from awello.web.engine_tasks import (
    AnalyseTask,
    Answer,
    ChooseTask,
    ReviewTask,
    Task,
    TaskProgress,
    TaskRunner,
    TaskStopped,
    answer_at_once,
)

LONG = 3600.0  # seconds: longer than any test
Result = TypeVar("Result")


@dataclass
class Room:
    """A pool of one process, and the loop it lives in."""

    runner: asyncio.Runner
    pool: EnginePool

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        return self.runner.run(asyncio.wait_for(work, PATIENCE))

    def ask(self, task: Task) -> list[Answer]:
        return self.run(ask(self.pool, task))


async def ask(pool: EnginePool, task: Task) -> list[Answer]:
    async with aclosing(pool.think(task)) as answers:
        return [answer async for answer in answers]


@pytest.fixture(scope="module")
def room() -> Iterator[Room]:
    with pytest.MonkeyPatch.context() as patch, asyncio.Runner() as runner:
        patch.setenv("AWELLO_PLAYERS", str(ROOT / "tests" / "bots.py"))
        pool = EnginePool(1)
        runner.run(pool.start())
        yield Room(runner, pool)
        runner.run(pool.close())
    assert not multiprocessing.active_children()


def play(game: Game, plies: int = 600) -> Record:
    """A game that is always the same: the first move, then the second ..., as far as there are so many."""
    position, moves = Position.start(game), list[int]()
    while len(moves) < plies and (legal := position.legal_moves()):
        moves.append(legal[len(moves) % len(legal)])
        position = position.after(moves[-1])
    return Record(Position.start(game), tuple(moves))


@cache
def solve(twin: OthelloTwin) -> int:
    """The final difference for the mover under best play."""
    moves = twin.legal_moves()
    if not moves:
        black, white = twin.score()
        return (white - black) if twin.side else (black - white)
    return max(-solve(twin.play(move)) for move in moves)


def twin_at(position: Position) -> OthelloTwin:
    letters = ("X" if position.first >> at & 1 else "O" if position.second >> at & 1 else "." for at in range(64))
    return OthelloTwin(position.game.size, tuple(letters), position.side)


# --- choices ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("spec", ["greedy", "champion@level=2", "alphabeta@3", "uct@200n"])
def test_choices_are_legal(room: Room, game: Game, spec: str) -> None:
    record = play(game, 2)
    choice, done = room.ask(ChooseTask(record, spec, seed=3))
    legal = [record.final.format_move(move) for move in record.final.legal_moves()]
    assert done == {"type": "done"}
    assert choice["move"] in legal and choice["pv"][0] == choice["move"]
    assert (choice["value"] is None) == (not spec.startswith("champion") and not choice["exact"])
    assert (choice["depth"] is None) == (spec == "greedy")


@pytest.mark.parametrize("spec", ["champion@level=10", "minimax@20"])
def test_exact_values_of_choices_are_margins(room: Room, spec: str) -> None:
    board = parse_position("0-0-0-0-1-2-1-0-0-2-0-0-20-22-S", Game.ABAPA)
    choice, _ = room.ask(ChooseTask(Record(board), spec))
    assert choice["exact"] and choice["value"] == load_or_build(Game.ABAPA).value(board) - 2


def test_a_pass_and_a_finished_game_need_no_process() -> None:
    passing = Record(parse_position("XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXO- O"))
    assert passing.final.legal_moves() == (PASS,)
    pool = EnginePool(0)
    choice, done = asyncio.run(ask(pool, ChooseTask(passing, "nobody")))
    assert (choice["move"], choice["pv"], done["type"]) == ("pass", ["pass"], "done")
    for task in (ChooseTask(play(Game.OTHELLO4), "greedy"), AnalyseTask(play(Game.ABAPA), 1)):
        (error,) = asyncio.run(ask(pool, task))
        assert (error["type"], error["code"]) == ("error", "over")
    assert not answer_at_once(AnalyseTask(passing, 1)) and not answer_at_once(ReviewTask(passing, 1))


@pytest.mark.parametrize(
    ("spec", "code", "word"),
    [
        ("nobody", "player", "unknown player"),
        ("human", "player", "terminal"),
        ("champion@1s,threads=64", "player", "threads"),
        ("minimax@99", "player", "depth"),
        ("first,wrong=exception", "player", "ZeroDivisionError"),
        ("first,wrong=exception,where=begin", "player", "ZeroDivisionError"),
        ("first,wrong=leaves", "player", "SystemExit"),
        ("first,wrong=illegal", "player", "illegal"),
        ("first,wrong=unwrapped", "player", "Choice"),
        ("first,wrong=resigns", "player", "gives the game up"),
        ("first,wrong=segfault", "crash", "crashed"),
    ],
)
def test_what_goes_wrong_costs_one_answer(room: Room, spec: str, code: str, word: str) -> None:
    (error,) = room.ask(ChooseTask(play(Game.OTHELLO, 3), spec))
    assert (error["type"], error["code"]) == ("error", code)
    assert word in error["message"]
    assert "Traceback" not in error["message"] and "\n" not in error["message"] and "/" not in error["message"]
    assert room.ask(ChooseTask(play(Game.OTHELLO, 3), "first,wrong=prints"))[0]["move"]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the memory of a process")
def test_too_much_memory_costs_one_answer(room: Room) -> None:
    (error,) = room.ask(ChooseTask(play(Game.OTHELLO, 3), "first,wrong=hoards"))
    assert error["code"] == "crash" and "memory" in error["message"]
    assert room.ask(ChooseTask(play(Game.OTHELLO, 3), "greedy"))[0]["type"] == "choice"


def test_who_takes_too_long_is_ended(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room.pool, "most_seconds", 0.3)
    (error,) = room.ask(ChooseTask(play(Game.OTHELLO, 3), "minimax@30"))
    assert error["code"] == "slow" and error["message"].startswith("minimax@30 took more than 0.3 s")
    monkeypatch.undo()
    assert room.ask(ChooseTask(play(Game.OTHELLO, 3), "greedy"))[0]["type"] == "choice"


# --- analyses ---------------------------------------------------------------------------------------------------------
def test_an_analysis_grows_and_ends(room: Room, game: Game) -> None:
    record = play(game, 3)
    *answers, done = room.ask(AnalyseTask(record, 0.3))
    assert done["type"] == "done" and answers
    assert [answer["depth"] for answer in answers] == sorted(answer["depth"] for answer in answers)
    legal = sorted(record.final.format_move(move) for move in record.final.legal_moves())
    for answer in answers:
        values = [move["value"] for move in answer["moves"]]
        assert sorted(move["move"] for move in answer["moves"]) == legal
        assert values == sorted(values, reverse=True) and values[0] == answer["value"]


def test_the_end_of_othello_is_exact(room: Room) -> None:
    position = play(Game.OTHELLO4, 6).final
    *_, last, _ = room.ask(AnalyseTask(Record(position), LONG))
    values = {move["move"]: move["value"] for move in last["moves"] if move["exact"]}
    moves = position.legal_moves()
    assert values == {position.format_move(move): -solve(twin_at(position.after(move))) for move in moves}
    assert last["exact"] and last["value"] == solve(twin_at(position)) and last["confidence"] == 100


def test_the_end_of_awale_is_exact_and_counts_seeds_taken(room: Room) -> None:
    position = parse_position("0-2-0-0-1-2-1-0-0-2-0-0-20-20-S", Game.ABAPA)
    north = parse_position("0-2-0-0-1-2-1-0-0-2-0-0-24-16-N", Game.ABAPA)
    for board, taken in ((position, 0), (north, -8)):
        *_, last, _ = room.ask(AnalyseTask(Record(board), LONG))
        expected = {
            board.format_move(move): value + taken for move, value in load_or_build(Game.ABAPA).values(board).items()
        }
        assert {move["move"]: move["value"] for move in last["moves"]} == expected and last["exact"]


def test_an_analysis_nobody_has_fetched_is_replaced() -> None:
    job = EngineJob(AnalyseTask(play(Game.OTHELLO, 0), 1), 0.0)
    for depth in range(1000):
        job.post({"type": "analysis", "depth": depth})
    job.post({"type": "done"})
    assert list(job.answers) == [{"type": "analysis", "depth": 999}, {"type": "done"}]


# --- reviews ----------------------------------------------------------------------------------------------------------
def test_a_review_judges_each_move_once_though_it_is_interrupted(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_pool, "TURN", 0.01)
    monkeypatch.setattr(engine_pool, "REVIEW_WAITS", 0.0)
    monkeypatch.setattr(engine_pool, "LOOK", 0.01)
    record = play(Game.OTHELLO4)

    async def both() -> list[Answer]:
        disturbing = asyncio.create_task(ask(room.pool, AnalyseTask(play(Game.OTHELLO, 9), 1.0)))
        try:
            return await ask(room.pool, ReviewTask(record, 10))
        finally:
            await disturbing

    *judgements, summary, done = room.run(both())
    with Engine(Game.OTHELLO4) as engine:
        expected = list(review(record, engine, Limit(seconds=10)))
    assert done["type"] == "done"
    assert [judgement["ply"] for judgement in judgements] == list(range(len(record.moves), 0, -1))
    found = [(item["value"], item["best_value"], item["loss"], item["mark"], item["exact"]) for item in judgements]
    assert found == [(item.value, item.best_value, item.loss, item.mark, item.exact) for item in expected]
    for side, told in enumerate(summary["sides"]):
        assert told["blunders"] == summarise(expected, side).blunders
        assert told["accuracy"] == round(summarise(expected, side).accuracy, 2)


def test_a_review_searches_nothing_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    task, progress = ReviewTask(play(Game.OTHELLO4), 10), TaskProgress()
    judgements = list(TaskRunner().think(task, progress))
    progress.told = 3
    monkeypatch.delattr(TaskRunner, "engine")
    assert list(TaskRunner().think(task, progress)) == judgements[3:]


def test_a_stopped_analysis_goes_on_where_it_was() -> None:
    runner, task, progress = TaskRunner(), AnalyseTask(play(Game.OTHELLO, 9), LONG), TaskProgress()
    depths, spent = [], [0.0]
    for _ in range(4):
        runner.stopped.clear()
        with pytest.raises(TaskStopped):
            for answer in runner.think(task, progress):
                depths.append(answer["depth"])
                if depths[-1] > depths[0] + len(spent):
                    runner.stop()
        (search,) = progress.searches.values()
        spent.append(search.seconds)
    assert depths == sorted(depths) and spent == sorted(set(spent))
    late = AnalyseTask(task.record, spent[-1])
    assert list(runner.think(late, progress)) == [] and search.over


def test_a_review_of_awale(room: Room) -> None:
    record = play(Game.ABAPA, 7)
    *judgements, _, done = room.ask(ReviewTask(record, 0.05))
    assert done["type"] == "done" and [item["ply"] for item in judgements] == [7, 6, 5, 4, 3, 2, 1]
    for item, position, move in zip(judgements[::-1], record.positions(), record.moves, strict=False):
        assert (item["side"], item["move"]) == (position.side, position.format_move(move))
        assert item["loss"] >= 0 and item["pv"]


# --- who comes when ---------------------------------------------------------------------------------------------------
def test_a_cancelled_analysis_makes_room_at_once(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_pool, "PATIENCE", LONG)  # so it stops by itself

    async def cancel() -> None:
        before = room.pool._processes[0]
        async with aclosing(room.pool.think(AnalyseTask(play(Game.OTHELLO, 5), LONG))) as answers:
            assert (await anext(answers))["type"] == "analysis"
        *_, done = await ask(room.pool, AnalyseTask(play(Game.OTHELLO, 6), 0.05))
        assert done["type"] == "done" and room.pool._processes == [before]

    room.run(cancel())


def test_a_cancelled_choice_that_goes_on_is_killed(room: Room) -> None:
    async def cancel() -> None:
        endless = asyncio.create_task(ask(room.pool, ChooseTask(play(Game.OTHELLO, 3), "minimax@30")))
        await wait_until_async(lambda: room.pool._processes[0].job)
        endless.cancel()
        waiting = asyncio.create_task(ask(room.pool, AnalyseTask(play(Game.OTHELLO, 3), 0.05)))
        await asyncio.sleep(0)  # the task begins
        waiting.cancel()
        assert (await ask(room.pool, ChooseTask(play(Game.OTHELLO, 3), "greedy")))[0]["type"] == "choice"
        assert endless.cancelled() and waiting.cancelled() and not room.pool._waiting

    room.run(cancel())


def test_a_champion_that_is_stopped_answers_at_once() -> None:
    """So the process of a choice that is cancelled goes on living."""
    runner, answers = TaskRunner(), list[Answer]()
    task = ChooseTask(play(Game.OTHELLO, 3), "champion@level=30")  # hours of thought
    thread = threading.Thread(target=lambda: answers.extend(runner.think(task, TaskProgress())))
    thread.start()
    wait_until(lambda: runner.player and getattr(runner.player, "engine", None) and runner.player.engine.nodes)  # type: ignore[attr-defined]
    runner.stop()
    thread.join(PATIENCE)
    assert [answer["type"] for answer in answers] == ["choice"]


def test_a_choice_interrupts_an_analysis_which_goes_on(room: Room) -> None:
    async def interrupt() -> None:
        async with aclosing(room.pool.think(AnalyseTask(play(Game.OTHELLO, 5), LONG))) as answers:
            first = await anext(answers)
            assert (await ask(room.pool, ChooseTask(play(Game.ABAPA, 3), "greedy")))[0]["type"] == "choice"
            later = [await anext(answers) for _ in range(3)]
            depths = [answer["depth"] for answer in [first, *later]]
            assert depths == sorted(depths) and depths[-1] > depths[0]

    room.run(interrupt())


def test_many_analyses_take_turns(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_pool, "TURN", 0.02)
    monkeypatch.setattr(engine_pool, "LOOK", 0.02)
    log: dict[int, list[Answer]] = {number: [] for number in range(12)}

    async def follow(number: int, seconds: float) -> None:
        async with aclosing(room.pool.think(AnalyseTask(play(Game.OTHELLO, 5 + number), seconds))) as answers:
            async for answer in answers:
                log[number].append(answer)

    async def all_at_once() -> None:
        endless = [asyncio.create_task(follow(number, LONG)) for number in range(6)]
        await asyncio.gather(*(follow(number, 0.05) for number in range(6, 12)))
        await wait_until_async(lambda: all(len(log[number]) > 2 for number in range(6)))
        for task in endless:
            task.cancel()
        await asyncio.gather(*endless, return_exceptions=True)

    room.run(all_at_once())
    for number, answers in log.items():
        depths = [answer["depth"] for answer in answers if answer["type"] == "analysis"]
        assert depths and depths == sorted(depths)
        assert (answers[-1]["type"] == "done") == (number >= 6)
    assert len(multiprocessing.active_children()) == 1


def test_a_queue_that_is_full_is_closed(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_pool, "MOST_WAITING", 0)
    (error,) = room.ask(AnalyseTask(play(Game.OTHELLO, 3), 1))
    assert error["code"] == "busy"


# --- the end ----------------------------------------------------------------------------------------------------------
def test_a_process_that_is_killed_is_replaced(room: Room) -> None:
    async def kill() -> list[Answer]:
        async with aclosing(room.pool.think(AnalyseTask(play(Game.OTHELLO, 5), LONG))) as answers:
            await anext(answers)
            (child,) = multiprocessing.active_children()
            child.kill()
            return [answer async for answer in answers]

    assert room.run(kill())[-1]["code"] == "crash"
    assert room.ask(ChooseTask(play(Game.OTHELLO, 3), "greedy"))[0]["type"] == "choice"


def test_closing_answers_whoever_waits() -> None:
    async def close() -> list[list[Answer]]:
        pool = EnginePool(1)
        await pool.start()
        asked = [asyncio.create_task(ask(pool, AnalyseTask(play(Game.OTHELLO, 5), LONG))) for _ in range(3)]
        await wait_until_async(lambda: len(pool._waiting) + sum(each.job is not None for each in pool._processes) == 3)
        await pool.close()
        return [*await asyncio.gather(*asked), await ask(pool, AnalyseTask(play(Game.OTHELLO, 5), LONG))]

    assert [answers[-1]["code"] for answers in asyncio.run(close())] == ["closed"] * 4


def refuse(*given: Any, **named: Any) -> None:
    raise OSError("no more processes")


@pytest.mark.parametrize(("name", "what"), [("serve", str), ("start_process", refuse)])
def test_processes_that_cannot_start(monkeypatch: pytest.MonkeyPatch, name: str, what: Any) -> None:
    monkeypatch.setattr(engine_slots, name, what)
    before = multiprocessing.active_children()

    async def try_to_start() -> list[Answer]:
        pool = EnginePool(1)
        await pool.start()
        try:
            return await ask(pool, AnalyseTask(play(Game.OTHELLO, 5), LONG))
        finally:
            await pool.close()

    (error,) = asyncio.run(asyncio.wait_for(try_to_start(), PATIENCE))
    assert error["code"] == "crash" and multiprocessing.active_children() == before


def test_processes_end_with_the_server() -> None:
    """The output of the script stays open as long as any process lives that it started."""
    script = """
import asyncio, os, signal
from awello import Position, Record
from awello.web.engine_tasks import ChooseTask
from awello.web.engine_pool import EnginePool

async def main():
    pool = EnginePool(1)
    await pool.start()
    async for answer in pool.think(ChooseTask(Record(Position.start()), "greedy")):
        print(answer["type"], flush=True)
    task = asyncio.create_task(anext(pool.think(ChooseTask(Record(Position.start()), "minimax@30"))))
    await asyncio.sleep(0)  # the task begins
    while not pool._processes[0].job:
        await asyncio.sleep(0)  # until its process has it
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, timeout=PATIENCE)
    assert ended.stdout.split() == ["choice", "done"] and ended.returncode == -signal.SIGKILL
