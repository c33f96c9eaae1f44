"""Analyses by external engines over NBoard's protocol and UCI: our own engine and faulty ones."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import awello
from waiting import wait_until

from awello import Game, Limit, Match, Position, make_player, parse_position, parse_transcript, play_match
from awello.engine.engine import Engine
from awello.errors import AwelloError, SpecError
from awello.limits import Clock
from awello.protocols.external_engine import ExternalEnginePlayer

OWN_ENGINE = f"{sys.executable} -m awello engine"
ENGINE = """
import sys
for line in sys.stdin:
    word, *rest = line.split()
    if word == "ping":
        print("pong", *rest, flush=True)
    elif word in ("uci", "isready"):
        print({"uci": "uciok", "isready": "readyok"}[word], flush=True)
    elif word in ("go", "hint"):
        print(open(sys.argv[1]).read(), flush=True)
"""


def make_analyst(spec: str) -> ExternalEnginePlayer:
    player = make_player(spec)
    assert isinstance(player, ExternalEnginePlayer)
    return player


MakeEngine = Callable[[str, str], ExternalEnginePlayer]


@pytest.fixture
def fixed_engine(tmp_path: Path) -> MakeEngine:
    """Return a function that creates engines, each with a fixed answer to every request."""

    def make(name: str, answer: str) -> ExternalEnginePlayer:
        (tmp_path / "answer").write_text(answer)
        (tmp_path / "engine.py").write_text(ENGINE)
        words = f"{sys.executable} {tmp_path / 'engine.py'} {tmp_path / 'answer'}"
        return make_analyst(f"{name},command={words},log={tmp_path / 'log'}")

    return make


def solve(position: Position) -> float:
    with Engine(position.game, hash=1) as engine:
        *_, last = engine.solve(position)
    return last.value


# ---- our own engine -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("spec", "limit", "position"),
    [
        (f"nboard,command={OWN_ENGINE} nboard --hash 1", Limit(depth=4), parse_transcript("f5d6").final),
        (f"nboard,command={OWN_ENGINE} nboard --hash 1", Limit(level=4), parse_transcript("f5d6").final),
        (f"nboard,command={OWN_ENGINE} nboard --hash 1", Limit(seconds=0.3), parse_transcript("f5d6").final),
        (f"uci,command={OWN_ENGINE} uci --hash 1", Limit(depth=4), Position.start(Game.ABAPA)),
        (f"uci,command={OWN_ENGINE} uci --hash 1", Limit(seconds=0.3), Position.start(Game.ROMEIN)),
    ],
)
def test_our_engine_analyses_positions(spec: str, limit: Limit, position: Position) -> None:
    engine = make_analyst(spec)
    for _ in range(2):
        found = list(engine.analyse(position, limit))
        depths = [analysis.depth for analysis in found]
        assert depths == sorted(depths) and depths[-1] >= 4
        assert limit.seconds or depths[-1] == 4
        assert found[-1].move in position.legal_moves() and found[-1].pv[0] == found[-1].move
        assert found[-1].candidates == ((found[-1].move, found[-1].value),)


def test_an_exact_value_is_exact() -> None:
    record = play_match(Match(Game.OTHELLO, "random", "random", seed=1)).records[0]
    position = next(each for each in list(record.positions())[-7:] if len(each.legal_moves()) > 1)
    *_, last = make_analyst(f"nboard,command={OWN_ENGINE} nboard --hash 1").analyse(position, Limit(depth=9))
    assert (last.exact, last.value, last.exact_moves) == (True, solve(position), (last.move,))


def test_seeds_already_captured_are_not_part_of_the_value() -> None:
    position = parse_position("0-0-0-0-0-2-0-1-0-0-0-0-22-23-S")
    *_, last = make_analyst(f"uci,command={OWN_ENGINE} uci --hash 1").analyse(position, Limit(depth=9))
    assert position.lead == -1 and last.value == solve(position)


@pytest.mark.parametrize(
    ("spec", "game"),
    [
        (f"nboard,depth=3,command={OWN_ENGINE} nboard", "othello"),
        (f"uci@3,command={OWN_ENGINE} uci --limit level=3", "romein"),
    ],
)
def test_a_choice_carries_its_analysis(spec: str, game: str) -> None:
    player, position = make_player(f"{spec} --hash 1"), Position.start(game)
    player.begin(position.game, 1)
    choice = player.choose(position, Clock())
    assert choice.analysis and choice.analysis.move == choice.move and choice.analysis.depth == 3


def test_the_command_uses_an_external_engine() -> None:
    ended = awello("analyse", "f5d6c3", "--limit", "3", "--engine", f"nboard,command={OWN_ENGINE} nboard --hash 1")
    assert ended.returncode == 0 and "value for Black" in ended.stdout
    for words, part in (
        (["--engine", "random"], "player random is not an external engine"),
        (
            ["--engine", f"gtp,command={OWN_ENGINE} gtp"],
            "player gtp cannot analyse, since GTP has no command for evaluations",
        ),
        (["--engine", "nboard,command=x", "--limit", "9n"], "give a limit such as 12 or 5s"),
    ):
        ended = awello("analyse", "f5d6c3", *words)
        assert (ended.returncode, ended.stdout) == (2, "") and part in ended.stderr and ended.stderr.count("\n") == 1


# ---- faulty engines -------------------------------------------------------------------------------------------------
def test_search_lines_of_nboard_engines_are_parsed(fixed_engine: MakeEngine) -> None:
    answer = "search F5D6 +1.25 0 12@73% text\nbook f5 -2 17 20\nsearch f5 3 0 100%W\n=== f5 3.00 0.0"
    found = list(fixed_engine("nboard", answer).analyse(Position.start(), Limit(depth=3)))
    assert [(each.value, each.depth, each.confidence, each.exact, len(each.pv)) for each in found] == [
        (1.25, 12, 73, False, 2),
        (-2, 20, 100, False, 1),
        (3, 60, 100, False, 1),
    ]


def test_the_value_may_come_with_the_move(fixed_engine: MakeEngine) -> None:
    (found,) = fixed_engine("nboard", "=== D3/-1.50/2").analyse(Position.start(), Limit(depth=3))
    assert (found.value, found.depth, found.pv) == (-1.5, 0, (19,))


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("nboard", "search A1 +1 0 3\nsearch F5 nan 0 3\nsearch\nsearch F5 +99 0 3\nsearch F5 1e3 0 3\n=== F5"),
        ("uci", "info depth 3\ninfo score cp x pv A\ninfo score cp 4900 pv A\ninfo score cp 0 pv a\nbestmove A"),
    ],
)
def test_impossible_values_and_moves_are_ignored(fixed_engine: MakeEngine, name: str, answer: str) -> None:
    engine = fixed_engine(name, answer)
    position = Position.start(engine.GAMES[0])
    with pytest.raises(AwelloError, match="reports no plausible value for a legal move"):
        list(engine.analyse(position, Limit(depth=3)))
    engine.begin(position.game, 1)
    choice = engine.choose(position, Clock())
    assert choice.analysis is None and choice.move in position.legal_moves(), "the engine's move is accepted"


def test_a_variation_ends_before_its_first_illegal_move(fixed_engine: MakeEngine) -> None:
    (found,) = fixed_engine("uci", "info depth 2 nodes 7 score cp -50 pv A b c\nbestmove A").analyse(
        Position.start(Game.ABAPA), Limit(depth=2)
    )
    assert (found.pv, found.value, found.depth) == ((0, 1), -0.5, 2)


def test_a_move_that_was_not_analysed_has_no_analysis(fixed_engine: MakeEngine) -> None:
    engine = fixed_engine("uci", "info depth 2 score cp 0 pv A\nbestmove B")
    engine.begin(Game.ABAPA, 1)
    choice = engine.choose(Position.start(Game.ABAPA), Clock())
    assert (choice.move, choice.analysis) == (1, None)


@pytest.mark.parametrize(("name", "limit"), [("nboard", Limit(depth=9)), ("uci", Limit(depth=9, seconds=0.1))])
def test_a_late_engine_is_killed(
    fixed_engine: MakeEngine, name: str, limit: Limit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("awello.protocols.line_process.GRACE_SECONDS", 0.1)
    monkeypatch.setattr("awello.protocols.external_engine.MAX_SEARCH_SECONDS", 0.1)
    engine = fixed_engine(name, "thinking")
    position = Position.start(engine.GAMES[0])
    with pytest.raises(AwelloError, match=r"gave no answer within 0\.1 s"):
        list(engine.analyse(position, limit))
    assert engine.process and not engine.process.alive


def test_a_time_takes_precedence_over_a_depth(fixed_engine: MakeEngine, tmp_path: Path) -> None:
    engine = fixed_engine("uci", "info depth 2 score cp 0 pv A\nbestmove A")
    list(engine.analyse(Position.start(Game.ABAPA), Limit(depth=30, seconds=0.1)))
    assert "> go movetime 100" in (tmp_path / "log").read_text()


def test_an_abandoned_analysis_kills_the_engine_and_the_next_one_restarts_it(fixed_engine: MakeEngine) -> None:
    engine = fixed_engine("nboard", "search F5 +1 0 1")
    first = engine.analyse(Position.start(), Limit(seconds=60))
    assert next(first).value == 1
    first.close()  # type: ignore[attr-defined]
    assert engine.process
    wait_until(lambda: engine.process and not engine.process.alive)
    assert next(engine.analyse(Position.start(), Limit(seconds=60))).value == 1


def test_invalid_analysis_requests_are_refused(fixed_engine: MakeEngine) -> None:
    engine = fixed_engine("nboard", "=== F5/1/1")
    with pytest.raises(SpecError, match="a depth or for a time"):
        next(engine.analyse(Position.start(), Limit(nodes=5)))
    with pytest.raises(AwelloError, match="the game is over"):
        next(engine.analyse(parse_position("X" * 64 + " X"), Limit(depth=3)))
    with pytest.raises(SpecError, match="does not play abapa, only othello"):
        next(engine.analyse(Position.start(Game.ABAPA), Limit(depth=3)))
