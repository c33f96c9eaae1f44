"""Reviews of played games, compared with minimax on the reference rules, and the command `analyse`."""

import json
import random
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer
from conftest import awello, fresh_awello
from reference_rules import ReferenceOthello

from awello import PASS, Game, Position, Record, format_transcript, parse_position, parse_transcript
from awello.analysis import Analysis, format_value
from awello.cli.analyse import analyse, read_record
from awello.engine.engine import Engine
from awello.engine.tablebase import load_or_build_tablebase
from awello.errors import AwelloError, ConfigError
from awello.lab.review_charts import draw_chart, format_legend, format_summary
from awello.limits import Limit
from awello.review.review import MoveReview, review_game, summarise

EXACT_EMPTIES = 7  # the fake engine is exact with this many empties or fewer
LIMIT = Limit(depth=1)


@cache
def solve(reference: ReferenceOthello) -> int:
    """Return the final margin for the mover under best play."""
    moves = reference.legal_moves()
    if not moves:
        black, white = reference.score()
        return (white - black) if reference.side else (black - white)
    return max(-solve(reference.play(move)) for move in moves)


def reference_at(position: Position) -> ReferenceOthello:
    letters = ("X" if position.first >> at & 1 else "O" if position.second >> at & 1 else "." for at in range(64))
    return ReferenceOthello(position.game.size, tuple(letters), position.side)


class FakeEngine:
    """An engine for 4x4 boards: exact near the end, otherwise a one-ply search that counts discs."""

    def __init__(self) -> None:
        self.analysed: list[Position] = []

    def analyse(self, position: Position, limit: Limit) -> Iterator[Analysis]:
        assert not position.over
        self.analysed.append(position)
        exact = 16 - sum(position.counts()) <= EXACT_EMPTIES
        values = {move: self.value(position.after(move), exact) for move in position.legal_moves()}
        move = max(values, key=lambda move: values[move])
        for value in (values[move] - 1, values[move]):  # only the last result counts
            yield Analysis(move, value, exact, 1, 1, 1, 0.0, pv=(move,))

    def value(self, after: Position, exact: bool) -> float:
        return -solve(reference_at(after)) if exact else after.opp.bit_count() - after.own.bit_count()


class ScriptedEngine:
    """An engine with scripted results: (move, value, exact) by ply."""

    def __init__(self, record: Record, answers: dict[int, tuple[str, float, bool]]) -> None:
        self.answers = dict(zip(record.positions(), map(answers.get, range(1, len(record.moves) + 2)), strict=True))

    def analyse(self, position: Position, limit: Limit) -> Iterator[Analysis]:
        answer = self.answers[position]
        assert answer, f"unexpected analysis of {position!r}"
        name, value, exact = answer
        move = position.parse_move(name)
        yield Analysis(move, value, exact, 1, 1, 1, 0.0, pv=(move,))


def random_game(seed: int, start: Position | None = None) -> Record:
    """Return a random game, by default on 4x4; the game of seed 7 has passes and ends with an empty square."""
    start = start or Position.start(Game.OTHELLO4)
    rng, position, moves = random.Random(seed), start, []
    while not position.over:
        moves.append(rng.choice(position.legal_moves()))
        position = position.after(moves[-1])
    return Record(start, tuple(moves))


def review_moves(answers: dict[int, tuple[str, float, bool]], moves: str = "f5d6") -> dict[int, MoveReview]:
    """Review a short game; return the reviews by ply."""
    record = parse_transcript(moves)
    return {review.ply: review for review in review_game(record, ScriptedEngine(record, answers), LIMIT)}


@pytest.mark.parametrize("seed", range(6))
def test_exact_reviews_are_those_of_plain_minimax(seed: int) -> None:
    record = random_game(seed)
    reviews = list(review_game(record, FakeEngine(), LIMIT))
    assert [review.ply for review in reviews] == list(range(len(record.moves), 0, -1))
    assert tuple(review.move for review in reversed(reviews)) == record.moves
    late = [review for review in reviews if 16 - sum(review.position.counts()) <= EXACT_EMPTIES]
    assert len(late) >= EXACT_EMPTIES - 1
    for review in late:
        reference = reference_at(review.position)
        assert review.exact
        assert review.value == -solve(reference.play(review.move))
        assert review.best_value == solve(reference) == -solve(reference.play(review.best_move))
        assert review.loss == review.best_value - review.value
        assert review.pv[0] == review.best_move
    assert any(review.loss for review in late)


@pytest.mark.parametrize("seed", range(6))
def test_loss_is_sound_where_estimates_meet_exact_values(seed: int) -> None:
    for review in review_game(random_game(seed), FakeEngine(), LIMIT):
        assert review.loss == review.best_value - review.value >= 0
        assert (review.loss == 0) == (review.best_move == review.move)
        assert review.pv[0] == review.best_move


def test_only_choices_are_analysed_once_and_from_the_end() -> None:
    record, engine = random_game(7), FakeEngine()
    passes = [review for review in review_game(record, engine, LIMIT) if review.move == PASS]
    assert passes
    assert all(review.loss == 0 and not review.is_choice for review in passes)
    choices = [position for position in record.positions() if len(position.legal_moves()) > 1]
    assert engine.analysed == choices[::-1]


def test_the_end_of_an_unfinished_game_is_analysed_first() -> None:
    record, engine = Record(random_game(7).start, random_game(7).moves[:2]), FakeEngine()
    start, middle, final = record.positions()
    assert len(list(review_game(record, engine, LIMIT))) == 2
    assert engine.analysed == [final, middle, start]


def test_a_game_without_moves_is_not_analysed() -> None:
    engine = FakeEngine()
    assert list(review_game(Record(Position.start()), engine, LIMIT)) == []
    assert engine.analysed == []


def test_a_move_has_the_negated_value_of_the_next_position() -> None:
    found = review_moves({1: ("d3", 2.5, False), 2: ("f6", 1.0, False), 3: ("c3", 8.0, False)})
    assert (found[2].value, found[2].best_value, found[2].loss) == (-8, 1, 9)
    assert (found[1].value, found[1].best_value, found[1].loss) == (-1, 2.5, 3.5)
    assert found[1].position.format_move(found[1].best_move) == "d3"
    assert [found[ply].first_player_value for ply in (1, 2)] == [-1, 8]
    assert not found[1].exact


def test_a_move_better_than_the_best_raises_it() -> None:
    found = review_moves({1: ("d3", -5, False), 2: ("d6", 3.0, False), 3: ("c3", -6.0, False)})
    assert (found[2].value, found[2].best_value, found[2].loss) == (6, 6, 0)
    assert (found[1].value, found[1].best_value, found[1].loss) == (-6, -5, 1)
    found = review_moves({1: ("d3", -5, False), 2: ("f6", 3.0, False), 3: ("c3", -6.0, False)})
    assert (found[2].best_value, found[2].loss, found[2].best_move) == (6, 0, found[2].move)
    assert found[2].position.format_moves(found[2].pv) == ["d6", "c3"]


def test_the_engines_own_move_loses_nothing() -> None:
    found = review_moves({1: ("f5", 7.0, False), 2: ("d6", 2.0, False), 3: ("c3", 9.0, False)})
    assert (found[2].value, found[2].best_value, found[2].loss) == (2, 2, 0)
    assert (found[1].value, found[1].best_value, found[1].loss) == (7, 7, 0)


def test_exact_values_outweigh_estimates() -> None:
    after = review_moves({1: ("d3", 0.5, False), 2: ("d6", 2.0, False), 3: ("c3", 4.0, True)})
    assert (after[2].value, after[2].best_value, after[2].loss, after[2].exact) == (-4, -4, 0, True)
    assert (after[1].value, after[1].exact) == (4, False)  # White may have a better move, so -4 is only a lower bound
    before = review_moves({1: ("d3", 0.0, True), 2: ("f6", 2.0, True), 3: ("c3", -6.0, False)})
    assert (before[2].value, before[2].best_value, before[2].loss, before[2].exact) == (2, 2, 0, False)
    assert (before[1].value, before[1].loss, before[1].exact) == (-2, 2, True)
    own = review_moves({1: ("f5", 4.0, True), 2: ("d6", -1.0, False), 3: ("c3", 0.0, False)})
    assert (own[1].value, own[1].best_value, own[1].exact) == (4, 4, True)


def test_a_summary_counts_the_losses_in_choices() -> None:
    start = Position.start()
    losses = (0.0, 3.9, 4.0, 9.9, 10.0, 0.0)
    reviews = [MoveReview(2 * at + 1, start, 19, 0.0, loss, 19, loss, True, ()) for at, loss in enumerate(losses)]
    found = summarise(reviews, 0)
    assert (found.moves, found.inaccuracies, found.mistakes, found.blunders) == (6, 1, 2, 1)
    assert found.mean_loss == pytest.approx(27.8 / 6)
    assert found.accuracy == pytest.approx(100 * 2 ** (-27.8 / 30))
    assert [review.mark for review in reviews] == ["", "?!", "?", "?", "??", ""]
    shown = "average loss 4.63 discs per move; 1 ?!, 2 ?, 1 ??"
    assert format_summary("Black", found, "discs") == f"Black: accuracy 52.6 %, {shown}"
    nothing = summarise(reviews, 1)
    assert (nothing.moves, nothing.accuracy) == (0, 100)
    assert summarise(reviews[:1], 0).accuracy == 100
    forced = next(review for review in review_game(random_game(7), FakeEngine(), LIMIT) if not review.is_choice)
    assert summarise([forced], forced.position.side).moves == 0


def test_a_loss_of_seeds_weighs_twice_that_of_discs() -> None:
    start = Position.start(Game.ABAPA)
    losses = (0.9, 1.0, 2.0, 5.0)
    reviews = [MoveReview(2 * at + 1, start, 0, 0.0, loss, 1, loss, True, ()) for at, loss in enumerate(losses)]
    assert [review.mark for review in reviews] == ["", "?!", "?", "??"]
    assert summarise(reviews, 0).accuracy == pytest.approx(100 * 2 ** (-8.9 / 4 / 2.5))
    seeds, discs = format_legend(Game.ABAPA), format_legend(Game.OTHELLO)
    assert seeds.splitlines() == [
        "values in seeds (= if exact)",
        "marks by loss: ?! inaccuracy from 1, ? mistake from 2, ?? blunder from 5",
    ]
    assert discs.splitlines() == [
        "values in discs (= if exact)",
        "marks by loss: ?! inaccuracy from 2, ? mistake from 4, ?? blunder from 10",
    ]


def awale_game(diagram: str, moves: str, game: Game = Game.ABAPA) -> Record:
    return parse_transcript(moves, parse_position(diagram, game))


def test_the_value_of_a_move_includes_its_capture() -> None:
    record = awale_game("4-0-0-0-0-2-1-1-0-0-0-3-20-17-S", "F")  # captures 4: a lead of 3 becomes one of 7
    (review,) = review_game(record, ScriptedEngine(record, {1: ("A", 4.0, False), 2: ("f", 1.0, False)}), LIMIT)
    assert (review.value, review.best_value, review.loss, review.mark) == (6, 7, 1, "?!")
    assert review.first_player_value == 6
    (review,) = review_game(record, ScriptedEngine(record, {1: ("A", 2.0, True), 2: ("f", 1.0, True)}), LIMIT)
    assert (review.value, review.best_value, review.loss) == (6, 6, 0)


@pytest.mark.parametrize("other", [4, 0], ids=["a choice", "forced"])
def test_a_winning_capture_has_no_loss_and_no_effect_on_earlier_moves(other: int) -> None:
    record = awale_game(f"{other}-0-0-0-1-1-1-1-1-0-0-3-22-{18 - other}-S", "EcF")
    assert record.final.score() == (26, 18 - other)
    # The values are those of a game that continues until all seeds are captured.
    answers = {
        1: ("E", 8.0, True),
        2: ("a", -8.0, True),
        3: ("F", 8.0, True),
    }
    last, before, first = review_game(record, ScriptedEngine(record, answers), LIMIT)
    assert (last.value, last.best_value, last.loss) == (8 + other, 8 + other, 0)
    assert (before.value, before.best_value, before.loss) == (-12 - other, -12 - other, 0)
    assert (first.value, first.best_value, first.loss) == (12 + other, 12 + other, 0)


@pytest.mark.parametrize("game", [Game.ABAPA, Game.ROMEIN], ids=str)
def test_exact_reviews_of_awale_are_those_of_the_solved_endgames(game: Game) -> None:
    base, captures = load_or_build_tablebase(game), 0
    start = parse_position("1-0-2-1-0-3-0-1-1-0-1-1-18-19-S", game)
    with Engine(game, hash=1) as engine:
        for seed in range(3):
            moves = random_game(seed, start).moves[:12]  # too short for a repetition
            for review in review_game(Record(start, moves), engine, LIMIT):
                position, after = review.position, review.position.after(review.move)
                values = {move: position.lead + value for move, value in base.move_values(position).items()}
                assert review.best_value == max(values.values())
                assert review.exact
                assert review.loss == max(values.values()) - values[review.move]
                captures += after.lead != -position.lead
    assert captures


def test_format_value() -> None:
    assert [format_value(value) for value in (4.0, -2.54, 0.0, -0.01)] == ["+4", "-2.5", "+0", "+0"]
    assert format_value(-16, True) == "=-16"


def test_the_chart_shows_values_above_and_below_the_line() -> None:
    start = Position.start()
    values = (2.0, -4.0, 10.0)
    reviews = [MoveReview(ply, start, 19, value, value, 19, 0, True, ()) for ply, value in enumerate(values, 1)]
    reviews[1] = MoveReview(2, start, 19, -4.0, 2.0, 20, 6.0, True, ())
    rows = draw_chart(reviews, 4).plain.splitlines()[1:]
    assert [row[6::6][:4].ljust(4) for row in rows] == [
        "  █ ",
        "  █ ",
        "  █ ",
        "  █ ",
        "█ █ ",
        "─?──",
        " █  ",
        " █  ",
        "    ",
        "    ",
        "    ",
        "1   ",
    ]
    assert [row[:6] for row in (rows[0], rows[5], rows[10])] == [" +10 ┤", "   0 ┼", " -10 ┤"]


GAME = format_transcript(random_game(7))
WORDS = ("--size", "4", "--limit", "4")


def analyse_json(*words: str, command: Callable[..., Any] = awello, **more: str) -> Any:
    done = command("analyse", *words, "--json", **more)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_command_with_json() -> None:
    found = analyse_json(GAME, *WORDS)
    assert (found["game"]["game"], found["game"]["start"], found["complete"]) == ("othello4", None, True)
    assert found["moves"][0].keys() >= {"ply", "side", "move", "value", "best", "best_value", "loss", "exact", "pv"}
    names = [move["move"] for move in found["moves"]]
    assert names == found["game"]["moves"]
    assert "".join(name for name in names if name != "pass") == GAME
    assert [move["ply"] for move in found["moves"]] == list(range(1, len(names) + 1))
    record = random_game(7)
    for move, position, played in zip(found["moves"], record.positions(), record.moves, strict=False):
        if move["exact"] and 16 - sum(position.counts()) <= EXACT_EMPTIES:
            assert move["value"] == -solve(reference_at(position.after(played)))
    assert found["moves"][-1]["exact"]
    assert all(0 <= side["accuracy"] <= 100 for side in found["sides"])


def test_a_game_from_a_file_or_a_pipe(tmp_path: Path) -> None:
    file = tmp_path / "game.txt"
    file.write_text(f"# a game\n\n{GAME} % its moves\nf5d6\n")
    assert read_record(str(file), Game.OTHELLO4) == read_record(GAME, Game.OTHELLO4) == random_game(7)
    assert analyse_json("-", *WORDS, command=fresh_awello, stdin=GAME)["game"] == analyse_json(GAME, *WORDS)["game"]


def test_the_command_as_text() -> None:
    done = awello("analyse", GAME, *WORDS)
    assert done.returncode == 0, done.stderr
    assert all(part in done.stdout for part in ("for Black", "best line", "0 ┼", "Black: accuracy", "White: accuracy"))
    assert done.stdout.splitlines()[-1] == random_game(7).describe()
    assert max(map(len, done.stdout.splitlines())) <= 80
    unfinished = awello("analyse", "f5d6c3", "--limit", "2")
    assert unfinished.stdout.endswith("unfinished after 3 moves\n")


@pytest.mark.parametrize("kind", ["svg", "png"])
def test_the_command_plots(kind: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    file = tmp_path / f"game.{kind}"
    done = awello("analyse", GAME, *WORDS, "--plot", str(file))
    assert done.returncode == 0, done.stderr
    assert file.read_bytes().startswith(b"<?xml" if kind == "svg" else b"\x89PNG")
    assert list(tmp_path.iterdir()) == [file]


def test_the_command_reviews_awale() -> None:
    found = analyse_json("4-0-0-0-0-2-1-1-0-0-0-3-20-17-S F", "--variant", "romein", "--limit", "4")
    assert (found["game"]["game"], found["game"]["moves"]) == ("romein", ["F"])
    assert found["game"]["start"] == "4-0-0-0-0-2-1-1-0-0-0-3-20-17-S"
    assert found["moves"][0]["loss"] == 0
    assert [side["moves"] for side in found["sides"]] == [1, 0]
    done = awello("analyse", "1. F f 2. B e", "--limit", "4")
    assert all(part in done.stdout for part in ("value for South", "in seeds", "North: accuracy"))


class InterruptedEngine(FakeEngine):
    """An engine whose third analysis is interrupted by Ctrl-C."""

    def __init__(self, game: Game, threads: int, hash: int) -> None:
        super().__init__()

    def __enter__(self) -> "InterruptedEngine":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def analyse(self, position: Position, limit: Limit) -> Iterator[Analysis]:
        if len(self.analysed) == 2:
            raise KeyboardInterrupt
        return super().analyse(position, limit)


def test_ctrl_c_shows_the_moves_reviewed_so_far(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("awello.cli.analyse.Engine", InterruptedEngine)
    with pytest.raises(typer.Exit) as left:
        analyse(GAME, size=4)
    assert left.value.exit_code == 130
    shown = capsys.readouterr().out
    judged = [line.split("│")[1].strip() for line in shown.splitlines() if line.startswith("│")]
    assert judged == [str(ply) for ply in range(14 - len(judged), 14)]
    assert f"the last {len(judged)} of 13 moves were reviewed" in shown
    with pytest.raises(typer.Exit):
        analyse(GAME, size=4, json=True)
    found = json.loads(capsys.readouterr().out)
    assert (len(found["moves"]), found["complete"]) == (len(judged), False)


INVALID_INPUT: list[tuple[dict[str, Any], str]] = [
    ({"record": " "}, "the text contains no game and no position: paste a board"),
    ({"record": "f5x9"}, "'x9' after f5 is not a move"),
    ({"record": "4-4-4-4-4-4-4-4-4-4-4-4-0-0-S"}, "a position without moves"),
    ({"record": "FfBe", "size": 8, "variant": "romein"}, "Awalé has no size 8"),
    ({"record": "a1"}, "move 1: a1 is not a legal move"),
    ({"record": "1. f5 " * 100}, "move 2: f5 is not a legal move"),
    ({"record": "f5", "size": 5}, "size 5: choose 4, 6 or 8"),
    ({"record": "f5", "limit": "soon"}, "'soon' is not a limit"),
    ({"record": "f5", "plot": Path("game.pdf")}, "ends in .svg or .png"),
    ({"record": "f5", "plot": Path("nowhere/game.svg")}, "there is no folder 'nowhere'"),
    ({"record": "f5", "plot": Path("/")}, "cannot plot to '/'"),
]


@pytest.mark.parametrize(("words", "part"), INVALID_INPUT, ids=[part for _, part in INVALID_INPUT])
def test_errors_name_the_bad_input(words: dict[str, Any], part: str) -> None:
    with pytest.raises(AwelloError) as error:
        analyse(**words)
    assert part in str(error.value)


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("missing.txt",), "file 'missing.txt' does not exist"),
        (("f5d6", "--variant", "abapa"), "this is a game of Othello, not of Awalé: omit --variant"),
        (("FfBe", "--size", "8"), "this is a game of Awalé, not of Othello: omit --size"),
        (("-",), "input: the text contains no game"),
        (("f5", "--threads", "0"), "--threads"),
    ],
)
def test_bad_input_gives_a_one_line_error(words: tuple[str, ...], part: str) -> None:
    done = awello("analyse", *words)
    messages = [line for line in done.stderr.splitlines() if "compiling" not in line]
    assert (done.returncode, done.stdout, len(messages)) == (2, "", 1)
    assert part in messages[0]


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (b"f5a1", "game.txt: move 2"),
        (b"\xff\xfe", "is not UTF-8 text"),
        (b"# none\n", "game.txt: the text contains no game"),
    ],
)
def test_errors_name_the_bad_file(content: bytes, part: str, tmp_path: Path) -> None:
    (tmp_path / "game.txt").write_bytes(content)
    with pytest.raises(ConfigError) as error:
        analyse(str(tmp_path / "game.txt"))
    assert part in str(error.value)
