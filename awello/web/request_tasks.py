"""Run tasks for HTTP requests in other processes; a task is cancelled when its client disconnects."""

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from typing import Any, TypeVar

from fastapi import Request
from fastapi.responses import Response

from awello.web.connection import cancel_tasks
from awello.web.engine_pool import EnginePool
from awello.web.engine_tasks import CallTask, Task, TaskResponse
from awello.web.errors import ApiError
from awello.web.request_guard import LOCAL_HOSTS, client_address_of, client_network_of

SERVER_ERROR_CODES = (  # errors with status 503; other errors mean an invalid request (status 400)
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


async def run_task(task: Task, pool: EnginePool, client: Request) -> list[TaskResponse]:
    """Return all responses to a task except `done`; cancel the task if the client disconnects.

    Callers must read the request body first: this function discards it while waiting for a disconnect.
    """
    collecting = asyncio.create_task(_collect_responses(task, pool, client_network_of(client)))
    disconnected = asyncio.create_task(_wait_for_disconnect(client))
    try:
        await asyncio.wait({collecting, disconnected}, return_when=asyncio.FIRST_COMPLETED)
        if not collecting.done():
            raise ApiError(503, "client_disconnected", "the client has disconnected")
        return collecting.result()
    finally:
        await cancel_tasks(collecting, disconnected)


async def _collect_responses(task: Task, pool: EnginePool, client_network: str) -> list[TaskResponse]:
    async with aclosing(pool.run(task, client_network)) as responses:
        *results, last = [response async for response in responses]
    if last["type"] == "error":
        status = 503 if last["code"] in SERVER_ERROR_CODES else 400
        raise ApiError(status, last["code"], last["message"], **last["params"])
    return results


async def _wait_for_disconnect(client: Request) -> None:
    while (await client.receive())["type"] != "http.disconnect":
        pass


async def call_in_worker(client: Request, function: Callable[..., Result], *args: Any) -> Result:
    """Call a CPU-bound function in a worker process and return its result.

    Until the worker process is ready, calls for requests from this machine run in a thread, so that the page opens
    quickly.
    """
    workers: EnginePool = client.app.state.workers
    if not workers.ready:
        await workers.start()
        if client_address_of(client) in LOCAL_HOSTS:
            return await asyncio.to_thread(function, *args)
    (response,) = await run_task(CallTask(function, args), workers, client)
    result: Result = response["value"]
    return result


async def respond_with_json(client: Request, function: Callable[..., bytes], *args: Any) -> Response:
    """Return a response with the JSON that a CPU-bound function returns."""
    return Response(await call_in_worker(client, function, *args), media_type="application/json")
