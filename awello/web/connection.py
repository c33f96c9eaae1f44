"""The WebSocket protocol of the page, bots and other clients: requests, responses and events.

A request is a JSON object with an `id` and a `type`.  Its responses have the same id; the last one has the type `done`
or `error`, and an error has a `code`, a `message` and `params`.  Events are messages from the server that are not
responses; they have a type and no id.  The types of requests are defined by the subclasses of `MessageConnection`:
`EngineConnection` and `ClubConnection`.
"""

import asyncio
import json
import logging
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, ClassVar

from pydantic import BaseModel, ValidationError
from starlette.websockets import WebSocket, WebSocketDisconnect

from awello.errors import AwelloError, join_choices
from awello.web.errors import INTERNAL_ERROR, ApiError, ErrorFields, describe_error, error_fields
from awello.web.rate_limits import RateLimit
from awello.web.request_guard import BYTES_READ_PER_MS, MAX_DELAY_SECONDS

MAX_INVALID_MESSAGES = 20  # consecutive invalid messages after which the connection is closed
MAX_MESSAGE_CHARS = 1 << 14
MAX_ID_CHARS = 40
MAX_UNSENT_EVENTS = 256  # messages queued for a client that reads slowly
POLICY_VIOLATION, TRY_AGAIN = 1008, 1013
DISCONNECTED = (WebSocketDisconnect, RuntimeError)  # raised when sending to a client that has disconnected

RequestId = int | str | None
Fields = dict[str, Any]
Outgoing = Mapping[str, Any]


class InvalidMessageError(AwelloError):
    """Raised for a message that is not a valid request."""


class MessageConnection:
    """A WebSocket connection: its limits, its receive loop, and its queue of messages to send.

    `message_limit` limits the rate of messages.  `network_limit` limits the time that the event loop spends on messages
    from a client network: each message counts as `cost` milliseconds plus a time that grows with its length.
    """

    requests: ClassVar[Mapping[str, type[BaseModel]]] = {}
    without_id: tuple[str, ...] = ()
    """Types of messages that have no id and get no response."""

    def __init__(
        self, socket: WebSocket, message_limit: RateLimit, network_limit: RateLimit | None, cost: float = 1.0
    ) -> None:
        self.socket, self.message_limit, self.network_limit, self.cost = socket, message_limit, network_limit, cost
        self.invalid_count, self.close_reason = 0, ""
        self.running: dict[RequestId, asyncio.Task[None]] = {}  # cancelled when the connection ends
        self._events: asyncio.Queue[Outgoing] = asyncio.Queue(MAX_UNSENT_EVENTS)
        self._sending, self._ended = asyncio.Lock(), asyncio.Event()

    # ---- for subclasses ---------------------------------------------------------------------------------------------
    async def handle(self, request_id: RequestId, type: str, request: Any) -> None:
        """Handle a request; raise `ApiError` or `AwelloError` to refuse it."""
        raise NotImplementedError

    def on_receive(self, event: Mapping[str, Any]) -> None:
        """Process an ASGI event before its message is handled; subclasses may override this."""

    def is_exempt(self, fields: Fields) -> bool:
        """Return whether a message is exempt from the rate limits."""
        return False

    def on_close(self) -> None:
        """Clean up when the connection ends, before the WebSocket is closed; subclasses may override this."""

    # ---- the connection ---------------------------------------------------------------------------------------------
    def close(self, reason: str) -> None:
        """Close the connection, with a reason for the client."""
        self.close_reason = reason
        self._ended.set()

    async def serve(self) -> None:
        """Receive requests and send messages until the connection ends."""
        tasks = [asyncio.create_task(work) for work in (self._receive(), self._send_events(), self._ended.wait())]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self.on_close()
            await cancel_tasks(*tasks, *self.running.values())
            with suppress(*DISCONNECTED):
                await self.socket.close(
                    POLICY_VIOLATION if self.invalid_count >= MAX_INVALID_MESSAGES else TRY_AGAIN, self.close_reason
                )

    async def send(self, message: Outgoing) -> None:
        """Send a message; wait while the client reads too slowly."""
        async with self._sending:
            await self.socket.send_text(getattr(message, "text", None) or json.dumps(message))

    def post(self, message: Outgoing) -> None:
        """Queue a message; close the connection if the queue is full because the client reads too slowly."""
        try:
            self._events.put_nowait(message)
        except asyncio.QueueFull:
            self.close("the client reads too slowly")

    async def _send_events(self) -> None:
        while True:
            await self.send(await self._events.get())

    async def _receive(self) -> None:
        with suppress(*DISCONNECTED):
            while self.invalid_count < MAX_INVALID_MESSAGES:
                event = await self.socket.receive()
                if event["type"] == "websocket.disconnect":
                    return
                self.on_receive(event)
                if error := await self._handle_text(event.get("text")):
                    self.post(error)
            self.close_reason = "too many invalid messages"

    async def _handle_text(self, text: str | None) -> Outgoing | None:
        """Handle a message; return the error message for the client if that fails, else None."""
        request_id: RequestId = None
        allowed = self.message_limit.take() and await wait_for_network_limit(self.network_limit, text, self.cost)
        try:
            fields = parse_message(text)
            request_id = None if fields.get("type") in self.without_id else pop_request_id(fields)
            if not allowed and not self.is_exempt(fields):
                self.invalid_count += 1
                rate = round(self.message_limit.rate)
                message = f"too many messages (limit: {rate} per second): wait a moment and send this message again"
                return error_message(request_id, error_fields("message_rate_limit", message, {"rate": rate}))
            await self.handle(request_id, *self._parse(fields))
            self.invalid_count = 0
        except (ApiError, ValidationError, AwelloError) as error:
            self.invalid_count += isinstance(error, ValidationError | InvalidMessageError)
            return error_message(request_id, describe_error(error))
        except DISCONNECTED:
            raise
        except Exception:
            logging.getLogger("awello").exception("a message could not be handled")
            self.invalid_count += 1
            return error_message(request_id, INTERNAL_ERROR)
        return None

    def _parse(self, fields: Fields) -> tuple[str, BaseModel]:
        """Return the type of a message, and the message as a validated request."""
        type = fields.pop("type", None)
        if not isinstance(type, str) or type not in self.requests:
            given, types = str(type)[:MAX_ID_CHARS], list(self.requests)
            message = f"{given!r} is not a type of request: choose {join_choices(types)}"
            raise InvalidMessageError(message, "unknown_type", type=given, types=types)
        return type, self.requests[type].model_validate(fields)


def error_message(request_id: RequestId, error: ErrorFields) -> Outgoing:
    """Return the response to a request that failed."""
    return {"id": request_id, "type": "error", **error}


async def wait_for_network_limit(network_limit: RateLimit | None, text: str | None, cost: float) -> bool:
    """Wait until the limit of a client network allows a message; return False at once if the wait would be too long."""
    wait = (
        0.0
        if network_limit is None
        else network_limit.reserve(cost + len(text or "") / BYTES_READ_PER_MS, MAX_DELAY_SECONDS)
    )
    if wait:
        await asyncio.sleep(wait)
    return wait is not None


def parse_message(text: str | None) -> Fields:
    """Parse a message as a JSON object."""
    if text is None:
        raise InvalidMessageError("the message is binary: send text", "binary_message")
    if len(text) > MAX_MESSAGE_CHARS:
        limit = MAX_MESSAGE_CHARS >> 10
        raise InvalidMessageError(
            f"the message is too large: send at most {limit} KiB", "message_too_large", limit_kib=limit
        )
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        raise InvalidMessageError(
            "the message is not valid JSON: send a JSON object", "invalid_json", detail=""
        ) from None
    if not isinstance(fields, dict):
        example = '{"id": 1, "type": "analyse"}'
        raise InvalidMessageError(f"the message is not a JSON object: send one such as {example}", "not_an_object")
    return fields


def pop_request_id(fields: Fields) -> RequestId:
    """Remove the id of a request from its fields and return it."""
    request_id = fields.pop("id", None)
    if isinstance(request_id, bool) or not isinstance(request_id, int | str) or len(str(request_id)) > MAX_ID_CHARS:
        message = f"the id is missing or invalid: give a whole number or a string of at most {MAX_ID_CHARS} characters"
        raise InvalidMessageError(message, "invalid_id", limit=MAX_ID_CHARS)
    return request_id


async def cancel_tasks(*tasks: asyncio.Task[Any]) -> None:
    """Cancel tasks, and wait until they have ended."""
    for task in tasks:
        task.cancel()
    done = (await asyncio.wait(tasks))[0] if tasks else ()  # `gather` would hide the cancellation of this task
    for task in done:
        if not task.cancelled():
            task.exception()
