"""Self-play of the champion: legal, reproducible and resumable games."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import awello

from awello.arena.openings import draw_random_opening, load_openings
from awello.arena.runner import Runner
from awello.cli.selfplay import parse_plies
from awello.engine.awale_search import AwaleWorker
from awello.engine.awale_state import PAST_PLIES
from awello.engine.engine import Engine
from awello.engine.othello_search import OthelloWorker
from awello.engine.probcut import NO_SELECTIVITY
from awello.engine.threads import SearchRequest
from awello.errors import ConfigError, SpecError
from awello.formats.detection import detect_game
from awello.formats.transcript import parse_transcript
from awello.kernel import U
from awello.learn.positions import read_games
from awello.learn.selfplay import SelfplayPlan, play_game
from awello.limits import Clock, Limit
from awello.position import Position
from awello.record import Record
from awello.rules.game import Game
from awello.rules.othello import format_square

BOTH = (Game.OTHELLO, Game.ABAPA)


def transcripts(plan: SelfplayPlan, folder: Path | None = None, jobs: int = 1) -> list[str]:
    """Play the games of a plan; return their transcripts."""
    with Runner(plan, jobs, folder) as runner:
        assert runner.run()
        return [result.moves for result in runner.results]


def test_games_are_legal_and_finished_and_have_the_right_result(game: Game) -> None:
    with Runner(SelfplayPlan(game, 1, 6, seed=3, opening_plies=(2, 4))) as runner:
        runner.run()
    assert len({result.moves for result in runner.results}) == 6
    for result in runner.results:
        record = parse_transcript(result.moves, Position.start(game))
        assert record.final.over and result.score == record.final.score()
        assert detect_game(result.moves, game).record == record


@pytest.mark.parametrize("game", BOTH)
def test_the_engine_plays_like_the_champion_of_the_level(game: Game) -> None:
    with Engine(game, hash=1) as engine:
        for seed in range(12):
            position = Record(Position.start(game), draw_random_opening(game, 4 * seed + 3, str(seed))).final
            limit, moves = Limit(level=1 + seed % 6), []
            if len(position.legal_moves()) > 1:
                for find_best_move in (
                    engine.find_best_move,
                    lambda position, limit: engine.choose(position, Clock(), limit).move,
                ):
                    engine.clear()
                    moves.append(find_best_move(position, limit))
                assert moves[0] == moves[1]


def prepare_state(engine: Engine, position: Position) -> list[int]:
    """Search a position in the engine's first thread; return this thread's state from before the search."""
    worker, empties = engine.search_threads.workers[0], 64 - (position.own | position.opp).bit_count()
    engine.search_threads.begin_search()
    question = SearchRequest(position, U(sum(1 << move for move in position.legal_moves())), -3, 3, 5, NO_SELECTIVITY)
    worker.prepare(question, 1, 0)
    if isinstance(worker, AwaleWorker):
        rows = worker.state.stack
        known = [
            *rows["own"][:PAST_PLIES].tolist(),
            *rows["opp"][:PAST_PLIES].tolist(),
            int(rows[PAST_PLIES].plies_since_capture),
        ]
    else:
        assert isinstance(worker, OthelloWorker)
        known = list(worker.state.pattern_indices[empties].lanes)
    worker.search(question)
    return known


@pytest.mark.parametrize("game", BOTH)
def test_a_search_restores_the_state_of_its_thread(game: Game) -> None:
    start = Record(Position.start(game), draw_random_opening(game, 15, "1")).final
    with Engine(game, hash=1) as engine:
        for position in (start, start, start.after(start.legal_moves()[0]), start, start):
            with Engine(game, hash=1) as fresh:
                assert prepare_state(engine, position) == prepare_state(fresh, position)
            assert any(prepare_state(engine, position))
        engine.clear()
        with Engine(game, hash=1) as fresh:
            assert prepare_state(engine, start) == prepare_state(fresh, start)


@pytest.mark.parametrize("game", BOTH)
def test_any_number_of_jobs_gives_the_same_games(game: Game) -> None:
    plan = SelfplayPlan(game, 1, 37, seed=5, opening_plies=(4, 8))
    assert transcripts(plan, jobs=2) == transcripts(plan)


class CountingEngine(Engine):
    """An engine that counts the nodes of all its searches."""

    visited = 0

    def find_best_move(self, position: Position, limit: Limit) -> int:
        move = super().find_best_move(position, limit)
        self.visited += self.nodes
        return move


@pytest.mark.parametrize("game", BOTH)
def test_a_game_does_not_depend_on_those_before_it(game: Game) -> None:
    plan, searches = SelfplayPlan(game, 4, 9, opening_plies=(4, 8)), []
    with CountingEngine(game, hash=1) as engine:
        for number in (3, 1, 3, 3):
            engine.visited = 0
            searches.append((play_game(engine, Limit(level=4), plan.opening(number)), engine.visited))
    assert searches[0] == searches[2] == searches[3] != searches[1]


@pytest.mark.parametrize("cut", [0, 1, 30, 150, 400, -1, -2])
def test_a_truncated_journal_is_resumed(cut: int, tmp_path: Path) -> None:
    plan = SelfplayPlan(Game.OTHELLO6, 1, 8, seed=2, opening_plies=(3, 9))
    whole, journal = transcripts(plan, tmp_path / "out"), tmp_path / "out" / "games.jsonl"
    torn = journal.read_bytes()[:cut]
    journal.write_bytes(torn)
    with Runner(plan, out=tmp_path / "out") as runner:
        assert len(runner.results) == torn.count(b"\n")
    assert transcripts(plan, tmp_path / "out") == whole
    assert transcripts(replace(plan, games=9), tmp_path / "out")[:8] == whole
    assert len(journal.read_bytes().splitlines()) == 9


@pytest.mark.parametrize(
    "other",
    [
        {"level": 2},
        {"seed": 1},
        {"game": Game.OTHELLO6},
        {"opening_plies": (4, 9)},
        {"openings": ((19,),)},
    ],
    ids=str,
)
def test_a_folder_of_another_plan_is_refused_and_unchanged(other: dict[str, Any], tmp_path: Path) -> None:
    plan = SelfplayPlan(Game.OTHELLO, 1, 1, openings=((37,),), opening_plies=(4, 8))
    transcripts(plan, tmp_path)
    before = (tmp_path / "games.jsonl").read_text()
    with pytest.raises(ConfigError, match=r"contains another self-play run .*: choose another --out"):
        transcripts(replace(plan, **other), tmp_path)
    assert (tmp_path / "games.jsonl").read_text() == before


def test_games_are_read_for_training(tmp_path: Path) -> None:
    moves = transcripts(SelfplayPlan(Game.OTHELLO, 1, 5, opening_plies=(4, 8)), tmp_path)
    for source in (tmp_path, tmp_path / "games.jsonl"):
        games = read_games(source)
        assert ["".join(format_square(int(s), 8) for s in row if s < 64) for row in games] == moves


def test_games_begin_with_the_openings_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "openings").write_text("f5d6c3  # one\nf5f6e6f4\n")
    openings = load_openings(tmp_path / "openings", Game.OTHELLO)
    plan = SelfplayPlan(Game.OTHELLO, 1, 3, openings=openings)
    assert {plan.opening(number) for number in range(20)} == {*openings}
    lengths = set()
    for number in range(60):
        opening = SelfplayPlan(Game.OTHELLO, 1, 1, openings=openings, opening_plies=(1, 3)).opening(number)
        line = next(line for line in openings if opening[: len(line)] == line)
        lengths.add(len(opening) - len(line))
    assert lengths == {1, 2, 3}
    assert all(line.startswith(("f5d6c3", "f5f6e6f4")) for line in transcripts(plan))


def test_the_command(tmp_path: Path) -> None:
    file = tmp_path / "games"
    words = ("selfplay", "awale", "--limit", "level=1", "--opening-plies", "4-8", "--out", str(file), "--jobs", "1")
    done = awello(*words, "--games", "3")
    assert done.returncode == 0 and done.stdout.startswith("3 games (3 new), ")
    assert (file / "games.jsonl").read_text().startswith('{"game": "abapa", "players": ["champion@level=1",')
    report = json.loads(awello(*words, "--games", "5", "--json").stdout)
    assert (report["games"], report["new"], report["folder"]) == (5, 2, str(file))


def test_identical_games_are_refused(tmp_path: Path) -> None:
    refused = awello("selfplay", "othello", "--limit", "level=1", "--out", str(tmp_path / "games"))
    assert refused.returncode == 2 and refused.stderr.count("\n") == 1 and "be identical" in refused.stderr
    assert not (tmp_path / "games").exists()


def test_a_number_of_plies_or_a_range() -> None:
    assert (parse_plies("7"), parse_plies("4-16")) == ((7, 7), (4, 16))
    for text, message in {"8-4": "write 4-8", "few": "'few' is not a number", "-3": "'-3' is not a number"}.items():
        with pytest.raises(ConfigError, match=message):
            parse_plies(text)


def test_levels_are_checked() -> None:
    with pytest.raises(SpecError, match="level 31 does not exist"):
        SelfplayPlan(Game.OTHELLO, 31, 1)
