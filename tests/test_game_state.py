"""Games of the club, without a network: lag compensation, draw offers, the move limit."""

import random
import time
from functools import partial
from pathlib import Path

import pytest
from clubs import Visitor, serving

from awello import Game, Position
from awello.club import game_state, lag
from awello.club.accounts import make_token, open_account
from awello.club.game_state import ClubError, GameState, new_game_state
from awello.club.lag import LagQuota
from awello.club.live_game import LiveGame, sit_down
from awello.club.store import ClubStore
from awello.club.stored_games import SaveGame, add_game, load_games, record_of, save_heartbeat
from awello.formats.ogn import format_ogn, parse_ogn
from awello.limits import Clock
from awello.web.messages import MAX_GAME_MOVES, MovesRequest

ANN, BOB = 1, 2
BLITZ = Clock(300.0)


def begin(game: Game = Game.OTHELLO, control: Clock = BLITZ) -> GameState:
    return new_game_state(7, game, (ANN, BOB), control, True, 0.0)


def refused(code: str) -> pytest.RaisesExc[ClubError]:
    return pytest.raises(ClubError, check=lambda error: error.code == code)


def move(table: GameState, seconds: float, lag: float = 0.0, name: str = "") -> GameState:
    """The game after a move that arrives after some seconds."""
    name = name or table.position.format_move(table.position.legal_moves()[0])
    return table.play(table.players[table.mover], len(table.moves), name, table.since + seconds, lag)


# ---- lag ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("control", [Clock(5.0), Clock(60.0), Clock(300.0), Clock(30.0, 1.0)])
@pytest.mark.parametrize("pause", [0.05, 0.3, 0.55])
def test_a_forged_lag_gains_an_eighth_of_the_clock_at_most(control: Clock, pause: float) -> None:
    """Pongs delayed by half a second, and as much time taken for every move, gave 13.5 seconds on a 5 second clock."""
    game, thought, moves = begin(Game.OTHELLO, control), [0.0, 0.0], [0, 0]
    while not game.over:
        side = game.mover
        thought[side] += pause
        moves[side] += 1
        game = move(game, pause, lag=pause)
    for side in (0, 1):
        allowed = control.seconds + moves[side] * control.increment
        gained = thought[side] - (allowed - game.clocks[side])
        assert gained <= allowed / 8 + pause, "the last move may have come too late"


def test_an_honest_lag_is_given_back() -> None:
    game = begin(control=Clock(60.0))
    while not game.over:
        game = move(game, 0.6, lag=0.1)
    assert all(seconds in (0.0, pytest.approx(0.5)) for seconds in game.seconds)


def test_lag_compensation_is_bounded_per_move_and_by_the_quota() -> None:
    quota = LagQuota(ready=1.0, reserve=5.0)
    assert quota.compensation(9.0, 3.0) == lag.MOST_LAG
    assert quota.compensation(9.0, 0.2) == 0.2, "never more than the move took"
    assert quota.compensation(-1.0, 3.0) == 0.0
    assert LagQuota(0.1, 5.0).compensation(0.4, 3.0) == 0.1
    assert quota.after(0.0, Clock(60.0)) == quota, "it is full"
    assert quota.after(0.5, Clock(60.0)) == LagQuota(0.65, 4.85)
    assert LagQuota(0.2, 0.0).after(0.1, Clock(60.0)) == LagQuota(0.1, 0.0), "nothing is left to give back"


def test_a_forged_lag_gains_no_more_in_a_long_game() -> None:
    game, thought = begin(Game.ABAPA, Clock(60.0)), [0.0, 0.0]
    for name in quiet_moves(Game.ABAPA, 900):
        thought[game.mover] += 0.15
        game = move(game, 0.15, lag=0.15, name=name)
        if game.over:
            break
    assert game.reason == game_state.TIME and max(thought) < 60.0 * 1.13


def test_a_restart_gains_no_lag_compensation(tmp_path: Path) -> None:
    store = ClubStore(tmp_path / "club.sqlite")
    for name in ("Ann", "Bob"):
        store.submit(partial(open_account, name=name, hashed="none")).result()
    store.submit(partial(add_game, make=lambda number: begin())).result()
    (loaded,) = store.read(load_games)
    store.close()
    assert begin().lag_quotas[0] == LagQuota(1.0, 25.0)
    assert loaded.resume(10.0, 99.0).lag_quotas[1] == LagQuota(0.0, 25.0), "by what is left on the clock"


# ---- draw offers ----------------------------------------------------------------------------------------------------
def test_an_offer_that_stands_is_not_made_again() -> None:
    game = begin(Game.ABAPA).offer_draw(ANN)
    assert game.offer_draw(ANN) is game, "nothing to write or send"
    none = begin(Game.ABAPA)
    assert none.decline_draw(ANN) is none


@pytest.mark.parametrize("who", [ANN, BOB])
def test_a_side_offers_a_draw_every_few_plies(who: int) -> None:
    """Whether the offer was declined or taken back."""
    game = begin(Game.ABAPA).offer_draw(ANN).decline_draw(who)
    with refused("offered"):
        game.offer_draw(ANN)
    assert game.offer_draw(BOB).offer == 1, "the other side has its own count"
    while len(game.moves) < game_state.OFFER_PAUSE:
        game = move(game, 1.0)
    assert game.offer_draw(ANN).offer == 0


# ---- long games -----------------------------------------------------------------------------------------------------
def quiet_moves(game: Game, count: int) -> list[str]:
    """Moves of Awalé without a capture and without a position that comes again, for as long as that is wanted."""
    chance, position, names = random.Random(1), Position.start(game), list[str]()
    while len(names) < count:
        after = [(chosen, position.after(chosen)) for chosen in position.legal_moves()]
        going = [(next_.own + next_.opp >> 48, chance.random(), chosen) for chosen, next_ in after if not next_.over]
        names.append(position.format_move(min(going)[2]))
        position = position.after(min(going)[2])
    return names


@pytest.mark.parametrize("game", [Game.ABAPA, Game.TOURNAMENT, Game.ROMEIN])
def test_a_game_of_awale_ends_at_the_move_limit(game: Game) -> None:
    played = begin(game, Clock(1e6))
    seat = LiveGame(played, None, None)  # type: ignore[arg-type]
    names = quiet_moves(game, game_state.MOST_PLIES)
    for name in names:
        assert not played.over
        played = move(played, 0.001, name=name)
        seat.table = played
    assert played.over and len(played.moves) == game_state.MOST_PLIES and seat.names == names
    assert played.reason in (game_state.BEHIND, game_state.LIMIT)
    assert MAX_GAME_MOVES >= game_state.MOST_PLIES, "the page shows all of it"
    assert MovesRequest.model_validate({"game": str(game), "moves": names}).to_record().moves == played.moves


def test_who_has_more_seeds_wins_at_the_move_limit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As when a position comes again: each side keeps its row."""
    monkeypatch.setattr(game_state, "MOST_PLIES", 14)
    seen, store = set(), ClubStore(tmp_path / "club.sqlite")
    for name in ("Ann", "Bob"):
        store.submit(partial(open_account, name=name, hashed="none")).result()
    for seed in range(150):
        chance, played = random.Random(seed), begin(Game.ABAPA)
        while not played.over:
            played = move(played, 1.0, name=played.position.format_move(chance.choice(played.position.legal_moves())))
        words = played.position.first, played.position.second
        first, second = (sum(word.to_bytes(8, "little")) for word in words)  # the pits and the seeds taken
        winner = None if first == second else int(second > first)
        assert played.winner == winner
        seen.add((played.winner, played.reason))
        if played.reason == game_state.LIMIT:
            record = store.read(partial(record_of, table=played, names=("Ann", "Bob")))
            assert record.tags["Result"] == parse_ogn(format_ogn(record)).tags["Result"] == "1/2-1/2"
    store.close()
    assert {reason for _, reason in seen} == {game_state.BEHIND, game_state.LIMIT} and {0, 1, None} == {
        each for each, _ in seen
    }


def test_a_long_game_goes_on_after_a_restart(tmp_path: Path) -> None:
    store = ClubStore(tmp_path / "club.sqlite")
    for name in ("Ann", "Bob"):
        store.submit(partial(open_account, name=name, hashed="none")).result()
    played = store.submit(partial(add_game, make=lambda number: begin(Game.ABAPA, Clock(1e6)))).result()
    for name in quiet_moves(Game.ABAPA, 1500):
        played = move(played, 0.001, name=name)
    store.submit(SaveGame(played)).result()
    (loaded,) = store.read(load_games)
    seat = store.read(partial(sit_down, table=loaded))
    store.close()
    assert loaded.position.past == played.position.past and seat.view(0.0)["ply"] == 1500
    assert not move(loaded, 0.001).reason


# ---- how a game begins, and who leaves it ---------------------------------------------------------------------------
def test_each_side_makes_its_first_move_in_time_or_there_is_no_game() -> None:
    game = begin()
    assert (
        game.deadline == pytest.approx(game_state.FIRST_MOVE + lag.MOST_LAG)
        and not game.flag(game_state.FIRST_MOVE).over
    )
    missed = game.flag(game_state.FIRST_MOVE + 0.1)
    assert missed.over and missed.reason == game_state.ABORTED and missed.winner is None and missed.aborted_by == 0
    assert game.play(ANN, 0, "f5", game_state.FIRST_MOVE + 0.1) == missed, "a late move does not help"
    second = move(game, 29.0)
    missed = second.flag(second.since + game_state.FIRST_MOVE + 0.1)
    assert missed.reason == game_state.ABORTED and missed.aborted_by == 1
    third = move(second, 29.0)
    assert not third.flag(third.since + 200.0).over, "then the clocks alone decide"
    fast = begin(control=Clock(5.0))
    assert fast.flag(5.1).reason == game_state.ABORTED, "also where the clock is shorter"


def test_in_a_tournament_the_clock_alone_decides() -> None:
    game = new_game_state(7, Game.OTHELLO, (ANN, BOB), Clock(60.0), True, 0.0, tournament=3)
    assert not game.flag(59.0).over and game.flag(60.1).reason == game_state.TIME


def test_a_game_that_was_left_is_won_or_drawn() -> None:
    game = move(begin(Game.ABAPA), 1.0)
    with refused("early"):
        game.claim(ANN)
    game = move(game, 1.0)
    won = game.claim(BOB)
    assert won.over and won.winner == 1 and won.reason == game_state.LEFT
    assert game.claim(BOB, draw=True).winner is None and game.claim(BOB, draw=True).reason == game_state.DRAWN
    with refused("rules"):
        move(move(begin(), 1.0), 1.0).claim(ANN, draw=True)


def test_a_long_game_is_played_on_over_the_channel(tmp_path: Path) -> None:
    """Beyond ply 1000 no move could be sent, and the player to move lost on time."""
    store, tokens = ClubStore(tmp_path / "club.sqlite"), []
    owner = store.submit(partial(open_account, name="Ann", hashed="none")).result().number
    for name in ("rex", "max"):
        bot = store.submit(partial(open_account, name=name, hashed=None, owner=owner)).result()
        tokens.append(store.submit(partial(make_token, account=bot, label="test")).result())
    made = new_game_state(1, Game.ABAPA, (2, 3), Clock(1e4), False, time.time())
    played = store.submit(partial(add_game, make=lambda number: made)).result()
    for name in quiet_moves(Game.ABAPA, 1500):
        played = move(played, 0.0, name=name)
    store.submit(SaveGame(played)).result()
    store.submit(partial(save_heartbeat, moment=time.time())).result()
    store.close()
    with serving(tmp_path / "club.sqlite") as address, Visitor(base_url=address) as visitor:
        with visitor.channel(authorization=f"Bearer {tokens[0]}") as talk:
            state = talk.state(1)
            assert state["ply"] == 1500 and len(state["moves"]) == 1500
            answer = talk.ask("move", game=1, ply=1500, move=state["legal"][0])
            assert answer["type"] == "done" and answer["ply"] == 1501
        line = {"game": "abapa", "moves": state["moves"], "since": 1490}
        assert len(visitor.post("/api/positions", json=line).json()["positions"]) == 11
