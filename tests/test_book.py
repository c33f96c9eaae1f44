"""The opening book (drop-out expansion and files), and the moves that the champion avoids."""

from pathlib import Path

import pytest
from conftest import awello, fresh_awello

from awello import Game, Match, Position, make_player, parse_position, play_match
from awello.engine.avoided_moves import AvoidedMoves
from awello.engine.book import PLIES_PER_SEED, OpeningBook, format_book, load_book, load_shipped_book, parse_book
from awello.errors import ConfigError
from awello.limits import Clock
from awello.rules.awale import START_ROW, pits_of

ROOT_KEY = (START_ROW, START_ROW)


def row_balance(position: Position) -> float:
    """Evaluate a position: the seeds in the mover's row minus those in the opponent's row, divided by 10."""
    return (sum(pits_of(position.own)) - sum(pits_of(position.opp))) / 10


def expanded_book(game: Game, times: int) -> OpeningBook:
    book = OpeningBook(game)
    for _ in range(times):
        book.expand(row_balance)
    return book


def plain_value(book: OpeningBook, key: tuple[int, int]) -> float:
    """Compute the value of a book position by plain minimax."""
    if not book.is_expanded(key):
        return book.values[key]
    return max(gain - plain_value(book, child) for gain, child in book.moves(key).values())


def leaf_costs(book: OpeningBook, key: tuple[int, int], cost: float) -> list[tuple[float, tuple[int, int]]]:
    """For every path from a position to a leaf, list the cost of the path and the leaf."""
    if not book.is_expanded(key):
        return [(cost, key)]
    best, found = plain_value(book, key), []
    for gain, child in book.moves(key).values():
        loss = best - (gain - plain_value(book, child))
        found += leaf_costs(book, child, cost + 1 + PLIES_PER_SEED * loss)
    return found


@pytest.mark.parametrize("game", [Game.ABAPA, Game.ROMEIN])
def test_the_leaf_of_least_cost_is_expanded(game: Game) -> None:
    book = expanded_book(game, 1)
    for _ in range(25):
        assert book.value(ROOT_KEY) == pytest.approx(plain_value(book, ROOT_KEY))
        least = min(cost for cost, key in leaf_costs(book, ROOT_KEY, 0.0) if book.moves(key))
        (cost, key), *_ = book.leaves()
        assert cost == pytest.approx(least)
        assert book.expand(row_balance) == key and book.is_expanded(key)


def test_the_first_move_is_the_rightmost_pit() -> None:
    for game in (Game.ROMEIN, Game.TOURNAMENT):
        assert set(expanded_book(game, 3).move_values(ROOT_KEY)) == {5}
        assert (load_shipped_book(game).choose(Position.start(game)) or (None,))[0] == 5
    assert len(expanded_book(Game.ABAPA, 1).move_values(ROOT_KEY)) == 6


def test_a_book_is_read_as_it_was_written(tmp_path: Path) -> None:
    book = expanded_book(Game.ABAPA, 10)
    file = tmp_path / "abapa.book"
    file.write_text(format_book(book))
    assert load_book(file, Game.ABAPA).values == book.values
    assert load_book(tmp_path / "none.book", Game.ABAPA).values == {}
    for text in ("4-4-4 1", "nonsense", "4-4-4-4-4-4-4-4-4-4-4-4-0-0-S x"):
        with pytest.raises(ConfigError, match="line 1"):
            parse_book(text, Game.ABAPA, "it")


def test_unknown_positions_have_no_book_move() -> None:
    book = expanded_book(Game.ABAPA, 1)
    start = Position.start(Game.ABAPA)
    assert book.choose(start.play("C")) is None
    move, value = book.choose(start) or (None, None)
    assert move in start.legal_moves() and value == book.value(start.board_words)


def test_the_champion_opens_by_its_book() -> None:
    for game in (Game.ROMEIN, Game.TOURNAMENT):
        player = make_player("champion@1,hash=1")
        player.begin(game, 0)
        assert player.choose(Position.start(game), Clock()).move == 5
        bookless = make_player("champion@1,hash=1,book=false")
        bookless.begin(game, 0)
        assert (bookless.choose(Position.start(game), Clock()).analysis or pytest.fail()).depth == 1


def test_the_command_expands_and_resumes(tmp_path: Path) -> None:
    file = tmp_path / "small.book"
    command = ("book", "expand", "awale", "--variant", "romein", "--limit", "2", "--out", str(file))
    assert fresh_awello(*command, "--positions", "3").returncode == 0
    first = load_book(file, Game.ROMEIN)
    assert awello(*command, "--positions", "2", "--json").returncode == 0
    second = load_book(file, Game.ROMEIN)
    assert first.values.items() < second.values.items()
    shown = awello("book", "show", "awale", "--variant", "romein", "--book", str(file))
    assert shown.returncode == 0 and shown.stdout.split()[0] == "F"


# ---- avoided moves --------------------------------------------------------------------------------------------------
def test_moves_that_lost_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "lost.jsonl"
    avoided, position = AvoidedMoves(file), Position.start(Game.TOURNAMENT)
    assert avoided.moves_at(position) == {}
    avoided.add(position, 3, -4.5)
    assert AvoidedMoves(file).moves_at(position) == {3: -4.5}
    assert AvoidedMoves(file).moves_at(Position.start(Game.ABAPA)) == {}
    file.write_text(file.read_text() + "{}\n")
    with pytest.raises(ConfigError, match="line 2"):
        AvoidedMoves(file)


def test_the_champion_does_not_repeat_lost_games(tmp_path: Path) -> None:
    file = tmp_path / "lost.jsonl"
    spec, opponent = f"champion@1,hash=1,book=false,avoided_moves={file}", "alphabeta:diffscore@7"
    lost = []
    for _ in range(6):
        result = play_match(Match(Game.TOURNAMENT, spec, opponent, games=1, seed=5))
        if result.losses:
            lost.append(result.records[0].moves)
    assert len(lost) == len(set(lost)), "each lost game differs from all earlier ones"
    assert not lost or len(AvoidedMoves(file).moves) >= 1


def test_a_move_that_lost_is_played_when_all_others_are_worse(tmp_path: Path) -> None:
    position = parse_position("0-0-0-0-0-1-1-0-0-0-0-0-23-23-S", Game.ABAPA)
    avoided = AvoidedMoves(tmp_path / "lost.jsonl")
    for move in position.legal_moves():
        avoided.add(position, move, -1.0 - move)
    player = make_player(f"champion@4,hash=1,avoided_moves={tmp_path / 'lost.jsonl'}")
    player.begin(Game.ABAPA, 0)
    assert player.choose(position, Clock()).move == position.legal_moves()[0]
