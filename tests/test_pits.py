"""What the champion of Awalé learns from its own games: true examples, a fit that finds weights, resumption."""

import time
from pathlib import Path

import numpy as np
import pytest
from conftest import fresh_awello

from awello import Game, Position
from awello.engine import tablebase
from awello.engine.awale import EVALUATION_SLOTS, UNIT
from awello.engine.tablebase import need, seeds_on_board
from awello.errors import ConfigError
from awello.evaluate.weights import awale_weights
from awello.learn import pits
from awello.learn.pits import PITS, STAGES, Fit, learn, load_fit, places_of, play_games, save_fit
from awello.rules.awale import ROW, pits_of


@pytest.fixture(autouse=True)
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small tables of endgames and few games."""
    monkeypatch.setattr(tablebase, "user_cache", lambda: tmp_path)
    monkeypatch.setattr(tablebase, "SMALL", 7)
    monkeypatch.setattr(pits, "GAMES", 8)
    monkeypatch.setattr(pits, "DEPTH", 2)


NOTHING = np.zeros((STAGES, PITS, EVALUATION_SLOTS), np.int32)


@pytest.mark.parametrize("game", [Game.ABAPA, Game.TOURNAMENT, Game.ROMEIN])
def test_examples_say_what_the_mover_won(game: Game) -> None:
    boards, gains = play_games(game, NOTHING, 5, "1")
    followed = ended = 0
    for (own, opp), gain, after, later in zip(boards, gains, [*boards[1:], None], [*gains[1:], None], strict=True):
        position = Position(game, int(own), int(opp))
        children = map(position.after, position.legal_moves())
        rows = {(child.own, child.opp & int(ROW)): child for child in children}
        if after is not None and (key := (int(after[0]), int(after[1]))) in rows:
            won = seeds_on_board(position) - seeds_on_board(rows[key])
            assert gain == won - later
            followed += 1
        else:  # the last position of a game: the endgame, or the end, follows
            base = need(game)
            values = {
                seeds_on_board(position) - seeds_on_board(child) - base.value(child)
                for child in rows.values()
                if base.covers(child)
            }
            assert gain in values or not values
            ended += 1
    assert followed > 50 and ended == 5


def test_places_are_those_that_the_search_reads() -> None:
    position = Position.start(Game.ABAPA).play("A").play("c")
    places, stages = places_of(np.array([[position.own, position.opp]], np.uint64))
    seeds = [*pits_of(position.own), *pits_of(position.opp)]
    assert places[0].tolist() == [EVALUATION_SLOTS * pit + count for pit, count in enumerate(seeds)]
    assert stages.tolist() == [12]


def test_the_fit_finds_weights_that_made_the_examples() -> None:
    chance = np.random.default_rng(1)
    true = chance.integers(-3, 4, (PITS, 4)).astype(float)
    counts = chance.integers(0, 4, (20_000, PITS))
    places = counts + EVALUATION_SLOTS * np.arange(PITS)
    gains = true[np.arange(PITS), counts].sum(axis=1)
    fit = Fit()
    fit.add(places, np.full(len(places), 5), gains)
    found = fit.weights()[5] / UNIT
    errors = gains - found[np.arange(PITS), counts].sum(axis=1)
    assert np.abs(errors).max() < 1 and errors.std() < 0.2 < gains.std()
    assert not fit.weights()[4].any()


def test_learning_goes_on_where_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "pits.npz"
    whole, rounds = Fit(), []
    for lesson in learn(whole, 1e9, 2, 3, lambda seconds: None):
        rounds.append(lesson)
        if lesson.number == 3:
            break
    assert rounds[0].error == rounds[0].spread, "the first round knows nothing"
    for stop in (1, 2, 3):
        fit = load_fit(file)
        next(learn(fit, 1e9, 1, 3, lambda seconds: None))
        save_fit(file, fit)
        assert fit.rounds == stop
    assert np.abs(load_fit(file).weights().astype(int) - whole.weights()).max() <= 1  # kept in single precision
    assert list(learn(load_fit(file), 0.0, 1, 3, lambda seconds: None)) == []


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "pits.npz"
    save_fit(file, Fit())
    for wrong in (b"", file.read_bytes()[:300], b"nothing"):
        file.write_bytes(wrong)
        with pytest.raises(ConfigError, match="remove it"):
            load_fit(file)
    done = fresh_awello("train", "pits", "--budget", "1s", "--out", str(file))
    assert done.returncode == 2 and done.stderr.count("\n") == 1


def test_an_interruption_does_not_wait_for_the_round(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[object, ...]] = []

    def interrupted(*given: object) -> None:
        calls.append(given)
        if len(calls) == 1:
            raise KeyboardInterrupt
        time.sleep(0.2)

    monkeypatch.setattr(pits, "play_games", interrupted)
    with pytest.raises(KeyboardInterrupt):
        next(learn(Fit(), 1.0, 1, 1, lambda seconds: None))
    assert len(calls) < 6


def test_the_shipped_weights_mirror_each_other() -> None:
    weights = awale_weights()
    assert weights.shape == (STAGES, PITS, EVALUATION_SLOTS)
    own, opp = weights[3:12, :6, :10].ravel(), weights[3:12, 6:, :10].ravel()
    assert np.corrcoef(own, -opp)[0, 1] > 0.8  # what helps one side hurts the other
