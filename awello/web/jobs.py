"""Work that requests start in other processes: engine tasks and page tasks, cancelled when the client disconnects."""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import aclosing
from typing import Any, TypeVar

from fastapi import Request
from fastapi.responses import Response

from awello.web.door import OWN, Refusal, address_of, network_of_client
from awello.web.engine_pool import EnginePool
from awello.web.engine_tasks import Answer, CallTask, Task

OVERLOADED = ("busy", "closed", "crash", "slow")
Result = TypeVar("Result")


async def answers_to(task: Task, pool: EnginePool, client: Request) -> list[Answer]:
    """All answers to a task but the last word; the task is cancelled if the client disconnects."""

    async def collect() -> list[Answer]:
        async with aclosing(pool.think(task, network_of_client(client))) as answers:
            found = [answer async for answer in answers]
        if found[-1]["type"] == "error":
            code = found[-1]["code"]
            raise Refusal(503 if code in OVERLOADED else 400, code, found[-1]["message"])
        return found[:-1]

    return await while_connected(client, collect())


async def call(client: Request, function: Callable[..., Result], *given: Any) -> Result:
    """What a function gives that takes the processor for a while, called in a process beside the server.

    Until that process is ready, a thread serves the person at this machine, who has just opened the page.
    """
    workers: EnginePool = client.app.state.workers
    if not workers.ready:
        await workers.start()
        if address_of(client) in OWN:
            return await asyncio.to_thread(function, *given)
    (answer,) = await answers_to(CallTask(function, given), workers, client)
    result: Result = answer["value"]
    return result


async def call_for_json(client: Request, function: Callable[..., bytes], *given: Any) -> Response:
    """A response with the JSON that such a function gives."""
    return Response(await call(client, function, *given), media_type="application/json")


async def while_connected(client: Request, work: Coroutine[Any, Any, Result]) -> Result:
    """The result of some work, which is cancelled as soon as the client disconnects; its body must have been read."""
    task, gone = asyncio.create_task(work), asyncio.create_task(_wait_for_disconnect(client))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise Refusal(503, "closed", "the client has disconnected")
        return task.result()
    finally:
        task.cancel()
        gone.cancel()
        await asyncio.gather(task, gone, return_exceptions=True)


async def _wait_for_disconnect(client: Request) -> None:
    while (await client.receive())["type"] != "http.disconnect":
        pass
