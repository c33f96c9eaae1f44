"""The organiser of tournaments: starts them, pairs rounds, starts games and notifies the players.

The state of all tournaments is in the database.  At every check, the organiser loads the unfinished tournaments and
takes the steps that are due, each in one transaction; for example, one transaction inserts a game and stores its number
in the pairing.  The results of pairings are read from the stored games.  The server can therefore be stopped or
killed at any time: when it runs again, tournaments continue, with new grace periods.
"""

import asyncio
import logging
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from awello.club import tournament_store
from awello.club.live_game import ClientConnection
from awello.club.offers import Message
from awello.club.tournament import OPEN, PLAYING, ClubTournament, TournamentPairing
from awello.errors import AwelloError

if TYPE_CHECKING:
    from awello.club.server import ClubServer

CHECK_SECONDS = 1.0  # the longest time between two checks; an event can trigger a check earlier
MAX_LISTED_TOURNAMENTS = 50


class TournamentOrganiser:
    """Runs the unfinished tournaments of a club."""

    def __init__(self, server: "ClubServer") -> None:
        self.server = server
        self.tournaments: dict[int, ClubTournament] = {}  # as of the last check
        self._round_started: dict[tuple[int, int], float] = {}  # by tournament and round: when its grace period started
        self._last_sent: dict[tuple[int, int], Any] = {}  # by tournament and account: the state last sent
        self._wakeup = asyncio.Event()
        self._changed: set[int] = set()  # tournaments changed since the last broadcast to lobby subscribers
        self._last_broadcast = 0.0  # the time of the last broadcast

    # ---- requests ----------------------------------------------------------------------------------------------------
    async def enter(self, client: ClientConnection, key: int | str) -> Message:
        """Enter a tournament that has not started."""
        account, client_network = client.require_account(), client.client_network
        enter = partial(tournament_store.enter_tournament, key=key, account=account, client_network=client_network)
        tournament = await self.server.store.write(enter)
        self.wake()
        return tournament.to_json()

    async def withdraw(self, client: ClientConnection, key: int | str) -> Message:
        """Withdraw from a tournament that has not started."""
        tournament = await self.server.store.write(
            partial(tournament_store.withdraw_from_tournament, key=key, account=client.require_account())
        )
        self.wake()
        return tournament.to_json()

    async def show(self, key: int | str) -> Message:
        """Return a tournament with its standings and pairings."""
        tournament: ClubTournament = await self.server.store.read(partial(tournament_store.find_tournament, key=key))
        return tournament.details_json()

    async def list(self, client: ClientConnection) -> Message:
        """Return the latest tournaments, the numbers of those that the account has entered, and the server's time."""
        loaded: list[ClubTournament] = await self.server.store.read(
            partial(tournament_store.load_tournaments, last=MAX_LISTED_TOURNAMENTS)
        )
        entered = [tournament.number for tournament in loaded if client.account in tournament.entrants]
        return {
            "tournaments": [tournament.to_json() for tournament in loaded],
            "entered": entered,
            "now": self.server.now(),
        }

    def client_connected(self, client: ClientConnection) -> None:
        """Send a new connection the tournaments of its account, and check whether their games can start now."""
        for tournament in self.tournaments.values():
            if client.account and client.account in tournament.entrants:
                client.send(tournament.event_for(client.account.id))
                self.wake()

    # ---- progress ----------------------------------------------------------------------------------------------------
    def wake(self) -> None:
        """Let `run` check all tournaments now."""
        self._wakeup.set()

    async def run(self) -> None:
        """Check all tournaments repeatedly, until this task is cancelled."""
        while True:
            with suppress(AwelloError):  # the database is unavailable: retry at the next check
                await self._check_all()
            self._broadcast_changes()
            with suppress(TimeoutError):
                async with asyncio.timeout(CHECK_SECONDS):
                    await self._wakeup.wait()
            self._wakeup.clear()

    async def _check_all(self) -> None:
        for tournament in await self.server.store.read(
            partial(tournament_store.load_unfinished, known=list(self.tournaments))
        ):
            try:
                await self._advance(tournament)
            except AwelloError:
                continue  # the step is still due at the next check
            except Exception:
                logging.getLogger("awello").exception(
                    "tournament %d cannot continue", tournament.number
                )  # the other tournaments continue

    async def _advance(self, tournament: ClubTournament) -> None:
        """Take all steps of a tournament that are due, and notify its entrants."""
        before = None
        while tournament != before:
            self._notify_entrants(tournament)
            before = tournament
            if await self._advance_once(tournament):
                tournament = await self.server.store.read(
                    partial(tournament_store.find_tournament, key=tournament.number)
                )

    async def _advance_once(self, tournament: ClubTournament) -> bool:
        """Take the next step of a tournament; return False if no step is due."""
        if tournament.state == OPEN and tournament.starts <= self.server.now():
            await self.server.store.write(partial(tournament_store.begin_tournament, number=tournament.number))
        elif tournament.state != PLAYING:
            return False
        elif tournament.is_round_over:
            pairings = await asyncio.to_thread(tournament.pair_next_round, set(self.server.online))
            begin_round = partial(tournament_store.begin_round, pairings=pairings)
            step = begin_round if pairings else tournament_store.end_tournament
            await self.server.store.write(partial(step, tournament=tournament))
        else:
            return await self._play_round(tournament)
        return True

    async def _play_round(self, tournament: ClubTournament) -> bool:
        """Start games whose players are online, and record forfeits and results; return whether anything was due."""
        server = self.server
        since = self._round_started.setdefault((tournament.number, tournament.round), server.now())
        late, online = server.now() >= since + tournament.grace, set(server.online)
        waiting = [pairing for pairing in tournament.current_pairings if not pairing.decided and pairing.game is None]
        ready = [pairing for pairing in waiting if online.issuperset(pairing.players)]
        for pairing in ready:
            await self._start_game(tournament, pairing)
        missed = [pairing for pairing in waiting if late and pairing not in ready]
        for pairing in missed:
            await server.store.write(
                partial(tournament_store.record_forfeit, tournament=tournament, pairing=pairing, online=online)
            )
        played = [
            pairing.game for pairing in tournament.current_pairings if pairing.game is not None and not pairing.decided
        ]
        ended = [game for game in played if game not in server.live_games]
        if ended:
            await server.store.write(partial(tournament_store.record_results, tournament=tournament))
        return bool(ready or missed or ended)

    async def _start_game(self, tournament: ClubTournament, pairing: TournamentPairing) -> None:
        """Start the game of a pairing; one transaction inserts the game and stores its number in the pairing."""
        first, second = (tournament.entrants_by_id[player] for player in pairing.players)
        bind = partial(tournament_store.assign_game, tournament=tournament, pairing=pairing)
        await self.server.start_game((first, second), tournament.terms, bind)

    # ---- notifications -----------------------------------------------------------------------------------------------
    def _notify_entrants(self, tournament: ClubTournament) -> None:
        """Notify the entrants for whom something has changed."""
        if self.tournaments.get(tournament.number) != tournament:
            self._changed.add(tournament.number)
        self.tournaments[tournament.number] = tournament
        for person in tournament.entrants:
            key, news = (
                (tournament.number, person.id),
                (tournament.state, tournament.round, tournament.find_pairing(person.id)),
            )
            if self._last_sent.get(key) != news:
                self._last_sent[key] = news
                self.server.send_to_account(person.id, tournament.event_for(person.id))
        if tournament.state not in (OPEN, PLAYING):
            self._forget(tournament.number)

    def _broadcast_changes(self) -> None:
        """Notify lobby subscribers of changed tournaments, at most once per check interval."""
        if self._changed and self.server.now() >= self._last_broadcast + CHECK_SECONDS:
            message = {"type": "tournaments_changed", "changed": sorted(self._changed)}
            self._changed, self._last_broadcast = set(), self.server.now()
            for client in [each for each in self.server.clients if each.lobby_updates]:
                client.send(message)

    def _forget(self, number: int) -> None:
        self.tournaments.pop(number, None)
        for kept in (self._round_started, self._last_sent):
            for key in [key for key in kept if key[0] == number]:
                del kept[key]
