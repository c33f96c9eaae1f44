"""Tournaments in the club: whole ones, those who do not come, restarts at any moment, and one on a real server."""

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
from clubs import Visitor, serving, sign_up
from conftest import ROOT, awello
from sqlalchemy import select, update
from test_club_server import Club, club, refused
from waiting import PATIENCE, ManualClock, wait_until_async

from awello import Game
from awello.club import server, tournament_store
from awello.club import tournament_organiser as organiser
from awello.club.accounts import Account, close_account, make_token, open_account
from awello.club.game_state import ClubError, GameState
from awello.club.live_game import ClientConnection
from awello.club.offers import GameTerms
from awello.club.schema import games, tournaments
from awello.club.store import ClubStore
from awello.club.stored_games import game_state_of, load_games, rating_of
from awello.club.tournament import DOUBLE, ROBIN, SWISS, ClubTournament
from awello.errors import StorageError
from awello.limits import Clock
from awello.protocols.club import BotPolicy, ClubBot

SMALL = GameTerms(Game.OTHELLO4, Clock(60.0))


class Player(ClientConnection):
    """Somebody who plays random moves as soon as it is their turn."""

    def __init__(self, club: Club, name: str, idle: bool = False) -> None:
        self.club, self.name, self.idle = club, name, idle
        self.heard: list[dict[str, Any]] = []
        self.chance, self.tasks = random.Random(name), set[asyncio.Task[Any]]()
        account = club.enter(name)  # makes the account
        club.hall.leave(account)
        super().__init__(account.account, self.hear)
        club.hall.enter(self)

    def hear(self, message: dict[str, Any]) -> None:
        self.heard.append(message)
        self.club.news.set()
        playing = message["type"] == "game" and not message["over"] and not self.idle
        if playing and message["players"][message["mover"]]["name"] == self.name:
            task = asyncio.create_task(self.move(message))
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)

    async def move(self, game: dict[str, Any]) -> None:
        move = self.chance.choice(game["legal"])
        while True:
            try:
                await self.club.hall.move(self, game["game"], game["ply"], move)
            except ClubError as error:
                if error.code == "storage":  # try again when the books can be written
                    await self.club.until(lambda: not self.club.hall.store.failing)
                    continue
            return

    def last(self) -> dict[str, Any]:
        """What they were last told of a tournament."""
        return next(message for message in reversed(self.heard) if message["type"] == "tournament")


def plan(club: Club, name: str = "Friday", system: str = SWISS, rounds: int = 0, grace: float = 30.0) -> int:
    """The number of a tournament that begins at once after somebody has had the time to enter."""
    return make(club, name, system, SMALL, rounds, time.time() + 1000, grace).number


def make(club: Club, *terms: Any) -> ClubTournament:
    return club.store.submit(lambda connection: tournament_store.create_tournament(connection, *terms)).result()


def begin(club: Club, number: int) -> None:
    """Let it begin now."""
    start_now(club.store, number)
    club.hall.tournaments.wake()


def start_now(store: ClubStore, number: int) -> None:
    changed = update(tournaments).where(tournaments.c.id == number).values(starts=0.0)
    store.submit(lambda connection: connection.execute(changed).rowcount).result()


def look(club: Club, number: int) -> ClubTournament:
    return club.store.read(partial(tournament_store.find_tournament, which=number))


async def until(club: Club, number: int, state: str = "ended", number_of_round: int = 0) -> ClubTournament:
    """The tournament when it has come to a state or a round."""

    def there() -> ClubTournament | None:
        contest = look(club, number)
        return contest if (contest.round >= number_of_round if number_of_round else contest.state == state) else None

    contest = await wait_until_async(there)
    assert contest
    return contest


async def until_looked(club: Club) -> None:
    """Wait until the organiser has looked at every tournament once more."""
    cups, looked = club.hall.tournaments, asyncio.Event()
    look = cups._look

    async def report() -> None:
        await look()
        looked.set()

    cups._look = report  # type: ignore[method-assign]
    cups.wake()
    await asyncio.wait_for(looked.wait(), PATIENCE)
    cups._look = look  # type: ignore[method-assign]


def played(club: Club) -> list[GameState]:
    """All games in the books."""
    rows = club.store.read(lambda connection: connection.execute(select(games).order_by(games.c.id)).all())
    return [game_state_of(row) for row in rows]


def check(club: Club, contest: ClubTournament) -> None:
    """Every pairing has one game, and every game one pairing with its result."""
    tables = {table.number: table for table in played(club) if table.tournament == contest.number}
    bound = [fixture for fixture in contest.fixtures if fixture.game is not None]
    assert sorted(fixture.game or 0 for fixture in bound) == sorted(tables)
    for fixture in contest.fixtures:
        if fixture.game is not None:
            table = tables[fixture.game]
            assert table.over and table.players == fixture.players and table.game == contest.terms.game
            expected = {None: (0.5, 0.5), 0: (1.0, 0.0), 1: (0.0, 1.0)}[table.winner]
            assert fixture.points == expected and fixture.decided and not fixture.forfeit
    assert len({frozenset(fixture.players) for fixture in bound}) == len(bound) // (1 + (contest.system == DOUBLE))
    assert sum(row.points for row in contest.standings) == sum(sum(fixture.points) for fixture in contest.fixtures)


# ---- whole tournaments ----------------------------------------------------------------------------------------------
@club
async def test_a_whole_swiss_tournament(club: Club) -> None:
    number = plan(club, rounds=3)
    players = [Player(club, name) for name in ("Ann", "Bob", "Eve", "Dan", "Kim", "Max")]
    for player in players:
        assert (await club.hall.tournaments.join(player, "friday"))["state"] == "open"
    begin(club, number)
    contest = await until(club, number)
    check(club, contest)
    assert contest.rounds == 3 and len(contest.fixtures) == 9 and len(played(club)) == 9
    await club.until(lambda: not club.hall.tournaments.contests)
    for player in players:
        news = [message for message in player.heard if message["type"] == "tournament"]
        assert [message["round"] for message in news] == sorted(message["round"] for message in news)
        assert {(message["round"], message["pairing"]["game"] is None) for message in news if message["round"]} == {
            (each, waits) for each in (1, 2, 3) for waits in (True, False)
        }
        end = player.last()
        assert end["state"] == "ended" and end["pairing"]["points"] is not None and len(end["standings"]) == 6
        assert [row["place"] for row in end["standings"]] == sorted(row["place"] for row in end["standings"])
        assert {"name", "program", "place", "points", "buchholz", "berger", "wins"} == end["standings"][0].keys()
    assert not club.hall.tournaments._told and not club.hall.tournaments._called, "nothing is remembered for ever"
    rows = club.store.read(lambda connection: rating_of(connection, 1, "othello4 blitz"))
    assert rows.doubt < 350, "its games are rated"


@pytest.mark.parametrize(("system", "size", "count"), [(ROBIN, 5, 10), (DOUBLE, 3, 6)])
def test_a_whole_round_robin(tmp_path: Path, system: str, size: int, count: int) -> None:
    @club
    async def play(club: Club) -> None:
        number = plan(club, system=system)
        for name in ("Ann", "Bob", "Eve", "Dan", "Kim")[:size]:
            await club.hall.tournaments.join(Player(club, name), number)
        begin(club, number)
        contest = await until(club, number)
        check(club, contest)
        assert contest.rounds == contest.round == size * (1 + (system == DOUBLE)) and len(played(club)) == count
        byes = Counter(fixture.first for fixture in contest.fixtures if fixture.second is None)
        assert set(byes.values()) == {1 + (system == DOUBLE)} and len(byes) == size

    play(tmp_path)


# ---- who comes and who does not -------------------------------------------------------------------------------------
@club
async def test_who_does_not_come_loses_and_is_left_out_until_they_do(club: Club) -> None:
    number = plan(club, rounds=3, grace=0.3)
    players = [Player(club, name) for name in ("Ann", "Bob", "Eve", "Dan")]
    for player in players:
        await club.hall.tournaments.join(player, number)
    dan = players[3]
    club.hall.leave(dan)
    begin(club, number)
    await club.until(lambda: (number, 1) in club.hall.tournaments._called)
    await until_looked(club)
    assert not any(fixture.forfeit for fixture in look(club, number).fixtures)
    club.clock.advance(0.3)
    club.hall.tournaments.wake()
    first = await until(club, number, number_of_round=2)
    (missed,) = [fixture for fixture in first.fixtures if fixture.forfeit]
    assert dan.account and missed.stayed_away(dan.account.number) and missed.game is None and sum(missed.points) == 1
    contest = await until(club, number)
    check(club, contest)
    later = [fixture for fixture in contest.fixtures if fixture.round > 1]
    assert all(dan.account.number not in fixture.players for fixture in later) and len(later) == 4
    assert contest.standings[-1].player == dan.account.number and contest.standings[-1].points == 0


@club
async def test_who_comes_late_plays(club: Club) -> None:
    number = plan(club, rounds=1, grace=30.0)
    ann, bob = Player(club, "Ann"), Player(club, "Bob")
    for player in (ann, bob):
        await club.hall.tournaments.join(player, number)
    club.hall.leave(bob)
    begin(club, number)
    await until(club, number, number_of_round=1)
    await until_looked(club)
    assert not played(club) and ann.last()["pairing"]["game"] is None, "Bob is waited for"
    bob.heard.clear()
    club.hall.enter(bob)
    assert bob.last()["pairing"]["second"] == "Bob", "they are told at once"
    check(club, await until(club, number))


@club
async def test_if_nobody_comes_nobody_gets_a_point(club: Club) -> None:
    number = plan(club, rounds=5, grace=0.0)
    for name in ("Ann", "Bob", "Eve"):
        player = Player(club, name)
        await club.hall.tournaments.join(player, number)
        club.hall.leave(player)
    begin(club, number)
    contest = await until(club, number)
    assert contest.rounds == 3 and contest.round == 1, "a bye for one, a forfeit for two, who are left out; so it ends"
    assert sorted(row.points for row in contest.standings) == [0.0, 0.0, 1.0]


@club
async def test_entering_and_withdrawing(club: Club) -> None:
    cups = club.hall.tournaments
    number = plan(club, rounds=2)
    ann, bob, eve, eyes = (club.enter(name) for name in ("Ann", "Bob", "Eve", "eyes"))
    for guest in (ann, bob, eve, ann):
        assert (await cups.join(guest, number))["tournament"] == number
    assert (await cups.show(number))["entrants"] == 3
    assert (await cups.withdraw(eve, "Friday"))["entrants"] == 2
    assert (await cups.withdraw(eve, "Friday"))["entrants"] == 2
    with refused("account"):
        await cups.join(eyes, number)
    for which in (99, "Monday", "1"):
        with refused("absent"):
            await cups.join(eve, which)
    begin(club, number)
    await until(club, number, number_of_round=1)
    with refused("begun"):
        await cups.join(eve, number)
    with refused("begun"):
        await cups.withdraw(ann, number)
    assert (await cups.join(ann, number))["state"] == "playing", "who is in it is in it"
    found = await cups.list(ann)
    listed = found["tournaments"]
    assert [(each["name"], each["state"], each["entrants"]) for each in listed] == [("Friday", "playing", 2)]
    assert found["entered"] == [number] and found["now"] == club.clock()
    assert (await cups.list(eve))["entered"] == (await cups.list(eyes))["entered"] == []


@club
async def test_whoever_looks_round_hears_that_something_changed(club: Club) -> None:
    """Also who has not entered, and of a tournament that another process planned; who is not curious hears nothing."""
    club.enter("eyes")
    program = club.enter("rex", program=True)
    program.curious = False
    number = plan(club, rounds=1)
    heard = club.told["eyes"]

    def changed() -> list[list[int]]:
        return [message["changed"] for message in heard if message["type"] == "tournaments"]

    await club.until(changed)
    assert changed() == [[number]]
    await asyncio.gather(*(club.hall.tournaments.join(Player(club, name), number) for name in ("Ann", "Bob", "Eve")))
    await until_looked(club)
    club.clock.advance(organiser.LOOK)
    club.hall.tournaments.wake()
    await club.until(lambda: len(changed()) > 1)
    await until_looked(club)
    assert changed() == [[number], [number]], "three at once are one word"
    assert not [message for message in club.told["rex"] if message["type"] == "tournaments"]


@club
async def test_too_few_cancel_it(club: Club) -> None:
    number = plan(club, rounds=2)
    ann, bob = Player(club, "Ann"), club.enter("Bob")
    for guest in (ann, bob):
        await club.hall.tournaments.join(guest, number)
    assert bob.account
    club.store.submit(partial(close_account, account=bob.account)).result()
    begin(club, number)
    contest = await until(club, number, state="cancelled")
    await club.until(lambda: not club.hall.tournaments.contests)
    assert not contest.fixtures and ann.last()["state"] == "cancelled"
    with refused("begun"):
        await club.hall.tournaments.join(club.enter("Eve"), number)


@club
async def test_it_can_be_cancelled_while_it_is_played(club: Club) -> None:
    number = plan(club, rounds=3)
    players = [Player(club, name, idle=True) for name in ("Ann", "Bob", "Eve")]
    for player in players:
        await club.hall.tournaments.join(player, number)
    begin(club, number)
    contest = await until(club, number, number_of_round=1)
    await club.until(lambda: played(club))
    club.store.submit(partial(tournament_store.end_tournament, contest=contest, state="cancelled")).result()
    club.hall.tournaments.wake()
    await club.until(lambda: not club.hall.tournaments.contests)
    assert players[0].last()["state"] == "cancelled"
    assert len(club.hall.seats) == 1, "a game that is played goes on"


@club
async def test_there_are_limits(club: Club) -> None:
    soon = time.time() + 100
    for code, terms in (
        ("name", ("7th", SWISS, SMALL, 3, soon, 60.0)),
        ("name", ("x" * 41, SWISS, SMALL, 3, soon, 60.0)),
        ("name", ("Fri\nday", SWISS, SMALL, 3, soon, 60.0)),
        ("system", ("Friday", "knockout", SMALL, 3, soon, 60.0)),
        ("rounds", ("Friday", SWISS, SMALL, 0, soon, 60.0)),
        ("rounds", ("Friday", SWISS, SMALL, 31, soon, 60.0)),
        ("rounds", ("Friday", ROBIN, SMALL, 3, soon, 60.0)),
        ("grace", ("Friday", SWISS, SMALL, 3, soon, 4000.0)),
        ("control", ("Friday", SWISS, GameTerms(Game.OTHELLO, Clock(1.0)), 3, soon, 60.0)),
    ):
        with refused(code):
            make(club, *terms)
    ann = club.enter("Ann")
    for each in range(tournament_store.MOST_ENTERED + 1):
        number = plan(club, f"cup {each}", rounds=3)
        with refused("taken"):
            plan(club, f"CUP {each}", rounds=3)
        if each < tournament_store.MOST_ENTERED:
            await club.hall.tournaments.join(ann, number)
    with refused("many"):
        await club.hall.tournaments.join(ann, number)


@club
async def test_games_of_a_tournament_count_but_always_begin_and_cannot_be_left(club: Club) -> None:
    number = plan(club, rounds=1)
    ann, bob = Player(club, "Ann", idle=True), Player(club, "Bob", idle=True)
    for player in (ann, bob):
        await club.hall.tournaments.join(player, number)
    for _ in range(server.MOST_GAMES):
        await club.begin(ann, bob, SMALL)
    begin(club, number)
    await until(club, number, number_of_round=1)
    await club.until(lambda: len(club.hall.seats) > server.MOST_GAMES)
    (game,) = (table.number for table in played(club) if table.tournament)
    with refused("tournament"):
        await club.hall.abort(ann, game)
    await club.hall.abort(ann, game - 1)
    with refused("many"):
        await club.hall.lobby.seek(ann, SMALL)
    await club.hall.resign(bob, game)
    check(club, await until(club, number))
    assert (await club.hall.watch(ann, game))["tournament"] == number


# ---- what is in the books -------------------------------------------------------------------------------------------
@club
async def test_books_that_fail_only_delay_it(club: Club) -> None:
    number = plan(club, rounds=2)
    players = [Player(club, name) for name in ("Ann", "Bob", "Eve", "Dan")]
    for player in players:
        await club.hall.tournaments.join(player, number)
    write, chance = club.store.submit, random.Random(1)
    patch = pytest.MonkeyPatch()
    patch.setattr(organiser, "LOOK", 0.05)
    patch.setattr(server, "PULSE", 0.05)  # how often the books are tried again

    def fail(connection: Any) -> None:
        raise StorageError("the disk is full")

    start_now(club.store, number)
    patch.setattr(club.store, "submit", lambda act: write(fail if chance.random() < 0.3 else act))

    contest = await until(club, number)
    patch.undo()
    check(club, contest)
    assert len(contest.fixtures) == 4


@pytest.mark.parametrize(("system", "count"), [(SWISS, 16), (ROBIN, 15)])
def test_a_restart_at_any_moment_loses_and_doubles_nothing(tmp_path: Path, system: str, count: int) -> None:
    """Lives of the club that end without a farewell, as if it had been killed."""
    people, clock = dict[str, Account](), ManualClock()
    chance, open_games = random.Random(3), list[int]()

    async def live(moves: int) -> bool:
        club = await Club(tmp_path / "club.sqlite", clock).open()
        first, club.people, number = not people, people, 1
        names = ("Ann", "Bob", "Eve", "Dan", "Kim", "Max", *(("Zoe", "Jan") if system == SWISS else ()))
        players = [Player(club, name) for name in names]
        if first:
            plan(club, system=system, rounds=4 if system == SWISS else 0)
            for player in players:
                await club.hall.tournaments.join(player, number)
            begin(club, number)
        while club.hall.counts["moves"] < moves and not any(
            player.heard[-1].get("state") == "ended" for player in players
        ):
            club.news.clear()
            await asyncio.wait_for(club.news.wait(), PATIENCE)
        for task in (*club.hall._tasks, *(task for player in players for task in player.tasks)):
            task.cancel()
        contest = look(club, number)
        open_games.append(sum(fixture.game is not None and not fixture.decided for fixture in contest.fixtures))
        if contest.state == "ended":
            check(club, contest)
            assert len(played(club)) == count
        club.store.close()
        return contest.state == "ended"

    lives = 1
    while not asyncio.run(live(chance.randint(1, 40))):
        lives += 1
    assert lives > 5 and sum(number > 0 for number in open_games) > 2, "some ended within a round"


@club
async def test_a_pairing_is_played_and_decided_once(club: Club) -> None:
    number = plan(club, rounds=1)
    ann, bob = Player(club, "Ann", idle=True), Player(club, "Bob", idle=True)
    for player in (ann, bob):
        await club.hall.tournaments.join(player, number)
    club.hall.leave(bob)
    begin(club, number)
    contest = await until(club, number, number_of_round=1)
    (fixture,) = contest.fixtures
    club.hall.enter(bob)
    await club.until(lambda: club.hall.seats)
    for _ in range(2):  # as if the organiser had not seen that it is done already
        with refused("gone"):
            await club.hall.tournaments._begin(contest, fixture)
        await club.hall.store.write(partial(tournament_store.forfeit, contest=contest, fixture=fixture, here=set()))
        await club.hall.store.write(
            partial(tournament_store.begin_round, contest=replace(contest, round=0), pairs=[(1, 2)])
        )
    assert len(club.hall.seats) == len(played(club)) == len(look(club, number).fixtures) == 1
    assert not look(club, number).round_over
    restored = club.store.read(load_games)
    assert [table.tournament for table in restored] == [number]


@pytest.mark.slow
def test_a_server_that_is_killed_resumes_in_the_middle_of_a_round(tmp_path: Path) -> None:
    file = tmp_path / "club.sqlite"
    store, chance = ClubStore(file), random.Random(2)
    tokens = [token_of(store, f"bot{number}") for number in range(6)]
    words = ("Cup", SWISS, GameTerms(Game.OTHELLO6, Clock(60.0)), 3, time.time() + 1000, 60.0)
    store.submit(lambda connection: tournament_store.create_tournament(connection, *words)).result()

    def serve(port: int) -> tuple[subprocess.Popen[str], str]:
        command = [sys.executable, "-m", "awello", "serve", "--no-archive", "--no-browser", "--jobs", "1"]
        words = ["--port", str(port), "--club", str(file)]
        server = subprocess.Popen([*command, *words], cwd=ROOT, stdout=subprocess.PIPE, text=True)
        assert server.stdout
        return server, server.stdout.readline().split()[3]

    club = Club(file)
    club.store = store

    def contest() -> ClubTournament:
        return look(club, 1)

    def moves() -> int:
        return sum(len(table.moves) for table in played(club))

    async def play() -> None:
        server, address = serve(0)
        bots = [ClubBot(address, token, "uct@5ms", BotPolicy(tournament=1), lambda line: None) for token in tokens]
        tasks = [asyncio.create_task(bot.run()) for bot in bots]
        await wait_until_async(lambda: len(contest().people) == 6)
        start_now(store, 1)
        for _ in range(5):
            target = moves() + chance.randint(5, 30)
            await wait_until_async(lambda: moves() >= target)  # noqa: B023 (called in this round)
            server.kill()
            server.wait()
            server, _ = await asyncio.to_thread(serve, int(address.split(":")[2].strip("/")))
        await wait_until_async(lambda: contest().state == "ended")
        server.terminate()
        server.wait()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    asyncio.run(play())
    check(club, contest())
    assert len(played(club)) == 9 and not any(table.reason for table in played(club))
    store.close()


def token_of(store: ClubStore, name: str) -> str:
    """The token of a new bot with an owner of its own."""
    owner = store.submit(partial(open_account, name=f"{name}-owner", hashed="none")).result()
    bot = store.submit(partial(open_account, name=name, hashed=None, owner=owner.number)).result()
    return store.submit(partial(make_token, account=bot, label="test")).result()


# ---- on a real server -----------------------------------------------------------------------------------------------
def test_bots_play_a_tournament_on_a_server(tmp_path: Path) -> None:
    file, said = tmp_path / "club.sqlite", list[str]()
    names = ("rex", "max", "zoe")
    store = ClubStore(file)
    tokens = [token_of(store, name) for name in names]
    store.close()
    words = ("--start", "1h", "--system", "swiss", "--game", "othello4", "--clock", "1m", "--rounds", "3")
    made = awello("club", "create-tournament", str(file), "Friday", *words)
    assert made.stdout.startswith("tournament 1, Friday, starts at 2")

    async def play(address: str) -> dict[str, Any]:
        manners = BotPolicy(tournament="friday")
        bots = [ClubBot(address, token, "random", manners, said.append) for token in tokens]
        tasks = [asyncio.create_task(bot.run()) for bot in bots]
        client = Visitor(base_url=address)

        def show() -> dict[str, Any]:
            found: dict[str, Any] = client.get("/api/club/tournaments/1").json()
            return found

        await wait_until_async(lambda: show()["entrants"] == 3)
        store = ClubStore(file)
        start_now(store, 1)
        store.close()
        await wait_until_async(lambda: sum(": ended, " in line for line in said) == 3)
        state = show()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return state

    with serving(file) as address:
        end = asyncio.run(play(address))
        assert end["state"] == "ended" and len(end["pairings"]) == 6 and end["round"] == 3
        assert {row["name"] for row in end["standings"]} == set(names) and all(
            row["program"] for row in end["standings"]
        )
        assert sum(row["points"] for row in end["standings"]) == 6
        client = Visitor(base_url=address)
        (listed,) = client.get("/api/club/tournaments").json()
        assert listed["name"] == "Friday" and listed["control"] == {"seconds": 60.0, "increment": 0.0}
        missing = client.get("/api/club/tournaments/2")
        assert (missing.status_code, missing.json()["code"]) == (404, "absent")
    assert "tournament Friday: ended, round 3 of 3, place 1" in said
    (shown,) = json.loads(awello("club", "tournaments", str(file), "--json").stdout)["tournaments"]
    assert shown == end
    lines = awello("club", "tournaments", str(file)).stdout.splitlines()
    assert lines[0] == "    1  Friday, swiss, othello4: ended, round 3 of 3" and len(lines) == 4
    assert lines[1].split()[1] == end["standings"][0]["name"]


def test_people_enter_on_the_channel(tmp_path: Path) -> None:
    file = tmp_path / "club.sqlite"
    with serving(file) as address, Visitor(base_url=address) as ann:
        sign_up(ann, "Ann")
        words = ("club", "create-tournament", str(file), "Cup", "--system", "round-robin")
        assert "as many as it takes" in awello(*words, "--start", "1h", "--rounds", "3").stderr
        made = awello(*words, "--start", "2099-01-01T18:00+00:00", "--casual", "--json")
        assert json.loads(made.stdout)["starts"] == 4070973600.0 and not json.loads(made.stdout)["rated"]
        with ann.channel() as talk:
            (listed,) = talk.ask("tournaments")["tournaments"]
            assert (listed["name"], listed["system"], listed["state"]) == ("Cup", "round-robin", "open")
            assert talk.ask("join", tournament=listed["tournament"])["entrants"] == 1
            assert talk.ask("tournament", tournament="cup")["standings"][0]["name"] == "Ann"
            assert talk.ask("withdraw", tournament="Cup")["entrants"] == 0
            assert talk.ask("join", tournament=7)["code"] == "absent"
            assert talk.ask("join", tournament=[7])["code"] == "message"
            assert awello("club", "cancel-tournament", str(file), "1").stdout == "Cup is cancelled\n"
            assert talk.ask("join", tournament="Cup")["code"] == "begun"
        assert "is over already" in awello("club", "cancel-tournament", str(file), "1").stderr
        assert awello("club", "audit", str(file)).stdout.count("tournament 1 cancelled") == 1
        assert "there is no tournament 9" in awello("club", "cancel-tournament", str(file), "9").stderr
    for at in ("tomorrow", "2001-01-01T18:00", ""):
        wrong = awello("club", "create-tournament", str(file), "Late", "--start", at).stderr
        assert wrong.startswith("awello: ") and ("is not a time" in wrong or "is in the past" in wrong)
    assert (
        "game 'chess'" in awello("club", "create-tournament", str(file), "C", "--start", "1h", "--game", "chess").stderr
    )
    assert "tournament 1 planned" in awello("club", "audit", str(file)).stdout
