"""The endgame tablebases of Awalé: published counts, consistency of all entries, play with the tablebase, files."""

import json
import random
from pathlib import Path

import numba
import numpy as np
import pytest
from conftest import awello, fresh_awello

from awello import Game, Position
from awello.engine import tablebase
from awello.engine.retrograde import LAYER_OFFSETS, VALUE_OF_CODE, next_position, rank, unrank
from awello.engine.tablebase import Tablebase, build_tablebase
from awello.errors import AwelloError, ConfigError
from awello.kernel import U
from awello.memory import address_of, compare_and_swap8, fetch_and_subtract8
from awello.rules.awale import count_seeds, legal_moves, sow

VARIANTS = [Game.ABAPA, Game.TOURNAMENT, Game.ROMEIN]
COUNTS = {  # the number of seeds, and the numbers of positions that the mover wins, draws and loses
    Game.ABAPA: (8, (37806, 8333, 29443)),
    Game.TOURNAMENT: (8, (42569, 5645, 27368)),
    Game.ROMEIN: (12, (714486, 197894, 439698)),
}


@pytest.fixture(autouse=True)
def separate_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the tablebases of these tests in a separate folder."""
    monkeypatch.setattr(tablebase, "user_cache_folder", lambda: tmp_path)


# ---- ranks of positions ---------------------------------------------------------------------------------------------
def test_positions_are_numbered_one_after_the_other() -> None:
    for seeds in (1, 2, 5, 7):
        own, opp = unrank(0, seeds)
        for index in range(int(LAYER_OFFSETS[seeds + 1] - LAYER_OFFSETS[seeds])):
            assert rank(own, opp) == index and unrank(index, seeds) == (own, opp)
            assert count_seeds(own) + count_seeds(opp) == seeds
            own, opp = next_position(own, opp)


def test_atomic_operations_on_bytes() -> None:
    byte = np.array([9], np.uint8)
    address = address_of(byte)
    swap, subtract = numba.njit(lambda *w: compare_and_swap8(*w)), numba.njit(lambda *w: fetch_and_subtract8(*w))
    for swapping, taking in ((swap, subtract), (compare_and_swap8.py_func, fetch_and_subtract8.py_func)):  # type: ignore[attr-defined]
        byte[0] = 9
        assert not swapping(address, 8, 1) and byte[0] == 9
        assert swapping(address, 9, 1) and byte[0] == 1
        assert taking(address, 2) == 1 and byte[0] == 255


# ---- values ---------------------------------------------------------------------------------------------------------
@numba.njit
def count_wrong_entries(game, table, seeds):  # type: ignore[no-untyped-def]
    """Count the positions with `seeds` seeds whose stored value differs from the value of the best move."""
    own, opp = unrank(0, seeds)
    wrong = 0
    for index in range(LAYER_OFFSETS[seeds], LAYER_OFFSETS[seeds + 1]):
        moves, best = legal_moves(game, own, opp), -100
        if moves == U(0):
            best = seeds if own != U(0) else -seeds
        for pit in range(6):
            if moves >> U(pit) & U(1):
                child, other, prize = sow(game, own, opp, pit)
                gain = count_seeds(prize)
                best = max(best, gain - VALUE_OF_CODE[table[LAYER_OFFSETS[seeds - gain] + rank(child, other)]])
        wrong += best != VALUE_OF_CODE[table[index]]
        own, opp = next_position(own, opp)
    return wrong


def check_entries(game: Game, seeds: int) -> None:
    base = build_tablebase(game, seeds)
    first = 7 if game == Game.TOURNAMENT else 1
    assert not (game == Game.TOURNAMENT and base.table[: LAYER_OFFSETS[7]].any()), "the game is over at six seeds"
    for layer in range(first, seeds + 1):
        assert count_wrong_entries(int(game), base.table, layer) == 0


@pytest.mark.parametrize("game", VARIANTS, ids=str)
def test_every_entry_is_the_best_of_its_moves(game: Game) -> None:
    check_entries(game, 10)


@pytest.mark.slow
@pytest.mark.parametrize("game", VARIANTS, ids=str)
def test_every_entry_is_the_best_of_its_moves_to_14(game: Game) -> None:
    check_entries(game, 14)


@pytest.mark.parametrize("game", VARIANTS, ids=str)
@pytest.mark.parametrize("threads", [1, 3])
def test_published_counts(game: Game, threads: int) -> None:
    seeds, expected = COUNTS[game]
    values = VALUE_OF_CODE[build_tablebase(game, seeds, threads).table[LAYER_OFFSETS[seeds] : LAYER_OFFSETS[seeds + 1]]]
    assert ((values > 0).sum(), (values == 0).sum(), (values < 0).sum()) == expected


def test_a_short_queue_gives_the_same_values(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    whole = build_tablebase(Game.ABAPA, 8).table
    monkeypatch.setattr(tablebase, "user_cache_folder", lambda: tmp_path / "other")
    monkeypatch.setattr(tablebase, "QUEUE_LENGTH", 64)
    assert (VALUE_OF_CODE[build_tablebase(Game.ABAPA, 8).table] == VALUE_OF_CODE[whole]).all()


# ---- play -----------------------------------------------------------------------------------------------------------
def play_out(base: Tablebase, position: Position, rng: random.Random) -> int:
    """Play the tablebase's moves until the game ends or repeats; return the margin of the side that moved first."""
    first = position
    while not position.over:
        position = position.after(base.choose(position, rng))
    if position.repeated:
        assert base.value(position) == 0, "a won position must not cycle"
        score = ((position.first >> 48), (position.second >> 48))
    else:
        score = position.score()
    return score[first.side] - score[1 - first.side]


def check_play(game: Game, seeds: int, count: int) -> None:
    base, rng = build_tablebase(game, seeds), random.Random(seeds)
    for _ in range(count):
        layer = rng.randint(7 if game == Game.TOURNAMENT else 1, seeds)
        own, opp = unrank(rng.randrange(int(LAYER_OFFSETS[layer + 1] - LAYER_OFFSETS[layer])), layer)
        position = Position(game, int(own), int(opp))
        assert play_out(base, position, rng) == base.value(position)


@pytest.mark.parametrize("game", VARIANTS, ids=str)
def test_play_reaches_the_value(game: Game) -> None:
    check_play(game, 10, 150)


@pytest.mark.slow
@pytest.mark.parametrize("game", VARIANTS, ids=str)
def test_play_reaches_the_value_from_a_thousand_positions(game: Game) -> None:
    check_play(game, 14, 1000)


# ---- files ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("game", VARIANTS, ids=str)
def test_every_choice_is_legal_and_keeps_the_value(game: Game) -> None:
    base = build_tablebase(game, 7)
    for seeds in (1, 2, 3, 7):
        own, opp = unrank(0, seeds)
        for _ in range(min(2000, int(LAYER_OFFSETS[seeds + 1] - LAYER_OFFSETS[seeds]))):
            position = Position(game, int(own), int(opp))
            if not position.over:
                move = base.choose(position)
                assert base.move_values(position)[move] == base.value(position)
            own, opp = next_position(own, opp)


def test_a_table_is_kept_and_grows() -> None:
    assert tablebase.find_tablebase(Game.ABAPA) is None
    small = build_tablebase(Game.ABAPA, 5)
    found = tablebase.find_tablebase(Game.ABAPA)
    assert found and found.seeds == 5 and (found.table == small.table).all() and tablebase.verify_tablebase(Game.ABAPA)
    large = build_tablebase(Game.ABAPA, 7)
    assert (large.table[: LAYER_OFFSETS[6]] == small.table).all()
    assert build_tablebase(Game.ABAPA, 3).seeds == 3
    kept = tablebase.find_tablebase(Game.ABAPA)
    assert kept and kept.seeds == 7, "a smaller tablebase does not replace a larger one"
    assert tablebase.load_or_build_tablebase(Game.ABAPA).seeds == tablebase.DEFAULT_SEEDS


def test_an_interrupted_build_keeps_finished_layers() -> None:
    calls = []

    def on_progress(share: float) -> None:
        calls.append(share)
        if len(calls) == 30:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build_tablebase(Game.ROMEIN, 9, on_progress=on_progress)
    kept = tablebase.find_tablebase(Game.ROMEIN)
    assert kept and 1 <= kept.seeds < 9 and tablebase.verify_tablebase(Game.ROMEIN)
    build_tablebase(Game.ROMEIN, 9)
    shares: list[float] = []
    build_tablebase(Game.ROMEIN, 10, on_progress=shares.append)
    assert sum(shares) == pytest.approx(tablebase.TOTAL_PROGRESS)


def test_a_damaged_file_is_noticed() -> None:
    build_tablebase(Game.ABAPA, 4)
    file = tablebase._table_file(Game.ABAPA)
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    assert not tablebase.verify_tablebase(Game.ABAPA)
    file.write_bytes(content[:-1])
    with pytest.raises(AwelloError, match="is not a valid tablebase for abapa: remove it"):
        tablebase.find_tablebase(Game.ABAPA)


def test_invalid_builds_are_refused() -> None:
    with pytest.raises(ConfigError, match="choose 1 to 28"):
        build_tablebase(Game.ABAPA, 29)
    with pytest.raises(ConfigError, match="for Awalé"):
        build_tablebase(Game.OTHELLO, 5)


# ---- the commands ---------------------------------------------------------------------------------------------------
def test_positions_are_solved_from_the_command_line() -> None:
    lines = "0-0-0-0-0-1-1-0-0-0-0-0-23-23-S % a grand slam takes nothing\n\n0-0-0-0-0-2-0-1-0-0-0-0-22-23-S\n"
    done = fresh_awello("solve", "awale", "-", "--json", stdin=lines)
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(row["score"], row["best"], row["exact"]) for row in found] == [(-2, "F", True), (1, "F", True)]
    table = awello("solve", "awale", "0-0-0-0-0-1-1-0-0-0-0-0-23-23-S", "--variant", "romein")
    assert "   +2 F" in table.stdout
    outcome = awello("solve", "awale", "-", "--wld", "--json", stdin=lines)
    assert [json.loads(line)["score"] for line in outcome.stdout.splitlines()] == ["loss", "draw"]
    over = json.loads(awello("solve", "awale", "1-0-0-0-0-0-0-0-0-0-0-0-25-22-S", "--json").stdout)
    assert (over["score"], over["best"], over["exact"]) == (0, None, True)
    wrong = awello("solve", "awale", "-", stdin="0-0-0\n")
    assert wrong.returncode == 2 and "standard input, line 1" in wrong.stderr


def test_positions_beyond_the_tablebase_are_searched() -> None:
    found = json.loads(awello("solve", "awale", "start", "--limit", "100ms", "--json").stdout)
    assert not found["exact"] and found["best"] in "ABCDEF" and abs(found["score"]) < 10


def test_files_of_diagrams(tmp_path: Path) -> None:
    dashes = tmp_path / "two-dashes-or-more.txt"
    dashes.write_text("0-0-0-0-0-2-0-1-0-0-0-0-22-23-S\n")
    assert json.loads(awello("solve", "awale", str(dashes), "--json").stdout)["score"] == 1
    dashes.write_bytes(b"\xff\xfe\x00")
    wrong = awello("solve", "awale", str(dashes))
    assert wrong.returncode == 2 and "is not UTF-8 text" in wrong.stderr and wrong.stderr.count("\n") == 1


def test_tables_are_built_and_shown() -> None:
    done = fresh_awello("tablebase", "build", "--seeds", "4", "--variant", "romein", "--json")
    assert json.loads(done.stdout)["positions"] == LAYER_OFFSETS[5]
    shown = json.loads(fresh_awello("tablebase", "show", "--json").stdout)
    assert shown["romein"]["intact"] and shown["romein"]["seeds"] >= 4
    assert awello("tablebase", "build", "--seeds", "4", "--variant", "nonsense").returncode == 2
    alone = awello("tablebase")
    assert alone.returncode == 2 and "build" in alone.stdout and not alone.stderr
