"""The parts of the club that work without connections: game states and clocks, ratings, accounts, the store."""

import random
import sqlite3
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import Connection, select, update
from waiting import TIMEOUT

from awello import PASS, Game, Position, Record
from awello.cli.club import show_audit_log
from awello.club import accounts as club_accounts
from awello.club.accounts import Account, log_event
from awello.club.game_state import ABORTED, DRAW_AGREED, RESIGNED, TIMED_OUT, ClubError, GameState, create_game_state
from awello.club.lag import MAX_LAG_COMPENSATION
from awello.club.rating import INITIAL_DEVIATION, INITIAL_RATING, Rating, compute_ratings_after, pool_of
from awello.club.schema import audit, games, rating_changes, sessions, tokens
from awello.club.store import ClubStore
from awello.club.stored_games import (
    SaveGame,
    add_game,
    load_heartbeat,
    load_leaderboard,
    load_live_games,
    load_rating,
    row_to_game_state,
    save_heartbeat,
)
from awello.errors import AwelloError, StorageError
from awello.limits import Clock

ANN, BOB, EVE = 1, 2, 3
BLITZ = Clock(300.0, 0.0)


def new_game_state(
    game: Game = Game.OTHELLO, control: Clock = BLITZ, now: float = 100.0, rated: bool = True
) -> GameState:
    return create_game_state(7, game, (ANN, BOB), control, rated, now)


def raises_club_error(code: str) -> pytest.RaisesExc[ClubError]:
    return pytest.raises(ClubError, check=lambda error: error.code == code)


def play_on(state: GameState, seed: int = 0, most: int = 500) -> GameState:
    """Return the state after at most `most` random moves of one second each."""
    rng = random.Random(seed)
    while not state.over and len(state.moves) < most:
        move = state.position.format_move(rng.choice(state.position.legal_moves()))
        state = state.play(state.players[state.mover], len(state.moves), move, state.turn_started + 1)
    return state


# ---- game states -----------------------------------------------------------------------------------------------------
def test_clocks_run_for_the_mover_alone() -> None:
    state = new_game_state(control=Clock(300.0, 2.0)).play(ANN, 0, "f5", 110.0)
    assert state.clocks == (292.0, 300.0) and state.seconds == (10.0,) and state.mover == 1
    assert state.clocks_at(115.0) == (292.0, 295.0)
    state = state.play(BOB, 1, "d6", 113.5)
    assert state.clocks == (292.0, 298.5)


def test_only_the_mover_can_move_at_the_current_ply() -> None:
    state = new_game_state()
    with raises_club_error("not_your_turn"):
        state.play(BOB, 0, "f5", 101.0)
    with raises_club_error("not_your_game"):
        state.play(EVE, 0, "f5", 101.0)
    with raises_club_error("wrong_ply"):
        state.play(ANN, 1, "f5", 101.0)
    with pytest.raises(AwelloError, match="a1"):
        state.play(ANN, 0, "a1", 101.0)
    after = state.play(ANN, 0, "f5", 101.0)
    with raises_club_error("wrong_ply"):
        after.play(ANN, 0, "f5", 102.0)  # the same move again
    with raises_club_error("not_your_turn"):
        after.play(ANN, 1, "d6", 102.0)


def test_time_runs_out() -> None:
    state = new_game_state(control=Clock(60.0)).play(ANN, 0, "f5", 100.0).play(BOB, 1, "d6", 100.0)
    assert not state.flag(160.0).over
    lost = state.flag(160.1)
    assert (
        lost.over and lost.loser == 0 and lost.winner == 1 and lost.reason == TIMED_OUT and lost.clocks == (0.0, 60.0)
    )
    assert state.play(ANN, 2, "c3", 161.0) == state.flag(161.0)
    assert not state.play(ANN, 2, "c3", 160.0 + MAX_LAG_COMPENSATION, lag=9.0).over, "the network delay is compensated"
    assert state.play(ANN, 2, "c3", 160.1 + MAX_LAG_COMPENSATION, lag=9.0).over, "the compensation is limited per move"
    assert state.deadline == 160.0 + MAX_LAG_COMPENSATION
    with raises_club_error("game_over"):
        lost.play(ANN, 2, "c3", 162.0)
    assert lost.flag(500.0) == lost


def test_lag_is_never_charged_nor_invented() -> None:
    state = new_game_state()
    assert state.play(ANN, 0, "f5", 100.2, lag=0.5).seconds == (0.0,)
    assert state.play(ANN, 0, "f5", 103.0, lag=-5).seconds == (3.0,)


def test_passes_are_played_automatically() -> None:
    seen = 0
    for seed in range(30):
        state = play_on(new_game_state(Game.OTHELLO6, Clock(1e6)), seed)
        position = Position.start(Game.OTHELLO6)
        for move, seconds in zip(state.moves, state.seconds, strict=True):
            assert move in position.legal_moves()
            assert seconds == (0 if move == PASS else 1)
            seen += move == PASS
            position = position.after(move)
        assert position == state.position and state.over
    assert seen > 5


def test_the_board_decides() -> None:
    results = set()
    for seed in range(20):
        state = play_on(new_game_state(Game.OTHELLO4, Clock(1e6)), seed)
        first, second = state.position.score()
        assert state.winner == (None if first == second else int(second > first))
        record = Record(Position.start(state.game), state.moves)
        assert record.final == state.position and record.winner == state.winner
        results.add(state.winner)
    assert results == {0, 1, None}


def test_resigning_and_leaving() -> None:
    state = new_game_state()
    assert state.resign(BOB).winner == 0 and state.resign(BOB).reason == RESIGNED
    assert state.abort(ANN).reason == ABORTED and state.abort(ANN).winner is None
    begun = state.play(ANN, 0, "f5", 101.0)
    assert begun.abort(BOB).over
    with raises_club_error("game_started"):
        begun.abort(ANN)
    with raises_club_error("game_over"):
        state.resign(BOB).resign(ANN)
    with raises_club_error("not_your_game"):
        state.resign(EVE)


def test_draws_are_agreed_where_the_rules_allow() -> None:
    with raises_club_error("no_draw_offers"):
        new_game_state().offer_draw(ANN)
    state = new_game_state(Game.ABAPA).offer_draw(ANN)
    assert not state.over and state.draw_offer == 0 and state.offer_draw(ANN) == state
    agreed = state.offer_draw(BOB)
    assert agreed.over and agreed.reason == DRAW_AGREED and agreed.winner is None and agreed.loser is None
    assert state.decline_draw(BOB).draw_offer is None
    moved = state.play(ANN, 0, "A", 101.0)
    assert moved.draw_offer == 0
    assert moved.play(BOB, 1, "a", 102.0).draw_offer is None, "a move declines the offer"


def test_downtime_is_not_charged() -> None:
    state = new_game_state(now=100.0)
    assert state.resume(stopped=104.0, now=5000.0).clocks_at(5000.0) == (296.0, 300.0)
    assert state.resume(stopped=90.0, now=5000.0).clocks_at(5000.0) == (300.0, 300.0)


# ---- ratings --------------------------------------------------------------------------------------------------------
def test_ratings_follow_results() -> None:
    won, lost = compute_ratings_after(Rating(), Rating(), 0)
    assert (
        won.mean > INITIAL_RATING > lost.mean
        and won.deviation < INITIAL_DEVIATION
        and won.mean - INITIAL_RATING == pytest.approx(INITIAL_RATING - lost.mean)
    )
    assert compute_ratings_after(Rating(), Rating(), 1) == (lost, won)
    even = compute_ratings_after(Rating(1700, 60), Rating(1500, 60), None)
    assert even[0].mean < 1700 and even[1].mean > 1500
    assert Rating().to_json() == {"rating": 1500, "established": False}
    assert Rating(1612.4, 50).to_json() == {"rating": 1612, "established": True}


def test_a_rating_converges() -> None:
    """A player who wins ten of eleven games against opponents rated 1500 reaches a rating of about 1900."""
    rng, rating = random.Random(3), Rating()
    means = []
    for number in range(1500):
        rating, _ = compute_ratings_after(rating, Rating(1500, 30), 0 if rng.random() < 10 / 11 else 1)
        means += [rating.mean] if number > 500 else []
    assert sum(means) / len(means) == pytest.approx(1900, abs=60)


def test_pools() -> None:
    assert pool_of(Game.OTHELLO, Clock(300)) == "othello blitz"
    assert pool_of(Game.ABAPA, Clock(1800)) == "abapa standard"
    assert pool_of(Game.OTHELLO, Clock(300, 10)) == "othello standard"


# ---- accounts -------------------------------------------------------------------------------------------------------
@pytest.fixture
def store(tmp_path: Path) -> Iterator[ClubStore]:
    store = ClubStore(tmp_path / "club.sqlite")
    yield store
    store.close()


def create_user(store: ClubStore, name: str, password: str = "correct horse") -> Account:
    password_hash = club_accounts.hash_password(password)
    return store.submit(lambda connection: club_accounts.create_account(connection, name, password_hash)).result()


def test_passwords_and_sessions(store: ClubStore) -> None:
    ann = create_user(store, "Ann")
    found, password_hash = store.read_blocking(lambda connection: club_accounts.load_password_hash(connection, "ANN"))
    assert found == ann and password_hash and password_hash.startswith("$argon2id$") and "horse" not in password_hash
    assert club_accounts.verify_password(password_hash, "correct horse") and not club_accounts.verify_password(
        password_hash, "wrong horse!"
    )
    assert not club_accounts.verify_password(None, "correct horse")
    for name in ("ann", "a", "1st", "x" * 21, "a b", "Zoë", ""):
        with pytest.raises(ClubError):
            create_user(store, name)
    with raises_club_error("password_length"):
        club_accounts.hash_password("short")
    secret = store.submit(lambda connection: club_accounts.create_session(connection, ann)).result()
    assert store.read_blocking(lambda connection: club_accounts.find_by_session(connection, secret)) == ann
    assert store.read_blocking(lambda connection: club_accounts.find_by_session(connection, secret + "x")) is None
    store.submit(lambda connection: club_accounts.delete_session(connection, secret)).result()
    assert store.read_blocking(lambda connection: club_accounts.find_by_session(connection, secret)) is None


def test_a_session_expires(store: ClubStore, monkeypatch: pytest.MonkeyPatch) -> None:
    ann = create_user(store, "Ann")
    secret = store.submit(lambda connection: club_accounts.create_session(connection, ann)).result()
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + club_accounts.SESSION_SECONDS + 1)
    assert store.read_blocking(lambda connection: club_accounts.find_by_session(connection, secret)) is None
    store.submit(lambda connection: club_accounts.create_session(connection, ann)).result()
    assert len(store.read_blocking(lambda connection: connection.execute(select(sessions)).all())) == 1


def test_tokens_of_bots_can_be_revoked(store: ClubStore) -> None:
    ann = create_user(store, "Ann")
    bot = store.submit(lambda connection: club_accounts.create_account(connection, "Ann-bot", None, ann.id)).result()
    assert bot.bot and bot.owner == ann.id
    secret = store.submit(lambda connection: club_accounts.create_token(connection, bot, "laptop")).result()
    assert store.read_blocking(lambda connection: club_accounts.find_by_token(connection, secret)) == bot
    (token,) = store.read_blocking(lambda connection: club_accounts.list_tokens(connection, bot))
    assert token["label"] == "laptop" and secret not in str(token)
    assert not store.submit(lambda connection: club_accounts.revoke_token(connection, ann, token["id"])).result()
    assert store.submit(lambda connection: club_accounts.revoke_token(connection, bot, token["id"])).result()
    assert store.read_blocking(lambda connection: club_accounts.find_by_token(connection, secret)) is None
    for number in range(club_accounts.MAX_TOKENS_PER_BOT):
        store.submit(lambda connection: club_accounts.create_token(connection, bot, "more")).result()
        assert number < club_accounts.MAX_TOKENS_PER_BOT
    with raises_club_error("too_many_tokens"):
        store.submit(lambda connection: club_accounts.create_token(connection, bot, "more")).result()
    store.submit(lambda connection: club_accounts.close_account(connection, bot)).result()
    assert store.read_blocking(lambda connection: club_accounts.find_account(connection, "ann-BOT")) is None
    assert not store.read_blocking(lambda connection: connection.execute(select(tokens)).all())


# ---- store -----------------------------------------------------------------------------------------------------------
def store_game(store: ClubStore, game: Game = Game.OTHELLO, control: Clock = BLITZ, rated: bool = True) -> GameState:
    """Store a game between Ann and Bob."""
    players = []
    for name in ("Ann", "Bob"):
        found = store.read_blocking(partial(club_accounts.find_account, name=name))
        players.append((found or create_user(store, name)).id)

    def make(number: int) -> GameState:
        return create_game_state(number, game, (players[0], players[1]), control, rated, 100.0)

    return store.submit(lambda connection: add_game(connection, make)).result()


def save(store: ClubStore, state: GameState) -> None:
    store.submit(SaveGame(state)).result()


def test_bots_are_closed_with_their_owner(store: ClubStore) -> None:
    def operation(connection: Connection) -> tuple[str, str]:
        eve, ann = (club_accounts.create_account(connection, name, "hash") for name in ("Eve", "Ann"))
        mine, other = (club_accounts.create_account(connection, f"{who.name}Bot", None, who.id) for who in (eve, ann))
        secrets = (
            club_accounts.create_token(connection, mine, "one"),
            club_accounts.create_token(connection, other, "one"),
        )
        club_accounts.close_account(connection, eve)
        return secrets

    mine, other = store.submit(operation).result()
    assert store.read_blocking(partial(club_accounts.find_by_token, secret=mine)) is None
    assert store.read_blocking(partial(club_accounts.find_by_token, secret=other)) is not None


def test_the_audit_log_prints_no_control_characters(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = ClubStore(tmp_path / "club.sqlite")
    store.submit(partial(log_event, event="wrong password for \x1b[2J\nx")).result()
    store.close()
    show_audit_log(str(tmp_path / "club.sqlite"), 50)
    assert capsys.readouterr().out.endswith("wrong password for ?[2J?x\n")


@pytest.mark.parametrize("game", [Game.OTHELLO6, Game.TOURNAMENT])
def test_a_stored_game_is_loaded_unchanged(store: ClubStore, game: Game) -> None:
    state = store_game(store, game, Clock(1e6, 3.0))
    for most in (0, 7, 20):
        state = play_on(state, 1, most)
        save(store, state)
        (found,) = store.read_blocking(load_live_games)
        assert found == state
    state = play_on(state, 1)
    save(store, state)
    assert store.read_blocking(load_live_games) == []
    row = store.read_blocking(lambda connection: connection.execute(select(games)).one())
    assert row_to_game_state(row) == state and row_to_game_state(row).winner == state.winner


def test_a_damaged_game_is_named(store: ClubStore) -> None:
    state = store_game(store, Game.OTHELLO6, Clock(300.0))
    damaged = update(games).where(games.c.id == state.number).values(moves=b"\x00")
    store.submit(lambda connection: connection.execute(damaged).rowcount).result()
    with pytest.raises(StorageError, match=f"game {state.number} of the club is damaged: move 1 is not legal"):
        store.read_blocking(load_live_games)


def test_games_are_numbered_consecutively(store: ClubStore) -> None:
    assert [store_game(store).number for _ in range(3)] == [1, 2, 3]


def test_a_game_is_rated_once(store: ClubStore) -> None:
    state = play_on(store_game(store), most=10).resign(1)
    for _ in range(2):
        save(store, state)
    ann, bob = (store.read_blocking(partial(load_rating, account=number, pool="othello blitz")) for number in (1, 2))
    assert bob.mean > INITIAL_RATING > ann.mean
    assert store.read_blocking(partial(load_leaderboard, pool="othello blitz", count=10)) == [], (
        "both ratings are provisional"
    )
    assert store.read_blocking(lambda connection: load_rating(connection, 1, "othello standard")) == Rating()
    assert len(store.read_blocking(lambda connection: connection.execute(select(rating_changes)).all())) == 2
    save(store, store_game(store, rated=False).resign(1))
    save(store, store_game(store).abort(1))
    assert len(store.read_blocking(lambda connection: connection.execute(select(rating_changes)).all())) == 2


def test_a_failing_operation_affects_no_other(store: ClubStore) -> None:
    def wrong(connection: object) -> None:
        raise ClubError("wrong", "wrong")

    handed_in = threading.Event()
    store.submit(lambda connection: handed_in.wait(TIMEOUT))  # operations submitted meanwhile share one transaction
    futures = [
        store.submit(wrong if number == 3 else lambda connection: log_event(connection, "fine")) for number in range(8)
    ]
    handed_in.set()
    for number, future in enumerate(futures):
        if number == 3:
            with raises_club_error("wrong"):
                future.result()
        else:
            future.result()
    assert len(store.read_blocking(lambda connection: connection.execute(select(audit)).all())) == 7


def test_the_queue_is_written_before_the_store_closes(tmp_path: Path) -> None:
    store = ClubStore(tmp_path / "club.sqlite")
    futures = [store.submit(lambda connection: log_event(connection, "fine")) for _ in range(600)]
    store.close()
    assert all(future.done() for future in futures)
    assert sqlite3.connect(tmp_path / "club.sqlite").execute("SELECT count(*) FROM audit").fetchone() == (600,)


def test_the_heartbeat_is_stored(store: ClubStore) -> None:
    assert store.read_blocking(load_heartbeat) is None
    for moment in (5.0, 6.5):
        store.submit(partial(save_heartbeat, now=moment)).result()
        assert store.read_blocking(load_heartbeat) == moment


def test_a_database_that_cannot_be_opened_is_reported(tmp_path: Path) -> None:
    (tmp_path / "club.sqlite").write_bytes(b"no database at all, but long enough to be looked at" * 100)
    with pytest.raises(StorageError, match=r"the club .* cannot be used"):
        ClubStore(tmp_path / "club.sqlite")
