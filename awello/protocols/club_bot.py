"""A client that plays in a club as a bot: it accepts challenges, seeks games, and lets a player choose the moves.

If the connection is lost, the client reconnects, and the club resends the state of every game in progress.
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
from socket import gaierror
from ssl import SSLError
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
from awello.record import REASON_TEXTS, Record
from awello.rules.game import Game

MIN_RECONNECT_SECONDS, MAX_RECONNECT_SECONDS = 0.5, 30.0  # the first and the longest delay before reconnecting
SEEK_RETRY_SECONDS = 5.0  # minimum delay before repeating a refused seek
RESEND_SECONDS = 0.5  # delay before repeating a message that was refused with one of `BUSY_CODES`
CLAIM_MARGIN_SECONDS = 0.2  # added to the delay of a claim, so that it is not too early
BUSY_CODES = ("message_rate_limit", "storage")  # error codes after which a message is repeated
LAG_SECONDS = 0.3  # subtracted from the clock shown to the player, for network lag
POLICY_VIOLATION = 1008  # WebSocket close code after which reconnecting is pointless
ABORTED = "aborted"  # the reason of games without a result, from which the bot does not learn

Message = dict[str, Any]
Work = Callable[..., Coroutine[Any, Any, object]]
Result = TypeVar("Result")


@dataclass(frozen=True)
class BotPolicy:
    """Which challenges a bot accepts, and which games it seeks."""

    variants: frozenset[Game] = frozenset(Game)
    """The variants in which the bot accepts challenges."""
    max_games: int = 4
    """Maximum number of simultaneous games."""
    opponents: frozenset[str] = frozenset()
    """Names of the players whose challenges the bot accepts, in lowercase; empty: all players."""
    seek: tuple[Game, Clock] | None = None
    """The variant and the clock to seek when the bot is idle; None: do not seek."""
    rated: bool = True
    tournament: int | str | None = None
    """The number or name of a tournament to enter."""

    def accepts(self, challenge: Message, playing: int) -> bool:
        """Return whether to accept a challenge, given the number of games in progress."""
        allowed = not self.opponents or str(challenge["from"]).lower() in self.opponents
        return allowed and playing < self.max_games and Game[challenge["variant"].upper()] in self.variants


@dataclass
class ClubBot:
    """A bot's connection to a club, and its games."""

    server: str
    token: str
    spec: str
    policy: BotPolicy = field(default_factory=BotPolicy)
    log: Callable[[str], None] = print

    def __post_init__(self) -> None:
        make_player(self.spec)  # raises an error if the spec is invalid
        self.url = make_websocket_url(self.server)
        # The keys of the next four dictionaries are game numbers.
        self.players: dict[int, Task[Player]] = {}
        self.searches: dict[int, Task[None]] = {}  # at most one per game, even if the club resends its state
        self.claim_tasks: dict[int, Task[None]] = {}  # scheduled claims against absent opponents
        self.learning_tasks: dict[int, Task[None]] = {}  # learning from finished games
        self.tasks: set[Task[None]] = set()
        self.logged: set[str] = set()  # lines that are not logged again if the club resends results
        self.pending: dict[int, Message] = {}  # unanswered requests of this connection, by id
        self.message_ids, self.seek_id = count(1), 0  # `seek_id`: id of the open seek, or 0
        self.name = ""
        self.pool = ThreadPoolExecutor(self.policy.max_games)

    async def run(self) -> None:
        """Play until cancelled, reconnecting when the connection is lost."""
        pause = MIN_RECONNECT_SECONDS
        while True:
            try:
                headers = {"authorization": f"Bearer {self.token}"}
                async with connect(self.url, additional_headers=headers) as socket:
                    pause = MIN_RECONNECT_SECONDS
                    await self._listen(socket)
            except ConnectionClosed as closed:
                if closed.rcvd and closed.rcvd.code == POLICY_VIOLATION:
                    raise ConfigError(f"the club refused {self.spec}: {closed.rcvd.reason}") from None
                self.log("connection lost: reconnecting")
            except (OSError, InvalidHandshake) as error:
                problem = f"cannot connect to {self.server}{describe_failure(error)}"
                self.log(f"{problem}: check --server, or wait; next try in {pause:.1f} s")
            self.seek_id = 0
            await asyncio.sleep(pause)
            pause = min(2 * pause, MAX_RECONNECT_SECONDS)

    async def _listen(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.pending.clear()  # requests are not repeated, because the club resends the state of every game
        async for text in socket:
            message: Message = json.loads(text)
            match None if "id" in message else message["type"]:
                case "ping":
                    await socket.send(json.dumps({"type": "pong", "number": message["number"]}))
                case "welcome":
                    self.name = message["name"]
                    self.log(f"{self.spec} is online as {self.name}")
                    if self.policy.tournament is not None:
                        await self._request("enter", tournament=self.policy.tournament)
                    self._schedule(self._seek)
                case "challenge":
                    self._schedule(self._answer_challenge, message)
                case "game":
                    self._handle_game(message)
                case "tournament":
                    self._log_tournament(message)
                case "opponent_presence":
                    self._handle_opponent_presence(message)
                case "early_exit_warning":
                    self._log_early_exits(message)
                case None:
                    self._handle_response(message)

    async def _request(self, type: str, **fields: Any) -> int:
        number = next(self.message_ids)
        await self._send({"id": number, "type": type, **fields}, self.socket)
        return number

    async def _send(self, message: Message, socket: ClientConnection) -> None:
        if socket is self.socket:
            self.pending[message["id"]] = message
            await socket.send(json.dumps(message))

    def _handle_response(self, response: Message) -> None:
        """Handle the response to a request; repeat the request later if the club is busy."""
        pending = self.pending.pop(response["id"], None)
        if response["type"] != "error":
            return
        self.log(f"the club refused: {response['message']}")
        if response["id"] == self.seek_id:
            self.seek_id = 0
            self._schedule(self._seek, delay=max(SEEK_RETRY_SECONDS, 60.0 * response["params"].get("minutes", 0)))
        elif pending and response["code"] in BUSY_CODES:
            self._schedule(self._send, pending, self.socket, delay=RESEND_SECONDS)

    def _schedule(self, work: Work, *args: Any, delay: float = 0, **fields: Any) -> Task[None]:
        """Run a coroutine in the background after a delay.

        If the connection is lost, the coroutine ends; after reconnecting, the bot receives the state of every game.
        """

        async def finish() -> None:
            await asyncio.sleep(delay)
            with suppress(ConnectionClosed):
                await work(*args, **fields)

        task = asyncio.create_task(finish())
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return task

    async def _run_in_thread(self, work: Callable[..., Result], *args: Any) -> Result:
        """Run a function in another thread."""
        return await asyncio.get_running_loop().run_in_executor(self.pool, work, *args)

    async def _answer_challenge(self, challenge: Message) -> None:
        await asyncio.gather(*self.learning_tasks.values())
        accepts = self.policy.accepts(challenge, len(self.players))
        await self._request("accept" if accepts else "decline", number=challenge["number"])

    async def _seek(self) -> None:
        await asyncio.gather(*self.learning_tasks.values())
        if self.policy.seek and not self.seek_id and not self.players:
            variant, clock = self.policy.seek
            settings = {"seconds": clock.seconds, "increment": clock.increment, "rated": self.policy.rated}
            self.seek_id = await self._request("seek", variant=str(variant), **settings)

    def _log_tournament(self, event: Message) -> None:
        """Log the start of a tournament, each round, and the end."""
        rank = next((row["rank"] for row in event["standings"] if row["name"] == self.name), None)
        if event["state"] != "open":
            state = f"{event['state']}, round {event['round']} of {event['rounds']}, rank {rank}"
            self._log_once(f"tournament {event['name']}: {state}")

    def _log_once(self, line: str) -> None:
        if line not in self.logged:
            self.logged.add(line)
            self.log(line)

    def _log_early_exits(self, warning: Message) -> None:
        """Log the number of rated games left early, and the penalty."""
        penalty = (
            f"no rated games for {warning['minutes']} min"
            if warning["minutes"]
            else f"up to {warning['free_exits']} per hour have no penalty"
        )
        self.log(f"rated games left early within an hour: {warning['exits']} ({penalty})")

    def _handle_game(self, state: Message) -> None:
        """Handle the state of a game: start the game, choose a move, or end the game."""
        number, names = state["game"], [player["name"] for player in state["players"]]
        if self.name not in names:
            return
        if state["over"]:
            self._end_game(state, names)
            return
        if number not in self.players:
            self.log(f"game {number}, {' - '.join(names)}: {state['variant']}")
            self.seek_id = 0
            self.players[number] = asyncio.create_task(self._make_player(state, [*self.learning_tasks.values()]))
        if names[state["mover"]] == self.name and ((search := self.searches.get(number)) is None or search.done()):
            self.searches[number] = self._schedule(self._choose_move, state, self.players[number])

    async def _make_player(self, state: Message, learning: list[Task[None]]) -> Player:
        """Make the player of a new game, once all players have learnt from earlier games."""
        await asyncio.gather(*learning)
        player = make_player(self.spec)
        seed = zlib.crc32(f"{self.server} {state['game']}".encode())
        await self._run_in_thread(player.begin, Game[state["variant"].upper()], seed)
        return player

    async def _choose_move(self, state: Message, ready_player: Task[Player]) -> None:
        number, record, received = state["game"], read_record(state), monotonic()
        response: Message = {"type": "resign"}
        try:
            player = await ready_player
            left = state["clocks"][state["mover"]] - LAG_SECONDS - (monotonic() - received)
            clock = Clock(max(0.01, left), state["control"]["increment"])
            choice = await self._run_in_thread(choose_move, player, record, clock)
            response = {"type": "move", "ply": state["ply"], "move": record.final.format_move(choice.move)}
        except Resignation:
            pass
        except Exception as error:
            self.log(f"game {number}: the bot resigns after an error ({describe_error(error)})")
        if number in self.players:
            await self._request(**response, game=number)

    def _end_game(self, state: Message, names: list[str]) -> None:
        number = state["game"]
        if claim := self.claim_tasks.pop(number, None):
            claim.cancel()
        self._log_once(f"game {number}, {' - '.join(names)}: {describe_result(state, names)}")
        search = self.searches.pop(number, None)
        if player := self.players.pop(number, None):
            self.learning_tasks[number] = self._schedule(
                self._learn_game, player, search, state, names.index(self.name)
            )
        else:
            self._schedule(self._seek)

    async def _learn_game(
        self, ready_player: Task[Player], search: Task[None] | None, state: Message, side: int
    ) -> None:
        """End a player's game, and let the player learn from it before the next game starts."""
        try:
            player = await ready_player
            player.end()
            if search:
                await asyncio.wait([search])
            if state["reason"] != ABORTED:
                await self._run_in_thread(player.learn, read_record(state), side)
        except Exception as error:
            self.log(f"game {state['game']}: learning failed ({describe_error(error)})")
        del self.learning_tasks[state["game"]]
        await self._seek()

    def _handle_opponent_presence(self, event: Message) -> None:
        """Schedule a claim when the opponent disconnects; cancel it when they reconnect."""
        if claim := self.claim_tasks.pop(event["game"], None):
            claim.cancel()
        if event["claim_in_seconds"] is not None:
            delay = event["claim_in_seconds"] + CLAIM_MARGIN_SECONDS
            self.claim_tasks[event["game"]] = self._schedule(self._request, "claim", delay=delay, game=event["game"])


def make_websocket_url(server: str) -> str:
    """Make the WebSocket URL of a club; raise `ConfigError` if the server address is invalid."""
    try:
        parts = urlsplit(server)
        address = f"{'wss' if parts.scheme == 'https' else 'ws'}://{parts.netloc}{parts.path.rstrip('/')}/api/club/live"
        if parts.scheme in ("http", "https") and parts.port != 0 and not any(map(str.isspace, server)):
            parse_uri(address).host.encode("idna")
            return address
    except (ValueError, InvalidURI):  # invalid port, brackets or host
        pass
    raise ConfigError(f"--server {server!r} is not a club address: write https://HOST or http://HOST:PORT")


def describe_failure(error: OSError | InvalidHandshake) -> str:
    """Return the cause of a failed connection in parentheses, or "" if nothing answers at the address."""
    if isinstance(error, gaierror | SSLError):
        return f" ({error.strerror})"
    return f" ({error})" if isinstance(error, InvalidHandshake) else ""


def choose_move(player: Player, record: Record, clock: Clock) -> Choice:
    """Let a player choose the next move of a game in progress."""
    player.follow(record)
    return player.choose(record.final, clock)


def read_record(state: Message) -> Record:
    """Convert the state of a game, as sent by the club, to a record."""
    record = parse_transcript(" ".join(state["moves"]), Position.start(state["variant"]))
    if state["over"] and state["reason"] and state["winner"] is not None:
        return Record(record.start, record.moves, loser=1 - state["winner"], reason=describe_reason(state["reason"]))
    return record


def describe_result(state: Message, names: list[str]) -> str:
    """Describe the result of a game in one line."""
    drawn = "not played" if state["reason"] == ABORTED else "drawn"
    result = drawn if state["winner"] is None else f"{names[state['winner']]} won"
    score = " {} - {}".format(*state["score"]) if state["score"] else ""
    return f"{result}{score}{', ' + describe_reason(state['reason']) if state['reason'] else ''}"


def describe_reason(code: str) -> str:
    """Describe why a game ended; return an unknown code, which a newer server may send, unchanged."""
    return REASON_TEXTS.get(code, code)


def describe_error(error: Exception) -> str:
    """Describe a player's error in one line."""
    return str(error) if isinstance(error, AwelloError) else f"{type(error).__name__}: {error}"
