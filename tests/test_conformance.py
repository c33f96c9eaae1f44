"""Compare the kernels and `Position` of every game with the reference rules."""

import random
from collections.abc import Iterator

import pytest
from conftest import Reference, reference_start
from reference_rules import ReferenceAwale

from awello import PASS, Game, Position, format_position, parse_position
from awello.errors import IllegalMoveError
from awello.kernel import U
from awello.rules import game as kernels
from awello.rules.game import ADAPTERS, DEFAULT_BY_FAMILY

POSITIONS = 3400  # positions of each of the six games, so more than 20,000 in total


def make_start(game: Game, rng: random.Random) -> tuple[Position, Reference]:
    """Return a start position and its counterpart in the reference rules.

    Half of the Awalé positions have few seeds, to cover feeding, grand slams and endings.
    """
    if game.family == "othello" or rng.random() < 0.5:
        return Position.start(game), reference_start(game)
    seeds = [0] * 14
    for _ in range(rng.randrange(2, 20)):
        seeds[rng.randrange(12)] += 1
    seeds[12] = (48 - sum(seeds)) // 2
    seeds[13] = 48 - sum(seeds)
    side = rng.randrange(2)
    reference = ReferenceAwale(game.variant or "", (tuple(seeds[:6]), tuple(seeds[6:12])), (seeds[12], seeds[13]), side)
    return parse_position("-".join(map(str, seeds)) + "-" + "SN"[side], game), reference


def random_games(game: Game, seed: int, positions: int) -> Iterator[tuple[Position, Reference]]:
    """Yield positions of random games, each with its counterpart in the reference rules.

    Some Awalé games avoid captures, so that positions are repeated.
    """
    rng = random.Random(f"{game.name}/{seed}")
    while positions > 0:
        position, reference = make_start(game, rng)
        quiet = game.family == "awale" and rng.random() < 0.3
        yield position, reference
        for _ in range(200):
            if not (moves := position.legal_moves()):
                break
            calm = [move for move in moves if position.after(move).opp >> 48 == position.own >> 48]
            move = rng.choice(calm if quiet and calm else moves)
            position, reference = position.play(move), reference.play(move)
            yield position, reference
            positions -= 1


def test_kernels_agree_with_the_reference(game: Game) -> None:
    for position, reference in random_games(game, 1, POSITIONS):
        assert (position.own, position.opp) == reference.words()
        assert position.side == reference.side
        assert list(position.legal_moves()) == reference.legal_moves()
        assert position.over == reference.over()
        if position.over:
            assert position.score() == reference.score()


def test_the_score_kernel_agrees_with_the_reference(game: Game) -> None:
    for position, reference in random_games(game, 2, 600):
        if position.over and not position.repeated:
            first, second = reference.score()
            value = first - second if position.side == 0 else second - first
            assert kernels.score(int(game), U(position.own), U(position.opp)) == value


def test_random_games_meet_every_ending() -> None:
    reasons = set()
    for game in (Game.ABAPA, Game.TOURNAMENT, Game.ROMEIN):
        for _, reference in random_games(game, 1, POSITIONS):
            reasons.add((game.variant, reference.end_reason()))  # type: ignore[union-attr]
    for variant, end_reason in [
        ("abapa", "majority"),
        ("abapa", "no move"),
        ("abapa", "repetition"),
        ("tournament", "few seeds"),
        ("tournament", "majority"),
        ("romein", "no move"),
        ("romein", "repetition"),
    ]:
        assert (variant, end_reason) in reasons


def test_text_and_repr_evaluate_back(game: Game) -> None:
    names = {"parse_position": parse_position, "Game": Game}
    for position, _ in random_games(game, 3, 150):
        assert parse_position(format_position(position), game) == position
        assert eval(repr(position), names) == position


def test_moves_have_names_that_read_back(game: Game) -> None:
    for position, _ in random_games(game, 4, 150):
        for move in position.legal_moves():
            assert position.parse_move(position.format_move(move)) == move


def test_other_moves_are_refused(game: Game) -> None:
    for position, _ in random_games(game, 5, 60):
        for move in {PASS, 99, *position.all_moves()} - set(position.legal_moves()):
            with pytest.raises(IllegalMoveError):
                position.play(move)


def test_nothing_is_lost(game: Game) -> None:
    for position, _ in random_games(game, 6, 300):
        first, second = position.counts()
        assert 0 <= first + second <= game.max_score
        if position.over and game.family == "othello":
            assert sum(position.score()) == game.max_score
        if game.family == "awale":
            assert sum((position.own | position.opp << 64).to_bytes(16, "little")) == 48


def test_positions_draw_themselves(game: Game) -> None:
    for position, _ in random_games(game, 7, 60):
        assert len(str(position).splitlines()) >= 6
        assert position._repr_svg_().startswith("<svg ")


AWALE = [Game.ABAPA, Game.TOURNAMENT, Game.ROMEIN]


@pytest.mark.parametrize("game", AWALE)
def test_feeding_from_every_pit_with_every_number_of_seeds(game: Game) -> None:
    for pit in range(6):
        for seeds in range(1, 24):
            for other in range(6):
                row = [0] * 6
                row[pit] += seeds
                row[other] += 1
                captured = 48 - sum(row)
                reference = ReferenceAwale(
                    game.variant or "", (tuple(row), (0,) * 6), (captured // 2, captured - captured // 2)
                )
                position = Position(game, *reference.words())
                assert list(position.legal_moves()) == reference.legal_moves()


@pytest.mark.parametrize("game", AWALE)
def test_a_repeated_position_ends_the_game_as_the_variant_says(game: Game) -> None:
    rows, captured = ((3, 0, 2, 0, 0, 4), (0, 1, 0, 0, 5, 2)), (15, 16)
    reference = ReferenceAwale(game.variant or "", rows, captured, 1, frozenset({(rows, captured, 1)}))
    own, opp = reference.words()
    position = Position(game, own, opp, 1, frozenset({(own, opp, 1)}))
    assert position.over
    assert reference.over()
    assert position.score() == reference.score()
    assert not Position(game, own, opp, 1, frozenset({(own, opp, 0)})).over  # in the history, the other side is to move


def test_adapters_have_the_same_members(game: Game) -> None:
    members = [{name for name in dir(other.adapter) if not name.startswith("_")} for other in (game, Game.OTHELLO)]
    assert members[0] == members[1]
    assert game.adapter is ADAPTERS[int(game)] and game.adapter.game_id == int(game)
    assert DEFAULT_BY_FAMILY[game.family].adapter.title == game.adapter.title


def test_facts_of_a_game_are_true(game: Game) -> None:
    facts, adapter = game.describe(), game.adapter
    assert (facts["name"], facts["max_score"], facts["sides"]) == (str(game), game.max_score, game.sides)
    passed, repeated = False, False
    for position, _ in random_games(game, 9, 1500):
        moves = [move for move in position.legal_moves() if move != PASS]
        passed |= position.legal_moves() == (PASS,)
        repeated |= position.end_reason == "repetition"
        assert {len(position.format_move(move)) for move in moves} <= {adapter.name_length}
        assert adapter.has_symmetries or position.canonical() == (position.own, position.opp)
    assert passed == facts["has_passes"]
    assert repeated <= adapter.has_repetition, (
        "only games with a repetition rule end by repetition (tournament games seldom do)"
    )
