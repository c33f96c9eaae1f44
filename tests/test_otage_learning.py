"""Otage's learning from games, matches and self-play."""

from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
from conftest import awello, random_record

from awello import Game, Position, Record
from awello.archive.archive import Archive, GameFilter
from awello.arena.match import Match, first_side, play_match
from awello.engine.engine import Engine
from awello.evaluate.otage_memory import MEMORY_FILE, OtageMemory
from awello.learn.autoplay import AUTOPLAY_EVENT, GAMES_PER_ROUND, AutoplayPlan, autoplay, list_openings
from awello.limits import Clock, Limit
from awello.players.otage import ARCHIVE_FILE, LEARNING_EVENT, OtagePlayer, load_opening_tree
from awello.players.otage_learning import (
    MAX_LEARNING_REPEATS,
    find_first_change,
    learn_game,
    make_default_depths,
    parse_depths,
    was_lost,
)
from awello.players.player import make_player

PLAN = AutoplayPlan(Limit(depth=2), seed=3, opening_plies=0)


def lost_games(opponent: str, count: int) -> Iterator[tuple[Record, int]]:
    """Yield games that Otage lost to an opponent, each with Otage's side."""
    records = enumerate(play_match(Match(Game.OTHELLO, "otage@3", opponent, games=20)).records)
    return islice(((record, n % 2) for n, record in records if record.winner == 1 - first_side(n)), count)


# ---- one game -------------------------------------------------------------------------------------------------------
def test_a_lost_game_is_learnt_until_a_move_changes() -> None:
    for record, side in lost_games("champion@level=2", 3):
        memory, depths = OtageMemory(), make_default_depths(record)
        result = learn_game(memory, record, side)
        assert 1 <= result.repeats <= MAX_LEARNING_REPEATS and memory.games == 1
        assert result.changed_ply == find_first_change(memory, record, side, depths)
        if result.changed_ply is not None:
            assert list(record.positions())[result.changed_ply].side == side


def test_a_won_game_is_learnt_once() -> None:
    record = next(each for each in (random_record(Game.OTHELLO, seed) for seed in range(9)) if each.winner == 1)
    memory = OtageMemory()
    assert learn_game(memory, record, 1).repeats == 1 and memory.edges.games.max() == 2


def test_the_depths_of_a_game_are_in_its_tags(tmp_path: Path) -> None:
    ((record, _),) = autoplay(tmp_path, replace(PLAN, games=1))
    depths = parse_depths(record)
    assert set(depths.values()) <= {0, 2} and any(depths.values()) and len(depths) == len(record.moves)
    assert depths[len(record.moves) - 1] == 0, "the last move was solved, not searched to a depth"


# ---- a match --------------------------------------------------------------------------------------------------------
def test_a_lost_game_is_not_lost_the_same_way_again(tmp_path: Path) -> None:
    result = play_match(Match(Game.OTHELLO, f"otage@3,memory={tmp_path}", "champion@level=2", games=8))
    lost = [record.moves for number, record in enumerate(result.records) if record.winner == 1 - first_side(number)]
    assert lost and len(set(lost)) == len(lost)
    (counts,) = result.learnt.values()
    assert counts["games"] == 8 and counts["kept"] >= len(lost)


def test_processes_share_what_they_learn(tmp_path: Path) -> None:
    """Each worker reads the memory again after another has updated it."""
    match = Match(Game.OTHELLO, f"otage@1,memory={tmp_path}", "champion@level=1", games=4)
    assert play_match(match, jobs=2).learnt[match.first]["games"] == 4
    assert OtageMemory.load(tmp_path / MEMORY_FILE).games == 4
    one, other = (make_player(f"otage@1,memory={tmp_path}") for _ in range(2))
    assert isinstance(one, OtagePlayer) and isinstance(other, OtagePlayer)
    one.begin(Game.OTHELLO, 1)
    other.begin(Game.OTHELLO, 1)
    before = other.search
    one.learn(random_record(Game.OTHELLO, 1), 0)
    other.begin(Game.OTHELLO, 1)
    assert other.search is not before


def test_the_memory_folder_can_be_the_folder_of_a_match(tmp_path: Path) -> None:
    match = Match(Game.OTHELLO, f"otage@1,memory={tmp_path}", "random", games=1)
    assert play_match(match, out=tmp_path).learnt[match.first]["games"] == 1, (
        "the journal and the memory use different locks"
    )


def test_lost_games_and_strong_opponents_enter_the_book(tmp_path: Path) -> None:
    records = play_match(Match(Game.OTHELLO, "otage@2", "random", games=4)).records
    with Engine(hash=1) as engine:
        lost = [was_lost(engine, record, first_side(number)) for number, record in enumerate(records)]
    winner, loser = (make_player(f"otage@2,memory={tmp_path}") for _ in range(2))
    kept = [winner.learn(record, first_side(number))["kept"] for number, record in enumerate(records)]
    assert kept == lost
    assert all(loser.learn(record, 1 - first_side(number))["kept"] for number, record in enumerate(records))
    with closing(Archive(tmp_path / ARCHIVE_FILE)) as archive:
        assert archive.find_numbers(GameFilter(player="random", event=LEARNING_EVENT))


def test_games_from_other_positions_are_not_learnt_from(tmp_path: Path) -> None:
    player, record = make_player(f"otage@2,memory={tmp_path}"), random_record(Game.OTHELLO, 1)
    _, second, *_ = record.positions()
    assert player.learn(Record(second, record.moves[1:]), 0) == {} and not (tmp_path / MEMORY_FILE).exists()


def test_was_lost_finds_lost_positions() -> None:
    blunder = next(each for seed in range(40) if (each := random_record(Game.OTHELLO, seed)).winner is not None)
    with Engine(hash=1) as engine:
        assert was_lost(engine, blunder, 1 - (blunder.winner or 0)), "the last positions are lost for the loser"


# ---- self-play ------------------------------------------------------------------------------------------------------
def test_openings_of_six_plies() -> None:
    openings = list_openings(6)
    assert len(openings) == len(set(openings)) == 2050
    positions = {Record(Position.start(), opening).final.canonical() for opening in openings}
    assert len(positions) == 1773, "some openings lead to the same position"
    assert list_openings(0) == [] and len(list_openings(2)) == 3


def play_until(folder: Path, games: int, stop: int = 1 << 20, plan: AutoplayPlan = PLAN, jobs: int = 1) -> None:
    """Play self-play games until the folder contains `games` games, but interrupt the run after `stop` games."""

    def interrupt(done: int) -> None:
        if done == stop:
            raise KeyboardInterrupt

    with suppress(KeyboardInterrupt):
        list(autoplay(folder, replace(plan, games=games), jobs, on_progress=interrupt))


def read_folder(folder: Path) -> tuple[list[tuple[int, ...]], str]:
    """Return the moves of the games, ordered by round, and the content of the memory file."""
    with closing(Archive(folder / ARCHIVE_FILE)) as archive:
        records = list(archive.load_records(archive.find_numbers(GameFilter(event=AUTOPLAY_EVENT))))
    ordered = sorted(records, key=lambda record: int(record.tags["Round"]))
    assert [int(record.tags["Round"]) for record in ordered] == list(range(1, len(records) + 1))
    return [record.moves for record in ordered], (folder / MEMORY_FILE).read_text()


def test_interrupted_selfplay_resumes(tmp_path: Path) -> None:
    whole, parts, plan = tmp_path / "whole", tmp_path / "parts", AutoplayPlan(Limit(depth=1), seed=3, opening_plies=0)
    play_until(whole, GAMES_PER_ROUND + 5, plan=plan)
    for stop in (3, 9, GAMES_PER_ROUND + 2, 1 << 20):
        play_until(parts, GAMES_PER_ROUND + 5, stop, plan)
    assert read_folder(parts) == read_folder(whole)
    assert len(load_opening_tree(str(whole / ARCHIVE_FILE))) > 500


@pytest.mark.slow
def test_any_number_of_processes_plays_the_same_games(tmp_path: Path) -> None:
    play_until(tmp_path / "one", 6)
    play_until(tmp_path / "two", 6, jobs=2)
    assert read_folder(tmp_path / "one") == read_folder(tmp_path / "two")


def test_openings_come_first(tmp_path: Path) -> None:
    play_until(tmp_path, 5, plan=AutoplayPlan(Limit(depth=1), opening_plies=2))
    moves, _ = read_folder(tmp_path)
    assert [game[:2] for game in moves[:3]] == list_openings(2) and len(moves) == 5


def test_the_book_grows_and_is_used(tmp_path: Path) -> None:
    assert len(list(autoplay(tmp_path, replace(PLAN, games=3)))) == 3
    tree = load_opening_tree(str(tmp_path / ARCHIVE_FILE))
    assert tree.games == 3
    value = tree.value(Position.start())
    player = make_player(f"otage@2,memory={tmp_path}")
    player.begin(Game.OTHELLO, 0)
    choice = player.choose(Position.start(), Clock())
    assert value is not None and choice.analysis
    if value > 0:
        assert (choice.analysis.value, choice.analysis.nodes) == (value, 0)
    else:
        assert choice.analysis.nodes > 0


# ---- the command ----------------------------------------------------------------------------------------------------
def test_the_command(tmp_path: Path) -> None:
    folder = str(tmp_path / "o")
    done = awello("autoplay", "--out", folder, "--games", "3", "--limit", "1", "--opening-plies", "0", "--jobs", "1")
    assert done.returncode == 0 and "games: 3 (3 new)" in done.stdout
    done = awello("autoplay", "--out", folder, "--games", "3", "--limit", "1", "--json", "--jobs", "1")
    assert '"games": 3, "new": 0' in done.stdout
    done = awello("autoplay", "--out", folder, "--games", "4", "--clock", "200ms", "--json", "--jobs", "1")
    assert '"games": 4, "new": 1' in done.stdout
    done = awello("match", "othello", f"otage@1,memory={folder}", "random", "--games", "2")
    assert f"otage@1,memory={folder} learnt from 2 games: kept" in done.stdout
    done = awello("match", "othello", f"otage@1,memory={folder},learning=false", "random", "--games", "2", "--json")
    assert "learnt" not in done.stdout


def test_missing_or_damaged_files_are_one_line_errors(tmp_path: Path) -> None:
    words = ("--games", "3", "--limit", "1", "--opening-plies", "0", "--jobs", "1")
    folder, elsewhere = tmp_path / "o", str(tmp_path / "games.sqlite")
    done = awello("autoplay", "--out", str(folder), *words, "--archive", elsewhere)
    assert f"use the player otage,memory={folder},archive={elsewhere}" in done.stdout
    done = awello("autoplay", "--out", str(folder), "--games", "4", *words[2:])
    assert done.returncode == 0 and "games: 4 (1 new)" in done.stdout, "the archive may be elsewhere"
    assert len(read_folder(folder)[0]) == 4
    (folder / "games.jsonl").unlink()
    done = awello("autoplay", "--out", str(folder), "--games", "5", *words[2:])
    assert done.returncode == 2 and "games.jsonl lacks 4" in done.stderr and done.stderr.count("\n") == 1
    (folder / MEMORY_FILE).write_bytes(b"\xff\xfe\x00 nothing")
    done = awello("autoplay", "--out", str(folder), *words)
    assert done.returncode == 2 and f"{folder / MEMORY_FILE}, line 1: expected 'NAME = NUMBER'" in done.stderr
    done = awello("autoplay", "--out", str(folder / MEMORY_FILE), *words)
    assert done.returncode == 2 and "is a file: give a folder" in done.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--limit", "level=3"), "is not a limit for Otage"),
        (("--limit", "soon"), "is not a limit"),
        (("--limit", "0n"), "is not a limit for Otage"),
        (("--limit", "0ms"), "is not a limit for Otage"),
        (("--clock", "0s"), "has no main time"),
        (("--opening-plies", "9"), "plies"),
        (("--limit", "4", "--clock", "3m"), "omit one"),
    ],
)
def test_invalid_options_are_one_line_errors(words: tuple[str, ...], message: str, tmp_path: Path) -> None:
    done = awello("autoplay", "--out", str(tmp_path / "x"), *words)
    assert done.returncode == 2 and message in done.stderr and done.stderr.count("\n") == 1
