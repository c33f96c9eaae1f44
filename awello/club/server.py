"""The club server: connections, lobby and live games; each change to a game is stored before clients are notified."""

import asyncio
import logging
import time
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack, suppress
from functools import partial
from random import Random
from typing import Any, TypeVar

from sqlalchemy import Connection

from awello.club.accounts import Account
from awello.club.archiving import ARCHIVE_RETRY_SECONDS, Archiver, archive_games
from awello.club.blocks import BlockList
from awello.club.chat import Chat
from awello.club.disconnects import DisconnectTracker
from awello.club.fair_play import FairPlayMonitor
from awello.club.game_state import ClubError, GameState
from awello.club.indexed_collection import IndexedCollection
from awello.club.live_game import ClientConnection, EncodedMessage, ExtraWrite, LiveGame, create_game, load_game
from awello.club.lobby import Lobby, player_offline_error
from awello.club.offers import GameTerms, Message
from awello.club.rated_positions import RatedPositions
from awello.club.store import ClubStore
from awello.club.stored_games import SaveGame, load_heartbeat, load_live_games, save_games, save_heartbeat
from awello.club.tournament_organiser import TournamentOrganiser
from awello.errors import AwelloError
from awello.rules.game import PASS

MAX_LIVE_GAMES_PER_USER, MAX_LIVE_GAMES_PER_BOT = 8, 64
MAX_ENDED_GAMES = 1000  # ended games kept in memory
CLOCK_CHECK_SECONDS = 0.2  # between two checks of the clocks
HEARTBEAT_SECONDS = 0.5  # between two writes of the heartbeat

Result = TypeVar("Result")


class ClubServer:
    """The live state of a club."""

    def __init__(self, store: ClubStore, archive: Archiver | None = None, seed: int | None = None) -> None:
        self.store, self.archive, self.random = store, archive, Random(seed)
        store.now = lambda: self.now()
        self.live_games: IndexedCollection[LiveGame] = IndexedCollection(
            lambda live_game: live_game.state.players
        )  # games in progress
        self.ended_games: OrderedDict[int, LiveGame] = OrderedDict()
        self.clients: set[ClientConnection] = set()
        self.online: dict[int, set[ClientConnection]] = defaultdict(set)  # by account id
        self.rated_positions = RatedPositions()
        self.counts: Counter[str] = Counter()  # numbers of moves and ended games, for the metrics
        self._starting: Counter[int] = Counter()  # games being created, by account
        self._started = time.time() - time.monotonic()
        self._tasks: set[asyncio.Task[Any]] = set()
        self.lobby, self.tournaments, self.chat = Lobby(self), TournamentOrganiser(self), Chat(self)
        self.blocks, self.disconnects, self.fair_play = BlockList(self), DisconnectTracker(self), FairPlayMonitor(self)
        self._game_ended = asyncio.Event()  # set when a game has ended and can be archived

    def now(self) -> float:
        """Return the time in seconds since 1970; it never decreases."""
        return self._started + time.monotonic()

    # ---- start and shutdown ------------------------------------------------------------------------------------------
    async def open(self) -> None:
        """Resume the live games and start the background tasks."""
        await self._resume_games()
        await self.blocks.load()
        self._create_task(_run_forever(self._check_clocks))
        self._create_task(_run_forever(self._save_heartbeats))
        self._create_task(
            _run_forever(
                partial(archive_games, self.store, self._game_ended, lambda: self.archive), ARCHIVE_RETRY_SECONDS
            )
        )
        self._create_task(_run_forever(self.tournaments.run))

    async def _resume_games(self) -> None:
        """Load the stored live games and restart their clocks; downtime is charged to neither side."""

        def resume(connection: Connection) -> list[GameState]:
            stopped, now = load_heartbeat(connection), self.now()
            if self.store.failed_at is not None:  # the failure is more recent than the last heartbeat
                stopped = max(stopped or 0.0, self.store.failed_at)
            states = [
                state.resume(state.turn_started if stopped is None else stopped, now)
                for state in load_live_games(connection)
            ]
            save_games(connection, states)
            save_heartbeat(connection, now)
            return states

        await asyncio.to_thread(self.store.acquire)
        async with AsyncExitStack() as stack:
            for live_game in list(self.live_games.values()):
                await stack.enter_async_context(live_game.lock)
            states = {state.number: state for state in await self.store.force_write(resume)}
            for number, state in states.items():
                live_game = self.live_games.get(number) or self.live_games.add(
                    number, await self._load_live_game(number)
                )
                self._update(live_game, state)
                self._broadcast_game(live_game)
            for live_game in [live_game for number, live_game in self.live_games.items() if number not in states]:
                written = await self._load_live_game(
                    live_game.state.number
                )  # the game has ended, but its players were not notified
                self._update(live_game, written.state)
                live_game.ratings_after = written.ratings_after
                await self._end(live_game)
                self._broadcast_game(live_game)
        self.store.failed_at = None

    async def close(self) -> None:
        """Stop the background tasks and write a last heartbeat."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        with suppress(AwelloError):
            await self.store.write(self._save_heartbeat)

    def _create_task(self, work: Coroutine[Any, Any, Result]) -> "asyncio.Task[Result]":
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _check_clocks(self) -> None:
        """End games in which the mover's time has run out."""
        while True:
            await asyncio.sleep(CLOCK_CHECK_SECONDS)
            late = [live_game for live_game in self.live_games.values() if self.now() > live_game.state.deadline]
            for live_game in late:
                try:
                    await self._act(live_game, lambda state: state.flag(self.now()))
                except AwelloError:
                    break  # the database cannot be written to: retry at the next check

    async def _save_heartbeats(self) -> None:
        """Write heartbeats and broadcast lobby changes; after a failed write, load the games again."""
        while True:
            await asyncio.sleep(HEARTBEAT_SECONDS)
            self.lobby.broadcast()
            with suppress(AwelloError):
                await (self._resume_games() if self.store.failing else self.store.write(self._save_heartbeat))

    def _save_heartbeat(self, connection: Connection) -> None:
        save_heartbeat(connection, self.now())  # the time at which the write runs, not the time at which it was queued

    # ---- connections -------------------------------------------------------------------------------------------------
    def connect(self, client: ClientConnection) -> None:
        """Add a connection and send it the lobby, and the live games, challenges and tournaments of its account."""
        account = client.account
        self.clients.add(client)
        if account:
            if account.id not in self.online:
                self.lobby.mark_changed()
            self.online[account.id].add(client)
            self.disconnects.record_reconnect(account.id)
        names = {"name": account.name if account else None, "blocked": self.blocks.blocked_names(account)}
        client.send({"type": "welcome", **names, **self.lobby.to_json()})
        for live_game in self.live_games.with_key(account.id) if account else []:
            client.send({"type": "game", **live_game.to_json(self.now())})
            if account and (opponent := live_game.opponent(account.id).id) not in self.online:
                client.send(self.disconnects.event_for(live_game, opponent))
        for offer in self.lobby.challenges.with_key(("to", account.id)) if account else []:
            client.send({"type": "challenge", **offer.to_json()})
        self.tournaments.client_connected(client)

    def disconnect(self, client: ClientConnection) -> None:
        """Remove a connection.

        When the last connection of an account is removed, the account's offers are withdrawn, but its games continue.
        """
        self.clients.discard(client)
        for number in client.watching:
            if live_game := self.live_games.get(number):
                live_game.spectators.discard(client)
        if client.account:
            connections = self.online[client.account.id]
            connections.discard(client)
            if not connections:
                del self.online[client.account.id]
                self.lobby.withdraw_all(client.account)
                self.lobby.mark_changed()
                self.disconnects.record_disconnect(client.account.id)

    async def start_game(
        self, accounts: tuple[Account, Account], terms: GameTerms, extra_write: ExtraWrite | None = None
    ) -> Message:
        """Create a game; a client that disconnects in the meantime does not prevent this.

        `extra_write` runs in the transaction that stores the game.
        """
        unrated_reason = self.fair_play.find_unrated_reason(*accounts) if terms.rated else None
        ids = [person.id for person in accounts]
        self._starting.update(ids)  # before the task runs, so that the limit on live games already counts this one

        async def begin() -> Message:
            try:
                create = partial(
                    create_game,
                    accounts=accounts,
                    terms=terms,
                    now=self.now,
                    extra_write=extra_write,
                    unrated_reason=unrated_reason,
                )
                live_game = await self.store.write(create)
            finally:
                self._starting.subtract(ids)
            live_game = self.live_games.add(live_game.state.number, live_game)
            self._broadcast_game(live_game)
            self.lobby.mark_changed()
            return {"game": live_game.state.number}

        return await asyncio.shield(self._create_task(begin()))

    # ---- games -------------------------------------------------------------------------------------------------------
    async def move(self, client: ClientConnection, number: int, ply: int, move: str) -> Message:
        """Play a move; if the client has already played this move and sends it again, only acknowledge it."""
        account, live_game = client.require_account(), self._find_live_game(number)
        played = 0 <= ply < len(live_game.state.moves) and live_game.move_names[ply].lower() == move.lower()
        if played and live_game.state.players[ply % 2] == account.id and live_game.state.moves[ply] != PASS:
            return self._acknowledge(live_game)
        arrival = self.now() if client.received_at is None else min(self.now(), self._started + client.received_at)

        def play(state: GameState) -> GameState:
            return state.play(account.id, ply, move, max(arrival, state.turn_started), client.lag)

        return await self._act(live_game, play)

    def is_expected_move(self, client: ClientConnection, number: int, ply: int, move: str) -> bool:
        """Return whether the client's account is to move at this ply and the move is legal."""
        live_game = self.live_games.get(number)
        if live_game is None or client.account is None:
            return False
        try:
            live_game.state.play(client.account.id, ply, move, live_game.state.turn_started)
        except AwelloError:
            return False
        return True

    async def resign(self, client: ClientConnection, number: int) -> Message:
        """Resign a game."""
        return await self._act_as_player(client, number, GameState.resign)

    async def draw(self, client: ClientConnection, number: int, accept: bool = True) -> Message:
        """Offer or accept a draw; if `accept` is false, decline or withdraw an offer."""
        return await self._act_as_player(client, number, GameState.offer_draw if accept else GameState.decline_draw)

    async def abort(self, client: ClientConnection, number: int) -> Message:
        """Abort a game before the account's first move in it."""
        return await self._act_as_player(client, number, GameState.abort)

    async def claim(self, client: ClientConnection, number: int, draw: bool = False) -> Message:
        """Claim a win or, with `draw`, a draw, because the opponent has disconnected."""
        account, live_game = client.require_account(), self._find_live_game(number)

        def change(state: GameState) -> GameState:
            after = state.claim(account.id, draw)
            self.disconnects.check_claim(live_game, account.id)
            return after

        return await self._act(live_game, change)

    async def watch(self, client: ClientConnection, number: int) -> Message:
        """Return the state of a game; until it ends, every change is also sent to the client."""
        live_game = self.live_games.get(number) or self.ended_games.get(number) or await self._load_live_game(number)
        if not live_game.state.over:
            live_game.spectators.add(client)
            client.watching.add(number)
        return live_game.to_json(self.now())

    async def unwatch(self, client: ClientConnection, number: int) -> Message:
        """Stop watching a game."""
        if live_game := self.live_games.get(number):
            live_game.spectators.discard(client)
        client.watching.discard(number)
        return {}

    async def rematch(self, client: ClientConnection, number: int) -> Message:
        """Offer a rematch with sides swapped, or accept the opponent's offer."""
        account, live_game = client.require_account(), self.ended_games.get(number)
        if live_game is None:
            raise ClubError(
                "no_rematch",
                f"game {number} did not end recently, so no rematch is possible: challenge the other player instead",
                game=number,
            )
        side = live_game.state.side_of(account.id)
        other = live_game.accounts[1 - side]
        if other.id not in self.online:
            raise player_offline_error(other.name)
        self.blocks.require_not_blocked(other, account)
        terms = GameTerms(
            live_game.state.game, live_game.state.control, live_game.state.rated or live_game.unrated_reason is not None
        )
        self.check_can_play(account, terms)
        if live_game.rematch_side != 1 - side:
            live_game.rematch_side = side
            self.send_to_account(other.id, {"type": "rematch", "game": number, "by": account.name})
            return {}
        self.check_can_play(other, terms)
        live_game.rematch_side = None
        return await self.start_game((live_game.accounts[1], live_game.accounts[0]), terms)

    async def _act_as_player(
        self, client: ClientConnection, number: int, act: Callable[[GameState, int], GameState]
    ) -> Message:
        account = client.require_account()
        return await self._act(self._find_live_game(number), lambda state: act(state, account.id))

    async def _act(self, live_game: LiveGame, change: Callable[[GameState], GameState]) -> Message:
        """Change a game; a client that disconnects in the meantime does not prevent this."""
        self.store.require_available()
        return await asyncio.shield(self._create_task(self._change(live_game, change)))

    async def _change(self, live_game: LiveGame, change: Callable[[GameState], GameState]) -> Message:
        """Store the change, apply it to the live game, then notify its players and spectators."""
        async with live_game.lock:
            after = change(live_game.state)
            if after is not live_game.state:
                rated = await self.store.write(SaveGame(after))
                self.counts["moves"] += len(after.moves) - len(live_game.state.moves)
                self._update(live_game, after)
                if after.over:
                    live_game.ratings_after = (rated[0].mean, rated[1].mean) if rated else None
                    await self._end(live_game)
                self._broadcast_game(live_game)
            return self._acknowledge(live_game)

    def _update(self, live_game: LiveGame, state: GameState) -> None:
        live_game.state = state
        self.rated_positions.update(state)

    async def _end(self, live_game: LiveGame) -> None:
        number = live_game.state.number
        self.counts["games ended"] += 1
        self.live_games.remove(number)
        self.ended_games[number] = live_game
        while len(self.ended_games) > MAX_ENDED_GAMES:
            self.ended_games.popitem(last=False)
        self.lobby.mark_changed()
        self._game_ended.set()
        self.fair_play.record_end(live_game.state)
        if live_game.state.tournament is not None:
            self.tournaments.wake()

    def _acknowledge(self, live_game: LiveGame) -> Message:
        """Return the response to a request that changes a game."""
        state = live_game.state
        clocks = [round(left, 3) for left in state.clocks_at(self.now())]
        return {"game": state.number, "ply": len(state.moves), "clocks": clocks, "over": state.over}

    def _find_live_game(self, number: int) -> LiveGame:
        if live_game := self.live_games.get(number):
            return live_game
        if live_game := self.ended_games.get(number):
            raise ClubError("game_over", f"game {number} is over", game=number)
        raise ClubError("game_not_live", f"game {number} is not in progress: check the number", game=number)

    async def _load_live_game(self, number: int) -> LiveGame:
        return await self.store.read(partial(load_game, number=number))

    # ---- messages ----------------------------------------------------------------------------------------------------
    def send_to_account(self, account: int, message: Message) -> None:
        """Send a message to every connection of an account."""
        for client in list(self.online.get(account, ())):
            client.send(message)

    def _broadcast_game(self, live_game: LiveGame) -> None:
        message = EncodedMessage(type="game", **live_game.to_json(self.now()))
        for account in live_game.state.players:
            self.send_to_account(account, message)
        for client in list(live_game.spectators):
            if not client.account or client.account.id not in live_game.state.players:
                client.send(message)
            if live_game.state.over:
                live_game.spectators.discard(client)
                client.watching.discard(live_game.state.number)

    # ---- permissions -------------------------------------------------------------------------------------------------
    def can_play(self, account: Account, terms: GameTerms) -> bool:
        """Return whether an account can start a game with these terms now."""
        try:
            self.check_can_play(account, terms)
        except ClubError:
            return False
        return True

    def check_can_play(self, account: Account, terms: GameTerms) -> None:
        """Raise `ClubError` if the account has too many live games, or if a suspension forbids these terms."""
        if len(self.live_games.with_key(account.id)) + self._starting[account.id] >= _max_games(account):
            limit = _max_games(account)
            message = f"{account.name} is already playing {limit} games: one of them must end first"
            raise ClubError("too_many_live_games", message, name=account.name, limit=limit)
        self.fair_play.check_terms(account, terms)


def _max_games(account: Account) -> int:
    return MAX_LIVE_GAMES_PER_BOT if account.bot else MAX_LIVE_GAMES_PER_USER


async def _run_forever(work: Callable[[], Awaitable[None]], pause: float = HEARTBEAT_SECONDS) -> None:
    """Run a task until it ends or is cancelled; if it fails, log the error and restart it after a pause."""
    while True:
        try:
            return await work()
        except Exception:
            logging.getLogger("awello").exception("a task of the club server failed and will be restarted")
            await asyncio.sleep(pause)
