"""Games of the champion against itself: legal to the end, the same however they are played, resumed or torn."""

import json
from pathlib import Path

import pytest
from conftest import awello

from awello.arena.openings import load_openings, random_opening
from awello.cli.selfplay import parse_plies
from awello.engine import awale, block
from awello.engine.engine import Engine
from awello.engine.probcut import SURE
from awello.engine.threads import Question
from awello.errors import ConfigError, SpecError
from awello.evaluate import patterns
from awello.formats.recognise import recognise
from awello.formats.transcript import parse_transcript
from awello.kernel import U
from awello.learn.selfplay import Settings, format_game, play_game, play_games, resume, write_games
from awello.limits import Clock, Limit
from awello.position import Position
from awello.record import Record
from awello.rules.game import Game

BOTH = (Game.OTHELLO, Game.ABAPA)


def written(settings: Settings, games: int, file: Path) -> str:
    """The file when it holds so many games."""
    for _ in write_games(settings, resume(file, settings), games, file):
        pass
    return file.read_text("utf-8")


def test_games_are_legal_and_finished_and_have_the_right_result(game: Game) -> None:
    settings = Settings(game, 1, seed=3, plies=(2, 4))
    lines = list(play_games(settings, range(6), 1))
    assert len({*lines}) == 6
    for line in lines:
        text, margin = line.split()
        record = parse_transcript(text, Position.start(game))
        first, second = record.final.score()
        assert record.final.over and margin == f"{first - second:+d}"
        assert recognise(line, game).record == record


def test_the_empty_squares_go_to_the_winner() -> None:
    assert format_game(parse_transcript("e6f4e3f6g5d6e7f5c5")) == "e6f4e3f6g5d6e7f5c5 +64"


@pytest.mark.parametrize("game", BOTH)
def test_the_engine_decides_as_the_champion_of_the_level_does(game: Game) -> None:
    with Engine(game, hash=1) as engine:
        for seed in range(12):
            position = Record(Position.start(game), random_opening(game, 4 * seed + 3, str(seed))).final
            limit, moves = Limit(level=1 + seed % 6), []
            if len(position.legal_moves()) > 1:
                for decide in (engine.decide, lambda *asked: engine.choose(asked[0], Clock(), asked[1]).move):
                    engine.clear()
                    moves.append(decide(position, limit))
                assert moves[0] == moves[1]


def prepared(engine: Engine, position: Position) -> list[int]:
    """What a thread knows of a position and its past before it searches it."""
    worker, empties = engine.team.workers[0], 64 - (position.own | position.opp).bit_count()
    engine.team.begin()
    question = Question(position, U(sum(1 << move for move in position.legal_moves())), -3, 3, 5, SURE)
    worker.prepare(question, 1, 0)
    row = block.PATTERNS + patterns.ROW * empties
    parts = [slice(awale.ROWS, awale.ROOT), slice(awale.ROOT + awale.QUIET, awale.ROOT + awale.QUIET + 1)]
    known = [word for part in parts for word in worker.words[part].tolist()]
    known = worker.words[row : row + patterns.ROW].tolist() if position.game < Game.ABAPA else known
    worker.search(question)
    return known


@pytest.mark.parametrize("game", BOTH)
def test_what_a_thread_knows_of_its_position_outlives_the_search(game: Game) -> None:
    start = Record(Position.start(game), random_opening(game, 15, "1")).final
    with Engine(game, hash=1) as engine:
        for position in (start, start, start.after(start.legal_moves()[0]), start, start):
            with Engine(game, hash=1) as fresh:
                assert prepared(engine, position) == prepared(fresh, position)
            assert any(prepared(engine, position))
        engine.clear()
        with Engine(game, hash=1) as fresh:
            assert prepared(engine, start) == prepared(fresh, start)


@pytest.mark.parametrize("game", BOTH)
def test_any_number_of_jobs_gives_the_same_games(game: Game) -> None:
    settings = Settings(game, 1, seed=5, plies=(4, 8))
    assert list(play_games(settings, range(3, 40), 2)) == list(play_games(settings, range(3, 40), 1))


class Counting(Engine):
    """An engine that counts the positions it visits in all its searches."""

    visited = 0

    def decide(self, position: Position, limit: Limit) -> int:
        move = super().decide(position, limit)
        self.visited += self.nodes
        return move


@pytest.mark.parametrize("game", BOTH)
def test_a_game_does_not_depend_on_those_before_it(game: Game) -> None:
    settings, searches = Settings(game, 4, plies=(4, 8)), []
    with Counting(game, hash=1) as engine:
        for number in (3, 1, 3, 3):
            engine.visited = 0
            searches.append((play_game(engine, settings, number), engine.visited))
    assert searches[0] == searches[2] == searches[3] != searches[1]


@pytest.mark.parametrize("cut", [0, 1, 30, 59, 60, 61, 100, 400, -1, -2])
def test_a_file_that_ends_anywhere_is_gone_on_with(cut: int, tmp_path: Path) -> None:
    settings = Settings(Game.OTHELLO6, 1, seed=2, plies=(3, 9))
    whole = written(settings, 8, tmp_path / "whole")
    assert len(str(settings)) == 59 and whole.count("\n") == 9
    torn = tmp_path / "torn"
    torn.write_text(whole[:cut])
    assert resume(torn, settings).games == max(0, whole[:cut].count("\n") - 1)
    assert written(settings, 8, torn) == whole
    assert written(settings, 9, torn).startswith(whole)
    assert resume(torn, settings).games == 9


def test_what_was_written_before_an_interruption_is_kept(tmp_path: Path) -> None:
    settings, file = Settings(Game.ABAPA, 1, plies=(3, 9)), tmp_path / "games"
    harvest = resume(file, settings)
    games = write_games(settings, harvest, 6, file)
    next(games), next(games)
    games.close()
    assert harvest.games == 2 and file.read_text().count("\n") == 3
    assert written(settings, 6, file) == written(settings, 6, tmp_path / "whole")
    moves = [line.split()[0] for line in file.read_text().splitlines()[1:]]
    assert resume(file, settings).mean_plies == sum(map(len, moves)) / 6


@pytest.mark.parametrize(
    "other",
    [
        Settings(Game.OTHELLO, 2, plies=(4, 8)),
        Settings(Game.OTHELLO, 1, seed=1, plies=(4, 8)),
        Settings(Game.OTHELLO6, 1, plies=(4, 8)),
        Settings(Game.OTHELLO, 1, plies=(4, 9)),
        Settings(Game.OTHELLO, 1, openings=((19,),), plies=(4, 8)),
        Settings(Game.OTHELLO, 1, openings=((26,),), plies=(4, 8)),
    ],
    ids=str,
)
def test_a_file_of_other_settings_is_refused_and_left_alone(other: Settings, tmp_path: Path) -> None:
    file, settings = tmp_path / "games", Settings(Game.OTHELLO, 1, openings=((37,),), plies=(4, 8))
    file.write_text(f"{other}\ntorn")
    with pytest.raises(ConfigError, match=r"holds something else .*level=\d.*: choose another --out"):
        resume(file, settings)
    assert file.read_text() == f"{other}\ntorn"


@pytest.mark.parametrize("content", [b"f5d6 +2", b"\xff\xfe\n", b"#\n"])
def test_any_other_file_is_refused(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "mine"
    file.write_bytes(content)
    with pytest.raises(ConfigError, match="holds something else"):
        resume(file, Settings(Game.OTHELLO, 1))
    assert file.read_bytes() == content
    with pytest.raises(ConfigError, match="cannot write to"):
        resume(tmp_path, Settings(Game.OTHELLO, 1))


def test_games_begin_with_the_openings_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "openings").write_text("f5d6c3  # one\nf5f6e6f4\n")
    openings = load_openings(tmp_path / "openings", Game.OTHELLO)
    settings = Settings(Game.OTHELLO, 1, openings=openings)
    assert {settings.opening(number) for number in range(20)} == {*openings}
    lengths = set()
    for number in range(60):
        opening = Settings(Game.OTHELLO, 1, openings=openings, plies=(1, 3)).opening(number)
        line = next(line for line in openings if opening[: len(line)] == line)
        lengths.add(len(opening) - len(line))
    assert lengths == {1, 2, 3}
    assert all(line.startswith(("f5d6c3", "f5f6e6f4")) for line in play_games(settings, range(3), 1))


def test_the_command(tmp_path: Path) -> None:
    file = tmp_path / "games"
    words = ("selfplay", "awale", "--level", "1", "--opening-plies", "4-8", "--out", str(file), "--jobs", "1")
    told = awello(*words, "--games", "3")
    assert told.returncode == 0 and told.stdout.startswith("3 games of ") and "3 of them new" in told.stdout
    assert file.read_text().startswith("# awello selfplay abapa level=1 seed=0 opening-plies=4-8\n")
    report = json.loads(awello(*words, "--games", "5", "--json").stdout)
    assert (report["games"], report["new"], report["file"]) == (5, 2, str(file))


def test_games_that_would_all_be_the_same_are_refused(tmp_path: Path) -> None:
    refused = awello("selfplay", "othello", "--level", "1", "--out", str(tmp_path / "games"))
    assert refused.returncode == 2 and refused.stderr.count("\n") == 1 and "be the same" in refused.stderr
    assert not (tmp_path / "games").exists()


def test_a_number_of_plies_or_a_range() -> None:
    assert (parse_plies("7"), parse_plies("4-16")) == ((7, 7), (4, 16))
    for text, said in {"8-4": "4-8, not 8-4", "few": "'few' is no number", "-3": "'-3' is no number"}.items():
        with pytest.raises(ConfigError, match=said):
            parse_plies(text)


def test_levels_are_checked() -> None:
    with pytest.raises(SpecError, match="no level 31"):
        Settings(Game.OTHELLO, 31)
