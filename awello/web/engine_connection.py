"""Searches over a WebSocket: analyses, choices of moves, and reviews, with intermediate results.

A connection can have several open requests.  A new request replaces an open request with the same id, a `stop`
request ends the open request with the same id, and all searches are cancelled when the client disconnects.
"""

import asyncio
from contextlib import aclosing, suppress
from typing import Any, ClassVar

from starlette.websockets import WebSocket

from awello.errors import AwelloError
from awello.schemas import PositionJson
from awello.web.club_service import ClubService
from awello.web.connection import DISCONNECTED, TRY_AGAIN, MessageConnection, RequestId, cancel_tasks
from awello.web.engine_pool import EnginePool
from awello.web.engine_tasks import ChooseTask, EngineTask, ReviewTask
from awello.web.errors import ApiError
from awello.web.messages import AnalyseRequest, ChooseRequest, RequestModel, ReviewRequest
from awello.web.rate_limits import ConcurrencyLimit, RateLimit, RateLimits
from awello.web.request_guard import LOCAL_HOSTS, client_network_of

MAX_OPEN_SEARCHES = 8  # per connection
MESSAGE_RATE = (400, 100)  # messages of one connection: in a burst, and per second
MAX_ENGINE_CONNECTIONS, MAX_ENGINE_CONNECTIONS_PER_NETWORK = 2000, 96


class StopRequest(RequestModel):
    """A request to end the open request that has the same id."""


class EngineConnection(MessageConnection):
    """A connection to the engines, with its open requests."""

    requests: ClassVar = {
        "analyse": AnalyseRequest,
        "choose": ChooseRequest,
        "review": ReviewRequest,
        "stop": StopRequest,
    }

    def __init__(self, socket: WebSocket, engines: EnginePool, network_limits: RateLimits, club: ClubService) -> None:
        self.engines, self.club, self.client_network = engines, club, client_network_of(socket)
        super().__init__(
            socket,
            RateLimit(*MESSAGE_RATE),
            None if self.client_network in LOCAL_HOSTS else network_limits.get(self.client_network),
        )

    async def handle(self, request_id: RequestId, type: str, request: Any) -> None:
        """Start or stop a search."""
        task = None if isinstance(request, StopRequest) else self._task(request)
        if previous := self.running.pop(request_id, None):
            await cancel_tasks(previous)
        if task is None:
            return
        if len(self.running) >= MAX_OPEN_SEARCHES:
            message = f"{MAX_OPEN_SEARCHES} searches are open on this connection: stop one, or wait for a result"
            raise ApiError(503, "too_many_searches", message, limit=MAX_OPEN_SEARCHES)
        self.running[request_id] = asyncio.create_task(self._respond(request_id, task))

    def _task(self, request: AnalyseRequest | ChooseRequest | ReviewRequest) -> EngineTask:
        try:
            task = request.to_task()
        except AwelloError:
            self.invalid_count += 1
            raise
        self.club.check_analysis_allowed(task.record, whole=isinstance(task, ReviewTask))
        return task

    async def _respond(self, request_id: RequestId, task: EngineTask) -> None:
        """Send the responses to a request; for a choice of a move, send the current position first."""
        try:
            with suppress(*DISCONNECTED):
                if isinstance(task, ChooseTask):
                    position = PositionJson.of(task.record.final)
                    await self.send({"id": request_id, "type": "position", **position.model_dump()})
                async with aclosing(self.engines.run(task, self.client_network)) as responses:
                    async for response in responses:
                        await self.send({"id": request_id, **response})
        finally:
            if self.running.get(request_id) is asyncio.current_task():
                del self.running[request_id]


async def serve_engine(
    socket: WebSocket,
    engines: EnginePool,
    network_limits: RateLimits,
    open_connections: ConcurrencyLimit,
    club: ClubService,
) -> None:
    """Serve a connection to the engines; refuse it if too many are open in total or from its client network."""
    keys = {"": MAX_ENGINE_CONNECTIONS, client_network_of(socket): MAX_ENGINE_CONNECTIONS_PER_NETWORK}
    await socket.accept()
    if not open_connections.acquire(keys):
        return await socket.close(TRY_AGAIN, "too many connections: close some, or try again later")
    try:
        await EngineConnection(socket, engines, network_limits, club).serve()
    finally:
        open_connections.release(keys)
