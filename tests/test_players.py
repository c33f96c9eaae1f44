"""Specs, limits, the registry and the simple players."""

from contextlib import suppress
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from awello import Choice, Game, Player, Position, make_player, parse_position, register
from awello.errors import AwelloError, SpecError
from awello.limits import Clock, Limit, format_duration, format_limit, parse_clock, parse_duration, parse_limit
from awello.players.player import load_registry
from awello.players.spec import PlayerSpec, parse_spec


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("random", PlayerSpec("random")),
        (
            "minimax:positional@4,square_table=2",
            PlayerSpec("minimax", "positional", Limit(depth=4), {"square_table": "2"}),
        ),
        (
            "alphabeta:mixed@6,thresholds=30-55",
            PlayerSpec("alphabeta", "mixed", Limit(depth=6), {"thresholds": "30-55"}),
        ),
        ("otage@30s", PlayerSpec("otage", None, Limit(seconds=30))),
        ("travers@100ms", PlayerSpec("travers", None, Limit(seconds=0.1))),
        ("champion@level=12", PlayerSpec("champion", None, Limit(level=12))),
        ("uct@5000n", PlayerSpec("uct", None, Limit(nodes=5000))),
        (
            "nboard@5s,command=/path/to/engine",
            PlayerSpec("nboard", None, Limit(seconds=5), {"command": "/path/to/engine"}),
        ),
    ],
)
def test_specs_round_trip(text: str, spec: PlayerSpec) -> None:
    assert parse_spec(text) == spec
    assert str(spec) == text


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "not a player"),
        ("Random", "'Random'"),
        ("random@", "'random@'"),
        ("random@fast", "'fast' is not a limit"),
        ("random,x", "'x' in"),
        ("random,a=1,a=2", "twice"),
        ("random:", "'random:'"),
    ],
)
def test_errors_name_the_invalid_part_of_a_spec(text: str, part: str) -> None:
    with pytest.raises(SpecError, match=part):
        parse_spec(text)


@given(st.text(max_size=20))
def test_any_text_gives_a_spec_or_a_spec_error(text: str) -> None:
    with suppress(AwelloError):
        assert parse_spec(str(parse_spec(text))) == parse_spec(text)


@given(st.integers(1, 10**7))
def test_durations_round_trip(milliseconds: int) -> None:
    assert parse_duration(format_duration(milliseconds / 1000)) == pytest.approx(milliseconds / 1000)


def test_limits_and_clocks() -> None:
    assert format_limit(parse_limit("90s")) == "90s"
    assert format_limit(parse_limit("1500ms")) == "1500ms"
    assert parse_clock("5m+3s") == Clock(300, 3)
    assert Clock(10, 3).spend(4) == Clock(9, 3)
    assert Clock(10, 3).spend(11).seconds < 0
    with pytest.raises(SpecError, match="the clock '0ms' has no main time"):
        parse_clock("0ms")


def test_unknown_players_and_settings_are_refused() -> None:
    with pytest.raises(SpecError, match="did you mean 'greedy'"):
        make_player("gredy")
    with pytest.raises(SpecError, match="awello players"):
        make_player("zzz")
    with pytest.raises(SpecError, match="no setting 'heuristic'"):
        make_player("random:mixed")
    with pytest.raises(SpecError, match="no setting 'limit'"):
        make_player("greedy@6")


def test_players_can_be_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("awello.players.player.REGISTRY", dict(load_registry()))

    @register("picky", "the move with this number")
    @dataclass
    class NumberedMovePlayer(Player):
        number: int = 0

        def choose(self, position: Position, clock: Clock) -> Choice:
            return Choice(position.legal_moves()[self.number])

    assert make_player("picky,number=2").choose(Position.start(), Clock()).move == 37
    with pytest.raises(SpecError, match=r"'picky': number 'two' is not a whole number"):
        make_player("picky,number=two")
    register("picky", "again")(NumberedMovePlayer)  # a notebook cell may run twice
    with pytest.raises(SpecError, match="already registered"):
        register("random", "another")(NumberedMovePlayer)
    with pytest.raises(SpecError, match="lowercase letters"):
        register("My Bot", "no spec can name it")(NumberedMovePlayer)


def test_random_follows_its_seed(game: Game) -> None:
    player = make_player("random")

    def line(seed: int) -> list[int]:
        player.begin(game, seed)
        position, moves = Position.start(game), []
        for _ in range(6):
            moves.append(player.choose(position, Clock()).move)
            position = position.play(moves[-1])
        return moves

    assert line(1) == line(1)
    assert len({tuple(line(seed)) for seed in range(20)}) > 5


def test_greedy_takes_the_most() -> None:
    player = make_player("greedy")
    player.begin(Game.OTHELLO, 0)
    position = parse_position("XOOO----" + "-" * 8 + "XO------" + "-" * 40 + " X")
    assert player.choose(position, Clock()) == Choice(4)
    player.begin(Game.ABAPA, 0)
    pits = parse_position("0-0-0-1-1-1-2-1-1-0-0-0-20-21-S")
    assert player.choose(pits, Clock()) == Choice(5)
