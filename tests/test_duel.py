"""Duels: pairs of games, openings, resuming, and the end of the sequential test."""

import json
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from conftest import awello

from awello import Choice, Game, Limit, Player, Position, Resignation, parse_transcript, register
from awello.arena.duel import Duel, DuelResult, play_duel
from awello.arena.openings import MAX_BALANCED_LEAD, find_balanced_opening
from awello.arena.runner import GameResult
from awello.arena.sprt import Hypotheses
from awello.cli.duel import format_verdict
from awello.engine.engine import Engine
from awello.errors import ConfigError
from awello.limits import Clock
from awello.record import Record


@register("leaver", "resigns at its first move")
@dataclass
class ResigningOpponent(Player):
    def choose(self, position: Position, clock: Clock) -> Choice:
        raise Resignation


QUICK = Hypotheses(0, 300)
LINES = tuple(parse_transcript(line).moves for line in ("f5d6c3", "f5f6", "f5f4e3", "d3c3", "c4e3f6"))


def without_times(result: DuelResult) -> list[GameResult]:
    return [replace(game, seconds=()) for game in result.results]


def test_an_opening_is_played_with_both_colours() -> None:
    duel = Duel(Game.OTHELLO, "greedy", "random", games=6, fixed=True)
    result = play_duel(duel)
    leads = []
    for number, game in enumerate(result.results):
        side, record = number % 2, parse_transcript(game.moves)
        assert game.players[side] == "greedy"
        assert record.moves[:8] == duel.opening(number)
        scores = record.final.score()
        leads.append(scores[side] - scores[1 - side])
        assert result.points[number] == (0.5 if leads[-1] == 0 else leads[-1] > 0)
        assert sum(len(game.move_times(side)) for side in (0, 1)) == sum(record.final.counts()) - 12
    assert result.mean_margin == pytest.approx(sum(leads) / 6)


def test_a_resignation_counts_as_the_largest_margin() -> None:
    result = play_duel(Duel(Game.OTHELLO, "leaver", "random", games=4, fixed=True))
    assert (result.outcomes, result.counts, result.mean_margin) == ((0, 0, 4), [2, 0, 0, 0, 0], -64)
    result = play_duel(Duel(Game.ABAPA, "random", "leaver", games=4, fixed=True))
    assert (result.outcomes, result.counts, result.mean_margin) == ((4, 0, 0), [0, 0, 0, 0, 2], 48)


def test_a_duel_ends_with_the_pair_that_decides() -> None:
    result = play_duel(Duel(Game.ABAPA, "greedy", "random", games=400, hypotheses=QUICK))
    assert result.verdict == "stronger"
    assert 3 < result.pairs < 50
    for length in range(result.pairs):
        assert DuelResult(result.duel, result.results[: 2 * length]).verdict == "undecided"
    turned = play_duel(Duel(Game.ABAPA, "random", "greedy", games=400, hypotheses=QUICK))
    assert turned.verdict == "not stronger"
    fixed = play_duel(replace(result.duel, games=2 * result.pairs + 4, fixed=True))
    assert fixed.pairs == result.pairs + 2
    assert without_times(fixed)[:-4] == without_times(result)


def test_results_do_not_depend_on_the_number_of_workers() -> None:
    duel = Duel(Game.ABAPA, "greedy", "random", games=400, seed=5, hypotheses=QUICK)
    assert without_times(play_duel(duel, jobs=2)) == without_times(play_duel(duel))


def test_openings_of_a_file_are_played_once_in_seeded_order() -> None:
    duels = [Duel(Game.OTHELLO, "random", "random", openings=LINES, seed=seed) for seed in range(5)]
    orders = [tuple(duel.opening(2 * pair) for pair in range(duel.pairs)) for duel in duels]
    assert all(sorted(order) == sorted(LINES) for order in orders)
    assert len(set(orders)) > 1
    assert replace(duels[0], games=4).pairs == 2


def test_openings_are_balanced_and_follow_from_the_seed(game: Game) -> None:
    plies = 4 if game == Game.OTHELLO4 else 8
    found = [find_balanced_opening(game, plies, str(seed)) for seed in range(5)]
    assert find_balanced_opening(game, plies, "2") == found[2], "an opening does not depend on earlier searches"
    assert len(set(found)) > 1
    for moves in found:
        position = Record(Position.start(game), moves).final
        with Engine(game) as engine:
            *_, seen = engine.analyse(position, Limit(depth=6))
        assert len(moves) == plies
        assert abs(position.lead + seen.value) <= MAX_BALANCED_LEAD


def test_no_balanced_opening_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("awello.arena.openings.MAX_BALANCED_LEAD", -1.0)
    with pytest.raises(ConfigError, match="give another number of opening plies"):
        find_balanced_opening(Game.OTHELLO4, 1, "any")


def test_an_interrupted_duel_resumes(tmp_path: Path) -> None:
    duel = Duel(Game.OTHELLO, "random", "greedy", games=10, seed=2, fixed=True)

    def interrupt(result: DuelResult) -> None:
        if len(result.results) == 5:
            raise KeyboardInterrupt

    begun = play_duel(duel, out=tmp_path, on_progress=interrupt)
    assert begun.interrupted
    assert begun.pairs == 2
    seen: list[int] = []
    ended = play_duel(duel, out=tmp_path, on_progress=lambda result: seen.append(len(result.results)))
    assert seen == [5, 6, 7, 8, 9, 10]
    assert without_times(ended) == without_times(play_duel(duel))
    assert play_duel(replace(duel, games=12), out=tmp_path).pairs == 6, "the number of games may be increased"
    assert play_duel(replace(duel, games=4), out=tmp_path).pairs == 2
    for other in (replace(duel, seed=3), replace(duel, openings=LINES), replace(duel, first="greedy")):
        with pytest.raises(ConfigError, match="contains another duel"):
            play_duel(other, out=tmp_path)
    (tmp_path / "games.jsonl").write_text('{"points": 3}\n')
    with pytest.raises(ConfigError, match="is damaged"):
        play_duel(duel, out=tmp_path)


def test_invalid_duels_are_refused() -> None:
    with pytest.raises(ConfigError, match="awello play"):
        play_duel(Duel(Game.OTHELLO, "human", "random"))
    with pytest.raises(ConfigError, match="an even number"):
        Duel(Game.OTHELLO, "random", "random", games=5)
    with pytest.raises(ConfigError, match="at least one"):
        play_duel(Duel(Game.OTHELLO, "random", "random"), jobs=0)


def test_verdicts_are_formatted() -> None:
    duel = Duel(Game.OTHELLO, "random", "random")
    black, white = (GameResult("othello", ("random", "random"), "", score) for score in ((33, 31), (31, 33)))
    won, lost = [black, white], [white, black]
    assert format_verdict(DuelResult(duel, won * 60)) == "A is stronger than B"
    assert format_verdict(DuelResult(duel, lost * 60)) == "A's advantage is less than 20 Elo"
    assert format_verdict(DuelResult(duel, won)) == "undecided"
    strict = replace(duel, hypotheses=Hypotheses(5, 50))
    assert format_verdict(DuelResult(strict, won * 60)) == "A's advantage is more than 5 Elo"


def test_the_command_prints_text_or_json(tmp_path: Path) -> None:
    file = tmp_path / "openings.txt"
    file.write_text("f5d6c3\nf5f6\n")
    words = ("duel", "othello", "greedy", "random", "--openings", str(file), "--seed", "1")
    shown = awello(*words)
    assert shown.returncode == 0, shown.stderr
    assert "4 of 4 games" in shown.stdout
    assert shown.stdout.splitlines()[-1] == "undecided"
    found = json.loads(awello(*words, "--json", "--out", str(tmp_path / "out")).stdout)
    assert found["wins"] + found["draws"] + found["losses"] == found["games"] == 4
    assert sum(found["pairs"]) == 2
    assert found["elo_margin"] > 100
    assert (found["verdict"], found["elo1"]) == ("undecided", 20)
    assert len((tmp_path / "out" / "games.jsonl").read_text().splitlines()) == 4
