"""Work that requests start in other processes: engine tasks and page tasks, cancelled when the client disconnects."""

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from typing import Any, TypeVar

from fastapi import Request
from fastapi.responses import Response

from awello.web.connection import cancel_tasks
from awello.web.engine_pool import EnginePool
from awello.web.engine_tasks import Answer, CallTask, Task
from awello.web.errors import ApiError
from awello.web.request_guard import LOCAL_HOSTS, address_of, network_of_client

SERVER_ERROR_CODES = (  # of answers that an engine could not give; other codes mean that the request was invalid
    "engine_not_started",
    "engine_unavailable",
    "out_of_memory",
    "player_crashed",
    "player_interrupted",
    "player_timeout",
    "queue_full",
    "search_crashed",
    "search_failed",
    "shutting_down",
    "task_interrupted",
    "task_timeout",
)
Result = TypeVar("Result")


async def run_task(task: Task, pool: EnginePool, client: Request) -> list[Answer]:
    """All answers to a task but the last word; cancelled if the client, whose body has been read, disconnects."""
    collecting = asyncio.create_task(_collect_answers(task, pool, network_of_client(client)))
    gone = asyncio.create_task(_wait_for_disconnect(client))
    try:
        await asyncio.wait({collecting, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not collecting.done():
            raise ApiError(503, "client_disconnected", "the client has disconnected")
        return collecting.result()
    finally:
        await cancel_tasks(collecting, gone)


async def _collect_answers(task: Task, pool: EnginePool, network: str) -> list[Answer]:
    async with aclosing(pool.run(task, network)) as answers:
        *found, last = [answer async for answer in answers]
    if last["type"] == "error":
        status = 503 if last["code"] in SERVER_ERROR_CODES else 400
        raise ApiError(status, last["code"], last["message"], **last["params"])
    return found


async def _wait_for_disconnect(client: Request) -> None:
    while (await client.receive())["type"] != "http.disconnect":
        pass


async def call_in_worker(client: Request, function: Callable[..., Result], *args: Any) -> Result:
    """What a function gives that takes the processor for a while, called in a process beside the server.

    Until that process is ready, a thread serves the person at this machine, who has just opened the page.
    """
    workers: EnginePool = client.app.state.workers
    if not workers.ready:
        await workers.start()
        if address_of(client) in LOCAL_HOSTS:
            return await asyncio.to_thread(function, *args)
    (answer,) = await run_task(CallTask(function, args), workers, client)
    result: Result = answer["value"]
    return result


async def respond_with_json(client: Request, function: Callable[..., bytes], *args: Any) -> Response:
    """A response with the JSON that such a function gives."""
    return Response(await call_in_worker(client, function, *args), media_type="application/json")
