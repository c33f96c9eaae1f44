"""Commands that play games survive SIGKILL: a repeated command finishes with the results of an uninterrupted run."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, awello
from waiting import wait_until

from awello import Game, Match, play_match
from awello.arena.runner import GameResult
from awello.errors import ConfigError, SpecError
from awello.formats.registry import read_games
from awello.record import Record

COMMANDS = {
    "match": ("match", "othello", "uct@400n", "random", "--games", "12"),
    "duel": ("duel", "awale", "uct@400n", "random", "--games", "12", "--fixed"),
    "tournament": ("tournament", "othello", "uct@400n", "greedy", "random", "--rounds", "3", "--size", "6"),
    "selfplay": ("selfplay", "othello", "--limit", "level=6", "--games", "64", "--opening-plies", "4-8", "--jobs", "1"),
    "lab": ("lab", "championship", "--games", "2", "--depths", "3"),
}
MEASURED_FIELDS = {"seconds", "usage", "nodes"}


def read_games_without_measures(folder: Path) -> list[dict[str, Any]]:
    """Return the games of a journal without the measured fields, which differ between runs."""
    lines = [json.loads(line) for line in (folder / "games.jsonl").read_text().splitlines()]
    return [{name: value for name, value in line.items() if name not in MEASURED_FIELDS} for line in lines]


@pytest.mark.parametrize("name", COMMANDS)
def test_a_killed_command_resumes_with_the_same_result(name: str, tmp_path: Path) -> None:
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    journal = parts / "games.jsonl"
    words = [sys.executable, "-m", "awello", *COMMANDS[name], "--out", str(parts)]
    with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        wait_until(lambda: journal.exists() and journal.read_bytes().count(b"\n") >= 3)
        process.kill()
    played = journal.read_bytes().count(b"\n")
    for folder in (parts, whole):
        done = awello(*COMMANDS[name], "--out", str(folder))
        assert done.returncode == 0, done.stderr
    assert (
        read_games_without_measures(parts) == read_games_without_measures(whole)
        and len(read_games_without_measures(whole)) > played >= 3
    )


def test_a_match_can_be_extended(tmp_path: Path) -> None:
    first = play_match(Match(Game.ABAPA, "random", "greedy", games=3, seed=2), out=tmp_path)
    longer = Match(Game.ABAPA, "random", "greedy", games=6, seed=2)
    assert play_match(longer, out=tmp_path).records[:3] == first.records
    assert [game.moves for game in play_match(longer, out=tmp_path).results] == [
        game.moves for game in play_match(longer).results
    ]
    with pytest.raises(ConfigError, match=r"another match \(different second\)"):
        play_match(Match(Game.ABAPA, "random", "random", games=3, seed=2), out=tmp_path)


def test_a_journal_is_a_file_of_games(tmp_path: Path) -> None:
    result = play_match(Match(Game.OTHELLO, "random", "greedy", games=2), out=tmp_path)
    found = list(read_games((tmp_path / "games.jsonl").read_bytes()))
    assert found == result.records
    assert isinstance(found[0], Record) and found[0].tags == {"Black": "random", "White": "greedy"}


def test_a_player_that_does_not_fit_the_game_is_refused_without_a_folder(tmp_path: Path) -> None:
    for jobs in (1, 2):
        with pytest.raises(SpecError, match="otage plays Othello on 8x8 only"):
            play_match(Match(Game.ABAPA, "otage@1", "random"), jobs, tmp_path / "out")
        assert not (tmp_path / "out").exists()


def test_the_winner_of_a_result() -> None:
    assert GameResult("othello", ("", ""), "", (32, 32)).winner is None
    assert GameResult("othello", ("", ""), "", (30, 34)).winner == 1
    assert GameResult("othello", ("", ""), "", (30, 34), loser=1).winner == 0
