"""Fair play: rated games, early exits, disconnected players, blocks, and one tournament entry per person."""

import random
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from clubs import ClubHttpClient, run_server_thread, sign_up
from sqlalchemy import Connection, insert, select, update
from test_club_server import ClubHarness, play_random_moves, raises_club_error, with_club

from awello import Game
from awello.club import disconnects, fair_play
from awello.club.accounts import create_account
from awello.club.fair_play import FairPlayMonitor
from awello.club.game_state import ABORTED, LEFT_GAME, TIMED_OUT
from awello.club.live_game import ClientConnection
from awello.club.offers import GameTerms
from awello.club.schema import entrants, games, ratings
from awello.club.store import ClubStore
from awello.club.stored_games import SaveGame, load_leaderboard, load_rating
from awello.club.tournament_store import create_tournament
from awello.limits import Clock
from awello.web.club_connection import is_loopback

RATED = GameTerms(Game.OTHELLO, Clock(300.0))
AWALE = GameTerms(Game.ABAPA, Clock(300.0))


def advance_clock(club: ClubHarness, seconds: float) -> None:
    """Advance the club's clock."""
    club.clock.advance(seconds)


def mean_rating(club: ClubHarness, client: ClientConnection, pool: str = "othello blitz") -> float:
    return club.store.read_blocking(partial(load_rating, account=client.require_account().id, pool=pool)).mean


def events(club: ClubHarness, name: str, event: str) -> list[dict[str, Any]]:
    return [message for message in club.received[name] if message["type"] == event]


def add_rating(connection: Connection, row: dict[str, Any]) -> None:
    connection.execute(insert(ratings).values(**row, wins=1, draws=0, losses=0))


# ---- rated games -----------------------------------------------------------------------------------------------------
@with_club
async def test_games_resigned_early_are_not_rated(club: ClubHarness) -> None:
    """If early resignations were rated, forty such games would raise a rating to 2203 in less than a second."""
    ann, eve = club.connect("Ann"), club.connect("Eve")
    for _ in range(8):
        number = await club.start_game(ann, eve, replace(RATED, control=Clock(300.0)))
        await club.server.resign(eve, number)
        club.server.fair_play.early_exits.clear()
    assert mean_rating(club, ann) == 1500.0 == mean_rating(club, eve)


@with_club
async def test_a_rated_game_has_a_few_plies(club: ClubHarness) -> None:
    ann, eve = club.connect("Ann"), club.connect("Eve")
    for plies, counted in ((9, False), (10, True)):
        number = await club.start_game(ann, eve, RATED)
        await play_random_moves(club, number, [ann, eve], max_moves=plies)
        await club.server.resign(eve, number)
        assert (mean_rating(club, ann) > 1500.0) == counted
        assert (club.last_event("Ann")["players"][0]["rating_after"] is not None) == counted
    small = await club.start_game(ann, eve, replace(RATED, game=Game.OTHELLO4))
    await play_random_moves(club, small, [ann, eve])
    assert mean_rating(club, ann, "othello4 blitz") != 1500.0, "a game played to the end is rated"


@with_club
async def test_rated_games_of_two_players_are_limited_per_day(club: ClubHarness) -> None:
    ann, eve, bob = club.connect("Ann"), club.connect("Eve"), club.connect("Bob")
    for number in range(fair_play.MAX_DAILY_RATED_GAMES_PER_PAIR + 2):
        pair = (ann, eve) if number % 2 else (eve, ann)
        game = await club.start_game(*pair, RATED)
        within = number < fair_play.MAX_DAILY_RATED_GAMES_PER_PAIR
        assert (club.last_event("Ann")["rated"], club.last_event("Eve")["unrated_reason"]) == (
            within,
            None if within else "repeated_pairing",
        )
        await play_random_moves(club, game, list(pair), max_moves=10)
        await club.server.resign(eve, game)
    assert await club.start_game(ann, bob, RATED) and club.last_event("Ann")["rated"], "other pairs are not affected"
    yesterday = update(games).values(started=games.c.started - fair_play.DAY_SECONDS)
    club.store.submit(lambda connection: connection.execute(yesterday).rowcount).result()
    assert await club.start_game(ann, eve, RATED) and club.last_event("Ann")["rated"], (
        "games of the pair are rated again the next day"
    )


@with_club
async def test_aborted_games_do_not_count_for_the_daily_limit(club: ClubHarness) -> None:
    ann, eve = club.connect("Ann"), club.connect("Eve")
    for _ in range(fair_play.MAX_DAILY_RATED_GAMES_PER_PAIR + 1):
        number = await club.start_game(ann, eve, RATED)
        assert club.last_event("Ann")["rated"]
        await club.server.abort(eve, number)
        club.server.fair_play.early_exits.clear()


@with_club
async def test_accounts_of_one_network_play_unrated(club: ClubHarness) -> None:
    ann, eve, bob = club.connect("Ann"), club.connect("Eve"), club.connect("Bob")
    ann.client_network = eve.client_network = "192.0.2.7"
    bob.client_network = "192.0.2.8"
    assert await club.start_game(ann, eve, RATED)
    assert club.last_event("Eve")["rated"] is False and club.last_event("Eve")["unrated_reason"] == "same_network"
    assert await club.start_game(ann, bob, RATED) and club.last_event("Bob")["rated"]
    ann.client_network = eve.client_network = None  # clients on the server's own machine have no client network
    number = await club.start_game(ann, eve, RATED)
    assert club.last_event("Eve")["rated"] and club.last_event("Eve")["unrated_reason"] is None
    await club.server.resign(ann, number)
    ann.client_network = eve.client_network = "192.0.2.7"
    await club.server.rematch(ann, number)
    await club.server.rematch(eve, number)
    assert club.last_event("Eve")["unrated_reason"] == "same_network"


def test_the_websocket_recognises_networks(tmp_path: Path) -> None:
    """Behind a reverse proxy, the server uses the client network of each client, not the network of the proxy."""
    with run_server_thread(tmp_path / "club.sqlite", names=["club.example.org"]) as address:
        ann, eve = ClubHttpClient(base_url=address), ClubHttpClient(base_url=address)
        sign_up(ann, "Ann")
        sign_up(eve, "Eve")
        for network, rated in (("192.0.2.7", False), ("192.0.2.8", True), ("127.0.0.1", True)):
            here = "127.0.0.1" if network == "127.0.0.1" else "192.0.2.7"
            headers = {"x-forwarded-for": here}, {"x-forwarded-for": network}
            with ann.connect(**headers[0]) as first, eve.connect(**headers[1]) as second:
                seek = first.request("seek", variant="othello4", seconds=60)["seek"]
                number = second.request("accept", number=seek)["game"]
                assert second.state(number)["rated"] == rated
                assert first.request("abort", game=number)["type"] == "done"


def test_loopback_addresses() -> None:
    assert all(map(is_loopback, ("127.0.0.1", "127.1.2.3", "::1", "")))
    assert not any(map(is_loopback, ("192.0.2.7", "10.0.0.1", "2001:db8::/64", "testclient")))


def test_provisional_ratings_are_not_on_the_leaderboard(tmp_path: Path) -> None:
    store = ClubStore(tmp_path / "club.sqlite")
    for name, deviation in (("Ann", 90.0), ("Eve", 111.0), ("Bob", 110.0)):
        number = store.submit(partial(create_account, name=name, password_hash="none")).result().id
        row = {"account": number, "pool": "othello blitz", "mean": 1600.0 + number, "deviation": deviation}
        store.submit(partial(add_rating, row=row)).result()
    assert [row["name"] for row in store.read_blocking(partial(load_leaderboard, pool="othello blitz", count=10))] == [
        "Bob",
        "Ann",
    ]
    store.close()


# ---- early exits -----------------------------------------------------------------------------------------------------
@with_club
async def test_repeated_early_exits_suspend_rated_games(club: ClubHarness) -> None:
    ann, eve = club.connect("Ann"), club.connect("Eve")
    for left in range(1, fair_play.MAX_FREE_EXITS_PER_HOUR + 2):
        number = await club.start_game(ann, eve, RATED)
        await (club.server.abort if left % 2 else club.server.resign)(eve, number)
        await club.wait_until(lambda: events(club, "Eve", "early_exit_warning"))
        assert club.last_event("Eve", "early_exit_warning")["exits"] == left
        assert bool(club.last_event("Eve", "early_exit_warning")["minutes"]) == (
            left > fair_play.MAX_FREE_EXITS_PER_HOUR
        )
    with raises_club_error("rated_games_suspended"):
        await club.server.lobby.seek(eve, RATED)
    with raises_club_error("rated_games_suspended"):
        await club.server.lobby.challenge(eve, "Ann", RATED)
    seek = (await club.server.lobby.seek(ann, RATED))["seek"]
    with raises_club_error("rated_games_suspended"):
        await club.server.lobby.accept(eve, seek)
    assert "seek" in await club.server.lobby.seek(eve, replace(RATED, rated=False)), "unrated games are possible"
    assert not events(club, "Ann", "early_exit_warning")
    advance_clock(club, fair_play.SUSPENSION_SECONDS_PER_EXIT + 1)
    assert "game" in await club.server.lobby.accept(eve, seek)


@with_club
async def test_a_seek_of_a_suspended_player_is_skipped(club: ClubHarness) -> None:
    ann, eve, bob = club.connect("Ann"), club.connect("Eve"), club.connect("Bob")
    await club.server.lobby.seek(eve, RATED)
    for _ in range(fair_play.MAX_FREE_EXITS_PER_HOUR + 1):
        club.server.fair_play.record_exit(eve.require_account().id)
    assert "seek" in await club.server.lobby.seek(ann, RATED)
    number = (await club.server.lobby.seek(bob, RATED))["game"]
    assert {person.name for person in club.server.live_games[number].accounts} == {"Ann", "Bob"}


@with_club
async def test_leaving_unrated_or_long_games_has_no_penalty(club: ClubHarness) -> None:
    ann, eve = club.connect("Ann"), club.connect("Eve")
    await club.server.abort(eve, await club.start_game(ann, eve, replace(RATED, rated=False)))
    number = await club.start_game(ann, eve, RATED)
    await play_random_moves(club, number, [ann, eve], max_moves=12)
    await club.server.resign(eve, number)
    assert not events(club, "Eve", "early_exit_warning")


def test_exits_expire_after_an_hour() -> None:
    server: Any = SimpleNamespace()
    monitor = FairPlayMonitor(server)

    def exits(account: int, moment: float, note: bool = False) -> tuple[int, int]:
        server.now = lambda: moment
        if note:
            monitor.record_exit(account)
        return monitor.count_recent_exits(account)

    assert [exits(7, moment, note=True)[1] for moment in (0.0, 1.0, 2.0, 3.0)] == [
        0,
        0,
        0,
        fair_play.SUSPENSION_SECONDS_PER_EXIT / 60,
    ]
    assert exits(7, 242.0)[1] == 2 and exits(7, 303.0)[1] == 0 and exits(8, 3.0) == (0, 0)
    assert exits(7, fair_play.HOUR_SECONDS + 1.5)[0] == 2
    for moment in range(4, 40):
        exits(7, float(moment), note=True)
    assert exits(7, 39.0)[1] == fair_play.MAX_SUSPENSION_SECONDS / 60


@with_club
async def test_a_game_without_a_first_move_is_aborted(club: ClubHarness) -> None:
    ann, eve = club.connect("Ann"), club.connect("Eve")
    await club.start_game(ann, eve, RATED)
    assert 29.0 < club.last_event("Eve")["first_move_seconds"] <= 30.0
    advance_clock(club, 31.0)
    await club.wait_until(lambda: club.last_event("Eve")["over"])
    assert club.last_event("Eve")["reason"] == ABORTED and mean_rating(club, ann) == 1500.0
    assert club.last_event("Ann", "early_exit_warning")["exits"] == 1 and not events(club, "Eve", "early_exit_warning")
    number = await club.start_game(ann, eve, RATED)
    await play_random_moves(club, number, [ann, eve], max_moves=2)
    assert club.last_event("Ann")["first_move_seconds"] is None
    advance_clock(club, 200.0)
    assert not (await club.server.watch(ann, number))["over"]
    advance_clock(club, 101.0)
    await club.wait_until(lambda: club.last_event("Eve")["over"])
    assert club.last_event("Eve")["reason"] == TIMED_OUT


# ---- disconnected players --------------------------------------------------------------------------------------------
def test_the_grace_period_depends_on_the_clock_and_on_reconnects() -> None:
    cases = [(300.0, 0, 30.0), (90.0, 0, 15.0), (5.0, 0, 10.0), (300.0, 1, 60.0), (300.0, 99, 120.0)]
    for seconds, reconnects, period in cases:
        assert disconnects.compute_grace_period(Clock(seconds), reconnects) == period


@pytest.mark.parametrize("plies", [10, 11])
def test_the_win_can_be_claimed_after_the_grace_period(tmp_path: Path, plies: int) -> None:
    """A player can claim the win no matter which side is to move."""

    @with_club
    async def play(club: ClubHarness) -> None:
        ann, bob = club.connect("Ann"), club.connect("Bob")
        number = await club.start_game(ann, bob, RATED)
        with raises_club_error("claim_before_start"):
            await club.server.claim(ann, number)
        await play_random_moves(club, number, [ann, bob], max_moves=plies)
        with raises_club_error("opponent_online"):
            await club.server.claim(ann, number)
        club.server.disconnect(bob)
        news = club.last_event("Ann", "opponent_presence")
        assert (news["game"], news["name"], news["online"]) == (number, "Bob", False) and 29.0 < news[
            "claim_in_seconds"
        ] <= 30.0
        advance_clock(club, 20.0)
        with raises_club_error("claim_too_early"):
            await club.server.claim(ann, number)
        with raises_club_error("not_your_game"):
            await club.server.claim(club.connect("Eve"), number)
        advance_clock(club, 10.1)
        with raises_club_error("no_draw_claims"):
            await club.server.claim(ann, number, draw=True)
        await club.server.claim(ann, number)
        end = club.last_event("Ann")
        assert (
            end["over"]
            and end["winner"] == 0
            and end["reason"] == LEFT_GAME
            and end["players"][0]["rating_after"] > 1500
        )

    play(tmp_path)


@with_club
async def test_the_grace_period_grows_with_reconnects(club: ClubHarness) -> None:
    ann, bob = club.connect("Ann"), club.connect("Bob")
    number = await club.start_game(ann, bob, AWALE)
    await play_random_moves(club, number, [ann, bob], max_moves=4)
    club.server.disconnect(bob)
    advance_clock(club, 31.0)
    bob = club.connect("Bob")
    assert (
        club.last_event("Ann", "opponent_presence")["online"]
        and club.last_event("Ann", "opponent_presence")["claim_in_seconds"] is None
    )
    with raises_club_error("opponent_online"):
        await club.server.claim(ann, number)
    other = club.connect("Bob")
    club.server.disconnect(bob)
    assert club.last_event("Ann", "opponent_presence")["online"], "a player with one connection is online"
    club.server.disconnect(other)
    assert club.last_event("Ann", "opponent_presence")["claim_in_seconds"] > 59.0
    club.server.disconnect(ann)
    ann = club.connect("Ann")
    assert not club.last_event("Ann", "opponent_presence")["online"], (
        "a client that connects is notified that its opponent is offline"
    )
    advance_clock(club, 61.0)
    await club.server.claim(ann, number, draw=True)
    assert club.last_event("Ann")["winner"] is None and club.last_event("Ann")["reason"] == "draw_claimed"


@with_club
async def test_a_restart_extends_the_grace_period(club: ClubHarness) -> None:
    ann, bob = club.connect("Ann"), club.connect("Bob")
    number = await club.start_game(ann, bob, RATED)
    await play_random_moves(club, number, [ann, bob], max_moves=4)
    await club.close()
    await club.open()
    ann = club.connect("Ann")
    assert club.last_event("Ann", "opponent_presence")["claim_in_seconds"] > 55.0
    with raises_club_error("claim_too_early"):
        await club.server.claim(ann, number)
    advance_clock(club, 61.0)
    assert (await club.server.claim(ann, number))["over"]


# ---- blocked players ------------------------------------------------------------------------------------------------
@with_club
async def test_a_blocked_player_does_not_reach_you(club: ClubHarness) -> None:
    ann, eve = club.connect("Ann"), club.connect("Eve")
    waiting = (await club.server.lobby.challenge(eve, "Ann", RATED))["challenge"]
    assert (
        await club.server.blocks.block(ann, "eve") == {"blocked": ["Eve"]} == await club.server.blocks.block(ann, "Eve")
    )
    assert club.last_event("Eve", "declined")["number"] == waiting and not club.server.lobby.challenges
    with raises_club_error("challenges_declined"):
        await club.server.lobby.challenge(eve, "Ann", RATED)
    assert len(events(club, "Ann", "challenge")) == 1
    seek = (await club.server.lobby.seek(ann, RATED))["seek"]
    assert "seek" in await club.server.lobby.seek(eve, RATED), "the seek of a blocked player is not paired"
    with raises_club_error("offer_gone"):
        await club.server.lobby.accept(eve, seek)
    assert "seek" in await club.server.lobby.seek(ann, replace(RATED, side=0)), (
        "nor is a seek paired with that of a blocked player"
    )
    await club.close()
    await club.open()
    ann, eve = club.connect("Ann"), club.connect("Eve")
    assert (
        club.last_event("Ann", "welcome")["blocked"] == ["Eve"] and club.last_event("Eve", "welcome")["blocked"] == []
    )
    with raises_club_error("challenges_declined"):
        await club.server.lobby.challenge(eve, "Ann", RATED)
    number_of_challenge = (await club.server.lobby.challenge(ann, "Eve", RATED))[
        "challenge"
    ]  # Ann, who blocked Eve, can still challenge her
    assert "game" in await club.server.lobby.accept(eve, number_of_challenge)
    assert await club.server.blocks.unblock(ann, "EVE") == {"blocked": []} == await club.server.blocks.unblock(ann, "x")
    assert "challenge" in await club.server.lobby.challenge(eve, "Ann", RATED)


@with_club
async def test_a_blocked_player_gets_no_rematch_and_no_chat(club: ClubHarness) -> None:
    ann, eve = club.connect("Ann"), club.connect("Eve")
    number = await club.start_game(ann, eve, RATED)
    ann.chat_enabled = eve.chat_enabled = True
    await club.server.blocks.block(ann, "Eve")
    with raises_club_error("opponent_chat_off"):
        await club.server.chat.send(eve, number, "hello")
    await club.server.resign(eve, number)
    with raises_club_error("challenges_declined"):
        await club.server.rematch(eve, number)
    with raises_club_error("block_self"):
        await club.server.blocks.block(ann, "ann")
    with raises_club_error("unknown_account"):
        await club.server.blocks.block(ann, "nobody")
    with raises_club_error("not_logged_in"):
        await club.server.blocks.block(club.connect("spectator"), "Ann")


# ---- tournaments ----------------------------------------------------------------------------------------------------
@with_club
async def test_one_entry_per_person(club: ClubHarness) -> None:
    ann, bob, eve = club.connect("Ann"), club.connect("Bob"), club.connect("Eve")
    rex, max_ = club.connect("rex", bot=True), club.connect("max", bot=True)  # both belong to Ann
    plan = partial(create_tournament, name="Friday", system="swiss", terms=RATED, rounds=3, grace=30.0)
    number = club.store.submit(partial(plan, starts=club.server.now() + 1000)).result().number
    await club.server.tournaments.enter(rex, number)
    for twin in (ann, max_):
        with raises_club_error("same_person_entered"):
            await club.server.tournaments.enter(twin, number)
    await club.server.tournaments.enter(rex, number)
    bob.client_network = eve.client_network = "192.0.2.7"
    await club.server.tournaments.enter(bob, number)
    with raises_club_error("same_network_entered"):
        await club.server.tournaments.enter(eve, number)
    await club.server.tournaments.withdraw(rex, number)
    await club.server.tournaments.enter(ann, number)
    await club.server.tournaments.withdraw(bob, number)
    await club.server.tournaments.enter(eve, number)
    bob.client_network = None
    await club.server.tournaments.enter(bob, number)
    advance_clock(club, 1001.0)
    club.server.tournaments.wake()
    await club.wait_until(lambda: club.server.live_games)
    known = select(entrants.c.client_network)
    rows = club.store.read_blocking(lambda connection: connection.execute(known).scalars().all())
    assert rows == [None] * 3, "networks are cleared when the tournament starts"


# ---- many games -----------------------------------------------------------------------------------------------------
@with_club
async def test_games_are_indexed_by_account(club: ClubHarness) -> None:
    people = [club.connect(f"P{number}") for number in range(6)]
    rng = random.Random(2)
    for _ in range(20):
        first, second = rng.sample(people, 2)
        if all(club.server.can_play(each.require_account(), AWALE) for each in (first, second)):
            await club.start_game(first, second, replace(AWALE, control=Clock(60.0 + rng.random())))
    for number in list(club.server.live_games)[::2]:
        await club.server.resign(club.connect(club.server.live_games[number].accounts[0].name), number)
    for each in people:
        account = each.require_account().id
        mine = [
            live_game.state.number
            for live_game in club.server.live_games.values()
            if account in live_game.state.players
        ]
        assert [live_game.state.number for live_game in club.server.live_games.with_key(account)] == mine


@with_club
async def test_a_repeated_draw_offer_is_not_stored_or_sent_again(club: ClubHarness) -> None:
    """A client must not be able to flood the opponent or the database with draw offers."""
    ann, bob = club.connect("Ann"), club.connect("Bob")
    number = await club.start_game(ann, bob, AWALE)
    await club.server.draw(ann, number)
    heard, writes = len(events(club, "Bob", "game")), list[Any]()
    write = club.store.submit
    club.store.submit = lambda operation: writes.append(operation) or write(operation)  # type: ignore[method-assign, func-returns-value]
    for _ in range(20):
        assert (await club.server.draw(ann, number))["ply"] == 0
    assert len(events(club, "Bob", "game")) == heard
    assert not [act for act in writes if isinstance(act, SaveGame)]
    await club.server.draw(bob, number, accept=False)
    for _ in range(20):
        with raises_club_error("draw_already_offered"):
            await club.server.draw(ann, number)
        await club.server.draw(bob, number, accept=False)
    assert len(events(club, "Bob", "game")) == heard + 1
