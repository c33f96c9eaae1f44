"""The club's channel: a bot that accepts challenges, seeks games, and plays them with one of our players.

A broken connection is made again, and the club then sends every game in progress anew.
"""

import asyncio
import json
import zlib
from asyncio import Task
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from time import monotonic
from typing import Any, TypeVar
from urllib.parse import urlsplit

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidURI
from websockets.uri import parse_uri

from awello.errors import AwelloError, ConfigError
from awello.formats.transcript import parse_transcript
from awello.limits import Clock
from awello.players.player import Choice, Player, Resignation, make_player
from awello.position import Position
from awello.record import Record
from awello.rules.game import Game

PAUSE, LONGEST_PAUSE = 0.5, 30.0  # seconds before a connection is made again
RETRY = 5.0  # seconds before a refused seek is tried again
RESEND = 0.5  # seconds before another message that the club could not take is sent again
CLAIM_MARGIN = 0.2  # seconds added before a win is claimed, so that the claim is not refused as early
BUSY = ("message_rate_limit", "storage")  # codes of answers that ask for the same message later
SPARE = 0.3  # seconds of its clock that a player does not know of, for the way there and back
FOREVER = 1008  # the code of a connection that must not be made again
NOT_BEGUN = "was not begun"  # the reason of a game that does not count

Message = dict[str, Any]
Work = Callable[..., Coroutine[Any, Any, object]]
Result = TypeVar("Result")


@dataclass(frozen=True)
class BotPolicy:
    """Which games a bot plays, and how many."""

    games: frozenset[Game] = frozenset(Game)
    most: int = 4
    """Games at once."""
    names: frozenset[str] = frozenset()
    """The players who may challenge it, in lower case; if there are none, everyone may."""
    seek: tuple[Game, Clock] | None = None
    """A game that it seeks whenever it plays none."""
    rated: bool = True
    tournament: int | str | None = None
    """The number or name of a tournament that it enters."""

    def accepts(self, challenge: Message, playing: int) -> bool:
        """Whether to accept a challenge."""
        known = not self.names or str(challenge["from"]).lower() in self.names
        return known and playing < self.most and Game[challenge["kind"].upper()] in self.games


@dataclass
class ClubBot:
    """A connection to a club, and the games played on it."""

    server: str
    token: str
    spec: str
    policy: BotPolicy = field(default_factory=BotPolicy)
    tell: Callable[[str], None] = print

    def __post_init__(self) -> None:
        make_player(self.spec)  # a wrong spec is an error at once
        self.address = channel_address(self.server)
        self.players: dict[int, Task[Player]] = {}  # by the game, as is what follows
        self.searches: dict[int, Task[None]] = {}  # a game may be sent again meanwhile
        self.claims: dict[int, Task[None]] = {}  # wins to be claimed from opponents who left
        self.learning: dict[int, Task[None]] = {}  # from games that are over
        self.tasks: set[Task[None]] = set()
        self.told: set[str] = set()  # results, which the club may send again
        self.asked: dict[int, Message] = {}  # messages on this connection that have not been answered, by their id
        self.numbers, self.seeking = count(1), 0  # the id of the message by which a game is sought
        self.name = ""
        self.pool = ThreadPoolExecutor(self.policy.most)

    async def run(self) -> None:
        """Play until cancelled; a broken connection is made again."""
        pause = PAUSE
        while True:
            try:
                headers = {"authorization": f"Bearer {self.token}"}
                async with connect(self.address, additional_headers=headers) as socket:
                    pause = PAUSE
                    await self._listen(socket)
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
            match None if "id" in message else message["type"]:
                case "ping":
                    await socket.send(json.dumps({"type": "pong", "number": message["number"]}))
                case "welcome":
                    self.name = message["name"]
                    self.tell(f"{self.spec} is in the club as {self.name}")
                    if self.policy.tournament is not None:
                        await self._ask("join", tournament=self.policy.tournament)
                    self._later(self._seek)
                case "challenge":
                    self._later(self._answer_challenge, message)
                case "game":
                    self._look(message)
                case "tournament":
                    self._report_tournament(message)
                case "opponent":
                    self._note_opponent(message)
                case "warning":
                    self._report_warning(message)
                case None:
                    self._take_answer(message)

    async def _ask(self, type: str, **fields: Any) -> int:
        number = next(self.numbers)
        await self._send({"id": number, "type": type, **fields}, self.socket)
        return number

    async def _send(self, message: Message, socket: ClientConnection) -> None:
        if socket is self.socket:
            self.asked[message["id"]] = message
            await socket.send(json.dumps(message))

    def _take_answer(self, answer: Message) -> None:
        """Send a message again later if the club could not take it now."""
        asked = self.asked.pop(answer["id"], None)
        if answer["type"] != "error":
            return
        self.tell(f"the club refused: {answer['message']}")
        if answer["id"] == self.seeking:
            self.seeking = 0
            self._later(self._seek, delay=max(RETRY, 60.0 * answer["params"].get("minutes", 0)))
        elif asked and answer["code"] in BUSY:
            self._later(self._send, asked, self.socket, delay=RESEND)

    def _later(self, work: Work, *words: Any, delay: float = 0, **fields: Any) -> Task[None]:
        """Work in the background; if the connection is gone then, the next one tells what is to be done."""

        async def finish() -> None:
            await asyncio.sleep(delay)
            with suppress(ConnectionClosed):
                await work(*words, **fields)

        task = asyncio.create_task(finish())
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return task

    async def _run(self, work: Callable[..., Result], *words: Any) -> Result:
        """The result of work in a thread."""
        return await asyncio.get_running_loop().run_in_executor(self.pool, work, *words)

    async def _answer_challenge(self, challenge: Message) -> None:
        await asyncio.gather(*self.learning.values())
        accepts = self.policy.accepts(challenge, len(self.players))
        await self._ask("accept" if accepts else "decline", number=challenge["number"])

    async def _seek(self) -> None:
        await asyncio.gather(*self.learning.values())
        if self.policy.seek and not self.seeking and not self.players:
            game, clock = self.policy.seek
            terms = {"seconds": clock.seconds, "increment": clock.increment, "rated": self.policy.rated}
            self.seeking = await self._ask("seek", kind=str(game), **terms)

    def _report_tournament(self, news: Message) -> None:
        """Say what is new in a tournament: it begins, a round begins, it is over."""
        place = next((row["place"] for row in news["standings"] if row["name"] == self.name), None)
        if news["state"] != "open":
            state = f"{news['state']}, round {news['round']} of {news['rounds']}, place {place}"
            self._tell_once(f"tournament {news['name']}: {state}")

    def _tell_once(self, line: str) -> None:
        if line not in self.told:
            self.told.add(line)
            self.tell(line)

    def _report_warning(self, warning: Message) -> None:
        """Say that rated games were left early, and what that costs."""
        price = f"no rated games for {warning['minutes']} min" if warning["minutes"] else f"{warning['free']} are free"
        self.tell(f"rated games left early within an hour: {warning['left']} ({price})")

    def _look(self, state: Message) -> None:
        """Begin a game, move in it, or end it."""
        number, names = state["game"], [player["name"] for player in state["players"]]
        if self.name not in names:
            return
        if state["over"]:
            self._end(state, names)
            return
        if number not in self.players:
            self.tell(f"game {number}, {' - '.join(names)}: {state['kind']}")
            self.seeking = 0
            self.players[number] = asyncio.create_task(self._begin(state, [*self.learning.values()]))
        if names[state["mover"]] == self.name and ((search := self.searches.get(number)) is None or search.done()):
            self.searches[number] = self._later(self._move, state, self.players[number])

    async def _begin(self, state: Message, learning: list[Task[None]]) -> Player:
        """The player of a new game, which begins when the games before it have been learnt from."""
        await asyncio.gather(*learning)
        player = make_player(self.spec)
        seed = zlib.crc32(f"{self.server} {state['game']}".encode())
        await self._run(player.begin, Game[state["kind"].upper()], seed)
        return player

    async def _move(self, state: Message, begun: Task[Player]) -> None:
        number, record, told = state["game"], read_record(state), monotonic()
        answer: Message = {"type": "resign"}
        try:
            player = await begun
            left = state["clocks"][state["mover"]] - SPARE - (monotonic() - told)
            clock = Clock(max(0.01, left), state["control"]["increment"])
            choice = await self._run(choose, player, record, clock)
            answer = {"type": "move", "ply": state["ply"], "move": record.final.format_move(choice.move)}
        except Resignation:
            pass
        except Exception as error:
            self.tell(f"game {number}: {describe_error(error)}; the bot resigns")
        if number in self.players:
            await self._ask(**answer, game=number)

    def _end(self, state: Message, names: list[str]) -> None:
        number = state["game"]
        if claim := self.claims.pop(number, None):
            claim.cancel()
        self._tell_once(f"game {number}, {' - '.join(names)}: {describe(state, names)}")
        search = self.searches.pop(number, None)
        if player := self.players.pop(number, None):
            self.learning[number] = self._later(self._learn, player, search, state, names.index(self.name))
        else:
            self._later(self._seek)

    async def _learn(self, begun: Task[Player], search: Task[None] | None, state: Message, side: int) -> None:
        """End a player's game and let it learn, before another game begins."""
        try:
            player = await begun
            player.end()
            if search:
                await asyncio.wait([search])
            if state["reason"] != NOT_BEGUN:
                await self._run(player.learn, read_record(state), side)
        except Exception as error:
            self.tell(f"game {state['game']}: nothing was learnt: {describe_error(error)}")
        del self.learning[state["game"]]
        await self._seek()

    def _note_opponent(self, news: Message) -> None:
        """Claim the win when the opponent has been away for long enough, unless they come back."""
        if claim := self.claims.pop(news["game"], None):
            claim.cancel()
        if news["claim"] is not None:
            delay = news["claim"] + CLAIM_MARGIN
            self.claims[news["game"]] = self._later(self._ask, "claim", delay=delay, game=news["game"])


def channel_address(server: str) -> str:
    """The address of a club's channel; `ConfigError` if it can never be reached."""
    try:
        parts = urlsplit(server)
        address = f"{'wss' if parts.scheme == 'https' else 'ws'}://{parts.netloc}{parts.path.rstrip('/')}/api/club/live"
        if parts.scheme in ("http", "https") and parts.port != 0 and not any(map(str.isspace, server)):
            parse_uri(address).host.encode("idna")
            return address
    except (ValueError, InvalidURI):  # a port that is not a number, brackets that do not match, an impossible host
        pass
    raise ConfigError(f"--server {server!r} is not the address of a club: write https://HOST or http://HOST:PORT")


def choose(player: Player, record: Record, clock: Clock) -> Choice:
    """A player's choice at the end of a game so far."""
    player.follow(record)
    return player.choose(record.final, clock)


def read_record(state: Message) -> Record:
    """The game so far, as the club sends it."""
    record = parse_transcript(" ".join(state["moves"]), Position.start(state["kind"]))
    if state["over"] and state["reason"] and state["winner"] is not None:
        return Record(record.start, record.moves, loser=1 - state["winner"], reason=state["reason"])
    return record


def describe(state: Message, names: list[str]) -> str:
    """How a game ended."""
    drawn = "not played" if state["reason"] == NOT_BEGUN else "drawn"
    result = drawn if state["winner"] is None else f"{names[state['winner']]} won"
    score = " {} - {}".format(*state["score"]) if state["score"] else ""
    return f"{result}{score}{', ' + state['reason'] if state['reason'] else ''}"


def describe_error(error: Exception) -> str:
    """An error of a player in one line."""
    return str(error) if isinstance(error, AwelloError) else f"{type(error).__name__}: {error}"
