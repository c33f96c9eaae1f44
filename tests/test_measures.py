"""What the champion is measured by and learns from: its signature, probable cuts, the weights of patterns."""

import gzip
import json
import re
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT, awello

from awello.engine.bench import GAMES
from awello.engine.probcut import TERMS
from awello.errors import ConfigError
from awello.evaluate.patterns import WEIGHTS
from awello.formats.transcript import parse_transcript
from awello.lab import probcut
from awello.learn import patterns


def test_the_signature_is_that_of_the_readme() -> None:
    done = awello("bench", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    written = re.search(r"signature[^\d]*([\d,]+) nodes", (ROOT / "README.md").read_text("utf-8"))
    assert written, "the README gives the signature"
    assert found["signature"] == int(written.group(1).replace(",", ""))
    assert found["searches"] == 3 * len(GAMES)


def test_a_linear_deviation_is_found_again() -> None:
    true = dict(zip(TERMS, (2.0, -0.02, 0.25, 0.1), strict=True))
    pairs = [(empties, deep, shallow) for empties in (20, 30) for deep in (4, 6, 8) for shallow in (0, 2)]
    line = {(e, d, s): 2.0 - 0.02 * e + 0.25 * (d - s) + 0.1 * s for e, d, s in pairs}
    found = probcut.fit(line)
    assert found.coefficients == pytest.approx(true, abs=1e-3) and found.error < 1e-6
    assert found.at((24, 8, 2)) == pytest.approx(2.0 - 0.48 + 1.5 + 0.2, abs=1e-2)


def test_probable_cuts_are_measured(tmp_path: Path) -> None:
    done = awello("probcut", "--positions", "2", "--out", str(tmp_path / "cuts"), "--json")
    assert done.returncode == 0, done.stderr
    written = json.loads((tmp_path / "cuts/probcut.json").read_text())
    for kind, found in json.loads(done.stdout).items():
        found.pop("error")
        assert written[kind] == found and tuple(found) == TERMS
    assert "root mean square error" in (tmp_path / "cuts/report.md").read_text("utf-8")


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """A folder with the games of the bench, as texts and as WTHOR files."""
    (tmp_path / "games").mkdir()
    with gzip.open(tmp_path / "games/bench.gz", "wt") as file:
        file.writelines(f"{game}: +2\n" for game in GAMES)
    (tmp_path / "wthor").mkdir()
    content = bytes(4) + len(GAMES).to_bytes(4, "little") + bytes(8)
    for game in GAMES:
        squares = [(int(row), "abcdefgh".index(column) + 1) for column, row in re.findall("([a-h])([1-8])", game)]
        content += bytes(8) + bytes(10 * row + column for row, column in squares).ljust(60, b"\0")
    (tmp_path / "wthor/bench.wtb").write_bytes(content)
    return tmp_path


def test_both_formats_give_the_same_examples(archive: Path) -> None:
    games = patterns.read_games(archive)
    half = len(GAMES)
    assert games.shape == (2 * half, 60) and (games[:half] == games[half:]).all()
    examples = patterns.collect(games[:half])
    for number, text in enumerate(GAMES):
        positions = [position for position in parse_transcript(text).positions() if position.legal_moves() != ()]
        final = parse_transcript(text).final.score()
        mine = examples.game == number
        seen = {(p.own, p.opp): final[p.side] - final[1 - p.side] for p in positions}
        for own, opp, score in zip(examples.own[mine], examples.opp[mine], examples.scores[mine], strict=True):
            assert seen[int(own), int(opp)] == score
        assert mine.sum() >= 60 - patterns.LEAST


def test_weights_are_learnt(archive: Path) -> None:
    out = archive / "weights.npz"
    done = awello("train", "patterns", "--data", str(archive), "--out", str(out), "--json")
    assert done.returncode == 0, done.stderr
    weights = np.load(out)["weights"]
    assert weights.shape == (patterns.STAGES, WEIGHTS) and weights.dtype == np.int16
    rows = json.loads(done.stdout)["stages"]
    assert len(rows) == patterns.STAGES and all(row["examples"] > 0 for row in rows)
    assert (weights != 0).any(axis=1).all(), "every stage has learnt something"


def test_nothing_to_learn_from(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no games"):
        patterns.read_games(tmp_path)
    wrong = awello("train", "foo", "--data", str(tmp_path))
    assert wrong.returncode == 2 and wrong.stderr.count("\n") == 1 and "No such command 'foo'" in wrong.stderr
