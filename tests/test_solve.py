"""`awello solve`: values compared with a plain solver on the reference rules, files, and invalid input."""

import json
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, awello, fresh_awello, restore_interrupts
from reference_rules import PASS, ReferenceOthello

START4 = "-----OX--XO----- X"
START4_SCORE = -10  # Black loses 3-11, and the two empty squares go to White
PASSING = "XXXXXXXXXXXXXXO- O"  # White must pass, then Black flips the last white disc
OVER = "XXXXXXXXXXXXXX-- O"


def solve(*words: str, stdin: str = "", status: int = 0) -> list[dict[str, Any]]:
    done = awello("solve", "othello", *words, "--json", stdin=stdin)
    assert done.returncode == status, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def solve_plainly(reference: ReferenceOthello, alpha: int = -64, beta: int = 64) -> int:
    """Return the score for the mover with best play, by plain alpha-beta."""
    moves = reference.legal_moves()
    if not moves:
        black, white = reference.score()
        return white - black if reference.side else black - white
    for move in moves:
        alpha = max(alpha, -solve_plainly(reference.play(move), -beta, -alpha))
        if alpha >= beta:
            break
    return alpha


def format_move(reference: ReferenceOthello, move: int) -> str:
    margin = (8 - reference.size) // 2
    return "pass" if move == PASS else f"{'abcdefgh'[move % 8 - margin]}{move // 8 - margin + 1}"


def format_board(reference: ReferenceOthello) -> str:
    margin = (8 - reference.size) // 2
    inside = range(margin, 8 - margin)
    squares = "".join(reference.squares[8 * row + column] for row in inside for column in inside)
    return f"{squares.replace('.', '-')} {'XO'[reference.side]}"


def sample_late_position(size: int, empties: int, seed: int) -> ReferenceOthello:
    """Return a position with `empties` empty squares from a random game, in which the game is not over."""
    rng = random.Random(f"{size}/{empties}/{seed}")
    while True:
        reference = ReferenceOthello.start(size)
        while (moves := reference.legal_moves()) and format_board(reference).count("-") > empties:
            reference = reference.play(rng.choice(moves))
        if moves:
            return reference


LATE = [
    sample_late_position(size, empties, seed) for size in (8, 6) for empties in (1, 4, 6, 7, 8) for seed in range(2)
]


@pytest.fixture(scope="module")
def solved_positions() -> list[tuple[str, dict[str, int]]]:
    """Return late positions as text, with the value of each move according to the plain solver."""
    return [
        (
            format_board(reference),
            {format_move(reference, move): -solve_plainly(reference.play(move)) for move in reference.legal_moves()},
        )
        for reference in LATE
    ]


def test_scores_agree_with_the_plain_solver(solved_positions: list[tuple[str, dict[str, int]]]) -> None:
    found = solve("-", stdin="\n".join(text for text, _ in solved_positions))
    assert [result["position"] for result in found] == [text for text, _ in solved_positions]
    for result, (text, values) in zip(found, solved_positions, strict=True):
        assert result["exact"] is True, text
        assert result["score"] == max(values.values()), text
        assert values[result["best"]] == result["score"], text


def test_winners_agree_with_the_plain_solver(solved_positions: list[tuple[str, dict[str, int]]]) -> None:
    found = solve("-", "--wld", stdin="\n".join(text for text, _ in solved_positions))
    for result, (text, values) in zip(found, solved_positions, strict=True):
        best, chosen = max(values.values()), values[result["best"]]
        assert result["score"] == (best > 0) - (best < 0) == (chosen > 0) - (chosen < 0), text


def test_scores_in_a_file_are_checked(solved_positions: list[tuple[str, dict[str, int]]], tmp_path: Path) -> None:
    file = tmp_path / "late.obf"
    lines = []
    for text, values in solved_positions:
        ordered = sorted(values, key=lambda name: -values[name])
        lines.append(f"{text}; " + " ".join(f"{name}:{values[name]:+d};" for name in ordered))
    file.write_text("% from the plain solver\n\n" + "\n".join(lines) + "\n")
    for words in ((), ("--wld",), ("--threads", "2", "--hash", "1")):
        done = awello("solve", "othello", str(file), *words)
        assert done.returncode == 0, done.stdout
        assert done.stdout.count("✓") == len(solved_positions)
        assert done.stdout.splitlines()[-1].startswith(
            f"{len(solved_positions)} positions, {len(solved_positions)} of {len(solved_positions)} correct"
        )


def test_the_smallest_board() -> None:
    assert solve_plainly(ReferenceOthello.start(4)) == START4_SCORE
    by_name, by_text = solve("start", "--size", "4")[0], solve(START4)[0]
    assert by_name.keys() == by_text.keys() >= {"position", "score", "best", "exact", "nodes", "seconds"}
    assert by_name["position"] == by_text["position"] == START4
    assert by_name["score"] == by_text["score"] == START4_SCORE
    assert by_name["best"] in ("b1", "a2", "d3", "c4")
    assert by_name["exact"] is True
    assert by_name["nodes"] > 0
    assert by_name["seconds"] >= 0  # may be rounded to 0
    assert solve("start", "--size", "4", "--wld")[0]["score"] == -1


def test_moves_from_the_start() -> None:
    after = solve("B1", "--size", "4")[0]
    assert (after["position"], after["score"]) == ("-X---XX--XO----- O", -START4_SCORE)
    assert solve("1. b1 a1 " + " " * 300, "--size", "4")[0]["position"] == "OX---OX--XO----- X"


def test_a_long_search_is_announced(monkeypatch: pytest.MonkeyPatch) -> None:
    notice = "awello: 12 empty squares: this search can take very long; Ctrl-C stops it"
    assert notice not in awello("solve", "othello", START4).stderr
    monkeypatch.setattr("awello.cli.solve.LONG_SEARCH_EMPTIES", 12)
    assert notice in awello("solve", "othello", START4, "--json").stderr


def test_a_pass_and_a_game_that_is_over() -> None:
    passing, over, empty = solve("-", stdin=f"{PASSING}\n{OVER}\n{'-' * 64} X")
    assert (passing["score"], passing["best"], passing["exact"]) == (-16, "pass", True)
    assert (over["score"], over["best"], over["exact"], over["nodes"]) == (-16, None, True, 0)
    assert (empty["score"], empty["best"]) == (0, None)
    assert [result["score"] for result in solve("-", "--wld", stdin=f"{PASSING}\n{OVER}")] == [-1, -1]


def test_the_table() -> None:
    done = fresh_awello("solve", "othello", "-", stdin=f"{START4}\n{PASSING}; -16;\n{OVER}; -16; % a comment")
    header, start, passing, over, totals = done.stdout.splitlines()
    assert header.split() == ["#", "empties", "score", "best", "seconds", "nodes", "M", "nodes/s", "best", "line"]
    number, empties, score, best, *figures = start.split()
    assert (number, empties, score) == ("1", "12", "-10")
    assert figures[3] == best  # the best line begins with the best move
    assert passing.split()[:5] == ["2", "1", "-16", "pass", "✓"]
    assert passing.split()[-2:] == ["pass", "d4"]
    assert over.split()[:5] == ["3", "2", "-16", "-", "✓"]
    assert totals.startswith("3 positions, 2 of 2 correct: ")
    assert totals.endswith("M nodes/s")
    shown = awello("solve", "othello", START4, "--wld").stdout.splitlines()
    assert shown[1].split()[:3] == ["1", "12", "loss"]
    assert shown[2].startswith("1 position: ")


@pytest.mark.parametrize("line", [f"{START4}; -8;", f"{PASSING}; PA:-14;", f"{OVER}; +16;"])
def test_a_wrong_score_is_marked(line: str) -> None:
    done = awello("solve", "othello", "-", stdin=f"{PASSING}; -16;\n{line}")
    assert done.returncode == 1
    assert done.stdout.count("✓") == done.stdout.count("✗") == 1
    assert "2 positions, 1 of 2 correct" in done.stdout
    assert len(solve("-", stdin=line, status=1)) == 1


def test_a_wrong_move_is_marked() -> None:
    reference = sample_late_position(8, 6, 1)
    values = {format_move(reference, move): -solve_plainly(reference.play(move)) for move in reference.legal_moves()}
    best = max(values.values())
    worse = next(name for name in values if values[name] < best)
    assert len(solve("-", stdin=f"{format_board(reference)}; {best:+d};")) == 1
    assert len(solve("-", stdin=f"{format_board(reference)}; {worse}:{best:+d};", status=1)) == 1


def test_with_wld_only_the_sign_is_checked() -> None:
    assert len(solve("-", "--wld", stdin=f"{START4}; -2;\n{START4}; B1:-2; A2:-16; D3:-10; C4:-10;")) == 2
    for wrong in ("+0", "+10"):
        assert len(solve("-", "--wld", stdin=f"{START4}; {wrong};", status=1)) == 1


def test_sizes_may_be_mixed_in_a_file() -> None:
    found = solve("-", stdin=f"{START4}\n{format_board(LATE[0])}\n{format_board(LATE[-1])}\n{START4}")
    assert [len(result["position"]) for result in found] == [18, 66, 38, 18]
    assert found[0]["score"] == found[3]["score"] == START4_SCORE
    assert found[0]["nodes"] == found[3]["nodes"]  # each position is solved independently


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_an_interruption_ends_with_the_totals() -> None:
    words = [sys.executable, "-m", "awello", "solve", "othello", "-"]
    pipe = subprocess.PIPE

    with subprocess.Popen(
        words, cwd=ROOT, text=True, preexec_fn=restore_interrupts, stdin=pipe, stdout=pipe, stderr=pipe
    ) as process:
        assert process.stdin and process.stdout and process.stderr
        process.stdin.write(
            f"{PASSING}; -16;\n{'-' * 27}OX------XO{'-' * 27} X\n"
        )  # the start position takes too long to solve
        process.stdin.close()
        seen = [process.stdout.readline(), process.stdout.readline()]
        process.send_signal(signal.SIGINT)
        rest, errors = process.stdout.read(), process.stderr.read()
        assert process.wait(60) == 130
    assert seen[1].split()[:5] == ["1", "1", "-16", "pass", "✓"]
    assert rest.splitlines()[-1].startswith("1 position, 1 of 1 correct: ")
    assert errors.splitlines()[-1] == "awello: interrupted"


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("awale", "start", "--limit", "soon"), "'soon' is not a limit"),
        (("awale", "nowhere.txt"), "nowhere.txt: no such file or folder; check the path"),
        (("chess", "start"), "unknown game 'chess'"),
        (("othello", "missing.obf"), "'missing.obf' is not a file, board or moves"),
        (("othello", ""), "'' is not a file, board or moves"),
        (("othello", "0-0-0-0-1-1-0-0-0-0-0-0-24-22-S"), "is not a file, board or moves"),
        (("othello", "tests"), "tests: this is a folder; give a file"),
        (("othello", "-" * 63 + " X"), "the board has 63 squares"),
        (("othello", f"{START4}; A1:+2;"), "a1 is not a legal move"),
        (("othello", "f5f5"), "move 2: f5 is not a legal move"),
        (("othello", START4, "--limit", "5"), "--limit works only with awale: omit --limit"),
        (("othello", "start", "--size", "5"), "size 5: choose 4, 6 or 8"),
        (("othello", START4, "--size", "6"), "position 1 has a board of size 4, not 6"),
        (("othello", "start", "--threads", "0"), "--threads"),
        (("othello", "start", "--hash", "0"), "--hash"),
        (("othello", "start", "--hash", "65537"), "--hash"),
        (("othello", "start", "--nonsense"), "--nonsense"),
        (("othello",), "SOURCE"),
    ],
)
def test_invalid_input_is_a_one_line_error(words: tuple[str, ...], part: str) -> None:
    done = awello("solve", *words)
    errors = [line for line in done.stderr.splitlines() if "compiling" not in line]
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(errors) == 1
    assert part in errors[0]


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (b"% a comment\n-----OX--XO----- X; A1:+2;\n", "problems.obf, line 2: a1 is not a legal move"),
        (b"", "problems.obf contains no positions"),
        (b"% nothing\n", "problems.obf contains no positions"),
        (b"\xff\xfe\x00", "problems.obf is not UTF-8 text"),
    ],
)
def test_an_invalid_file_is_a_one_line_error(content: bytes, part: str, tmp_path: Path) -> None:
    file = tmp_path / "problems.obf"
    file.write_bytes(content)
    done = awello("solve", "othello", str(file))
    assert (done.returncode, done.stdout) == (2, "")
    assert part in done.stderr
    assert "Traceback" not in done.stderr


def test_an_error_in_standard_input_names_the_line() -> None:
    done = awello("solve", "othello", "-", stdin=f"{START4}\n{START4}; A1:+2;")
    assert (done.returncode, done.stdout) == (2, "")
    assert "standard input, line 2: a1 is not a legal move" in done.stderr
