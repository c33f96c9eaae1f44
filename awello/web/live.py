"""The live channel: questions that need thought, and answers as they come, over one WebSocket.

A question is one JSON text, `{"id": 7, "do": "analyse", ...}`; its answers carry its id, and several questions may be
open at once.  A question with an id in use takes the place of the one before, `{"id": 7, "do": "stop"}` ends it.
Whatever is wrong with a message is said in one line, and the channel stays open.
"""

import asyncio
import json
from collections.abc import Callable
from contextlib import aclosing, suppress
from typing import Any

from pydantic import ValidationError
from starlette.websockets import WebSocket, WebSocketDisconnect

from awello.errors import AwelloError
from awello.web.clubhouse import Clubhouse
from awello.web.complaints import complaint
from awello.web.door import BYTES_READ, OWN, PATIENCE, Refusal, network_of_client
from awello.web.engine_pool import EnginePool
from awello.web.engine_tasks import AnalyseTask, Answer, ChooseTask, EngineTask, ReviewTask, failure
from awello.web.limits import Bucket, Buckets, Turnstile
from awello.web.messages import Analyse, Choose, Review

MOST_QUESTIONS = 8  # at once on one channel
BURST, RATE = 400, 100  # messages of one connection: at once, and a second
MOST_WRONG = 20  # wrong messages in a row, after which the channel is closed
MESSAGE = 1.0  # milliseconds of the event loop that a message costs its network, beside its bytes
LARGEST = 1 << 14  # bytes of a message
LONGEST_ID = 40  # letters
MOST_CHANNELS, MOST_OF_NETWORK = 2000, 96  # at once: in all, and of one network
POLICY_VIOLATION, TRY_AGAIN = 1008, 1013
GONE = (WebSocketDisconnect, RuntimeError)  # what sending raises when the client has disconnected

Id = int | str | None
Fields = dict[str, Any]


class WrongMessage(AwelloError):
    """A message that is no question."""


async def live(socket: WebSocket, thinkers: EnginePool, costs: Buckets, channels: Turnstile, house: Clubhouse) -> None:
    """Accept a connection, and answer its questions until it ends; a network may have so many."""
    network = network_of_client(socket)
    keys = {"": MOST_CHANNELS, network: MOST_OF_NETWORK}
    await socket.accept()
    if not channels.enter(keys):
        return await socket.close(TRY_AGAIN, "there are too many channels: close some, or come back later")
    try:
        await Channel(socket, thinkers, network, costs, house).converse()
    finally:
        channels.leave(keys)


def parse_task(do: str, fields: Fields) -> EngineTask:
    """The task of a question; an error says what is wrong with it."""
    if do not in TASKS:
        raise WrongMessage(f"do: {do[:LONGEST_ID]!r} is none of {', '.join(TASKS)}, stop")
    return TASKS[do](fields)


def _analyse(fields: Fields) -> EngineTask:
    message = Analyse.model_validate(fields)
    return AnalyseTask(message.record(), message.seconds)


def _choose(fields: Fields) -> EngineTask:
    message = Choose.model_validate(fields)
    return ChooseTask(message.record(), message.player, message.clock, message.seed)


def _review(fields: Fields) -> EngineTask:
    message = Review.model_validate(fields)
    return ReviewTask(message.record(), message.seconds)


TASKS: dict[str, Callable[[Fields], EngineTask]] = {"analyse": _analyse, "choose": _choose, "review": _review}


class Channel:
    """A connection with its open questions."""

    def __init__(self, socket: WebSocket, thinkers: EnginePool, network: str, costs: Buckets, house: Clubhouse) -> None:
        self.socket, self.thinkers, self.network, self.house = socket, thinkers, network, house
        self.costs = None if network in OWN else costs
        self.questions: dict[Id, asyncio.Task[None]] = {}
        self.bucket, self.wrong = Bucket(BURST, RATE), 0
        self._turn = asyncio.Lock()

    async def converse(self) -> None:
        """Hear messages until the connection ends; nothing is thought about for nobody."""
        try:
            while self.wrong < MOST_WRONG:
                message = await self.socket.receive()
                if message["type"] == "websocket.disconnect":
                    return
                text = message.get("text")
                share = self.costs.find(self.network) if self.costs else None
                if self.bucket.take() and await afford(share, text):
                    await self._hear(text)
                else:
                    self.wrong += 1
                    await self._send(None, failure("often", f"{RATE} messages a second at most"))
        except GONE:
            return
        finally:
            await _end(*self.questions.values())
        with suppress(*GONE):
            await self.socket.close(POLICY_VIOLATION, "too many wrong messages")

    async def _hear(self, text: str | None) -> None:
        """Begin or stop what a message asks for."""
        identity: Id = None
        try:
            fields = read_message(text)
            identity = take_identity(fields)
            do = fields.pop("do", None)
            task = None if do == "stop" else parse_task(str(do), fields)
            if task is not None:
                self.house.refuse_analysis(task.record, whole=isinstance(task, ReviewTask))
        except Refusal as refusal:
            await self._send(identity, failure(refusal.code, refusal.detail))
            return
        except (ValidationError, AwelloError) as error:
            self.wrong += 1
            await self._send(identity, failure(*complaint(error)))
            return
        self.wrong = 0
        if before := self.questions.pop(identity, None):
            await _end(before)
        if task is None:
            return
        if len(self.questions) >= MOST_QUESTIONS:
            message = f"{MOST_QUESTIONS} questions are open already: stop one, or wait for an answer"
            await self._send(identity, failure("busy", message))
            return
        self.questions[identity] = asyncio.create_task(self._answer(identity, task))

    async def _answer(self, identity: Id, task: EngineTask) -> None:
        """Send the answers to a question as fast as they are read."""
        try:
            async with aclosing(self.thinkers.think(task, self.network)) as answers:
                async for answer in answers:
                    await self._send(identity, answer)
        except GONE:
            pass
        finally:
            if self.questions.get(identity) is asyncio.current_task():
                del self.questions[identity]

    async def _send(self, identity: Id, answer: Answer) -> None:
        async with self._turn:
            await self.socket.send_text(json.dumps({"id": identity, **answer}))


async def afford(share: Bucket | None, text: str | None, cost: float = MESSAGE) -> bool:
    """Wait until a network can afford a message, by its share of the event loop; False if that would take too long."""
    wait = 0.0 if share is None else share.reserve(cost + len(text or "") / BYTES_READ, PATIENCE)
    if wait:
        await asyncio.sleep(wait)
    return wait is not None


def read_message(text: str | None) -> Fields:
    """The fields of a message."""
    if text is None:
        raise WrongMessage("a message must be text, not binary")
    if len(text) > LARGEST:
        raise WrongMessage(f"a message can have {LARGEST >> 10} KiB at most")
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        raise WrongMessage("a message must be JSON") from None
    if not isinstance(fields, dict):
        raise WrongMessage('a message must be a JSON object, such as {"id": 1, "do": "analyse"}')
    return fields


def take_identity(fields: Fields) -> Id:
    """The id of a question, taken out of its fields."""
    identity = fields.pop("id", None)
    if isinstance(identity, bool) or not isinstance(identity, int | str) or len(str(identity)) > LONGEST_ID:
        raise WrongMessage(f"id: give a number or a word of up to {LONGEST_ID} letters")
    return identity


async def _end(*questions: asyncio.Task[None]) -> None:
    """Cancel questions, and wait until nothing more can come of them."""
    for question in questions:
        question.cancel()
    await asyncio.gather(*questions, return_exceptions=True)
