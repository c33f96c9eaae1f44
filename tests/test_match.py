"""Matches: reproducibility, clocks, openings, forfeits and results."""

import os
import signal
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from awello import (
    PASS,
    Choice,
    Game,
    Match,
    Player,
    Position,
    parse_transcript,
    play_match,
    register,
)
from awello.arena import game
from awello.arena.game import _find_last_turn, play_game
from awello.arena.match import MatchResult
from awello.arena.openings import load_openings
from awello.arena.workers import block_interrupts
from awello.errors import ConfigError, IllegalMoveError, SpecError
from awello.limits import Clock
from awello.players.player import Resignation, TakeBack, make_player


@register("sleepy", "takes 20 ms per move on the fake clock of `slow_time`")
@dataclass
class SlowPlayer(Player):
    now: ClassVar[float] = 0.0

    def choose(self, position: Position, clock: Clock) -> Choice:
        SlowPlayer.now += 0.02
        return Choice(position.legal_moves()[0])


@pytest.fixture
def slow_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the clock with one that advances only while `sleepy` chooses a move."""
    monkeypatch.setattr(game, "time", SimpleNamespace(perf_counter=lambda: SlowPlayer.now))


@register("cheat", "plays an illegal move")
@dataclass
class IllegalPlayer(Player):
    def choose(self, position: Position, clock: Clock) -> Choice:
        return Choice(0)


@register("none", "returns a move without a Choice")
@dataclass
class UnwrappedChoice(Player):
    def choose(self, position: Position, clock: Clock) -> Choice:
        return 19  # type: ignore[return-value]


@register("quitter", "resigns at its first move")
@dataclass
class ResigningPlayer(Player):
    def choose(self, position: Position, clock: Clock) -> Choice:
        raise Resignation


def summarise(match: Match, jobs: int = 1) -> tuple[object, ...]:
    result = play_match(match, jobs)
    return result.wins, result.draws, result.losses, result.total_counts, [record.moves for record in result.records]


def test_games_depend_only_on_the_seed(game: Game) -> None:
    match = Match(game, "random", "greedy", games=6, seed=3)
    assert summarise(match) == summarise(match)
    assert summarise(match) != summarise(Match(game, "random", "greedy", games=6, seed=4))


def test_results_do_not_depend_on_the_number_of_workers() -> None:
    match = Match(Game.ABAPA, "greedy", "random", games=9, seed=3)
    assert summarise(match, jobs=2) == summarise(match)


def test_colours_alternate_and_wins_are_the_first_players() -> None:
    result = play_match(Match(Game.OTHELLO, "greedy", "quitter", games=4))
    assert (result.wins, result.draws, result.losses) == (4, 0, 0)
    assert [len(record.moves) for record in result.records] == [1, 0, 1, 0]
    assert [record.describe() for record in result.records][:2] == [
        "Black wins: White resigned",
        "White wins: Black resigned",
    ]
    turned = play_match(Match(Game.OTHELLO, "quitter", "greedy", games=4))
    assert (turned.wins, turned.losses) == (0, 4)


def test_wins_draws_and_losses_add_up() -> None:
    result = play_match(Match(Game.OTHELLO, "random", "random", games=20, seed=1))
    assert result.wins + result.draws + result.losses == result.games == 20
    assert sum(result.board_shares()) == pytest.approx(1)
    discs = sum(sum(record.final.counts()) for record in result.records)
    assert sum(result.total_counts) == discs
    assert sum(result.moves) == discs - 4 * 20
    assert all(longest >= mean / 1000 > 0 for longest, mean in zip(result.max_seconds, result.mean_ms(), strict=True))
    assert MatchResult(result.match, []).board_shares() == (0, 0, 0)


def test_a_player_out_of_time_loses(slow_time: None) -> None:
    result = play_match(Match(Game.OTHELLO, "random", "sleepy", games=2, clock=Clock(0.05)))
    assert result.wins == 2
    assert result.forfeits == (0, 2)
    assert result.records[0].describe() == "Black wins: White ran out of time"


def test_an_illegal_move_names_its_player() -> None:
    with pytest.raises(IllegalMoveError, match="player cheat chose an illegal move: a1"):
        play_match(Match(Game.OTHELLO, "cheat", "random"))


def test_openings_are_played_with_both_colours(tmp_path: Path) -> None:
    file = tmp_path / "openings.txt"
    file.write_text("# balanced\nf5d6c3\n\nf5f6 % another\n")
    openings = load_openings(file, Game.OTHELLO)
    result = play_match(Match(Game.OTHELLO, "random", "greedy", games=5, openings=openings))
    assert [record.moves[:2] for record in result.records] == [openings[n][:2] for n in (0, 0, 1, 1, 0)]
    assert sum(result.moves) < sum(len(record.moves) for record in result.records)


@pytest.mark.parametrize(
    ("content", "part"), [("f5d6\nf5f5", "line 2: move 2"), ("# none", "no opening"), (None, "cannot")]
)
def test_bad_openings_files(content: str | None, part: str, tmp_path: Path) -> None:
    file = tmp_path / "openings.txt"
    if content is not None:
        file.write_text(content)
    with pytest.raises(ConfigError, match=part):
        load_openings(file, Game.OTHELLO)


def test_matches_refuse_humans_and_zero_jobs() -> None:
    with pytest.raises(ConfigError, match="awello play"):
        play_match(Match(Game.OTHELLO, "human", "random"))
    with pytest.raises(ConfigError, match="at least one"):
        play_match(Match(Game.OTHELLO, "random", "random"), jobs=0)


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="needs POSIX signals")
def test_ctrl_c_while_a_process_starts_is_delivered_afterwards() -> None:
    received: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: received.append(number))
    try:
        with block_interrupts():
            os.kill(os.getpid(), signal.SIGINT)
        assert received == [signal.SIGINT]
    finally:
        signal.signal(signal.SIGINT, before)


def test_players_missing_in_workers_raise_a_clear_error() -> None:
    with pytest.raises(ConfigError, match=r"unknown player 'sleepy'.*worker processes load players only from"):
        play_match(Match(Game.OTHELLO, "sleepy", "random", games=4), jobs=2)  # registered only in this process


def test_choose_must_return_a_choice() -> None:
    with pytest.raises(SpecError, match="choose\\(\\) of player none must return a Choice, not 19"):
        play_match(Match(Game.OTHELLO, "none", "random"))


def test_an_interrupted_match_keeps_its_games() -> None:
    def interrupt(played: int) -> None:
        if played == 3:
            raise KeyboardInterrupt

    result = play_match(Match(Game.OTHELLO, "random", "random", games=9), on_progress=interrupt)
    assert (result.games, result.interrupted) == (3, True)


class TakebackPlayer(Player):
    """A player that plays the first legal move, takes it back, and from then on plays the last legal move."""

    def __init__(self) -> None:
        self.turns = 0

    def choose(self, position: Position, clock: Clock) -> Choice:
        self.turns += 1
        if self.turns == 2:
            raise TakeBack
        return Choice(position.legal_moves()[-1 if self.turns > 1 else 0])


def test_a_move_can_be_taken_back() -> None:
    rival = make_player("random")
    rival.begin(Game.OTHELLO, 1)
    record = play_game([TakebackPlayer(), rival], Position.start())
    assert record.moves[0] == Position.start().legal_moves()[-1]
    assert record.final.over
    assert len(record.seconds) == len(record.moves)


@register("watchful", "records the clocks it is given")
@dataclass
class ClockRecorder(Player):
    def begin(self, game: Game, seed: int) -> None:
        self.seen: list[float] = []

    def choose(self, position: Position, clock: Clock) -> Choice:
        self.seen.append(clock.seconds)
        return Choice(position.legal_moves()[0])


def test_each_player_receives_its_own_clock(slow_time: None) -> None:
    watchful, sleepy = make_player("watchful"), make_player("sleepy")
    watchful.begin(Game.OTHELLO4, 1)
    sleepy.begin(Game.OTHELLO4, 1)
    play_game([watchful, sleepy], Position.start(Game.OTHELLO4), clock=Clock(60, 0))
    seen = watchful.seen  # type: ignore[attr-defined]
    assert set(seen) == {60}, "only the slow player's clock runs during its moves"


class ScriptedPlayer(Player):
    """A player with a script of moves and `undo` (take back); after the script, it plays the first legal move."""

    def __init__(self, *words: str) -> None:
        self.words = list(words)

    def choose(self, position: Position, clock: Clock) -> Choice:
        word = self.words.pop(0) if self.words else ""
        if word == "undo":
            raise TakeBack
        return Choice(position.parse_move(word) if word else position.legal_moves()[0])


def test_the_opening_cannot_be_taken_back() -> None:
    opening = parse_transcript("f5d6").moves
    record = play_game([ScriptedPlayer("undo", "c3"), ScriptedPlayer()], Position.start(), opening)
    assert record.moves[:2] == opening
    assert record.final.over


def test_a_takeback_returns_to_the_last_move_not_to_a_pass() -> None:
    positions = [Position(Game.OTHELLO, 1, 2, ply % 2) for ply in range(5)]
    moves = [19, 18, PASS, 26]
    assert _find_last_turn(positions, moves, 0) == 0
    assert _find_last_turn(positions, moves, 1) == 4  # after the opening, this side has no move to take back


def test_results_are_by_player_not_by_colour() -> None:
    opening = parse_transcript("f5d6c3").moves
    match = Match(Game.OTHELLO, "alphabeta@3", "random", games=3, seed=2, openings=(opening,))
    result = play_match(match)
    held, moves = [0, 0], [0, 0]
    for number, record in enumerate(result.records):
        owners = [0, 1] if number % 2 == 0 else [1, 0]  # the numbers of the players with Black and with White
        for side, discs in enumerate(record.final.counts()):
            held[owners[side]] += discs
        for ply, move in enumerate(record.moves):
            moves[owners[ply % 2]] += ply >= len(opening) and move != PASS
    assert result.total_counts == tuple(held)
    assert result.moves == tuple(moves)
    assert result.total_counts[0] > result.total_counts[1]


def test_json(slow_time: None) -> None:
    result = play_match(Match(Game.OTHELLO, "sleepy", "random", games=2, seed=5))
    found: Any = result.to_json(records=True)
    assert found["board_share"] == dict(zip(("first", "second", "left"), result.board_shares(), strict=True))
    assert found["mean_ms"] == pytest.approx({"first": 20, "second": 0}) == found["max_ms"]
    assert found["moves"] == {"first": result.moves[0], "second": result.moves[1]}
    assert found["seed"] == 5
