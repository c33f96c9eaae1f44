"""The node signature of `awello bench`, ProbCut measurements and the training of pattern weights."""

import gzip
import json
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT, awello, fresh_awello

from awello.bits import find_moves
from awello.engine.bench import BENCH_GAMES
from awello.engine.engine import Engine
from awello.engine.probcut import COEFFICIENT_NAMES
from awello.errors import ConfigError
from awello.evaluate import patterns
from awello.evaluate.weights import STAGE_COUNT, compute_tied_indices, load_pattern_file, load_pattern_weights, stage_of
from awello.folders import data_file
from awello.formats.transcript import parse_transcript
from awello.kernel import U
from awello.lab import probcut
from awello.learn import positions
from awello.learn.labels import PositionLabeller
from awello.learn.pattern_kernels import find_weight_indices
from awello.learn.patterns import PatternTraining, PatternTrainingConfig
from awello.learn.ridge import Ridge
from awello.limits import Limit
from awello.position import Position
from awello.rules.game import PASS, Game
from awello.rules.othello import mirror


def test_the_signature_matches_the_docs() -> None:
    done = fresh_awello("bench", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    written = re.search(r"signature[^\d]*([\d,]+) nodes", (ROOT / "docs" / "benchmarks.md").read_text("utf-8"))
    assert written, "the docs give the signature"
    assert found["signature"] == int(written.group(1).replace(",", ""))
    assert found["searches"] == 3 * len(BENCH_GAMES)


def test_a_linear_deviation_is_recovered() -> None:
    true = dict(zip(COEFFICIENT_NAMES, (2.0, -0.02, 0.25, 0.1), strict=True))
    pairs = [(empties, deep, shallow) for empties in (20, 30) for deep in (4, 6, 8) for shallow in (0, 2)]
    line = {(e, d, s): 2.0 - 0.02 * e + 0.25 * (d - s) + 0.1 * s for e, d, s in pairs}
    found = probcut.fit_deviations(line)
    assert found.coefficients == pytest.approx(true, abs=1e-3) and found.error < 1e-6
    assert found.predict((24, 8, 2)) == pytest.approx(2.0 - 0.48 + 1.5 + 0.2, abs=1e-2)


def test_probcut_is_measured(tmp_path: Path) -> None:
    done = awello("probcut", "--positions", "2", "--out", str(tmp_path / "cuts"), "--json")
    assert done.returncode == 0, done.stderr
    written = json.loads((tmp_path / "cuts/probcut.json").read_text())
    for kind, found in json.loads(done.stdout).items():
        found.pop("error")
        assert written[kind] == found and tuple(found) == COEFFICIENT_NAMES
    assert "root mean square error" in (tmp_path / "cuts/report.md").read_text("utf-8")


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """Return a folder with the games of `awello bench`, as transcripts and as a WTHOR file."""
    (tmp_path / "games").mkdir()
    with gzip.open(tmp_path / "games/bench.gz", "wt") as file:
        file.writelines(f"{game}: +2\n" for game in BENCH_GAMES)
    (tmp_path / "wthor").mkdir()
    content = bytes(4) + len(BENCH_GAMES).to_bytes(4, "little") + bytes(8)
    for game in BENCH_GAMES:
        squares = [(int(row), "abcdefgh".index(column) + 1) for column, row in re.findall("([a-h])([1-8])", game)]
        content += bytes(8) + bytes(10 * row + column for row, column in squares).ljust(60, b"\0")
    (tmp_path / "wthor/bench.wtb").write_bytes(content)
    return tmp_path


def test_both_formats_give_the_same_examples(archive: Path) -> None:
    games = positions.read_games(archive)
    half = len(BENCH_GAMES)
    assert games.shape == (2 * half, 60) and (games[:half] == games[half:]).all()
    examples = positions.collect_positions(games[:half])
    for number, text in enumerate(BENCH_GAMES):
        played = [position for position in parse_transcript(text).positions() if position.legal_moves() != ()]
        final = parse_transcript(text).final.score()
        mine = examples.game == number
        seen = {(p.own, p.opp): final[p.side] - final[1 - p.side] for p in played}
        for own, opp, score in zip(examples.own[mine], examples.opp[mine], examples.scores[mine], strict=True):
            assert seen[int(own), int(opp)] == score
        assert mine.sum() == sum(position.legal_moves() != (PASS,) for position in played)


def test_games_with_illegal_moves_are_skipped() -> None:
    games = np.full((2, 60), positions.NO_MOVE, np.uint8)
    squares = [
        8 * (int(row) - 1) + ord(column) - ord("a") for column, row in re.findall("([a-h])([1-8])", BENCH_GAMES[0])
    ]
    games[:, : len(squares)] = squares
    games[1, 1] = 0
    assert set(positions.collect_positions(games).game) == {0}


def test_sampled_positions_are_legal_and_distinct(archive: Path) -> None:
    examples = positions.collect_positions(positions.read_games(archive))
    own, opp, game = positions.sample_positions(examples, 30, 20, np.random.default_rng(1))
    boards = list(zip(own.tolist(), opp.tolist(), strict=True))
    assert len(set(boards)) == len(boards) > len(BENCH_GAMES) and set(game) <= set(range(2 * len(BENCH_GAMES)))
    played = set(zip(examples.own.tolist(), examples.opp.tolist(), strict=True))
    assert any(board in played for board in boards) and any(board not in played for board in boards)
    for mine, theirs in boards:
        assert mine & theirs == 0 and (mine | theirs).bit_count() == 34 and find_moves.py_func(U(mine), U(theirs))  # type: ignore[attr-defined]


def test_ridge_regression_against_its_closed_form() -> None:
    rng = np.random.default_rng(3)
    places = rng.integers(0, 20, (500, 4)).astype(np.int32)
    targets, start = rng.normal(size=500).astype(np.float32), rng.normal(size=20).astype(np.float32)
    named = np.stack([np.bincount(row, minlength=20) for row in places])
    with ThreadPoolExecutor(2) as pool:
        found = Ridge(places, targets, 20, pool).fit(start, 7.0, 40)
    expected = start + np.linalg.solve(named.T @ named + 7 * np.eye(20), named.T @ (targets - named @ start))
    assert found == pytest.approx(expected, abs=1e-4)


def test_mirrored_boards_use_the_same_weights() -> None:
    position = parse_transcript(BENCH_GAMES[0][:60]).final
    own, opp = (np.array([word, mirror(U(word))], np.uint64) for word in (position.own, position.opp))
    places = np.empty((2, patterns.LANE_COUNT + 2), np.int32)
    find_weight_indices(own, opp, compute_tied_indices(), places, patterns.PatternIndices.new())
    assert sorted(places[0]) == sorted(places[1])
    assert len(np.unique(compute_tied_indices())) == compute_tied_indices().max() + 1 < patterns.STAGE_WEIGHT_COUNT


def test_weight_indices_agree_with_the_engine(archive: Path) -> None:
    examples = positions.collect_positions(positions.read_games(archive))
    chosen = slice(30, 40)
    places = np.empty((10, patterns.LANE_COUNT + 2), np.int32)
    find_weight_indices(
        examples.own[chosen], examples.opp[chosen], compute_tied_indices(), places, patterns.PatternIndices.new()
    )
    for own, opp, named in zip(examples.own[chosen], examples.opp[chosen], places, strict=True):
        indices, learnt = patterns.PatternIndices.new(), load_pattern_file(data_file("patterns.npz"))
        stage = stage_of(64 - int(own | opp).bit_count())
        patterns.fill_indices(int(own), int(opp), indices)
        table = patterns.StageWeights.view(learnt.expand()[stage])
        value = patterns.evaluate_patterns.py_func(indices, table)  # type: ignore[attr-defined]
        assert learnt.weights[stage][named].sum() == value + patterns.evaluate_mobility(own, opp, table)


def test_weights_are_learnt(archive: Path) -> None:
    out = archive / "weights.npz"
    done = awello("train", "patterns", "--data", str(archive), "--out", str(out), "--json")
    assert done.returncode == 0, done.stderr
    learnt = load_pattern_file(out)
    steps = json.loads(done.stdout)["steps"]
    assert (
        learnt.metadata["steps"] == steps and len(steps) == STAGE_COUNT and all(step["examples"] > 0 for step in steps)
    )
    assert (learnt.weights != 0).any(axis=1).all(), "every stage has learnt weights"
    again = awello("train", "patterns", "--data", str(archive), "--out", str(out), "--seed", "2")
    assert again.returncode == 2 and "other games or settings" in again.stderr


def test_steps_of_older_files_are_read() -> None:
    shipped = load_pattern_file(data_file("patterns.npz"))
    config = PatternTrainingConfig(**shipped.metadata["config"])
    no_positions = positions.collect_positions(np.empty((0, 60), np.uint8))
    training = PatternTraining(data_file("patterns.npz"), config, no_positions, 1)
    assert [step.initial_error for step in training.completed] == [
        step["initial_error"] for step in shipped.metadata["steps"]
    ]


@pytest.mark.slow
def test_weights_are_learnt_from_searches_and_training_is_resumed(archive: Path) -> None:
    games = positions.read_games(archive)
    examples, config = positions.collect_positions(games), PatternTrainingConfig.of(games, 1, 1, 100)
    whole = PatternTraining(archive / "whole.npz", config, examples, 2)
    steps = list(whole.run(lambda found: None))
    assert [step.labels for step in steps] == ["results"] * STAGE_COUNT + ["searches"] * STAGE_COUNT
    part = PatternTraining(archive / "part.npz", config, examples, 1)
    for _ in zip(range(STAGE_COUNT + 3), part.run(lambda found: None), strict=False):
        pass
    rest = PatternTraining(archive / "part.npz", config, examples, 1)
    assert len(rest.completed) in (STAGE_COUNT + 3, STAGE_COUNT + 4)
    list(rest.run(lambda found: None))
    assert (rest.weights == whole.weights).all() and rest.completed == whole.completed
    games[0] = positions.NO_MOVE
    other = PatternTrainingConfig.of(games, 1, 1, 100)
    with pytest.raises(ConfigError, match=r"part.npz' belongs to a training run with other games"):
        PatternTraining(archive / "part.npz", other, examples, 1)
    (archive / "part.npz").unlink()
    with pytest.raises(ConfigError, match=r"part.labels' belongs to a training run with other games"):
        list(PatternTraining(archive / "part.npz", other, examples, 1).run(lambda found: None))


def test_labels_agree_with_the_engine(archive: Path) -> None:
    examples = positions.collect_positions(positions.read_games(archive))
    with Engine(hash=1) as engine:
        labeller = PositionLabeller(load_pattern_weights(), 2)
        for empties, depth in ((10, 3), (30, 3)):
            own, opp, _ = positions.sample_positions(examples, empties, 10, np.random.default_rng(1))
            values = labeller.label(own, opp, depth, lambda found: None)
            for mine, theirs, value in zip(own.tolist(), opp.tolist(), values, strict=True):
                position = Position(Game.OTHELLO, mine, theirs, 0)
                if empties == 10:
                    assert list(engine.solve(position))[-1].value == value
                    continue
                found = []
                for plies in (depth - 1, depth):
                    engine.clear()
                    found.append(list(engine.analyse(position, Limit(depth=plies)))[-1].value)
                assert sum(found) / 2 == value


def test_data_without_a_finished_game_are_refused(tmp_path: Path) -> None:
    (tmp_path / "games.txt").write_text("f5d6c3d3c4\n")
    done = awello("train", "patterns", "--data", str(tmp_path / "games.txt"), "--out", str(tmp_path / "w.npz"))
    problem = "the data contain no positions with 58 to 60 empty squares from finished games"
    assert (done.returncode, done.stderr) == (2, f"awello: {problem}: give more games\n")
    assert not (tmp_path / "w.npz").exists()


def test_a_folder_without_games_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no games"):
        positions.read_games(tmp_path)
    wrong = awello("train", "foo", "--data", str(tmp_path))
    assert wrong.returncode == 2 and wrong.stderr.count("\n") == 1 and "there is no command foo" in wrong.stderr
