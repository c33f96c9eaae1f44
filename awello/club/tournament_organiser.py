"""The organiser of tournaments in the hall: begins them, pairs rounds, begins games, and tells how everybody stands.

Nothing is remembered here that is not stored.  At every look each tournament is read, and what is due by then is done,
each thing in one transaction: a game is written together with its pairing, and its result is found in the database.
So it does not matter when the club was closed or killed.  Who was waited for is waited for anew.
"""

import asyncio
import logging
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from awello.club import tournament_store
from awello.club.live_game import ClientConnection
from awello.club.offers import Message
from awello.club.tournament import OPEN, PLAYING, ClubTournament, Fixture
from awello.errors import AwelloError

if TYPE_CHECKING:
    from awello.club.server import ClubServer

LOOK = 1.0  # seconds between two looks, unless something happens
SHOWN = 50  # tournaments in a list


class TournamentOrganiser:
    """The tournaments of a club while it is open."""

    def __init__(self, hall: "ClubServer") -> None:
        self.hall = hall
        self.contests: dict[int, ClubTournament] = {}  # those that are not over, as they were at the last look
        self._called: dict[tuple[int, int], float] = {}  # since when the players of a round are waited for
        self._told: dict[tuple[int, int], Any] = {}  # what of a tournament an account was told last
        self._news = asyncio.Event()
        self._changed: set[int] = set()  # tournaments of which those who look at them have not been told yet
        self._announced = 0.0  # when they were last told

    # ---- what guests ask for -----------------------------------------------------------------------------------------
    async def join(self, guest: ClientConnection, which: int | str) -> Message:
        """Enter a tournament that has not begun."""
        entry = partial(tournament_store.enter_tournament, which=which, account=guest.member, network=guest.network)
        contest = await self.hall.store.write(entry)
        self.wake()
        return contest.view()

    async def withdraw(self, guest: ClientConnection, which: int | str) -> Message:
        """Leave a tournament that has not begun."""
        contest = await self.hall.store.write(
            partial(tournament_store.leave_tournament, which=which, account=guest.member)
        )
        self.wake()
        return contest.view()

    async def show(self, which: int | str) -> Message:
        """All of a tournament."""
        contest: ClubTournament = await self.hall.store.fetch(partial(tournament_store.find_tournament, which=which))
        return contest.whole()

    async def list(self, guest: ClientConnection) -> Message:
        """The last tournaments in short, those that somebody entered, and what time it is here."""
        contests: list[ClubTournament] = await self.hall.store.fetch(
            partial(tournament_store.load_tournaments, last=SHOWN)
        )
        entered = [contest.number for contest in contests if guest.account in contest.people]
        return {"tournaments": [contest.view() for contest in contests], "entered": entered, "now": self.hall.now()}

    def greet(self, guest: ClientConnection) -> None:
        """Tell somebody who comes in of their tournaments; perhaps they were waited for."""
        for contest in self.contests.values():
            if guest.account and guest.account in contest.people:
                guest.send(contest.news(guest.account.number))
                self.wake()

    # ---- what is due -------------------------------------------------------------------------------------------------
    def wake(self) -> None:
        """Something happened: look at once."""
        self._news.set()

    async def run(self) -> None:
        """Do whatever is due, for ever."""
        while True:
            with suppress(AwelloError):  # the database does not answer: at the next look
                await self._look()
            self._announce()
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK):
                    await self._news.wait()
            self._news.clear()

    async def _look(self) -> None:
        for contest in await self.hall.store.fetch(partial(tournament_store.unfinished, known=list(self.contests))):
            try:
                await self._carry_on(contest)
            except AwelloError:
                continue  # what could not be written is still due at the next look
            except Exception:
                logging.getLogger("awello").exception("tournament %d", contest.number)  # the others go on

    async def _carry_on(self, contest: ClubTournament) -> None:
        """Do one thing after the other until nothing is due."""
        before = None
        while contest != before:
            self._tell(contest)
            before = contest
            if await self._step(contest):
                contest = await self.hall.store.fetch(partial(tournament_store.find_tournament, which=contest.number))

    async def _step(self, contest: ClubTournament) -> bool:
        """Do what is due as a tournament stands; whether there was something."""
        if contest.state == OPEN and contest.starts <= self.hall.now():
            await self.hall.store.write(partial(tournament_store.begin_tournament, number=contest.number))
        elif contest.state != PLAYING:
            return False
        elif contest.round_over:
            pairs = await asyncio.to_thread(contest.next_pairs, set(self.hall.present))
            following = partial(tournament_store.begin_round, pairs=pairs) if pairs else tournament_store.end_tournament
            await self.hall.store.write(partial(following, contest=contest))
        else:
            return await self._play(contest)
        return True

    async def _play(self, contest: ClubTournament) -> bool:
        """Begin the games whose players are here, give up waiting for others, and see which games have ended."""
        hall = self.hall
        since = self._called.setdefault((contest.number, contest.round), hall.now())
        late, here = hall.now() >= since + contest.grace, set(hall.present)
        waiting = [fixture for fixture in contest.current if not fixture.decided and fixture.game is None]
        ready = [fixture for fixture in waiting if here.issuperset(fixture.players)]
        for fixture in ready:
            await self._begin(contest, fixture)
        missed = [fixture for fixture in waiting if late and fixture not in ready]
        for fixture in missed:
            await hall.store.write(partial(tournament_store.forfeit, contest=contest, fixture=fixture, here=here))
        played = [fixture.game for fixture in contest.current if fixture.game is not None and not fixture.decided]
        ended = [game for game in played if game not in hall.seats]
        if ended:
            await hall.store.write(partial(tournament_store.settle, contest=contest))
        return bool(ready or missed or ended)

    async def _begin(self, contest: ClubTournament, fixture: Fixture) -> None:
        """Begin a game; it is stored together with its pairing, or not at all."""
        first, second = (contest.accounts[player] for player in fixture.players)
        bind = partial(tournament_store.bind_game, contest=contest, fixture=fixture)
        await self.hall.start((first, second), contest.terms, bind)

    # ---- telling -----------------------------------------------------------------------------------------------------
    def _tell(self, contest: ClubTournament) -> None:
        """Tell everybody for whom something has changed."""
        if self.contests.get(contest.number) != contest:
            self._changed.add(contest.number)
        self.contests[contest.number] = contest
        for person in contest.people:
            key, news = (contest.number, person.number), (contest.state, contest.round, contest.own(person.number))
            if self._told.get(key) != news:
                self._told[key] = news
                self.hall.tell_account(person.number, contest.news(person.number))
        if contest.state not in (OPEN, PLAYING):
            self._forget(contest.number)

    def _announce(self) -> None:
        """Tell those who look round in the club which tournaments have changed, not oftener than there are looks."""
        if self._changed and self.hall.now() >= self._announced + LOOK:
            message = {"type": "tournaments", "changed": sorted(self._changed)}
            self._changed, self._announced = set(), self.hall.now()
            for guest in [each for each in self.hall.guests if each.curious]:
                guest.send(message)

    def _forget(self, number: int) -> None:
        self.contests.pop(number, None)
        for kept in (self._called, self._told):
            for key in [key for key in kept if key[0] == number]:
                del kept[key]
