"""Tournaments: scoring as in report 1, sandboxes, resuming, ratings and bots that return weights."""

import json
import math
import random
import re
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT, awello, fresh_awello, restore_interrupts
from waiting import TIMEOUT, wait_until

from awello import Game, Match, Position, make_player, parse_position, parse_transcript, play_match
from awello.arena.elo import PRIOR_DRAWS, SCALE, fit_ratings
from awello.arena.journal import Journal
from awello.arena.openings import draw_random_opening
from awello.arena.runner import GameResult, PlayerCache
from awello.arena.sandbox import ResourceLimits, SandboxedPlayer, Usage, _PlayerHost
from awello.arena.tournament import BotGame, Tournament, TournamentResult, play_tournament, to_bot_game
from awello.errors import AwelloError, ConfigError, IllegalMoveError
from awello.limits import Clock
from awello.players.player import Forfeit

BOTS = str(ROOT / "tests" / "failing_bots.py")


@pytest.fixture(autouse=True)
def _register_bots(monkeypatch: pytest.MonkeyPatch) -> None:
    """Register the misbehaving bots in this process and its children."""
    monkeypatch.setenv("AWELLO_PLAYERS", BOTS)


def without_measures(result: TournamentResult) -> list[GameResult]:
    """Return the results without measured fields; what remains must be reproducible."""
    return [replace(game, seconds=(), usage=None) for game in result.results]


# --- points -----------------------------------------------------------------------------------------------------------
def games(*scores: tuple[int, int]) -> list[GameResult]:
    """Return games with these scores of two bots; the second bot moves first in every second game."""
    sides = [score[::-1] if number % 2 else score for number, score in enumerate(scores)]
    return [GameResult("tournament", ("", ""), "", score) for score in sides]


def test_a_round_goes_to_the_larger_sum() -> None:
    tournament = Tournament(Game.TOURNAMENT, ("random", "greedy", "first"), rounds=2)
    first_round = [(25, 10), (3, 26)]  # random - greedy, 28-36: each won a game, the round goes to greedy
    first_round += [(30, 0), (0, 29)]  # random - first, 30-29: the round goes to random
    first_round += [(1, 2), (1, 2)]  # greedy - first, 2-4: the round goes to first
    result = TournamentResult(tournament, games(*first_round, (20, 21), (22, 21)))  # random - greedy, 42-42: drawn
    standings = {bot.spec: bot for bot in result.standings()}
    found = {name: (bot.points, bot.wins, bot.draws, bot.losses, bot.games) for name, bot in standings.items()}
    assert found == {"random": (4, 1, 1, 1, 6), "greedy": (4, 1, 1, 1, 6), "first": (3, 1, 0, 1, 4)}
    assert standings["random"].mean_score == pytest.approx((25 + 3 + 20 + 22 + 30 + 0) / 6)
    cross_table = result.cross_table()
    assert (cross_table[0][1], cross_table[1][0], cross_table[2][1]) == ((0, 1, 1), (1, 1, 0), (1, 0, 0))
    assert [bot.spec for bot in result.standings()] == ["random", "greedy", "first"]


def test_scores_belong_to_bots_not_to_sides(tmp_path: Path) -> None:
    tournament = Tournament(Game.ABAPA, ("random", "greedy"), rounds=2, seed=5, opening_plies=3)
    for played in play_tournament(tournament, out=tmp_path).rounds:
        for number, one in enumerate(played.games):
            record = parse_transcript(one.result.moves, Position.start(Game.ABAPA))
            assert record.moves[:3] == tournament.opening(played.number)
            scores = record.final.score()
            assert one.score == (scores if number == 0 else scores[::-1])
            turns = [sum(ply % 2 == side for ply in range(3, len(record.moves))) for side in (0, 1)]
            assert [used.moves for used in one.usage] == (turns if number == 0 else turns[::-1])


def test_openings_do_not_end_the_game(game: Game) -> None:
    plies = 8
    found = [draw_random_opening(game, plies, str(seed)) for seed in range(20)]
    assert {len(moves) for moves in found} == {plies}
    assert len(set(found)) > 5
    with pytest.raises(ConfigError, match=r"all 100 random games of .* ended within .* random moves"):
        draw_random_opening(game, 2000 if game.family == "awale" else 130, "1")


# --- failures and limits ----------------------------------------------------------------------------------------------
LIMITED = ResourceLimits(max_memory=16, max_threads=1)


def play_round(
    spec: str,
    limits: ResourceLimits = ResourceLimits(),  # noqa: B008
    chosen: Game = Game.ABAPA,
) -> tuple[list[BotGame], SandboxedPlayer]:
    """Play a round between a bot and the player `random`; return the games and the bot."""
    tournament = Tournament(chosen, (spec, "random"), rounds=1, limits=limits)
    cache = PlayerCache()
    bot = SandboxedPlayer(spec, chosen, limits)
    rival = SandboxedPlayer("random", chosen, ResourceLimits())  # no limits, as the machine may be busy
    cache._players = {(spec, 0): bot, ("random", 0): rival}
    try:
        return [to_bot_game(tournament.run_job(number, cache), number) for number in (0, 1)], bot
    finally:
        cache.close()


@pytest.mark.parametrize(
    ("wrong", "reason", "part"),
    [
        ("exception", "crash", r"^ZeroDivisionError: nothing to share \(failing_bots.py, line \d+\)$"),
        ("leaves", "crash", "SystemExit"),
        ("exits", "crash", "exit status 7"),
        ("segfault", "crash", "SIGSEGV"),
        ("resigns", "resigned", "the player resigned"),
        ("illegal", "illegal", "77 is not a legal move: .* can play"),
        ("unwrapped", "illegal", "must return a Choice with a legal move, not 3"),
        ("exception,where=begin", "crash", "nothing to share"),
        ("exits,where=begin", "crash", "exit status 7"),
        ("exception,where=end", "crash", "nothing to share"),
        ("exits,where=end", "crash", "exit status 7"),
    ],
)
def test_a_bot_that_fails_loses_the_game(wrong: str, reason: str, part: str) -> None:
    played, _ = play_round(f"first,failure={wrong}")
    for one in played:
        assert one.score == (0, 48)
        assert one.forfeits[1] is None
        assert one.forfeits[0] is not None
        assert one.forfeits[0][0] == reason
        assert re.search(part, one.forfeits[0][1])


@pytest.mark.parametrize(
    ("spec", "limits", "reason", "part"),
    [
        ("first,failure=late", ResourceLimits(move_time=0.02), "time", r"a move took \d+\.\d ms; the limit is 20ms"),
        ("first,failure=endless", ResourceLimits(move_time=0.02), "time", r"no answer within 1\.0 s"),
        ("first,failure=endless,where=end", ResourceLimits(move_time=0.1), "time", "no answer|a move took"),
        ("first,failure=late,where=begin", ResourceLimits(learning_time=0.03), "learning", "the limit is 30ms"),
        ("first,failure=endless,where=begin", ResourceLimits(learning_time=0.1), "learning", "not ready after 1.1 s"),
        ("first,failure=big", ResourceLimits(max_memory=16), "memory", r"\d+\.\d MiB of memory; the limit is 16"),
    ],
)
def test_exceeded_limits_lose_the_game(spec: str, limits: ResourceLimits, reason: str, part: str) -> None:
    played, _ = play_round(spec, limits, Game.OTHELLO4)
    for one in played:
        assert one.score[0] == 0
        assert one.forfeits[0] is not None
        assert one.forfeits[0][0] == reason
        assert re.search(part, one.forfeits[0][1])


def use_cpu(seconds: float) -> None:
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass


def test_other_threads_are_noticed_even_between_moves() -> None:
    def use_cpu_in_a_thread() -> None:
        other = threading.Thread(target=use_cpu, args=(0.1,))
        other.start()
        other.join()

    host = _PlayerHost()
    host.make("first", Game.ABAPA)
    use_cpu_in_a_thread()  # CPU time before the game does not count
    host.begin(Game.ABAPA, 1)
    host.choose(Position.start(Game.ABAPA), Clock())
    use_cpu(0.1)  # CPU time of the main thread between moves does not count either
    assert host.measure() < 0.05
    use_cpu_in_a_thread()
    host.choose(Position.start(Game.ABAPA), Clock())
    assert 0.05 < host.measure() < 0.15


def test_more_processor_time_than_threads_can_use_loses() -> None:
    bot = SandboxedPlayer("first", Game.ABAPA, ResourceLimits(max_threads=2))
    bot.usage = Usage(seconds=1.0, cpu_seconds=2.1)
    bot._check_threads()
    bot.usage = Usage(seconds=1.0, cpu_seconds=2.3)
    message = r"threads: it used 2\.30 s of CPU time, although its moves took only 1\.00 s; the thread limit is 2"
    with pytest.raises(Forfeit, match=message):
        bot._check_threads()


def test_resource_use_is_measured_without_limits() -> None:
    late, _ = play_round("first,failure=late", chosen=Game.OTHELLO4)
    big, _ = play_round("first,failure=big")
    assert all(one.forfeits == (None, None) for one in (*late, *big))
    used = late[0].usage[0]
    assert used.max_seconds >= used.seconds / used.moves > 0.05
    assert used.cpu_seconds < used.seconds / 2  # the bot sleeps
    assert big[0].usage[0].memory_bytes > 32 << 20 > big[0].usage[1].memory_bytes
    assert big[0].usage[0].learning_seconds > 0


def test_an_external_engine_that_exits_loses_the_game(tmp_path: Path) -> None:
    command = f"{sys.executable} {ROOT / 'tests' / 'fake_engine.py'} gtp {tmp_path / 'log'} dies once"
    tournament = Tournament(Game.OTHELLO, ("random", f"gtp@5s,command={command}"), 1, opening_plies=20)
    (played,) = play_tournament(tournament, out=tmp_path / "out").rounds
    first, second = (one.forfeits[1] for one in played.games)
    assert first and first[0] == "crash" and "exit status 3" in first[1]
    assert second is None, "the restarted engine receives the moves of the opening"


def test_two_failing_bots_both_lose(tmp_path: Path) -> None:
    specs = "first,failure=big,where=begin", "first,failure=exits,where=begin"
    tournament = Tournament(Game.ABAPA, specs, 1, limits=LIMITED)
    (played,) = play_tournament(tournament, out=tmp_path).rounds
    assert [one.score for one in played.games] == [(0, 0), (0, 0)]
    assert played.score == (0, 0)


def test_a_tournament_survives_all_failures(tmp_path: Path) -> None:
    specs = ("first", *(f"first,failure={wrong}" for wrong in ("exits", "illegal", "exception", "prints")))
    results = play_tournament(Tournament(Game.ABAPA, specs, rounds=2, limits=LIMITED), out=tmp_path, jobs=2)
    standings = {bot.spec: bot for bot in results.standings()}
    assert results.rounds_played == results.rounds_total == 20
    assert {spec: list(bot.forfeits) for spec, bot in standings.items()} == {
        "first": [],
        "first,failure=prints": [],
        "first,failure=exits": ["crash"],
        "first,failure=illegal": ["illegal"],
        "first,failure=exception": ["crash"],
    }
    assert standings["first"].wins == 6
    assert "exit status 7" in standings["first,failure=exits"].messages["crash"]


def test_a_closed_bot_leaves_no_process() -> None:
    _, bot = play_round("first")
    process = bot._process
    process.join(TIMEOUT)
    assert process.exitcode == -signal.SIGKILL
    bot.begin(Game.ABAPA, 1)
    assert bot.forfeit is not None  # a closed bot does not start again


# --- repeated and resumed runs ----------------------------------------------------------------------------------------
SPECS = ("random", "greedy", "alphabeta@2")


def test_games_depend_only_on_the_seed(tmp_path: Path) -> None:
    tournament = Tournament(Game.TOURNAMENT, SPECS, rounds=3, seed=4, opening_plies=2)
    one = play_tournament(tournament, out=tmp_path / "one")
    two = play_tournament(tournament, out=tmp_path / "two", jobs=2)
    assert without_measures(one) == without_measures(two)
    assert without_measures(play_tournament(replace(tournament, seed=5), out=tmp_path / "other")) != without_measures(
        one
    )
    for number in range(3):
        assert (
            len({each.result.moves[:2] for played in one.rounds if played.number == number for each in played.games})
            == 1
        )
    assert len({tournament.opening(number) for number in range(10)}) > 3


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_interrupted_tournament_resumes(jobs: int, tmp_path: Path) -> None:
    tournament = Tournament(Game.ABAPA, SPECS, rounds=3, seed=1)
    reports = []

    def interrupt(result: TournamentResult) -> None:
        reports.append(len(result.results))
        if len(reports) == 4:
            raise KeyboardInterrupt

    assert play_tournament(tournament, jobs, tmp_path / "parts", interrupt).interrupted
    assert reports == [0, 1, 2, 3]
    with (tmp_path / "parts" / "games.jsonl").open("a") as file:
        file.write('{"game": "ab')  # an incomplete line
    again: list[int] = []
    resumed = play_tournament(tournament, jobs, tmp_path / "parts", lambda result: again.append(len(result.results)))
    assert again == list(range(3, 19))
    assert without_measures(resumed) == without_measures(play_tournament(tournament, out=tmp_path / "whole"))
    read: list[int] = []
    assert play_tournament(tournament, 1, tmp_path / "parts", lambda results: read.append(0)) == resumed
    assert len(read) == 1  # only the initial call, because no game was left to play


def test_tournaments_are_not_mixed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tournament = Tournament(Game.ABAPA, ("random", "greedy"), rounds=1)
    play_tournament(tournament, out=tmp_path)
    with pytest.raises(ConfigError, match=r"another tournament \(different rounds, seed\): choose another --out"):
        play_tournament(replace(tournament, rounds=2, seed=3), out=tmp_path)
    with pytest.raises(ConfigError, match=r"another tournament \(different limits\)"):
        play_tournament(replace(tournament, limits=LIMITED), out=tmp_path)
    edited = tmp_path / "edited.py"
    edited.write_text(Path(BOTS).read_text() + "# edited\n")
    monkeypatch.setenv("AWELLO_PLAYERS", str(edited))
    with pytest.raises(ConfigError, match=r"another tournament \(different players\)"):
        play_tournament(tournament, out=tmp_path)


@pytest.mark.parametrize(
    ("file", "content"),
    [("configuration.json", "{"), ("configuration.json", "3"), ("games.jsonl", "no\n"), ("games.jsonl", "{}\n")],
)
def test_a_damaged_folder_is_refused(file: str, content: str, tmp_path: Path) -> None:
    tournament = Tournament(Game.ABAPA, ("random", "greedy"), rounds=1)
    play_tournament(tournament, out=tmp_path)
    (tmp_path / file).write_text(content)
    with pytest.raises(ConfigError, match="is damaged"):
        play_tournament(tournament, out=tmp_path)


def test_incomplete_lines_are_removed(tmp_path: Path) -> None:
    parts = [{"message": "a\u2028b"}, {"message": "é"}]
    with Journal(tmp_path, "work", {}) as journal:
        for part in parts:
            journal.write(part)
    for torn in (b"", '{"message": "é'.encode()[:-1]):
        with (tmp_path / "games.jsonl").open("ab") as file:
            file.write(torn)
        with Journal(tmp_path, "work", {}) as journal:
            assert journal.results == parts


def test_a_refused_bot_leaves_no_folder(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="'nonsense' is not a heuristic"):
        play_tournament(Tournament(Game.ABAPA, ("random", "alphabeta:nonsense@2"), rounds=1), out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


# --- Elo --------------------------------------------------------------------------------------------------------------
def test_ratings_of_two_players_match_the_formula() -> None:
    (one, other), margins = fit_ratings([[0, 75], [25, 0]])
    strength = one / SCALE
    expected = 1 / (1 + math.exp(-2 * strength))
    assert one == pytest.approx(-other)
    assert 75 - 100 * expected + PRIOR_DRAWS * (0.5 - 1 / (1 + math.exp(-strength))) == pytest.approx(0, abs=1e-6)
    assert one - other == pytest.approx(400 * math.log10(3), rel=0.02)  # three wins per loss
    assert margins == pytest.approx([1.96 * SCALE / 2 / math.sqrt(100 * 0.75 * 0.25)] * 2, rel=0.05)


def test_ratings_of_players_who_won_all_games_are_finite() -> None:
    found, margins = fit_ratings([[0, 100, 100], [0, 0, 50], [0, 50, 0]])
    assert all(map(math.isfinite, (*found, *margins)))
    assert 500 < found[0] - found[1] < 1500
    assert found[1] == pytest.approx(found[2])
    assert margins[0] > 100
    assert sum(found) == pytest.approx(0, abs=1e-6)
    assert fit_ratings(np.zeros((3, 3)))[0] == [0, 0, 0]


def test_ratings_recover_the_true_strengths() -> None:
    rng, truth = random.Random(2), [-200, -50, 0, 60, 190]
    inside = total = 0
    for _ in range(40):
        points = np.zeros((5, 5))
        for one in range(5):
            for other in range(one):
                for _ in range(100):
                    first = rng.random() < 1 / (1 + 10 ** ((truth[other] - truth[one]) / 400))
                    points[(one, other) if first else (other, one)] += 1
        found, margins = fit_ratings(points)
        assert found == pytest.approx(truth, abs=120)
        inside += sum(abs(a - b) < margin for a, b, margin in zip(found, truth, margins, strict=True))
        total += 5
    assert 0.9 < inside / total <= 0.99


# --- bots that return weights -----------------------------------------------------------------------------------------
def test_the_legal_move_with_the_largest_weight_is_played() -> None:
    player = make_player("fixed-weights")
    player.begin(Game.ABAPA, 1)
    assert player.choose(parse_position("4-4-4-4-4-0-4-4-4-4-4-4-0-4-S"), Clock()).move == 4
    squares = make_player("fixed-weights,answer=squares")
    for chosen in (Game.OTHELLO, Game.OTHELLO6, Game.OTHELLO4):
        squares.begin(chosen, 1)
        position = Position.start(chosen)
        assert squares.choose(position, Clock()).move == position.legal_moves()[-1]


def test_ties_follow_the_seed() -> None:
    player = make_player("fixed-weights,answer=equal")

    def moves(seed: int) -> list[int]:
        player.begin(Game.ABAPA, seed)
        return [player.choose(Position.start(Game.ABAPA), Clock()).move for _ in range(30)]

    assert moves(1) == moves(1) != moves(2)
    assert set(moves(1)) == set(range(6))


@pytest.mark.parametrize(
    ("answer", "part"),
    [
        ("short", "must return 6 numbers, not 3"),
        ("nan", "must return numbers, not NaN"),
        ("words", "must return 6 numbers, not .'many'"),
        ("none", "not None"),
    ],
)
def test_invalid_weights_are_an_illegal_answer(answer: str, part: str) -> None:
    with pytest.raises(IllegalMoveError, match=part):
        play_match(Match(Game.ABAPA, f"fixed-weights,answer={answer}", "random"))
    played, _ = play_round(f"fixed-weights,answer={answer}")
    assert played[0].forfeits[0] is not None
    assert played[0].forfeits[0][0] == "illegal"


# --- the command ------------------------------------------------------------------------------------------------------
def test_the_command_prints_text_or_json(tmp_path: Path) -> None:
    words = [
        "--import",
        "examples/weights_player.py",
        "tournament",
        "awale",
        "right",
        "greedy",
        "random",
        "--rounds",
        "2",
    ]
    words += ["--variant", "tournament", "--out", str(tmp_path / "out"), "--jobs", "2"]
    done = fresh_awello(*words, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["game"], found["variant"], found["rounds_played"], found["complete"]) == (
        "awale",
        "tournament",
        6,
        True,
    )
    assert {bot["bot"] for bot in found["standings"]} == {"right", "greedy", "random"}
    assert sum(pairing["wins"] + pairing["draws"] + pairing["losses"] for pairing in found["pairings"]) == 6
    text = fresh_awello(*words).stdout
    assert all(part in text for part in ("6 of 6 rounds", "Elo, 95 %", "max ms", "wins-draws-losses"))
    assert max(map(len, text.splitlines())) < 120
    assert "\x1b" not in text


def test_ctrl_c_ends_with_the_standings(tmp_path: Path) -> None:
    words = [
        "-m",
        "awello",
        "--import",
        BOTS,
        "tournament",
        "othello",
        "first,failure=late",
        "random",
        "--rounds",
        "999",
    ]
    words += ["--size", "4", "--out", str(tmp_path / "out"), "--json"]
    lines = tmp_path / "out" / "games.jsonl"
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, *words], cwd=ROOT, preexec_fn=restore_interrupts, stdout=pipe, stderr=pipe, text=True
    ) as process:
        wait_until(lambda: (lines.exists() and lines.read_text().count("\n") > 1) or process.poll() is not None)
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=TIMEOUT)
    assert process.returncode == 130
    assert errors == f"awello: interrupted; run the same command again to resume from {tmp_path / 'out'}\n"
    assert "Traceback" not in errors
    assert 1 <= json.loads(out)["rounds_played"] < 999


@pytest.mark.parametrize(
    ("specs", "plies", "part"),
    [
        (("random",), 0, "at least two bots"),
        (("random", "random"), 0, "'random' appears twice"),
        (("uct@1s", "greedy", "uct@1000ms"), 0, "'uct@1s' appears twice"),
        (("human", "random"), 0, "awello play"),
        (("randm", "greedy"), 0, "did you mean 'random'"),
        (("random", "greedy"), 5000, "give fewer opening plies"),
    ],
)
def test_invalid_tournaments_are_refused(specs: tuple[str, ...], plies: int, part: str) -> None:
    with pytest.raises(AwelloError, match=part):
        Tournament(Game.ABAPA, specs, opening_plies=plies)


def test_limits_must_be_positive() -> None:
    for name in ("move_time", "max_memory", "learning_time", "max_threads"):
        for value in (0, -1, math.nan):
            with pytest.raises(ConfigError, match=f"{name} is {value:g}: give a value above 0"):
                ResourceLimits(**{name: value})  # type: ignore[arg-type]


def test_invalid_input_is_a_one_line_error() -> None:
    done = awello("tournament", "awale", "random", "greedy", "--move-time", "soon")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == "awello: 'soon' is not a duration: write 100ms, 30s, 5m or 1h\n"
