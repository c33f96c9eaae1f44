"""Fair scheduling: no client network can fill the queue or occupy the engine processes for a long time."""

import asyncio
import json
from typing import Any

import pytest

from awello import Game, Position, Record
from awello.web import engine_pool
from awello.web.app import create_app
from awello.web.engine_pool import EnginePool, EngineProcess
from awello.web.engine_tasks import DONE, AnalyseTask, ChooseTask, ReviewTask, Task, TaskResponse

START = Record(Position.start(Game.OTHELLO))
ANALYSE, CHOOSE, REVIEW = AnalyseTask(START, 60.0), ChooseTask(START, "minimax@30"), ReviewTask(START, 10.0)


class FakeProcess(EngineProcess):
    """A fake engine process that never finishes a job, and records the client network of each job."""

    def __init__(self) -> None:
        super().__init__()
        self.ready, self.message_sizes, self.client_networks = True, list[int](), list[str]()

    def _send(self, *message: Any) -> None:
        self.message_sizes.append(len(message))
        if self.job is not None and len(message) > 1:
            self.client_networks.append(self.job.client_network)


async def start_task(pool: EnginePool, task: Task, network: str) -> asyncio.Task[list[TaskResponse]]:
    """Start a task in the pool; return an asyncio task whose result is the list of responses."""

    async def collect() -> list[TaskResponse]:
        return [response async for response in pool.run(task, network)]

    found = asyncio.create_task(collect())
    await asyncio.sleep(0)
    return found


def codes(tasks: list[asyncio.Task[list[TaskResponse]]]) -> list[str]:
    return [each.result()[-1]["code"] for each in tasks if each.done()]


def test_networks_have_quotas() -> None:
    async def crowd() -> None:
        pool = EnginePool(0)
        reviews = [await start_task(pool, REVIEW, "flood") for _ in range(260)]
        assert codes(reviews) == ["queue_full"] * (260 - engine_pool.MAX_WAITING_JOBS_PER_NETWORK)
        others = [await start_task(pool, ANALYSE, "client"), await start_task(pool, CHOOSE, "client")]
        others.append(await start_task(pool, CHOOSE, "flood"))
        assert codes(others) == [], "other networks and choices have quotas of their own"
        for network in range(20):
            reviews += [await start_task(pool, REVIEW, f"network {network}") for _ in range(60)]
        assert codes([await start_task(pool, REVIEW, "late")]) == ["queue_full"], "the queue of reviews is full"
        assert codes([await start_task(pool, CHOOSE, "late")]) == [], "choices have their own quota"
        await pool.close()
        await asyncio.gather(*reviews, *others)

    asyncio.run(crowd())


def test_the_network_with_the_least_usage_comes_first() -> None:
    async def take_turns() -> None:
        pool, process = EnginePool(0), FakeProcess()
        pool._processes.append(process)
        tasks = [await start_task(pool, CHOOSE, network) for network in ("flood",) * 5 + ("client", "other")]
        for _ in range(3):
            process.started -= 1.0  # pretend that the process has worked for a second
            pool._release(process).post(DONE)
            pool._schedule()
        assert process.client_networks == ["flood", "client", "other", "flood"]
        pool._release(process).post(DONE)
        await pool.close()
        await asyncio.gather(*tasks)

    asyncio.run(take_turns())


def test_a_long_choice_is_interrupted_for_another_network() -> None:
    async def wait() -> None:
        pool, process = EnginePool(0), FakeProcess()
        pool._processes.append(process)
        tasks = [await start_task(pool, CHOOSE, "flood") for _ in range(3)]
        process.started -= engine_pool.MAX_URGENT_SLICE
        pool._schedule()
        assert not process.stopping, "tasks of the same network do not interrupt a choice"
        tasks.append(await start_task(pool, ANALYSE, "client"))
        assert not process.stopping, "an analysis does not interrupt a choice"
        tasks.append(await start_task(pool, CHOOSE, "client"))
        assert process.stopping
        process._cancel_deadline()
        pool._release(process).post(DONE)
        pool._schedule()
        assert process.client_networks == ["flood", "client"]
        pool._release(process).post(DONE)
        await pool.close()
        await asyncio.gather(*tasks)

    asyncio.run(wait())


def test_a_disconnected_client_cancels_its_task() -> None:
    async def disconnect() -> None:
        app = create_app(0, archive=None)
        body = json.dumps({"moves": ["f5"]}).encode()
        headers = [(b"host", b"127.0.0.1"), (b"content-type", b"application/json")]
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "POST",
            "scheme": "http",
            "path": "/api/review",
            "raw_path": b"/api/review",
            "query_string": b"",
            "root_path": "",
            "headers": headers,
            "client": ("127.0.0.1", 5000),
            "server": ("127.0.0.1", 80),
        }
        events: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        events.put_nowait({"type": "http.request", "body": body, "more_body": False})

        async def send(event: Any) -> None:
            pass

        async with app.router.lifespan_context(app):
            request = asyncio.create_task(app(scope, events.get, send))
            while not app.state.engines._waiting:
                await asyncio.sleep(0)
            events.put_nowait({"type": "http.disconnect"})
            await asyncio.wait_for(request, 10)
            assert not app.state.engines._waiting

    asyncio.run(disconnect())


def test_processes_are_replaced_after_any_error(monkeypatch: pytest.MonkeyPatch) -> None:
    started = list[int]()

    class Broken(EngineProcess):
        async def start(self) -> None:
            started.append(1)

        async def receive(self) -> tuple[str, Any]:
            raise AttributeError("a message that cannot be read")

    monkeypatch.setattr(engine_pool, "EngineProcess", Broken)
    monkeypatch.setattr(engine_pool, "RESTART_DELAY", 0.0)

    async def keep() -> None:
        pool = EnginePool(1)
        await pool.start()
        while len(started) < 3:
            await asyncio.sleep(0)
            assert not pool._supervisors[0].done()
        await pool.close()

    asyncio.run(keep())


@pytest.mark.parametrize(("failing", "expected"), [(1, "choice"), (2, "error")])
def test_one_failed_start_does_not_refuse_waiting_tasks(
    failing: int, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = list[int]()

    class Unlucky(EngineProcess):
        async def start(self) -> None:
            started.append(1)
            if len(started) <= failing:
                raise OSError
            await super().start()

    monkeypatch.setattr(engine_pool, "EngineProcess", Unlucky)
    monkeypatch.setattr(engine_pool, "RESTART_DELAY", 0.0)

    async def start_task() -> str:
        pool = EnginePool(1)
        await pool.start()
        responses = [found async for found in pool.run(ChooseTask(Record(Position.start(Game.OTHELLO)), "greedy"))]
        await pool.close()
        return str(responses[0]["type"])

    assert asyncio.run(start_task()) == expected
