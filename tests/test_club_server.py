"""The club server: offers, games, spectators, restarts, and a database that fails."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from waiting import TIMEOUT, ManualClock, wait_until_async

from awello import Game, Record
from awello.club import lobby as lobbies
from awello.club import server as server_module
from awello.club.accounts import Account, create_account
from awello.club.game_state import ClubError
from awello.club.lag import MAX_LAG_COMPENSATION
from awello.club.live_game import ClientConnection
from awello.club.offers import GameTerms
from awello.club.server import ClubServer
from awello.club.store import ClubStore
from awello.club.stored_games import load_heartbeat
from awello.errors import ConfigError, StorageError
from awello.limits import Clock

BLITZ = GameTerms(Game.OTHELLO4, Clock(300.0))
Play = Callable[["ClubHarness"], Awaitable[None]]


class ClubHarness:
    """A club server with a clock that the test advances, and the messages that each client has received."""

    def __init__(self, database: Path | str, clock: ManualClock | None = None) -> None:
        self.database, self.archived = database, list[Record]()
        self.clock = clock or ManualClock()
        self.accounts: dict[str, Account] = {}

    async def open(self) -> "ClubHarness":
        self.store = ClubStore(self.database)
        self.server = ClubServer(self.store, self.archive_record, seed=1)
        self.server.now = self.clock  # type: ignore[method-assign]
        self.received: dict[str, list[dict[str, Any]]] = {}
        self.news = asyncio.Event()  # set whenever a player of a tournament receives a message
        await self.server.open()
        return self

    async def archive_record(self, record: Record) -> None:
        self.archived.append(record)

    async def close(self) -> None:
        await self.server.close()
        self.store.close()

    def connect(self, name: str, bot: bool = False) -> ClientConnection:
        """Connect a client with the account of this name, which is created if necessary; `spectator` has no account."""
        if name not in self.accounts and name != "spectator":
            owner = 1 if bot else None
            made = self.store.submit(lambda connection: create_account(connection, name, "hash", owner))
            self.accounts[name] = made.result()
        heard: list[dict[str, Any]] = []
        self.received[name] = heard
        client = ClientConnection(self.accounts.get(name), heard.append, lobby_updates=True)
        self.server.connect(client)
        return client

    def last_event(self, name: str, event: str = "game") -> dict[str, Any]:
        return next(message for message in reversed(self.received[name]) if message["type"] == event)

    async def wait_until(self, condition: Callable[[], object]) -> None:
        """Wait for a condition while the server runs."""
        await wait_until_async(condition)

    async def wait_for_heartbeat(self) -> None:
        """Wait until a heartbeat with the current time has been stored."""
        await self.wait_until(lambda: self.store.read_blocking(load_heartbeat) == self.clock())

    async def start_game(self, first: ClientConnection, second: ClientConnection, terms: GameTerms = BLITZ) -> int:
        """Start a game between two clients, of which `first` moves first; return its number."""
        offered = await self.server.lobby.seek(first, replace(terms, side=0))
        return int((await self.server.lobby.accept(second, offered["seek"]))["game"])


def with_club(test: Play) -> Callable[[Path], None]:
    """Turn a coroutine function that takes a club into a test with its own club."""

    def run(tmp_path: Path) -> None:
        async def play() -> None:
            club = await ClubHarness(tmp_path / "club.sqlite").open()
            try:
                await test(club)
            finally:
                await club.close()

        asyncio.run(asyncio.wait_for(play(), 2 * TIMEOUT))

    run.__name__ = test.__name__
    return run


def raises_club_error(code: str) -> pytest.RaisesExc[ClubError]:
    return pytest.raises(ClubError, check=lambda error: error.code == code)


def fail_to_write(connection: Any) -> None:
    raise StorageError("the disk is full")


async def play_random_moves(
    club: ClubHarness, number: int, players: list[ClientConnection], seed: int = 0, max_moves: int = 500
) -> None:
    """Play random moves until the game is over, but at most `max_moves`."""
    rng = random.Random(seed)
    for _ in range(max_moves):
        state = await club.server.watch(players[0], number)
        if state["over"]:
            return
        mover = players[state["mover"]]
        await club.server.move(mover, number, state["ply"], rng.choice(state["legal"]))


@with_club
async def test_matching_seeks_start_a_game(club: ClubHarness) -> None:
    ann, bob = club.connect("Ann"), club.connect("Bob")
    assert (await club.server.lobby.seek(ann, BLITZ))["seek"] == 1
    other = replace(BLITZ, control=Clock(60.0))
    assert "seek" in await club.server.lobby.seek(bob, other)
    assert "seek" in await club.server.lobby.seek(ann, replace(BLITZ, rated=False))
    number = (await club.server.lobby.seek(bob, BLITZ))["game"]
    for name in ("Ann", "Bob"):
        assert club.last_event(name)["game"] == number and club.last_event(name)["clocks"][1] == 300.0

    def seen() -> list[list[str]]:
        lobbies = [message for message in club.received["Ann"] if message["type"] == "lobby"]
        return [[seek["from"] for seek in lobby["seeks"]] for lobby in lobbies]

    await club.wait_until(lambda: ["Bob", "Ann"] in seen()[-1:])
    with raises_club_error("own_offer"):
        await club.server.lobby.accept(bob, 2)
    with raises_club_error("offer_gone"):
        await club.server.lobby.accept(bob, 1)


@with_club
async def test_offers_can_ask_for_a_side(club: ClubHarness) -> None:
    ann, bob = club.connect("Ann"), club.connect("Bob")
    for side, answer, first in ((0, None, "Ann"), (1, None, "Bob"), (None, 0, "Bob"), (0, 1, "Ann")):
        await club.server.lobby.seek(ann, replace(BLITZ, rated=False, side=side))
        number = (await club.server.lobby.seek(bob, replace(BLITZ, rated=False, side=answer)))["game"]
        assert club.last_event("Ann")["players"][0]["name"] == first
        await club.server.abort(ann, number)
    await club.server.lobby.seek(ann, replace(BLITZ, side=0))
    assert "seek" in await club.server.lobby.seek(bob, replace(BLITZ, side=0)), (
        "two players who both want to move first are not paired"
    )


@with_club
async def test_a_game_is_played_broadcast_and_archived(club: ClubHarness) -> None:
    ann, bob, spectator = club.connect("Ann"), club.connect("Bob"), club.connect("spectator")
    number = await club.start_game(ann, bob)
    await club.server.watch(spectator, number)
    await play_random_moves(club, number, [ann, bob])
    end = club.last_event("spectator")
    assert (
        end == club.last_event("Ann") == club.last_event("Bob")
        and end["over"]
        and end["score"]
        and end["mover"] is None
    )
    assert end["reason"] == "" and len(end["moves"]) == end["ply"]
    await club.wait_until(lambda: club.archived)
    (record,) = club.archived
    assert record.tags["Black"] == "Ann" and record.final.score() == end["score"]
    with raises_club_error("game_over"):
        await club.server.resign(ann, number)
    assert (await club.server.watch(ann, number))["over"]
    club.server.ended_games.clear()
    assert (await club.server.watch(ann, number))["moves"] == end["moves"], "the game is loaded from the database"
    with raises_club_error("unknown_game"):
        await club.server.watch(ann, 77)


@with_club
async def test_clients_cannot_act_for_others(club: ClubHarness) -> None:
    ann, bob, eve, spectator = (club.connect(name) for name in ("Ann", "Bob", "Eve", "spectator"))
    number = await club.start_game(ann, bob)
    state = await club.server.watch(eve, number)
    for client, code in ((bob, "not_your_turn"), (eve, "not_your_game"), (spectator, "not_logged_in")):
        with raises_club_error(code):
            await club.server.move(client, number, 0, state["legal"][0])
    for act in (club.server.resign, club.server.abort, club.server.draw):
        with raises_club_error("not_your_game"):
            await act(eve, number)
    with raises_club_error("not_logged_in"):
        await club.server.lobby.seek(spectator, BLITZ)
    with raises_club_error("game_not_live"):
        await club.server.move(ann, 99, 0, "f5")
    assert club.last_event("Ann")["ply"] == 0


@with_club
async def test_a_move_that_is_sent_again_is_acknowledged_again(club: ClubHarness) -> None:
    ann, bob = club.connect("Ann"), club.connect("Bob")
    number = await club.start_game(ann, bob)
    move = club.last_event("Ann")["legal"][0]
    first = await club.server.move(ann, number, 0, move)
    again = await club.server.move(ann, number, 0, move)
    assert first["ply"] == again["ply"] == 1
    with raises_club_error("wrong_ply"):
        await club.server.move(bob, number, 0, move)
    other = next(name for name in ("b1", "c2", "d3", "a1") if name != move)
    with raises_club_error("wrong_ply"):
        await club.server.move(ann, number, 0, other)


@with_club
async def test_time_runs_out_by_itself(club: ClubHarness) -> None:
    ann, bob = club.connect("Ann"), club.connect("Bob")
    number = await club.start_game(ann, bob)
    await play_random_moves(club, number, [ann, bob], max_moves=2)
    live_game = club.server.live_games[number]
    live_game.state = replace(live_game.state, clocks=(0.1, 300.0))
    club.clock.advance(0.1 + MAX_LAG_COMPENSATION + 0.001)
    await club.wait_until(lambda: club.last_event("Bob")["over"])
    end = club.last_event("Bob")
    assert end["over"] and end["winner"] == 1 and end["reason"] == "time" and end["clocks"][0] == 0
    await club.wait_until(lambda: club.archived)
    assert (club.archived[0].loser, club.archived[0].reason) == (0, "ran out of time")


@with_club
async def test_challenges(club: ClubHarness) -> None:
    ann, bob, eve = club.connect("Ann"), club.connect("Bob"), club.connect("Eve")
    number = (await club.server.lobby.challenge(ann, "bob", BLITZ))["challenge"]
    assert club.last_event("Bob", "challenge")["from"] == "Ann"
    with raises_club_error("offer_gone"):
        await club.server.lobby.accept(eve, number)
    with raises_club_error("not_your_offer"):
        await club.server.lobby.decline(eve, number)
    await club.server.lobby.decline(bob, number)
    assert club.last_event("Ann", "declined")["by"] == "Bob"
    number = (await club.server.lobby.challenge(ann, "Bob", BLITZ))["challenge"]
    assert "game" in await club.server.lobby.accept(bob, number)
    with raises_club_error("challenge_self"):
        await club.server.lobby.challenge(ann, "Ann", BLITZ)
    with raises_club_error("player_offline"):
        await club.server.lobby.challenge(ann, "Zed", BLITZ)
    await club.server.lobby.challenge(eve, "Bob", BLITZ)
    club.server.disconnect(eve)
    assert not club.server.lobby.challenges, "offers are withdrawn when their author disconnects"
    with raises_club_error("player_offline"):
        await club.server.lobby.challenge(ann, "Eve", BLITZ)


@with_club
async def test_there_are_limits(club: ClubHarness) -> None:
    ann, bob = club.connect("Ann"), club.connect("Bob")
    for control in (Clock(1.0), Clock(1e9), Clock(300.0, 1000.0), Clock(float("nan"))):
        with raises_club_error("invalid_time_control"):
            await club.server.lobby.seek(ann, replace(BLITZ, control=control))
    for number in range(lobbies.MAX_SEEKS_PER_ACCOUNT):
        await club.server.lobby.seek(ann, replace(BLITZ, control=Clock(100.0 + number)))
    with raises_club_error("too_many_seeks"):
        await club.server.lobby.seek(ann, replace(BLITZ, control=Clock(99.0)))
    club.server.disconnect(ann)
    ann = club.connect("Ann")
    for _ in range(server_module.MAX_LIVE_GAMES_PER_USER):
        await club.start_game(ann, bob)
    with raises_club_error("too_many_live_games"):
        await club.server.lobby.seek(bob, BLITZ)


@with_club
async def test_games_between_an_owner_and_their_bots_are_unrated(club: ClubHarness) -> None:
    ann, bob = club.connect("Ann"), club.connect("Bob")
    rex, max_ = club.connect("rex", bot=True), club.connect("max", bot=True)  # both are Ann's
    for first, second, counts in ((ann, rex, False), (rex, max_, False), (max_, ann, False), (bob, rex, True)):
        number = await club.start_game(first, second)
        assert club.server.live_games[number].state.rated == counts
        await club.server.abort(first, number)


@with_club
async def test_a_disconnected_client_creates_no_seek(club: ClubHarness) -> None:
    ann = club.connect("Ann")
    seeking = asyncio.create_task(club.server.lobby.seek(ann, BLITZ))
    await asyncio.sleep(0)  # let the task start
    club.server.disconnect(ann)
    with raises_club_error("disconnected"):
        await seeking
    assert not club.server.lobby.seeks


@with_club
async def test_a_game_that_cannot_be_archived_does_not_block_others(club: ClubHarness) -> None:
    ann, bob = club.connect("Ann"), club.connect("Bob")
    keep, first = club.archive_record, await club.start_game(ann, bob)

    async def archive_others(record: Record) -> None:
        if record.tags["Round"] == str(first):
            raise StorageError("the first game cannot be archived")
        await keep(record)

    club.server.archive = archive_others
    for number in (first, await club.start_game(ann, bob)):
        await play_random_moves(club, number, [ann, bob])
    await club.wait_until(lambda: club.archived)
    assert [record.tags["Round"] for record in club.archived] == [str(first + 1)]


@with_club
async def test_rematch(club: ClubHarness) -> None:
    ann, bob = club.connect("Ann"), club.connect("Bob")
    number = await club.start_game(ann, bob)
    with raises_club_error("no_rematch"):
        await club.server.rematch(ann, number)
    await club.server.resign(ann, number)
    assert await club.server.rematch(bob, number) == {} == await club.server.rematch(bob, number)
    assert club.last_event("Ann", "rematch")["by"] == "Bob"
    again = (await club.server.rematch(ann, number))["game"]
    assert again != number and [each["name"] for each in club.last_event("Ann")["players"]] == ["Bob", "Ann"]
    with raises_club_error("not_your_game"):
        await club.server.rematch(club.connect("Eve"), number)


@with_club
async def test_a_reconnecting_client_receives_its_games(club: ClubHarness) -> None:
    ann, bob = club.connect("Ann"), club.connect("Bob")
    number = await club.start_game(ann, bob)
    club.server.disconnect(ann)
    assert not club.server.live_games[number].state.over, "the game continues"
    club.connect("Ann")
    assert club.last_event("Ann")["game"] == number and club.last_event("Ann", "welcome")["name"] == "Ann"


def test_a_restart_resumes_games_and_clocks(tmp_path: Path) -> None:
    clock = ManualClock()

    async def first() -> tuple[dict[int, dict[str, Any]], ClubHarness]:
        club = await ClubHarness(tmp_path / "club.sqlite", clock).open()
        ann, bob = club.connect("Ann"), club.connect("Bob")
        for seed in range(5):
            await play_random_moves(
                club, await club.start_game(ann, bob, replace(BLITZ, game=Game.OTHELLO)), [ann, bob], seed, 3 * seed
            )
        club.clock.advance(7.0)
        await club.wait_for_heartbeat()
        states = {number: live_game.to_json(club.server.now()) for number, live_game in club.server.live_games.items()}
        for task in club.server._tasks:
            task.cancel()  # stop without a shutdown, as if the process had been killed
        return states, club

    async def second(before: dict[int, dict[str, Any]], people: dict[str, Account]) -> None:
        club = await ClubHarness(tmp_path / "club.sqlite", clock).open()
        club.accounts = people
        after = {number: live_game.to_json(club.server.now()) for number, live_game in club.server.live_games.items()}
        assert after.keys() == before.keys()
        for number, state in after.items():
            assert state["moves"] == before[number]["moves"] and state["position"] == before[number]["position"]
            assert state["clocks"] == pytest.approx(before[number]["clocks"], abs=0.001)
            assert min(state["clocks"]) == pytest.approx(293, abs=0.001)
        ann, bob = club.connect("Ann"), club.connect("Bob")
        for number in after:
            await play_random_moves(club, number, [ann, bob])
        await club.close()

    states, club = asyncio.run(first())
    club.store.close()
    clock.advance(1000.0)  # downtime is charged to neither clock
    asyncio.run(second(states, club.accounts))


@with_club
async def test_a_move_that_cannot_be_stored_is_not_played(club: ClubHarness) -> None:
    ann, bob = club.connect("Ann"), club.connect("Bob")
    number = await club.start_game(ann, bob)
    move = club.last_event("Ann")["legal"][0]
    write = club.store.submit

    def fail(operation: Any) -> Any:
        return write(fail_to_write)

    club.store.submit = fail  # type: ignore[method-assign]
    with raises_club_error("storage"):
        await club.server.move(ann, number, 0, move)
    assert club.last_event("Bob")["ply"] == 0 and club.server.live_games[number].state.moves == ()
    before = club.last_event("Ann")["clocks"]
    club.clock.advance(1000.0)  # while the database fails, time is charged to neither clock
    failures = club.server.store.write_failures
    await club.wait_until(lambda: club.server.store.write_failures > failures + 1)
    club.store.submit = write  # type: ignore[method-assign]
    with raises_club_error("storage"):
        await club.server.move(ann, number, 0, move)  # refused until the state has been loaded from the database again
    await club.wait_until(lambda: not club.server.store.failing)
    assert (await club.server.move(ann, number, 0, move))["ply"] == 1
    assert club.last_event("Ann")["clocks"] == before


@with_club
async def test_changes_stored_before_a_failure_are_sent_after_recovery(club: ClubHarness) -> None:
    ann, bob = club.connect("Ann"), club.connect("Bob")
    number = await club.start_game(ann, bob)
    other = await club.start_game(bob, ann)
    await play_random_moves(club, other, [bob, ann], max_moves=4)
    move, write = (await club.server.watch(ann, number))["legal"][0], club.store.submit

    def lose(operation: Any) -> Any:
        """Write successfully, but report a failure."""
        write(operation).result()
        return write(fail_to_write)

    async def trouble(act: Awaitable[Any]) -> None:
        club.store.submit = lose  # type: ignore[method-assign]
        with raises_club_error("storage"):
            await act
        club.store.submit = write  # type: ignore[method-assign]
        await club.wait_until(lambda: not club.server.store.failing)

    await trouble(club.server.move(ann, number, 0, move))
    assert [state["ply"] for state in club.received["Bob"] if state.get("game") == number][-1] == 1
    assert (await club.server.move(ann, number, 0, move))["ply"] == 1  # the client resends the move
    await trouble(club.server.resign(bob, other))
    assert other in club.server.ended_games and club.last_event("Ann")["players"][0]["rating_after"]
    offer = await club.server.lobby.seek(ann, BLITZ)
    await trouble(club.server.lobby.accept(bob, offer["seek"]))
    assert len(club.server.live_games) == 2  # the first game, and the game whose start was reported as failed


@with_club
async def test_many_concurrent_games(club: ClubHarness) -> None:
    club.connect("Ann")
    bots = [club.connect(f"bot{number}", bot=True) for number in range(10)]
    pairs = [(bots[number % 10], bots[(number + 1 + number // 10) % 10]) for number in range(40)]
    numbers = [await club.start_game(*pair) for pair in pairs]
    assert len(set(numbers)) == 40
    await asyncio.gather(
        *(play_random_moves(club, number, list(pair), number) for number, pair in zip(numbers, pairs, strict=True))
    )
    assert not club.server.live_games and all(club.server.ended_games[number].state.position.over for number in numbers)


# ---- abuse -----------------------------------------------------------------------------------------------------------
@with_club
async def test_incoming_challenges_are_limited(club: ClubHarness) -> None:
    """A client that connects receives all challenges to its account; too many would overflow its message queue."""
    ann = club.connect("Ann")
    crowd = [club.connect(f"Eve{number}") for number in range(6)]
    for each in crowd[:5]:
        for _ in range(10):
            await club.server.lobby.challenge(each, "Ann", BLITZ)
    with raises_club_error("too_many_incoming_challenges"):
        await club.server.lobby.challenge(crowd[5], "Ann", BLITZ)
    club.server.disconnect(ann)
    ann = club.connect("Ann")
    assert len(club.received["Ann"]) < 60
    await club.server.lobby.decline(ann, 1)
    assert await club.server.lobby.challenge(crowd[5], "Ann", BLITZ)


@with_club
async def test_a_seek_of_a_player_with_enough_games_is_skipped(club: ClubHarness) -> None:
    eve, friend, ann, bob = map(club.connect, ("Eve", "Friend", "Ann", "Bob"))
    await club.server.lobby.seek(eve, BLITZ)
    for number in range(server_module.MAX_LIVE_GAMES_PER_USER):
        await club.start_game(friend, eve, replace(BLITZ, control=Clock(100.0 + number)))
    assert "seek" in await club.server.lobby.seek(ann, BLITZ)
    number = (await club.server.lobby.seek(bob, BLITZ))["game"]
    assert {person.name for person in club.server.live_games[number].accounts} == {"Ann", "Bob"}


@with_club
async def test_games_that_start_concurrently_are_counted(club: ClubHarness) -> None:
    ann, others = (
        club.connect("Ann"),
        [club.connect(f"P{number}") for number in range(server_module.MAX_LIVE_GAMES_PER_USER + 4)],
    )
    offers = [(await club.server.lobby.seek(each, replace(BLITZ, rated=False, side=0))) for each in others]
    requests = [club.server.lobby.accept(ann, offer["seek"]) for offer in offers]
    answers = await asyncio.gather(*requests, return_exceptions=True)
    assert sum(isinstance(answer, ClubError) for answer in answers) == 4
    assert (
        len([live_game for live_game in club.server.live_games.values() if ann.account in live_game.accounts])
        == server_module.MAX_LIVE_GAMES_PER_USER
    )


@with_club
async def test_clocks_keep_running_after_an_unexpected_error(club: ClubHarness) -> None:
    ann, bob = club.connect("Ann"), club.connect("Bob")
    number = await club.start_game(ann, bob)
    live_game, broken = club.server.live_games[number], list[str]()
    real = club.store.read_blocking, club.store.submit

    def fail(operation: Any) -> Any:
        broken.append(str(operation))
        raise ZeroDivisionError("a bug")

    club.store.read_blocking = club.store.submit = fail  # type: ignore[method-assign, assignment]
    live_game.state = replace(live_game.state, clocks=(0.0, 300.0))
    club.server.tournaments.wake()
    club.clock.advance(MAX_LAG_COMPENSATION + 0.001)
    await club.wait_until(lambda: len(broken) > 2)
    club.store.read_blocking, club.store.submit = real  # type: ignore[method-assign]
    await club.wait_until(lambda: live_game.state.over)
    await club.wait_until(lambda: len(club.server._tasks) == 4)


@with_club
async def test_a_database_has_one_server(club: ClubHarness) -> None:
    """A second server cannot open the database: it would overwrite the games of the first server."""
    ann, bob = club.connect("Ann"), club.connect("Bob")
    number = await club.start_game(ann, bob)
    for _ in range(2):
        with pytest.raises(ConfigError, match="another server"):
            await ClubHarness(club.database).open()
    await play_random_moves(club, number, [ann, bob])
    await club.close()
    again = await ClubHarness(club.database).open()
    await again.close()
    await club.open()
