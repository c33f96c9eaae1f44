"""A player of ours in somebody's club: takes challenges, seeks games, and moves when it is its turn.

The connection may break at any time: it is made again, and the club tells anew which games go on.
"""

import asyncio
import json
import zlib
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from typing import Any
from urllib.parse import urlsplit

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidURI

from awello.errors import AwelloError, ConfigError
from awello.limits import Clock
from awello.players.player import Choice, Player, Resignation, make_player
from awello.position import Position
from awello.record import Record
from awello.rules.game import Game

PAUSE, LONGEST_PAUSE = 0.5, 30.0  # seconds before a connection is made again
RETRY = 5.0  # seconds before a seek that was refused is tried again
RESEND = 0.5  # seconds before another message that the club could not take is sent again
CLAIM_MARGIN = 0.2  # seconds added before a win is claimed, so that the claim is not refused as early
BUSY = ("often", "storage")  # codes of answers that ask for the same message later
SPARE = 0.3  # seconds of its clock that a player does not know of, for the way there and back
FOREVER = 1008  # the code of a connection that must not be made again

Message = dict[str, Any]


@dataclass(frozen=True)
class Manners:
    """Whom a bot plays, and how often."""

    kinds: frozenset[Game] = frozenset(Game)
    most: int = 4
    """Games at once."""
    names: frozenset[str] = frozenset()
    """Those who may challenge it, in small letters; everybody if there are none."""
    seek: tuple[Game, Clock] | None = None
    """A game that it seeks whenever it plays none."""
    rated: bool = True
    tournament: int | str | None = None
    """The number or name of a tournament that it enters."""

    def accepts(self, challenge: Message, playing: int) -> bool:
        """Whether to take a challenge."""
        known = not self.names or str(challenge["from"]).lower() in self.names
        return known and playing < self.most and Game[challenge["kind"].upper()] in self.kinds


@dataclass
class Bot:
    """A connection to a club and the games that are played on it."""

    server: str
    token: str
    spec: str
    manners: Manners = field(default_factory=Manners)
    tell: Callable[[str], None] = print

    def __post_init__(self) -> None:
        make_player(self.spec)  # what is wrong with it is said at once
        self.players: dict[int, Player] = {}
        self.thinking: dict[int, asyncio.Task[None]] = {}  # by the game; it may be told again meanwhile
        self.tasks: set[asyncio.Task[None]] = set()
        self.over: set[int] = set()
        self.heard: dict[int, str] = {}
        self.claims: dict[int, asyncio.Task[None]] = {}  # wins to be claimed from opponents who left, by the game
        self.asked: dict[int, Message] = {}  # messages on this connection that have not been answered, by their id
        self.numbers, self.seeking = count(1), 0  # the number of the question by which a game is sought
        self.name = ""
        self.pool = ThreadPoolExecutor(self.manners.most)

    @property
    def address(self) -> str:
        """Where the channel is."""
        parts = urlsplit(self.server if "://" in self.server else f"http://{self.server}")
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise ConfigError(f"{self.server!r} is no address of a club: write https://HOST or http://HOST:PORT")
        return f"{'wss' if parts.scheme == 'https' else 'ws'}://{parts.netloc}{parts.path.rstrip('/')}/api/club/live"

    async def run(self) -> None:
        """Play until somebody ends it; a connection that breaks is made again."""
        pause, address = PAUSE, self.address
        while True:
            try:
                headers = {"authorization": f"Bearer {self.token}"}
                async with connect(address, additional_headers=headers) as socket:
                    pause = PAUSE
                    await self._listen(socket)
            except InvalidURI:
                raise ConfigError(f"{self.server!r} is no address of a club") from None
            except ConnectionClosed as closed:
                if closed.rcvd and closed.rcvd.code == FOREVER:
                    raise ConfigError(f"the club does not let {self.spec} in: {closed.rcvd.reason}") from None
                self.tell("the connection broke: trying again")
            except (OSError, InvalidHandshake) as error:
                self.tell(f"cannot reach {self.server} ({error}): trying again in {pause:.1f} s")
            self.seeking = 0
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    async def _listen(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.asked.clear()  # the club sends every game again, and with it what is to be done
        async for text in socket:
            message: Message = json.loads(text)
            event = None if "id" in message else message["type"]
            if event == "ping":
                await socket.send(json.dumps({"type": "pong", "number": message["number"]}))
            elif event == "welcome":
                self.name = message["name"]
                self.tell(f"{self.spec} is in the club as {self.name}")
                if self.manners.tournament is not None:
                    await self._ask("join", tournament=self.manners.tournament)
                await self._seek()
            elif event == "challenge":
                answer = "accept" if self.manners.accepts(message, len(self.players)) else "decline"
                await self._ask(answer, number=message["number"])
            elif event == "game":
                await self._look(message)
            elif event == "tournament":
                self._follow(message)
            elif event == "opponent":
                self._note_opponent(message)
            elif event == "warning":
                self._warn(message)
            elif event is None:
                self._hear_answer(message)

    def _hear_answer(self, answer: Message) -> None:
        """Send again later what the club could not take now."""
        asked = self.asked.pop(answer["id"], None)
        if answer["type"] != "error":
            return
        self.tell(f"the club refused: {answer['message']}")
        if answer["id"] == self.seeking:
            self._later(self._seek_again(max(RETRY, 60.0 * answer.get("minutes", 0))))
        elif asked and answer["code"] in BUSY:
            self._later(self._resend(self.socket, asked))

    async def _resend(self, socket: ClientConnection, message: Message) -> None:
        await asyncio.sleep(RESEND)
        if socket is self.socket:
            with suppress(ConnectionClosed):
                await self._send(message)

    def _note_opponent(self, news: Message) -> None:
        """Claim the win when the opponent has been away for long enough, unless they come back."""
        if claim := self.claims.pop(news["game"], None):
            claim.cancel()
        if news["claim"] is not None:
            self.claims[news["game"]] = self._later(self._claim(news["game"], news["claim"]))

    async def _claim(self, number: int, seconds: float) -> None:
        await asyncio.sleep(seconds + CLAIM_MARGIN)
        if number in self.players:
            with suppress(ConnectionClosed):
                await self._ask("claim", game=number)

    def _warn(self, warning: Message) -> None:
        """Say that rated games were left early, and what that costs."""
        price = f"no rated games for {warning['minutes']} min" if warning["minutes"] else f"{warning['free']} are free"
        self.tell(f"rated games left early within an hour: {warning['left']} ({price})")

    def _follow(self, news: Message) -> None:
        """Say once what is new of a tournament: it begins, a round begins, it is over."""
        place = next((row["place"] for row in news["standings"] if row["name"] == self.name), None)
        said = f"tournament {news['name']}: {news['state']}, round {news['round']} of {news['rounds']}, place {place}"
        if news["state"] != "open" and said != self.heard.get(news["tournament"]):
            self.heard[news["tournament"]] = said
            self.tell(said)

    async def _ask(self, type: str, **fields: Any) -> int:
        number = next(self.numbers)
        await self._send({"id": number, "type": type, **fields})
        return number

    async def _send(self, message: Message) -> None:
        self.asked[message["id"]] = message
        await self.socket.send(json.dumps(message))

    def _later(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return task

    async def _seek_again(self, pause: float) -> None:
        await asyncio.sleep(pause)
        self.seeking = 0
        with suppress(ConnectionClosed):
            await self._seek()

    async def _seek(self) -> None:
        if self.manners.seek and not self.seeking and not self.players:
            game, clock = self.manners.seek
            terms = {"seconds": clock.seconds, "increment": clock.increment, "rated": self.manners.rated}
            self.seeking = await self._ask("seek", kind=str(game), **terms)

    async def _look(self, state: Message) -> None:
        """A game as it stands: begin, move or end."""
        number, names = state["game"], [player["name"] for player in state["players"]]
        if self.name not in names:
            return
        if state["over"]:
            self.thinking.pop(number, None)
            if claim := self.claims.pop(number, None):
                claim.cancel()
            if player := self.players.pop(number, None):
                player.end()
            if number not in self.over:
                self.over.add(number)
                self.tell(f"game {number}, {' - '.join(names)}: {describe(state, names)}")
            await self._seek()
            return
        if number not in self.players:
            self.tell(f"game {number}, {' - '.join(names)}: {state['kind']}")
            self.seeking = 0
            self.players[number] = player = make_player(self.spec)
            player.begin(Game[state["kind"].upper()], zlib.crc32(f"{self.server} {number}".encode()))
        if names[state["mover"]] == self.name and ((task := self.thinking.get(number)) is None or task.done()):
            self.thinking[number] = self._later(self._move(state))

    async def _move(self, state: Message) -> None:
        """Think, and send the move; where there is no connection then, the next one tells of the game again."""
        number, player = state["game"], self.players[state["game"]]
        record = read_record(state)
        clock = Clock(max(0.01, state["clocks"][state["mover"]] - SPARE), state["control"]["increment"])
        with suppress(ConnectionClosed):
            try:
                choice = await asyncio.get_running_loop().run_in_executor(self.pool, choose, player, record, clock)
                await self._ask("move", game=number, ply=state["ply"], move=record.final.format_move(choice.move))
            except Resignation:
                await self._ask("resign", game=number)
            except ConnectionClosed:
                raise
            except Exception as error:
                said = str(error) if isinstance(error, AwelloError) else f"{type(error).__name__}: {error}"
                self.tell(f"game {number}: {said}; the bot resigns")
                await self._ask("resign", game=number)


def choose(player: Player, record: Record, clock: Clock) -> Choice:
    """What a player chooses at the end of a game so far."""
    player.follow(record)
    return player.choose(record.final, clock)


def read_record(state: Message) -> Record:
    """The game so far, as the club tells it."""
    position = start = Position.start(Game[state["kind"].upper()])
    moves = []
    for name in state["moves"]:
        moves.append(position.parse_move(name))
        position = position.after(moves[-1])
    return Record(start, tuple(moves))


def describe(state: Message, names: list[str]) -> str:
    """How a game ended."""
    drawn = "not played" if state["reason"] == "was not begun" else "drawn"
    result = drawn if state["winner"] is None else f"{names[state['winner']]} won"
    score = " {} - {}".format(*state["score"]) if state["score"] else ""
    return f"{result}{score}{', ' + state['reason'] if state['reason'] else ''}"
