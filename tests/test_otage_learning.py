"""What Otage learns: from a game, from a match, and by playing itself."""

from collections.abc import Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path

import pytest
from conftest import awello, random_record

from awello import Game, Position, Record
from awello.archive.archive import Archive, Wanted
from awello.arena.match import Match, play_match, play_one
from awello.arena.workers import crew
from awello.engine.engine import Engine
from awello.evaluate.otage_memory import FILE, Memory
from awello.learn.autoplay import EVENT, ROUND, Plan, Played, all_openings, autoplay
from awello.learn.replay import MOST, first_change, learn, learn_from_match, read_depths, usual_depths, was_lost
from awello.limits import Clock, Limit
from awello.players.otage import GAMES, read_book
from awello.players.player import make_player

PLAN = Plan(Limit(depth=2), seed=3, plies=0)


def lost_games(opponent: str, count: int) -> Iterator[tuple[Record, int]]:
    """Games that Otage lost, and its side."""
    match = Match(Game.OTHELLO, "otage@3", opponent, games=20)
    players = [make_player(match.first), make_player(match.second)]
    records = ((play_one(match, players, number), match.first_side(number)) for number in range(match.games))
    return islice(((record, side) for record, side in records if record.winner == 1 - side), count)


# ---- one game -------------------------------------------------------------------------------------------------------
def test_a_lost_game_is_learnt_until_it_would_be_another() -> None:
    for record, side in lost_games("champion@level=2", 3):
        memory, depths = Memory(), usual_depths(record)
        lesson = learn(memory, record, side)
        assert 1 <= lesson.repeats <= MOST and memory.games == 1
        assert lesson.ply == first_change(memory, record, side, depths)
        if lesson.ply is not None:
            assert list(record.positions())[lesson.ply].side == side


def test_a_won_game_is_learnt_once() -> None:
    record = next(each for each in (random_record(Game.OTHELLO, seed) for seed in range(9)) if each.winner == 1)
    memory = Memory()
    assert learn(memory, record, 1).repeats == 1 and memory.edges.games.max() == 2


def test_the_depths_of_a_game_are_in_its_tags(tmp_path: Path) -> None:
    record = next(each for each in autoplay(tmp_path, PLAN, 1) if isinstance(each, Record))
    depths = read_depths(record)
    assert set(depths.values()) <= {0, 2} and any(depths.values()) and len(depths) == len(record.moves)
    assert depths[len(record.moves) - 1] == 0, "the end was solved"


# ---- a match --------------------------------------------------------------------------------------------------------
def test_a_lost_game_is_not_lost_the_same_way_again(tmp_path: Path) -> None:
    match = Match(Game.OTHELLO, f"otage@3,memory={tmp_path}", "champion@level=2", games=2)
    seen = set()
    for _ in range(3):
        result = play_match(match)
        sides = [match.first_side(number) for number in range(2)]
        for record, side in zip(result.records, sides, strict=True):
            assert (record.moves, side) not in seen
            if record.winner == 1 - side:
                seen.add((record.moves, side))
        learn_from_match(tmp_path, result.records, sides, match.second)
    assert seen


def test_games_worth_remembering_enter_the_book(tmp_path: Path) -> None:
    match = Match(Game.OTHELLO, "otage@2", "random", games=4)
    records = play_match(match).records
    learnt = learn_from_match(tmp_path, records, [0, 1, 0, 1], "random")
    with Engine(hash=1) as engine:
        lost = [was_lost(engine, record, side) for record, side in zip(records, (0, 1, 0, 1), strict=True)]
    assert (learnt.games, learnt.kept) == (4, sum(lost))
    learnt = learn_from_match(tmp_path, records, [1, 0, 1, 0], "random")
    assert learnt.kept == 4, "whoever beats it is strong"
    with closing(Archive(tmp_path / GAMES)) as archive:
        assert archive.numbers(Wanted(player="random", event="Match"))


def test_a_game_that_was_lost_for_a_while() -> None:
    blunder = next(each for seed in range(40) if (each := random_record(Game.OTHELLO, seed)).winner is not None)
    with Engine(hash=1) as engine:
        assert was_lost(engine, blunder, 1 - (blunder.winner or 0)), "the last positions are lost for the loser"


# ---- against itself -------------------------------------------------------------------------------------------------
def test_openings_of_six_plies() -> None:
    openings = all_openings(6)
    assert len(openings) == len(set(openings)) == 2050
    positions = {Record(Position.start(), opening).final.canonical() for opening in openings}
    assert len(positions) == 1773, "some of them lead to the same positions"
    assert all_openings(0) == [] and len(all_openings(2)) == 3


def played(folder: Path, games: int, stop: int = 1 << 20, plan: Plan = PLAN) -> None:
    """Play, but break off after so many events."""
    for _ in islice(autoplay(folder, plan, games), stop):
        pass


def content(folder: Path) -> tuple[list[tuple[int, ...]], str]:
    """The games in the order of their numbers, and the memory."""
    with closing(Archive(folder / GAMES)) as archive:
        records = list(archive.records(archive.numbers(Wanted(event=EVENT))))
    ordered = sorted(records, key=lambda record: int(record.tags["Round"]))
    assert [int(record.tags["Round"]) for record in ordered] == list(range(1, len(records) + 1))
    return [record.moves for record in ordered], (folder / FILE).read_text()


def test_it_goes_on_where_it_stopped(tmp_path: Path) -> None:
    whole, parts, plan = tmp_path / "whole", tmp_path / "parts", Plan(Limit(depth=1), seed=3, plies=0)
    played(whole, ROUND + 5, plan=plan)
    for stop in (3, 9, ROUND + 2, 1 << 20):
        played(parts, ROUND + 5, stop, plan)
    assert content(parts) == content(whole)
    assert len(read_book(str(whole / GAMES))) > 500


@pytest.mark.slow
def test_any_number_of_processes_plays_the_same_games(tmp_path: Path) -> None:
    played(tmp_path / "one", 6)
    with crew(2) as each:
        list(autoplay(tmp_path / "two", PLAN, 6, each))
    assert content(tmp_path / "one") == content(tmp_path / "two")


def test_openings_come_first(tmp_path: Path) -> None:
    played(tmp_path, 5, plan=Plan(Limit(depth=1), plies=2))
    moves, _ = content(tmp_path)
    assert [game[:2] for game in moves[:3]] == all_openings(2) and len(moves) == 5


def test_the_book_grows_and_is_played_by(tmp_path: Path) -> None:
    events = list(autoplay(tmp_path, PLAN, 3))
    assert sum(isinstance(event, Played) for event in events) == 3
    tree = read_book(str(tmp_path / GAMES))
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
    done = awello("autoplay", folder, "--games", "3", "--limit", "1", "--plies", "0", "--jobs", "1")
    assert done.returncode == 0 and "games: 3, 3 of them new" in done.stdout
    done = awello("autoplay", folder, "--games", "3", "--limit", "1", "--json", "--jobs", "1")
    assert '"games": 3, "new": 0' in done.stdout
    done = awello("autoplay", folder, "--games", "4", "--clock", "200ms", "--json", "--jobs", "1")
    assert '"games": 4, "new": 1' in done.stdout
    done = awello("match", "othello", f"otage@1,memory={folder}", "random", "--games", "2")
    assert f"otage in {folder} has learnt from 2 games" in done.stdout
    done = awello("match", "othello", f"otage@1,memory={folder},learning=false", "random", "--games", "2", "--json")
    assert "learnt" not in done.stdout


def test_what_is_missing_or_damaged_is_said_in_a_line(tmp_path: Path) -> None:
    words = ("--games", "3", "--limit", "1", "--plies", "0", "--jobs", "1")
    folder, elsewhere = tmp_path / "o", str(tmp_path / "games.sqlite")
    done = awello("autoplay", str(folder), *words, "--archive", elsewhere)
    assert f"otage,memory={folder},archive={elsewhere} plays by this" in done.stdout
    done = awello("autoplay", str(folder), "--games", "4", *words[2:])
    assert done.returncode == 2 and "3 of the 3 games that" in done.stderr and done.stderr.count("\n") == 1
    (folder / FILE).write_bytes(b"\xff\xfe\x00 nothing")
    done = awello("autoplay", str(folder), *words)
    assert done.returncode == 2 and f"{folder / FILE}, line 1: expected games or" in done.stderr
    done = awello("autoplay", str(folder / FILE), *words)
    assert done.returncode == 2 and "is a file: name a folder" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--limit", "level=3"), "is not for Otage"),
        (("--limit", "soon"), "is no limit"),
        (("--limit", "0n"), "is not for Otage"),
        (("--limit", "0ms"), "is not for Otage"),
        (("--clock", "0s"), "leaves no time"),
        (("--plies", "9"), "plies"),
        (("--limit", "4", "--clock", "3m"), "leave one of both out"),
    ],
)
def test_wrong_words_get_one_line(words: tuple[str, ...], said: str, tmp_path: Path) -> None:
    done = awello("autoplay", str(tmp_path / "x"), *words)
    assert done.returncode == 2 and said in done.stderr and done.stderr.count("\n") == 1
