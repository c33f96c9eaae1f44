"""Perft: leaf counts from published tables for the standard games, and from the reference rules for the others."""

import pytest
import reference_rules
from conftest import reference_start

from awello import Game, Position
from awello.cli.perft import count_interruptibly
from awello.kernel import U
from awello.rules.game import perft

OTHELLO = (1, 4, 12, 56, 244, 1396, 8200, 55092, 390216, 3005288, 24571284, 212258800)
AWALE = (1, 6, 36, 190, 1014, 5219, 27332, 139157, 711414, 3592872, 18137964)


def count_leaves(game: Game, depth: int) -> int:
    start = Position.start(game)
    return perft(int(game), U(start.own), U(start.opp), depth)


@pytest.mark.parametrize(("depth", "expected"), [*enumerate(OTHELLO)])
def test_othello(depth: int, expected: int) -> None:
    assert count_leaves(Game.OTHELLO, depth) == expected


@pytest.mark.parametrize("variant", [Game.ABAPA, Game.TOURNAMENT, Game.ROMEIN])
@pytest.mark.parametrize(("depth", "expected"), [*enumerate(AWALE)])
def test_awale(variant: Game, depth: int, expected: int) -> None:
    assert count_leaves(variant, depth) == expected


@pytest.mark.parametrize(("game", "deepest"), [(Game.OTHELLO4, 8), (Game.OTHELLO6, 5)])
def test_small_boards(game: Game, deepest: int) -> None:
    for depth in range(deepest + 1):
        assert count_leaves(game, depth) == reference_rules.perft(reference_start(game), depth)


def test_all_games_of_the_smallest_board() -> None:
    assert count_leaves(Game.OTHELLO4, 20) == 60060


def test_counting_in_parts_gives_the_same_result(game: Game) -> None:
    for depth in (0, 1, 8, 9):
        assert count_interruptibly(Position.start(game), depth)[0] == count_leaves(game, depth)


@pytest.mark.parametrize("variant", [Game.ABAPA, Game.TOURNAMENT, Game.ROMEIN])
def test_late_positions_of_awale(variant: Game) -> None:
    reference = reference_rules.ReferenceAwale(
        variant.variant or "", ((1, 0, 2, 0, 0, 3), (0, 1, 0, 0, 2, 1)), (20, 18)
    )
    own, opp = reference.words()
    for depth in range(9):
        assert perft(int(variant), U(own), U(opp), depth) == reference_rules.perft(reference, depth)
