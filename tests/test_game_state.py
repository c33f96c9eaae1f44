"""Game states: lag compensation, draw offers, the move limit, first moves and claims."""

import random
import time
from functools import partial
from pathlib import Path

import pytest
from clubs import ClubHttpClient, run_server_thread

from awello import Game, Position
from awello.club import game_state, lag
from awello.club.accounts import create_account, create_token
from awello.club.game_state import ClubError, GameState, create_game_state
from awello.club.lag import LagQuota
from awello.club.live_game import LiveGame, add_players
from awello.club.store import ClubStore
from awello.club.stored_games import SaveGame, add_game, load_live_games, load_record, save_heartbeat
from awello.formats.ogn import format_ogn, parse_ogn
from awello.limits import Clock
from awello.web.messages import MAX_GAME_MOVES, MovesRequest

ANN, BOB = 1, 2
BLITZ = Clock(300.0)


def new_game_state(game: Game = Game.OTHELLO, control: Clock = BLITZ) -> GameState:
    return create_game_state(7, game, (ANN, BOB), control, True, 0.0)


def raises_club_error(code: str) -> pytest.RaisesExc[ClubError]:
    return pytest.raises(ClubError, check=lambda error: error.code == code)


def move(state: GameState, seconds: float, lag: float = 0.0, name: str = "") -> GameState:
    """Return the state after a move that arrives some seconds after the turn began."""
    name = name or state.position.format_move(state.position.legal_moves()[0])
    return state.play(state.players[state.mover], len(state.moves), name, state.turn_started + seconds, lag)


# ---- lag ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("control", [Clock(5.0), Clock(60.0), Clock(300.0), Clock(30.0, 1.0)])
@pytest.mark.parametrize("pause", [0.05, 0.3, 0.55])
def test_a_forged_lag_gains_an_eighth_of_the_clock_at_most(control: Clock, pause: float) -> None:
    """Without the lag quota, a client that delays its pongs by 0.5 s would gain 13.5 s on a 5-second clock."""
    game, thought, moves = new_game_state(Game.OTHELLO, control), [0.0, 0.0], [0, 0]
    while not game.over:
        side = game.mover
        thought[side] += pause
        moves[side] += 1
        game = move(game, pause, lag=pause)
    for side in (0, 1):
        allowed = control.seconds + moves[side] * control.increment
        gained = thought[side] - (allowed - game.clocks[side])
        assert gained <= allowed / 8 + pause, "the last move may overrun the clock"


def test_an_honest_lag_is_given_back() -> None:
    game = new_game_state(control=Clock(60.0))
    while not game.over:
        game = move(game, 0.6, lag=0.1)
    assert all(seconds in (0.0, pytest.approx(0.5)) for seconds in game.seconds)


def test_lag_compensation_is_bounded_per_move_and_by_the_quota() -> None:
    quota = LagQuota(available=1.0, reserve=5.0)
    assert quota.compensation(9.0, 3.0) == lag.MAX_LAG_COMPENSATION
    assert quota.compensation(9.0, 0.2) == 0.2, "the compensation never exceeds the time of the move"
    assert quota.compensation(-1.0, 3.0) == 0.0
    assert LagQuota(0.1, 5.0).compensation(0.4, 3.0) == 0.1
    assert quota.after_move(0.0, Clock(60.0)) == quota, "the quota is full"
    assert quota.after_move(0.5, Clock(60.0)) == LagQuota(0.65, 4.85)
    assert LagQuota(0.2, 0.0).after_move(0.1, Clock(60.0)) == LagQuota(0.1, 0.0), "the quota is used up"


def test_a_forged_lag_gains_no_more_in_a_long_game() -> None:
    game, thought = new_game_state(Game.ABAPA, Clock(60.0)), [0.0, 0.0]
    for name in quiet_moves(Game.ABAPA, 900):
        thought[game.mover] += 0.15
        game = move(game, 0.15, lag=0.15, name=name)
        if game.over:
            break
    assert game.reason == game_state.TIMED_OUT and max(thought) < 60.0 * 1.13


def test_a_restart_gains_no_lag_compensation(tmp_path: Path) -> None:
    store = ClubStore(tmp_path / "club.sqlite")
    for name in ("Ann", "Bob"):
        store.submit(partial(create_account, name=name, password_hash="none")).result()
    store.submit(partial(add_game, make=lambda number: new_game_state())).result()
    (loaded,) = store.read_blocking(load_live_games)
    store.close()
    assert new_game_state().lag_quotas[0] == LagQuota(1.0, 25.0)
    assert loaded.resume(10.0, 99.0).lag_quotas[1] == LagQuota(0.0, 25.0), (
        "only the reserve is restored, in proportion to the remaining time"
    )


# ---- draw offers ----------------------------------------------------------------------------------------------------
def test_a_repeated_draw_offer_changes_nothing() -> None:
    game = new_game_state(Game.ABAPA).offer_draw(ANN)
    assert game.offer_draw(ANN) is game, "there is nothing to store or send"
    none = new_game_state(Game.ABAPA)
    assert none.decline_draw(ANN) is none


@pytest.mark.parametrize("who", [ANN, BOB])
def test_a_side_offers_a_draw_every_few_plies(who: int) -> None:
    """A side must wait before its next draw offer, whether its last offer was declined or withdrawn."""
    game = new_game_state(Game.ABAPA).offer_draw(ANN).decline_draw(who)
    with raises_club_error("draw_already_offered"):
        game.offer_draw(ANN)
    assert game.offer_draw(BOB).draw_offer == 1, "the other side has its own interval"
    while len(game.moves) < game_state.DRAW_OFFER_INTERVAL:
        game = move(game, 1.0)
    assert game.offer_draw(ANN).draw_offer == 0


# ---- long games -----------------------------------------------------------------------------------------------------
def quiet_moves(game: Game, count: int) -> list[str]:
    """Return `count` moves of an Awalé game that capture as little as possible and do not end the game."""
    rng, position, names = random.Random(1), Position.start(game), list[str]()
    while len(names) < count:
        after = [(chosen, position.after(chosen)) for chosen in position.legal_moves()]
        going = [(next_.own + next_.opp >> 48, rng.random(), chosen) for chosen, next_ in after if not next_.over]
        names.append(position.format_move(min(going)[2]))
        position = position.after(min(going)[2])
    return names


@pytest.mark.parametrize("game", [Game.ABAPA, Game.TOURNAMENT, Game.ROMEIN])
def test_a_game_of_awale_ends_at_the_move_limit(game: Game) -> None:
    played = new_game_state(game, Clock(1e6))
    live_game = LiveGame(played, None, None)  # type: ignore[arg-type]
    names = quiet_moves(game, game_state.MAX_PLIES)
    for name in names:
        assert not played.over
        played = move(played, 0.001, name=name)
        live_game.state = played
    assert played.over and len(played.moves) == game_state.MAX_PLIES and live_game.move_names == names
    assert played.reason in (game_state.BEHIND_AT_LIMIT, game_state.DRAW_AT_LIMIT)
    assert MAX_GAME_MOVES >= game_state.MAX_PLIES, "the page accepts games of this length"
    assert MovesRequest.model_validate({"game": str(game), "moves": names}).to_record().moves == played.moves


def test_the_side_with_more_seeds_wins_at_the_move_limit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """At the move limit, as after a repetition, each side keeps the seeds in its row."""
    monkeypatch.setattr(game_state, "MAX_PLIES", 14)
    seen, store = set(), ClubStore(tmp_path / "club.sqlite")
    for name in ("Ann", "Bob"):
        store.submit(partial(create_account, name=name, password_hash="none")).result()
    for seed in range(150):
        rng, played = random.Random(seed), new_game_state(Game.ABAPA)
        while not played.over:
            played = move(played, 1.0, name=played.position.format_move(rng.choice(played.position.legal_moves())))
        words = played.position.first, played.position.second
        first, second = (sum(word.to_bytes(8, "little")) for word in words)  # seeds in the pits plus captured seeds
        winner = None if first == second else int(second > first)
        assert played.winner == winner
        seen.add((played.winner, played.reason))
        if played.reason == game_state.DRAW_AT_LIMIT:
            record = store.read_blocking(partial(load_record, state=played, names=("Ann", "Bob")))
            assert record.tags["Result"] == parse_ogn(format_ogn(record)).tags["Result"] == "1/2-1/2"
    store.close()
    assert {reason for _, reason in seen} == {game_state.BEHIND_AT_LIMIT, game_state.DRAW_AT_LIMIT} and {
        0,
        1,
        None,
    } == {each for each, _ in seen}


def test_a_long_game_is_resumed_after_a_restart(tmp_path: Path) -> None:
    store = ClubStore(tmp_path / "club.sqlite")
    for name in ("Ann", "Bob"):
        store.submit(partial(create_account, name=name, password_hash="none")).result()
    played = store.submit(partial(add_game, make=lambda number: new_game_state(Game.ABAPA, Clock(1e6)))).result()
    for name in quiet_moves(Game.ABAPA, 1500):
        played = move(played, 0.001, name=name)
    store.submit(SaveGame(played)).result()
    (loaded,) = store.read_blocking(load_live_games)
    live_game = store.read_blocking(partial(add_players, state=loaded))
    store.close()
    assert loaded.position.past == played.position.past and live_game.to_json(0.0)["ply"] == 1500
    assert not move(loaded, 0.001).reason


# ---- first moves and claims ------------------------------------------------------------------------------------------
def test_a_missed_first_move_aborts_the_game() -> None:
    game = new_game_state()
    assert (
        game.deadline == pytest.approx(game_state.FIRST_MOVE_SECONDS + lag.MAX_LAG_COMPENSATION)
        and not game.flag(game_state.FIRST_MOVE_SECONDS).over
    )
    missed = game.flag(game_state.FIRST_MOVE_SECONDS + 0.1)
    assert missed.over and missed.reason == game_state.ABORTED and missed.winner is None and missed.aborted_by == 0
    assert game.play(ANN, 0, "f5", game_state.FIRST_MOVE_SECONDS + 0.1) == missed, (
        "a late move does not prevent the abort"
    )
    second = move(game, 29.0)
    missed = second.flag(second.turn_started + game_state.FIRST_MOVE_SECONDS + 0.1)
    assert missed.reason == game_state.ABORTED and missed.aborted_by == 1
    third = move(second, 29.0)
    assert not third.flag(third.turn_started + 200.0).over, "after the first moves, only the clocks count"
    fast = new_game_state(control=Clock(5.0))
    assert fast.flag(5.1).reason == game_state.ABORTED, "a clock shorter than the limit also aborts the game"


def test_in_a_tournament_the_clock_alone_decides() -> None:
    game = create_game_state(7, Game.OTHELLO, (ANN, BOB), Clock(60.0), True, 0.0, tournament=3)
    assert not game.flag(59.0).over and game.flag(60.1).reason == game_state.TIMED_OUT


def test_a_claim_wins_or_draws_the_game() -> None:
    game = move(new_game_state(Game.ABAPA), 1.0)
    with raises_club_error("claim_before_start"):
        game.claim(ANN)
    game = move(game, 1.0)
    won = game.claim(BOB)
    assert won.over and won.winner == 1 and won.reason == game_state.LEFT_GAME
    assert game.claim(BOB, draw=True).winner is None and game.claim(BOB, draw=True).reason == game_state.DRAW_CLAIMED
    with raises_club_error("no_draw_claims"):
        move(move(new_game_state(), 1.0), 1.0).claim(ANN, draw=True)


def test_a_long_game_is_continued_by_websocket(tmp_path: Path) -> None:
    """Moves beyond ply 1000 are accepted."""
    store, tokens = ClubStore(tmp_path / "club.sqlite"), []
    owner = store.submit(partial(create_account, name="Ann", password_hash="none")).result().id
    for name in ("rex", "max"):
        bot = store.submit(partial(create_account, name=name, password_hash=None, owner=owner)).result()
        tokens.append(store.submit(partial(create_token, account=bot, label="test")).result())
    made = create_game_state(1, Game.ABAPA, (2, 3), Clock(1e4), False, time.time())
    played = store.submit(partial(add_game, make=lambda number: made)).result()
    for name in quiet_moves(Game.ABAPA, 1500):
        played = move(played, 0.0, name=name)
    store.submit(SaveGame(played)).result()
    store.submit(partial(save_heartbeat, now=time.time())).result()
    store.close()
    with run_server_thread(tmp_path / "club.sqlite") as address, ClubHttpClient(base_url=address) as visitor:
        with visitor.connect(authorization=f"Bearer {tokens[0]}") as channel:
            state = channel.state(1)
            assert state["ply"] == 1500 and len(state["moves"]) == 1500
            answer = channel.request("move", game=1, ply=1500, move=state["legal"][0])
            assert answer["type"] == "done" and answer["ply"] == 1501
        line = {"game": "abapa", "moves": state["moves"], "first_ply": 1490}
        assert len(visitor.post("/api/positions", json=line).json()["positions"]) == 11
