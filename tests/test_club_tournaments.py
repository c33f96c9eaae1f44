"""Tournaments of the club: complete tournaments, absent players, restarts at any time, and a real server."""

import asyncio
import json
import random
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from clubs import ClubHttpClient, run_server_thread, sign_up
from conftest import ROOT, awello
from sqlalchemy import select, update
from test_club_server import ClubHarness, raises_club_error, with_club
from waiting import TIMEOUT, ManualClock, wait_until_async

from awello import Game
from awello.club import server, tournament_store
from awello.club import tournament_organiser as organiser
from awello.club.accounts import Account, close_account, create_account, create_token
from awello.club.game_state import ClubError, GameState
from awello.club.live_game import ClientConnection
from awello.club.offers import GameTerms
from awello.club.schema import games, tournaments
from awello.club.store import ClubStore
from awello.club.stored_games import load_live_games, load_rating, row_to_game_state
from awello.club.tournament import DOUBLE_ROUND_ROBIN, ROUND_ROBIN, SWISS, ClubTournament
from awello.errors import StorageError
from awello.limits import Clock
from awello.protocols.club_bot import BotPolicy, ClubBot

SMALL = GameTerms(Game.OTHELLO4, Clock(60.0))


class RandomClient(ClientConnection):
    """A client that plays a random move whenever it is its turn, unless it is idle."""

    def __init__(self, club: ClubHarness, name: str, idle: bool = False) -> None:
        self.club, self.name, self.idle = club, name, idle
        self.received: list[dict[str, Any]] = []
        self.rng, self.tasks = random.Random(name), set[asyncio.Task[Any]]()
        account = club.connect(name)  # creates the account
        club.server.disconnect(account)
        super().__init__(account.account, self.receive)
        club.server.connect(self)

    def receive(self, message: dict[str, Any]) -> None:
        self.received.append(message)
        self.club.news.set()
        playing = message["type"] == "game" and not message["over"] and not self.idle
        if playing and message["players"][message["mover"]]["name"] == self.name:
            task = asyncio.create_task(self.move(message))
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)

    async def move(self, game: dict[str, Any]) -> None:
        move = self.rng.choice(game["legal"])
        while True:
            try:
                await self.club.server.move(self, game["game"], game["ply"], move)
            except ClubError as error:
                if error.code == "storage":  # try again when the database is available
                    await self.club.wait_until(lambda: not self.club.server.store.failing)
                    continue
            return

    def last_tournament_event(self) -> dict[str, Any]:
        """Return the last tournament event received."""
        return next(message for message in reversed(self.received) if message["type"] == "tournament")


def create_test_tournament(
    club: ClubHarness, name: str = "Friday", system: str = SWISS, rounds: int = 0, grace: float = 30.0
) -> int:
    """Create a tournament that waits for `start_tournament`; return its number."""
    return create_tournament_in(club, name, system, SMALL, rounds, time.time() + 1000, grace).number


def create_tournament_in(club: ClubHarness, *terms: Any) -> ClubTournament:
    return club.store.submit(lambda connection: tournament_store.create_tournament(connection, *terms)).result()


def start_tournament(club: ClubHarness, number: int) -> None:
    """Start a tournament immediately."""
    start_now(club.store, number)
    club.server.tournaments.wake()


def start_now(store: ClubStore, number: int) -> None:
    changed = update(tournaments).where(tournaments.c.id == number).values(starts=0.0)
    store.submit(lambda connection: connection.execute(changed).rowcount).result()


def load_tournament(club: ClubHarness, number: int) -> ClubTournament:
    return club.store.read_blocking(partial(tournament_store.find_tournament, key=number))


async def wait_for_state(
    club: ClubHarness, number: int, state: str = "ended", number_of_round: int = 0
) -> ClubTournament:
    """Wait until a tournament has reached the given round or, without one, the given state; return the tournament."""

    def load_if_reached() -> ClubTournament | None:
        tournament = load_tournament(club, number)
        return (
            tournament
            if (tournament.round >= number_of_round if number_of_round else tournament.state == state)
            else None
        )

    tournament = await wait_until_async(load_if_reached)
    assert tournament
    return tournament


async def wait_for_check(club: ClubHarness) -> None:
    """Wait until the organiser has checked every tournament once more."""
    organiser, looked = club.server.tournaments, asyncio.Event()
    look = organiser._check_all

    async def report() -> None:
        await look()
        looked.set()

    organiser._check_all = report  # type: ignore[method-assign]
    organiser.wake()
    await asyncio.wait_for(looked.wait(), TIMEOUT)
    organiser._check_all = look  # type: ignore[method-assign]


def load_games(club: ClubHarness) -> list[GameState]:
    """Return all stored games."""
    rows = club.store.read_blocking(lambda connection: connection.execute(select(games).order_by(games.c.id)).all())
    return [row_to_game_state(row) for row in rows]


def check_results(club: ClubHarness, tournament: ClubTournament) -> None:
    """Check that each game belongs to exactly one pairing, and that the pairing has the result of the game."""
    states = {state.number: state for state in load_games(club) if state.tournament == tournament.number}
    bound = [pairing for pairing in tournament.pairings if pairing.game is not None]
    assert sorted(pairing.game or 0 for pairing in bound) == sorted(states)
    for pairing in tournament.pairings:
        if pairing.game is not None:
            state = states[pairing.game]
            assert state.over and state.players == pairing.players and state.game == tournament.terms.game
            expected = {None: (0.5, 0.5), 0: (1.0, 0.0), 1: (0.0, 1.0)}[state.winner]
            assert pairing.points == expected and pairing.decided and not pairing.forfeit
    assert len({frozenset(pairing.players) for pairing in bound}) == len(bound) // (
        1 + (tournament.system == DOUBLE_ROUND_ROBIN)
    )
    assert sum(row.points for row in tournament.standings) == sum(
        sum(pairing.points) for pairing in tournament.pairings
    )


# ---- complete tournaments --------------------------------------------------------------------------------------------
@with_club
async def test_a_whole_swiss_tournament(club: ClubHarness) -> None:
    number = create_test_tournament(club, rounds=3)
    players = [RandomClient(club, name) for name in ("Ann", "Bob", "Eve", "Dan", "Kim", "Max")]
    for player in players:
        assert (await club.server.tournaments.enter(player, "friday"))["state"] == "open"
    start_tournament(club, number)
    tournament = await wait_for_state(club, number)
    check_results(club, tournament)
    assert tournament.rounds == 3 and len(tournament.pairings) == 9 and len(load_games(club)) == 9
    await club.wait_until(lambda: not club.server.tournaments.tournaments)
    for player in players:
        news = [message for message in player.received if message["type"] == "tournament"]
        assert [message["round"] for message in news] == sorted(message["round"] for message in news)
        assert {(message["round"], message["pairing"]["game"] is None) for message in news if message["round"]} == {
            (each, waits) for each in (1, 2, 3) for waits in (True, False)
        }
        end = player.last_tournament_event()
        assert end["state"] == "ended" and end["pairing"]["points"] is not None and len(end["standings"]) == 6
        assert [row["rank"] for row in end["standings"]] == sorted(row["rank"] for row in end["standings"])
        assert {"name", "bot", "rank", "points", "buchholz", "sonneborn_berger", "wins"} == end["standings"][0].keys()
    assert not club.server.tournaments._last_sent and not club.server.tournaments._round_started, (
        "the server keeps nothing in memory about a tournament that has ended"
    )
    rows = club.store.read_blocking(lambda connection: load_rating(connection, 1, "othello4 blitz"))
    assert rows.deviation < 350, "tournament games are rated"


@pytest.mark.parametrize(("system", "size", "count"), [(ROUND_ROBIN, 5, 10), (DOUBLE_ROUND_ROBIN, 3, 6)])
def test_a_whole_round_robin(tmp_path: Path, system: str, size: int, count: int) -> None:
    @with_club
    async def play(club: ClubHarness) -> None:
        number = create_test_tournament(club, system=system)
        for name in ("Ann", "Bob", "Eve", "Dan", "Kim")[:size]:
            await club.server.tournaments.enter(RandomClient(club, name), number)
        start_tournament(club, number)
        tournament = await wait_for_state(club, number)
        check_results(club, tournament)
        assert (
            tournament.rounds == tournament.round == size * (1 + (system == DOUBLE_ROUND_ROBIN))
            and len(load_games(club)) == count
        )
        byes = Counter(pairing.first for pairing in tournament.pairings if pairing.second is None)
        assert set(byes.values()) == {1 + (system == DOUBLE_ROUND_ROBIN)} and len(byes) == size

    play(tmp_path)


# ---- absent players --------------------------------------------------------------------------------------------------
@with_club
async def test_absent_players_forfeit_and_are_not_paired_until_they_return(club: ClubHarness) -> None:
    number = create_test_tournament(club, rounds=3, grace=0.3)
    players = [RandomClient(club, name) for name in ("Ann", "Bob", "Eve", "Dan")]
    for player in players:
        await club.server.tournaments.enter(player, number)
    dan = players[3]
    club.server.disconnect(dan)
    start_tournament(club, number)
    await club.wait_until(lambda: (number, 1) in club.server.tournaments._round_started)
    await wait_for_check(club)
    assert not any(pairing.forfeit for pairing in load_tournament(club, number).pairings)
    club.clock.advance(0.3)
    club.server.tournaments.wake()
    first = await wait_for_state(club, number, number_of_round=2)
    (missed,) = [pairing for pairing in first.pairings if pairing.forfeit]
    assert dan.account and missed.was_missed_by(dan.account.id) and missed.game is None and sum(missed.points) == 1
    tournament = await wait_for_state(club, number)
    check_results(club, tournament)
    later = [pairing for pairing in tournament.pairings if pairing.round > 1]
    assert all(dan.account.id not in pairing.players for pairing in later) and len(later) == 4
    assert tournament.standings[-1].player == dan.account.id and tournament.standings[-1].points == 0


@with_club
async def test_a_late_player_plays_within_the_grace_period(club: ClubHarness) -> None:
    number = create_test_tournament(club, rounds=1, grace=30.0)
    ann, bob = RandomClient(club, "Ann"), RandomClient(club, "Bob")
    for player in (ann, bob):
        await club.server.tournaments.enter(player, number)
    club.server.disconnect(bob)
    start_tournament(club, number)
    await wait_for_state(club, number, number_of_round=1)
    await wait_for_check(club)
    assert not load_games(club) and ann.last_tournament_event()["pairing"]["game"] is None, "the round waits for Bob"
    bob.received.clear()
    club.server.connect(bob)
    assert bob.last_tournament_event()["pairing"]["second"] == "Bob", "a player who connects is notified immediately"
    check_results(club, await wait_for_state(club, number))


@with_club
async def test_if_all_players_are_absent_both_forfeit(club: ClubHarness) -> None:
    number = create_test_tournament(club, rounds=5, grace=0.0)
    for name in ("Ann", "Bob", "Eve"):
        player = RandomClient(club, name)
        await club.server.tournaments.enter(player, number)
        club.server.disconnect(player)
    start_tournament(club, number)
    tournament = await wait_for_state(club, number)
    assert tournament.rounds == 3 and tournament.round == 1, (
        "one player has a bye, the other two forfeit and are left out, so the tournament ends"
    )
    assert sorted(row.points for row in tournament.standings) == [0.0, 0.0, 1.0]


@with_club
async def test_entering_and_withdrawing(club: ClubHarness) -> None:
    organiser = club.server.tournaments
    number = create_test_tournament(club, rounds=2)
    ann, bob, eve, spectator = (club.connect(name) for name in ("Ann", "Bob", "Eve", "spectator"))
    for client in (ann, bob, eve, ann):
        assert (await organiser.enter(client, number))["tournament"] == number
    assert (await organiser.show(number))["entrants"] == 3
    assert (await organiser.withdraw(eve, "Friday"))["entrants"] == 2
    assert (await organiser.withdraw(eve, "Friday"))["entrants"] == 2
    with raises_club_error("not_logged_in"):
        await organiser.enter(spectator, number)
    for which in (99, "Monday", "1"):
        with raises_club_error("unknown_tournament"):
            await organiser.enter(eve, which)
    start_tournament(club, number)
    await wait_for_state(club, number, number_of_round=1)
    with raises_club_error("tournament_started"):
        await organiser.enter(eve, number)
    with raises_club_error("tournament_started"):
        await organiser.withdraw(ann, number)
    assert (await organiser.enter(ann, number))["state"] == "playing", "entering again has no effect"
    found = await organiser.list(ann)
    listed = found["tournaments"]
    assert [(each["name"], each["state"], each["entrants"]) for each in listed] == [("Friday", "playing", 2)]
    assert found["entered"] == [number] and found["now"] == club.clock()
    assert (await organiser.list(eve))["entered"] == (await organiser.list(spectator))["entered"] == []


@with_club
async def test_lobby_subscribers_receive_changes_of_tournaments(club: ClubHarness) -> None:
    """Subscribers are notified of every tournament, even if another process creates it or they have not entered."""
    club.connect("spectator")
    bot_client = club.connect("rex", bot=True)
    bot_client.lobby_updates = False
    number = create_test_tournament(club, rounds=1)
    heard = club.received["spectator"]

    def changed() -> list[list[int]]:
        return [message["changed"] for message in heard if message["type"] == "tournaments_changed"]

    await club.wait_until(changed)
    assert changed() == [[number]]
    await asyncio.gather(
        *(club.server.tournaments.enter(RandomClient(club, name), number) for name in ("Ann", "Bob", "Eve"))
    )
    await wait_for_check(club)
    club.clock.advance(organiser.CHECK_SECONDS)
    club.server.tournaments.wake()
    await club.wait_until(lambda: len(changed()) > 1)
    await wait_for_check(club)
    assert changed() == [[number], [number]], "three entries cause one message"
    assert not [message for message in club.received["rex"] if message["type"] == "tournaments_changed"]


@with_club
async def test_a_tournament_with_too_few_players_is_cancelled(club: ClubHarness) -> None:
    number = create_test_tournament(club, rounds=2)
    ann, bob = RandomClient(club, "Ann"), club.connect("Bob")
    for client in (ann, bob):
        await club.server.tournaments.enter(client, number)
    assert bob.account
    club.store.submit(partial(close_account, account=bob.account)).result()
    start_tournament(club, number)
    tournament = await wait_for_state(club, number, state="cancelled")
    await club.wait_until(lambda: not club.server.tournaments.tournaments)
    assert not tournament.pairings and ann.last_tournament_event()["state"] == "cancelled"
    with raises_club_error("tournament_cancelled"):
        await club.server.tournaments.enter(club.connect("Eve"), number)


@with_club
async def test_a_tournament_in_progress_can_be_cancelled(club: ClubHarness) -> None:
    number = create_test_tournament(club, rounds=3)
    players = [RandomClient(club, name, idle=True) for name in ("Ann", "Bob", "Eve")]
    for player in players:
        await club.server.tournaments.enter(player, number)
    start_tournament(club, number)
    tournament = await wait_for_state(club, number, number_of_round=1)
    await club.wait_until(lambda: load_games(club))
    club.store.submit(partial(tournament_store.end_tournament, tournament=tournament, state="cancelled")).result()
    club.server.tournaments.wake()
    await club.wait_until(lambda: not club.server.tournaments.tournaments)
    assert players[0].last_tournament_event()["state"] == "cancelled"
    assert len(club.server.live_games) == 1, "the game in progress continues"


@with_club
async def test_there_are_limits(club: ClubHarness) -> None:
    soon = time.time() + 100
    for code, terms in (
        ("invalid_tournament_name", ("7th", SWISS, SMALL, 3, soon, 60.0)),
        ("invalid_tournament_name", ("x" * 41, SWISS, SMALL, 3, soon, 60.0)),
        ("invalid_tournament_name", ("Fri\nday", SWISS, SMALL, 3, soon, 60.0)),
        ("unknown_system", ("Friday", "knockout", SMALL, 3, soon, 60.0)),
        ("invalid_rounds", ("Friday", SWISS, SMALL, 0, soon, 60.0)),
        ("invalid_rounds", ("Friday", SWISS, SMALL, 31, soon, 60.0)),
        ("invalid_rounds", ("Friday", ROUND_ROBIN, SMALL, 3, soon, 60.0)),
        ("invalid_grace", ("Friday", SWISS, SMALL, 3, soon, 4000.0)),
        ("invalid_time_control", ("Friday", SWISS, GameTerms(Game.OTHELLO, Clock(1.0)), 3, soon, 60.0)),
    ):
        with raises_club_error(code):
            create_tournament_in(club, *terms)
    ann = club.connect("Ann")
    for each in range(tournament_store.MAX_TOURNAMENTS_ENTERED + 1):
        number = create_test_tournament(club, f"cup {each}", rounds=3)
        with raises_club_error("tournament_name_taken"):
            create_test_tournament(club, f"CUP {each}", rounds=3)
        if each < tournament_store.MAX_TOURNAMENTS_ENTERED:
            await club.server.tournaments.enter(ann, number)
    with raises_club_error("too_many_tournaments"):
        await club.server.tournaments.enter(ann, number)


@with_club
async def test_tournament_games_ignore_the_game_limit_and_cannot_be_aborted(club: ClubHarness) -> None:
    number = create_test_tournament(club, rounds=1)
    ann, bob = RandomClient(club, "Ann", idle=True), RandomClient(club, "Bob", idle=True)
    for player in (ann, bob):
        await club.server.tournaments.enter(player, number)
    for _ in range(server.MAX_LIVE_GAMES_PER_USER):
        await club.start_game(ann, bob, SMALL)
    start_tournament(club, number)
    await wait_for_state(club, number, number_of_round=1)
    await club.wait_until(lambda: len(club.server.live_games) > server.MAX_LIVE_GAMES_PER_USER)
    (game,) = (state.number for state in load_games(club) if state.tournament)
    with raises_club_error("tournament_game"):
        await club.server.abort(ann, game)
    await club.server.abort(ann, game - 1)
    with raises_club_error("too_many_live_games"):
        await club.server.lobby.seek(ann, SMALL)
    await club.server.resign(bob, game)
    check_results(club, await wait_for_state(club, number))
    assert (await club.server.watch(ann, game))["tournament"] == number


# ---- storage ---------------------------------------------------------------------------------------------------------
@with_club
async def test_a_failing_database_only_delays_a_tournament(club: ClubHarness) -> None:
    number = create_test_tournament(club, rounds=2)
    players = [RandomClient(club, name) for name in ("Ann", "Bob", "Eve", "Dan")]
    for player in players:
        await club.server.tournaments.enter(player, number)
    write, rng = club.store.submit, random.Random(1)
    patch = pytest.MonkeyPatch()
    patch.setattr(organiser, "CHECK_SECONDS", 0.05)
    patch.setattr(server, "HEARTBEAT_SECONDS", 0.05)  # the interval at which the server tries the database again

    def fail(connection: Any) -> None:
        raise StorageError("the disk is full")

    start_now(club.store, number)
    patch.setattr(club.store, "submit", lambda act: write(fail if rng.random() < 0.3 else act))

    tournament = await wait_for_state(club, number)
    patch.undo()
    check_results(club, tournament)
    assert len(tournament.pairings) == 4


@pytest.mark.parametrize(("system", "count"), [(SWISS, 16), (ROUND_ROBIN, 15)])
def test_a_restart_at_any_moment_neither_loses_nor_duplicates_anything(tmp_path: Path, system: str, count: int) -> None:
    """The club repeatedly stops without a shutdown, as if killed, and restarts."""
    people, clock = dict[str, Account](), ManualClock()
    rng, open_games = random.Random(3), list[int]()

    async def live(moves: int) -> bool:
        club = await ClubHarness(tmp_path / "club.sqlite", clock).open()
        first, club.accounts, number = not people, people, 1
        names = ("Ann", "Bob", "Eve", "Dan", "Kim", "Max", *(("Zoe", "Jan") if system == SWISS else ()))
        players = [RandomClient(club, name) for name in names]
        if first:
            create_test_tournament(club, system=system, rounds=4 if system == SWISS else 0)
            for player in players:
                await club.server.tournaments.enter(player, number)
            start_tournament(club, number)
        while club.server.counts["moves"] < moves and not any(
            player.received[-1].get("state") == "ended" for player in players
        ):
            club.news.clear()
            await asyncio.wait_for(club.news.wait(), TIMEOUT)
        for task in (*club.server._tasks, *(task for player in players for task in player.tasks)):
            task.cancel()
        tournament = load_tournament(club, number)
        open_games.append(sum(pairing.game is not None and not pairing.decided for pairing in tournament.pairings))
        if tournament.state == "ended":
            check_results(club, tournament)
            assert len(load_games(club)) == count
        club.store.close()
        return tournament.state == "ended"

    lives = 1
    while not asyncio.run(live(rng.randint(1, 40))):
        lives += 1
    assert lives > 5 and sum(number > 0 for number in open_games) > 2, (
        "there were several restarts, some of them with games in progress"
    )


@with_club
async def test_a_pairing_is_played_and_decided_once(club: ClubHarness) -> None:
    number = create_test_tournament(club, rounds=1)
    ann, bob = RandomClient(club, "Ann", idle=True), RandomClient(club, "Bob", idle=True)
    for player in (ann, bob):
        await club.server.tournaments.enter(player, number)
    club.server.disconnect(bob)
    start_tournament(club, number)
    tournament = await wait_for_state(club, number, number_of_round=1)
    (pairing,) = tournament.pairings
    club.server.connect(bob)
    await club.wait_until(lambda: club.server.live_games)
    for _ in range(2):  # as if the organiser had not noticed the start of the game
        with raises_club_error("pairing_closed"):
            await club.server.tournaments._start_game(tournament, pairing)
        await club.server.store.write(
            partial(tournament_store.record_forfeit, tournament=tournament, pairing=pairing, online=set())
        )
        await club.server.store.write(
            partial(tournament_store.begin_round, tournament=replace(tournament, round=0), pairings=[(1, 2)])
        )
    assert len(club.server.live_games) == len(load_games(club)) == len(load_tournament(club, number).pairings) == 1
    assert not load_tournament(club, number).is_round_over
    restored = club.store.read_blocking(load_live_games)
    assert [state.tournament for state in restored] == [number]


@pytest.mark.slow
def test_a_server_that_is_killed_resumes_in_the_middle_of_a_round(tmp_path: Path) -> None:
    file = tmp_path / "club.sqlite"
    store, rng = ClubStore(file), random.Random(2)
    tokens = [create_bot_token(store, f"bot{number}") for number in range(6)]
    words = ("Cup", SWISS, GameTerms(Game.OTHELLO6, Clock(60.0)), 3, time.time() + 1000, 60.0)
    store.submit(lambda connection: tournament_store.create_tournament(connection, *words)).result()

    def serve(port: int) -> tuple[subprocess.Popen[str], str]:
        command = [sys.executable, "-m", "awello", "serve", "--no-archive", "--no-browser", "--jobs", "1"]
        words = ["--port", str(port), "--club", str(file)]
        server = subprocess.Popen([*command, *words], cwd=ROOT, stdout=subprocess.PIPE, text=True)
        assert server.stdout
        return server, server.stdout.readline().split()[4]

    club = ClubHarness(file)
    club.store = store

    def tournament() -> ClubTournament:
        return load_tournament(club, 1)

    def moves() -> int:
        return sum(len(state.moves) for state in load_games(club))

    async def play() -> None:
        server, address = serve(0)
        bots = [ClubBot(address, token, "uct@5ms", BotPolicy(tournament=1), lambda line: None) for token in tokens]
        tasks = [asyncio.create_task(bot.run()) for bot in bots]
        await wait_until_async(lambda: len(tournament().entrants) == 6)
        start_now(store, 1)
        for _ in range(5):
            target = moves() + rng.randint(5, 30)
            await wait_until_async(lambda: moves() >= target)  # noqa: B023 (called in this round)
            server.kill()
            server.wait()
            server, _ = await asyncio.to_thread(serve, int(address.split(":")[2].strip("/")))
        await wait_until_async(lambda: tournament().state == "ended")
        server.terminate()
        server.wait()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    asyncio.run(play())
    check_results(club, tournament())
    assert len(load_games(club)) == 9 and not any(state.reason for state in load_games(club))
    store.close()


def create_bot_token(store: ClubStore, name: str) -> str:
    """Create a bot with an owner of its own; return a token of the bot."""
    owner = store.submit(partial(create_account, name=f"{name}-owner", password_hash="none")).result()
    bot = store.submit(partial(create_account, name=name, password_hash=None, owner=owner.id)).result()
    return store.submit(partial(create_token, account=bot, label="test")).result()


# ---- on a real server ------------------------------------------------------------------------------------------------
def test_bots_play_a_tournament_on_a_server(tmp_path: Path) -> None:
    file, log = tmp_path / "club.sqlite", list[str]()
    names = ("rex", "max", "zoe")
    store = ClubStore(file)
    tokens = [create_bot_token(store, name) for name in names]
    store.close()
    words = ("--start", "1h", "--system", "swiss", "--variant", "othello4", "--clock", "1m", "--rounds", "3")
    made = awello("club", "create-tournament", str(file), "Friday", *words)
    assert made.stdout.startswith("tournament 1, Friday, starts at 2")

    async def play(address: str) -> dict[str, Any]:
        policy = BotPolicy(tournament="friday")
        bots = [ClubBot(address, token, "random", policy, log.append) for token in tokens]
        tasks = [asyncio.create_task(bot.run()) for bot in bots]
        client = ClubHttpClient(base_url=address)

        def show() -> dict[str, Any]:
            found: dict[str, Any] = client.get("/api/club/tournaments/1").json()
            return found

        await wait_until_async(lambda: show()["entrants"] == 3)
        store = ClubStore(file)
        start_now(store, 1)
        store.close()
        await wait_until_async(lambda: sum(": ended, " in line for line in log) == 3)
        state = show()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return state

    with run_server_thread(file) as address:
        end = asyncio.run(play(address))
        assert end["state"] == "ended" and len(end["pairings"]) == 6 and end["round"] == 3
        assert {row["name"] for row in end["standings"]} == set(names) and all(row["bot"] for row in end["standings"])
        assert sum(row["points"] for row in end["standings"]) == 6
        client = ClubHttpClient(base_url=address)
        (listed,) = client.get("/api/club/tournaments").json()
        assert listed["name"] == "Friday" and listed["control"] == {"seconds": 60.0, "increment": 0.0}
        missing = client.get("/api/club/tournaments/2")
        assert (missing.status_code, missing.json()["code"]) == (404, "unknown_tournament")
    assert "tournament Friday: ended, round 3 of 3, rank 1" in log
    (shown,) = json.loads(awello("club", "tournaments", str(file), "--json").stdout)["tournaments"]
    assert shown == end
    lines = awello("club", "tournaments", str(file)).stdout.splitlines()
    assert lines[0] == "    1  Friday, swiss, othello4: ended, round 3 of 3" and len(lines) == 4
    assert lines[1].split()[1] == end["standings"][0]["name"]


def test_users_enter_by_websocket(tmp_path: Path) -> None:
    file = tmp_path / "club.sqlite"
    with run_server_thread(file) as address, ClubHttpClient(base_url=address) as ann:
        sign_up(ann, "Ann")
        words = ("club", "create-tournament", str(file), "Cup", "--system", "round-robin")
        assert "omit the number of rounds for a round robin" in awello(*words, "--start", "1h", "--rounds", "3").stderr
        made = awello(*words, "--start", "2099-01-01T18:00+00:00", "--unrated", "--json")
        assert json.loads(made.stdout)["starts"] == 4070973600.0 and not json.loads(made.stdout)["rated"]
        with ann.connect() as channel:
            (listed,) = channel.request("tournaments")["tournaments"]
            assert (listed["name"], listed["system"], listed["state"]) == ("Cup", "round-robin", "open")
            assert channel.request("enter", tournament=listed["tournament"])["entrants"] == 1
            assert channel.request("tournament", tournament="cup")["standings"][0]["name"] == "Ann"
            assert channel.request("withdraw", tournament="Cup")["entrants"] == 0
            assert channel.request("enter", tournament=7)["code"] == "unknown_tournament"
            assert channel.request("enter", tournament=[7])["code"] == "invalid_field"
            assert awello("club", "cancel-tournament", str(file), "1").stdout == "Cup is cancelled\n"
            assert channel.request("enter", tournament="Cup")["code"] == "tournament_cancelled"
        assert "has already ended or been cancelled" in awello("club", "cancel-tournament", str(file), "1").stderr
        assert awello("club", "audit", str(file)).stdout.count("tournament 1 cancelled") == 1
        assert "there is no tournament 9" in awello("club", "cancel-tournament", str(file), "9").stderr
    for at in ("tomorrow", "2001-01-01T18:00", ""):
        wrong = awello("club", "create-tournament", str(file), "Late", "--start", at).stderr
        assert wrong.startswith("awello: ") and ("is not a time" in wrong or "is in the past" in wrong)
    assert (
        "game 'chess'"
        in awello("club", "create-tournament", str(file), "C", "--start", "1h", "--variant", "chess").stderr
    )
    assert "tournament 1 created" in awello("club", "audit", str(file)).stdout
