"""The hall: who is here, who seeks a game, and the tables; a request is written, then told, or refused as a whole."""

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

from awello.club.absence import AbsenceTracker
from awello.club.accounts import Account
from awello.club.archiving import PATIENCE, Archiver, archive_games
from awello.club.blocks import BlockList
from awello.club.chat import Chat
from awello.club.fair_play import FairPlayMonitor
from awello.club.game_state import ClubError, GameState
from awello.club.indexed_collection import IndexedCollection
from awello.club.live_game import Also, ClientConnection, EncodedMessage, LiveGame, create_game, load_game
from awello.club.lobby import Lobby
from awello.club.offers import GameTerms, Message
from awello.club.rated_positions import RatedPositions
from awello.club.store import ClubStore
from awello.club.stored_games import SaveGame, last_heartbeat, load_games, save_games, save_heartbeat
from awello.club.tournament_organiser import TournamentOrganiser
from awello.errors import AwelloError
from awello.rules.game import PASS

MOST_GAMES, MOST_PROGRAM_GAMES = 8, 64  # of one account at once
REMEMBERED = 1000  # games that have ended and can be looked at without asking the database
TICK = 0.2  # seconds between two looks at the clocks
PULSE = 0.5  # seconds between two notes that the club is open

Done = TypeVar("Done")


class ClubServer:
    """The club while it is open."""

    def __init__(self, store: ClubStore, archive: Archiver | None = None, seed: int | None = None) -> None:
        self.store, self.archive, self.chance = store, archive, Random(seed)
        store.now = lambda: self.now()
        self.seats: IndexedCollection[LiveGame] = IndexedCollection(
            lambda seat: seat.table.players
        )  # games in progress
        self.ended: OrderedDict[int, LiveGame] = OrderedDict()
        self.guests: set[ClientConnection] = set()
        self.present: dict[int, set[ClientConnection]] = defaultdict(set)  # by the number of the account
        self.rated_positions = RatedPositions()
        self.counts: Counter[str] = Counter()  # of what happened, for whoever watches the club
        self._sitting: Counter[int] = Counter()  # games that are about to begin, by account
        self._started = time.time() - time.monotonic()
        self._tasks: set[asyncio.Task[Any]] = set()
        self.lobby, self.tournaments, self.chat = Lobby(self), TournamentOrganiser(self), Chat(self)
        self.blocks, self.absence, self.conduct = BlockList(self), AbsenceTracker(self), FairPlayMonitor(self)
        self._ended = asyncio.Event()  # a game has, and waits to be archived

    def now(self) -> float:
        """The moment, in seconds since 1970; it never goes back."""
        return self._started + time.monotonic()

    # ---- opening and closing -----------------------------------------------------------------------------------------
    async def open(self) -> None:
        """Take up the games that went on when the club was last open, and begin to look at clocks."""
        await self._take_up()
        await self.blocks.load()
        self._begin(_for_ever(self._look_at_clocks))
        self._begin(_for_ever(self._note_the_time))
        self._begin(_for_ever(partial(archive_games, self.store, self._ended, lambda: self.archive), PATIENCE))
        self._begin(_for_ever(self.tournaments.run))

    async def _take_up(self) -> None:
        """Go on with the games as they are stored; downtime is charged to neither clock."""

        def act(connection: Connection) -> list[GameState]:
            stopped, now = last_heartbeat(connection), self.now()
            if self.store.failed_at is not None:  # this process knows it better than the last note does
                stopped = max(stopped or 0.0, self.store.failed_at)
            tables = [
                table.resume(table.since if stopped is None else stopped, now) for table in load_games(connection)
            ]
            save_games(connection, tables)
            save_heartbeat(connection, now)
            return tables

        await asyncio.to_thread(self.store.claim)
        async with AsyncExitStack() as stack:
            for seat in list(self.seats.values()):
                await stack.enter_async_context(seat.lock)
            tables = {table.number: table for table in await self.store.retry(act)}
            for number, table in tables.items():
                seat = self.seats.get(number) or self.seats.add(number, await self._stored_seat(number))
                self._follow(seat, table)
                self._tell_table(seat)
            for seat in [seat for number, seat in self.seats.items() if number not in tables]:
                written = await self._stored_seat(seat.table.number)  # it ended, but its players were not notified
                self._follow(seat, written.table)
                seat.after = written.after
                await self._end(seat)
                self._tell_table(seat)
        self.store.failed_at = None

    async def close(self) -> None:
        """Write down when the club closes, so that no time is taken from anybody."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        with suppress(AwelloError):
            await self.store.write(self._beat)

    def _begin(self, work: Coroutine[Any, Any, Done]) -> "asyncio.Task[Done]":
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _look_at_clocks(self) -> None:
        """End games whose time has run out."""
        while True:
            await asyncio.sleep(TICK)
            late = [seat for seat in self.seats.values() if self.now() > seat.table.deadline]
            for seat in late:
                try:
                    await self._act(seat, lambda table: table.flag(self.now()))
                except AwelloError:
                    break  # the database cannot be written: at the next look

    async def _note_the_time(self) -> None:
        """Note that the club is open, and tell what is new in the lobby; after a failure, read the games again."""
        while True:
            await asyncio.sleep(PULSE)
            self.lobby.tell()
            with suppress(AwelloError):
                await (self._take_up() if self.store.failing else self.store.write(self._beat))

    def _beat(self, connection: Connection) -> None:
        save_heartbeat(connection, self.now())  # the moment at which it is written, however long it waited

    # ---- who is here -------------------------------------------------------------------------------------------------
    def enter(self, guest: ClientConnection) -> None:
        """Let somebody in, and tell them what goes on, their own games above all."""
        account = guest.account
        self.guests.add(guest)
        if account:
            if account.number not in self.present:
                self.lobby.change()
            self.present[account.number].add(guest)
            self.absence.come_back(account.number)
        names = {"name": account.name if account else None, "blocked": self.blocks.names(account)}
        guest.send({"type": "welcome", **names, **self.lobby.view()})
        for seat in self.seats.of(account.number) if account else []:
            guest.send({"type": "game", **seat.view(self.now())})
            if account and (opponent := seat.opponent(account.number).number) not in self.present:
                guest.send(self.absence.news(seat, opponent))
        for offer in self.lobby.challenges.of(("to", account.number)) if account else []:
            guest.send({"type": "challenge", **offer.view()})
        self.tournaments.greet(guest)

    def leave(self, guest: ClientConnection) -> None:
        """Somebody goes: what they offered is withdrawn when nobody of the account is left, games go on."""
        self.guests.discard(guest)
        for number in guest.watching:
            if seat := self.seats.get(number):
                seat.watchers.discard(guest)
        if guest.account:
            here = self.present[guest.account.number]
            here.discard(guest)
            if not here:
                del self.present[guest.account.number]
                self.lobby.withdraw(guest.account)
                self.lobby.change()
                self.absence.leave(guest.account.number)

    async def start(self, people: tuple[Account, Account], terms: GameTerms, also: Also | None = None) -> Message:
        """Begin a game, even if whoever asked for it is gone by then; `also` is written together with it."""
        unrated = self.conduct.why_unrated(*people) if terms.rated else None
        numbers = [person.number for person in people]
        self._sitting.update(numbers)  # before anybody else can ask: tasks begin later

        async def begin() -> Message:
            try:
                act = partial(create_game, people=people, terms=terms, now=self.now, also=also, unrated=unrated)
                seat = await self.store.write(act)
            finally:
                self._sitting.subtract(numbers)
            seat = self.seats.add(seat.table.number, seat)
            self._tell_table(seat)
            self.lobby.change()
            return {"game": seat.table.number}

        return await asyncio.shield(self._begin(begin()))

    # ---- games -------------------------------------------------------------------------------------------------------
    async def move(self, guest: ClientConnection, number: int, ply: int, move: str) -> Message:
        """Play a move; one that was played already, and is sent again after a break, is acknowledged again."""
        account, seat = guest.member, self._playing(number)
        played = 0 <= ply < len(seat.table.moves) and seat.names[ply].lower() == move.lower()
        if played and seat.table.players[ply % 2] == account.number and seat.table.moves[ply] != PASS:
            return self._standing(seat)
        arrival = self.now() if guest.received is None else min(self.now(), self._started + guest.received)

        def play(table: GameState) -> GameState:
            return table.play(account.number, ply, move, max(arrival, table.since), guest.lag)

        return await self._act(seat, play)

    def awaits(self, guest: ClientConnection, number: int, ply: int, move: str) -> bool:
        """Whether a game waits for exactly this player's move, and the move is legal."""
        seat = self.seats.get(number)
        if seat is None or guest.account is None:
            return False
        try:
            seat.table.play(guest.account.number, ply, move, seat.table.since)
        except AwelloError:
            return False
        return True

    async def resign(self, guest: ClientConnection, number: int) -> Message:
        """Give a game up."""
        return await self._do(guest, number, GameState.resign)

    async def draw(self, guest: ClientConnection, number: int, accept: bool = True) -> Message:
        """Offer a draw or accept one, or decline it."""
        return await self._do(guest, number, GameState.offer_draw if accept else GameState.decline_draw)

    async def abort(self, guest: ClientConnection, number: int) -> Message:
        """Leave a game before one's first move."""
        return await self._do(guest, number, GameState.abort)

    async def claim(self, guest: ClientConnection, number: int, draw: bool = False) -> Message:
        """Claim the win, or a draw, in a game whose other player has left."""
        account, seat = guest.member, self._playing(number)

        def change(table: GameState) -> GameState:
            after = table.claim(account.number, draw)
            self.absence.check(seat, account.number)
            return after

        return await self._act(seat, change)

    async def watch(self, guest: ClientConnection, number: int) -> Message:
        """Be told of a game, whoever plays it."""
        seat = self.seats.get(number) or self.ended.get(number) or await self._stored_seat(number)
        if not seat.table.over:
            seat.watchers.add(guest)
            guest.watching.add(number)
        return seat.view(self.now())

    async def unwatch(self, guest: ClientConnection, number: int) -> Message:
        """Be told of a game no longer."""
        if seat := self.seats.get(number):
            seat.watchers.discard(guest)
        guest.watching.discard(number)
        return {}

    async def rematch(self, guest: ClientConnection, number: int) -> Message:
        """Offer to play again with the sides changed, or accept it."""
        account, seat = guest.member, self.ended.get(number)
        if seat is None:
            raise ClubError("gone", f"game {number} is not one that has just ended: challenge the other player")
        side = seat.table.side_of(account.number)
        other = seat.people[1 - side]
        if other.number not in self.present:
            raise ClubError("absent", f"{other.name} is not here any more: look who is, or seek a game")
        self.blocks.check(other, account)
        terms = GameTerms(seat.table.game, seat.table.control, seat.table.rated or seat.unrated is not None)
        self.may_play(account, terms)
        if seat.rematch != 1 - side:
            seat.rematch = side
            self.tell_account(other.number, {"type": "rematch", "game": number, "by": account.name})
            return {}
        self.may_play(other, terms)
        seat.rematch = None
        return await self.start((seat.people[1], seat.people[0]), terms)

    async def _do(self, guest: ClientConnection, number: int, act: Callable[[GameState, int], GameState]) -> Message:
        account = guest.member
        return await self._act(self._playing(number), lambda table: act(table, account.number))

    async def _act(self, seat: LiveGame, change: Callable[[GameState], GameState]) -> Message:
        """Change a game, to the end even if whoever asked for it is gone by then."""
        self.store.check()
        return await asyncio.shield(self._begin(self._change(seat, change)))

    async def _change(self, seat: LiveGame, change: Callable[[GameState], GameState]) -> Message:
        """Store the change, apply it to the live games, then notify all players concerned."""
        async with seat.lock:
            after = change(seat.table)
            if after is not seat.table:
                rated = await self.store.write(SaveGame(after))
                self.counts["moves"] += len(after.moves) - len(seat.table.moves)
                self._follow(seat, after)
                if after.over:
                    seat.after = (rated[0].mean, rated[1].mean) if rated else None
                    await self._end(seat)
                self._tell_table(seat)
            return self._standing(seat)

    def _follow(self, seat: LiveGame, table: GameState) -> None:
        seat.table = table
        self.rated_positions.update(table)

    async def _end(self, seat: LiveGame) -> None:
        number = seat.table.number
        self.counts["games ended"] += 1
        self.seats.take(number)
        self.ended[number] = seat
        while len(self.ended) > REMEMBERED:
            self.ended.popitem(last=False)
        self.lobby.change()
        self._ended.set()
        self.conduct.note_end(seat.table)
        if seat.table.tournament is not None:
            self.tournaments.wake()

    def _standing(self, seat: LiveGame) -> Message:
        """What whoever acted is told at once."""
        table = seat.table
        clocks = [round(left, 3) for left in table.left(self.now())]
        return {"game": table.number, "ply": len(table.moves), "clocks": clocks, "over": table.over}

    def _playing(self, number: int) -> LiveGame:
        if seat := self.seats.get(number):
            return seat
        if seat := self.ended.get(number):
            raise ClubError("over", f"game {number} is over: {seat.table.reason or 'the board has decided'}")
        raise ClubError("absent", f"no game {number} is played")

    async def _stored_seat(self, number: int) -> LiveGame:
        return await self.store.fetch(partial(load_game, number=number))

    # ---- telling -----------------------------------------------------------------------------------------------------
    def tell_account(self, account: int, message: Message) -> None:
        """Tell somebody something, wherever they are connected."""
        for guest in list(self.present.get(account, ())):
            guest.send(message)

    def _tell_table(self, seat: LiveGame) -> None:
        message = EncodedMessage(type="game", **seat.view(self.now()))
        for account in seat.table.players:
            self.tell_account(account, message)
        for guest in list(seat.watchers):
            if not guest.account or guest.account.number not in seat.table.players:
                guest.send(message)
            if seat.table.over:
                seat.watchers.discard(guest)
                guest.watching.discard(seat.table.number)

    # ---- who may what ------------------------------------------------------------------------------------------------
    def can_play(self, account: Account, terms: GameTerms) -> bool:
        """Whether an account may begin such a game now."""
        try:
            self.may_play(account, terms)
        except ClubError:
            return False
        return True

    def may_play(self, account: Account, terms: GameTerms) -> None:
        """Refuse one game more than an account may play, and rated ones after it has left too many early."""
        if len(self.seats.of(account.number)) + self._sitting[account.number] >= _most_games(account):
            raise ClubError("many", f"{account.name} plays {_most_games(account)} games already: end one first")
        self.conduct.check(account, terms)


def _most_games(account: Account) -> int:
    return MOST_PROGRAM_GAMES if account.program else MOST_GAMES


async def _for_ever(work: Callable[[], Awaitable[None]], pause: float = PULSE) -> None:
    """Go on with what must not end while the club is open: whatever goes wrong is told in the log."""
    while True:
        try:
            return await work()
        except Exception:
            logging.getLogger("awello").exception("something went wrong in the hall, which goes on")
            await asyncio.sleep(pause)
