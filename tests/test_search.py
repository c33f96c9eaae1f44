"""The textbook searches: the four agree at every depth, what they know changes no value, ties are broken fairly."""

import random
from collections import Counter

import pytest

from awello import PASS, Game, Position, make_player, parse_position
from awello.errors import ConfigError, SpecError
from awello.evaluate.heuristics import EXACT, evaluate
from awello.evaluate.settings import Evaluator, Heuristic, heuristics_for
from awello.kernel import U
from awello.limits import Clock
from awello.search import alphabeta_tt
from awello.search.alphabeta_tt import AlphaBetaEntry
from awello.search.root import ALGORITHMS, AlphaBetaEvaluator, analyse

alpha_beta_entry_at = getattr(alphabeta_tt.alpha_beta_entry_at, "twin", alphabeta_tt.alpha_beta_entry_at)

FOUR = ("minimax", "alphabeta", "negamax", "negamax-alphabeta")
PLAYERS = (
    "minimax@3",
    "alphabeta@3",
    "negamax@3",
    "negamax-alphabeta@3",
    "alphabeta@3,tt_entries=0,move_ordering=false",
)


def some_positions(game: Game, count: int, seed: int = 1) -> list[Position]:
    """Positions of random games where there is something to choose."""
    chance = random.Random(f"{game}/{seed}")
    found: list[Position] = []
    while len(found) < count:
        position = Position.start(game)
        for _ in range(chance.randrange(60)):
            if moves := position.legal_moves():
                position = position.after(chance.choice(moves))
        if not position.over and position.legal_moves() != (PASS,):
            found.append(Position(game, position.own, position.opp, position.side))
    return found


def slow_value(position: Position, depth: int, evaluator: Evaluator) -> tuple[int, int, int]:
    """Value for the mover, nodes and leaves, by the definition."""
    moves = position.legal_moves()
    if depth == 0 or not moves:
        words = U(position.own), U(position.opp)
        return evaluate(int(position.game), evaluator.heuristic, *words, not moves, evaluator.state), 1, 1
    results = [slow_value(position.after(move), depth - 1, evaluator) for move in moves]
    return max(-value for value, _, _ in results), 1 + sum(r[1] for r in results), sum(r[2] for r in results)


def scaled(value: float, exact: bool) -> float:
    return value * EXACT if exact else value


def test_the_plain_ones_are_the_definition(game: Game) -> None:
    for position in some_positions(game, 6):
        evaluator = Evaluator(game, Heuristic(heuristics_for(game)[-1]))
        for depth in (1, 2, 3):
            evaluator.begin(position, depth)
            unplayed = Position(game, position.own, position.opp, position.side)
            value, nodes, leaves = slow_value(unplayed, depth, evaluator)
            for algorithm in ("minimax", "negamax"):
                found = analyse(position, algorithm, depth, evaluator)
                assert (scaled(found.value, found.exact), found.nodes, found.leaves) == (value, nodes, leaves)


def test_all_agree_at_every_depth(game: Game) -> None:
    for position in some_positions(game, 8):
        for name in heuristics_for(game):
            for depth in (1, 2, 3, 4, 5):
                evaluator = Evaluator(game, Heuristic(name))
                found = [analyse(position, algorithm, depth, evaluator) for algorithm in FOUR]
                for memory, sort, mirror in (
                    (64, False, False),
                    (0, True, False),
                    (0, False, True),
                    (4096, True, True),
                ):
                    knowledge = AlphaBetaEvaluator(game, Heuristic(name), memory, sort, mirror)
                    found.append(analyse(position, "alphabeta_tt", depth, knowledge))
                assert len({(one.value, one.exact, one.best_moves) for one in found}) == 1
                assert found[0].nodes == found[2].nodes >= found[1].nodes == found[3].nodes


def test_memory_lasts_from_move_to_move_and_changes_nothing() -> None:
    saved = 0
    for seed in range(6):
        chance, position = random.Random(seed), Position.start()
        knowledge = AlphaBetaEvaluator(Game.OTHELLO, Heuristic("positional"), 1 << 14, False, False)
        while not position.over and position.legal_moves() != (PASS,):
            fresh = AlphaBetaEvaluator(Game.OTHELLO, Heuristic("positional"), 1 << 14, False, False)
            one, other = (analyse(position, "alphabeta_tt", 4, evaluator) for evaluator in (knowledge, fresh))
            assert (one.value, one.best_moves) == (other.value, other.best_moves)
            saved += other.nodes - one.nodes
            position = position.after(chance.choice(one.best_moves))
    assert saved > 0


def test_the_table_holds_what_a_search_found() -> None:
    state = AlphaBetaEvaluator(Game.OTHELLO, Heuristic("positional"), 1, False, False).search_state
    own, opp, other = U(1), U(2), U(3)
    assert alphabeta_tt.recall(own, opp, state) == 0
    for value, bound in ((-9, alphabeta_tt.UPPER), (0, alphabeta_tt.SAME), (7, alphabeta_tt.LOWER)):
        alphabeta_tt.remember(own, opp, value, -5, 5, 4, 19, state)
        entry = alpha_beta_entry_at(int(alphabeta_tt.recall(own, opp, state)))
        assert (entry.value, entry.bound, entry.depth, entry.move) == (value, bound, 4, 19)
        assert alphabeta_tt.settles(entry, -5, 5, 4) and not alphabeta_tt.settles(entry, -5, 5, 3)
        assert alphabeta_tt.settles(entry, -20, 20, 4) == (bound == alphabeta_tt.SAME)
    assert alphabeta_tt.recall(own, other, state) == alphabeta_tt.recall(other, opp, state) == 0
    assert AlphaBetaEntry.dtype.itemsize == 24, "the docs say so"


def test_without_a_table_nothing_is_held() -> None:
    state = AlphaBetaEvaluator(Game.OTHELLO, Heuristic("positional"), 0, False, False).search_state
    alphabeta_tt.remember(U(1), U(2), 3, -5, 5, 4, 19, state)
    assert alphabeta_tt.recall(U(1), U(2), state) == 0


def test_sorting_and_mirrors_save_nodes() -> None:
    start = Position.start()
    plain, sort, mirror = (
        analyse(
            start, "alphabeta_tt", 6, AlphaBetaEvaluator(Game.OTHELLO, Heuristic("positional"), 0, sort, mirror)
        ).nodes
        for sort, mirror in ((False, False), (True, False), (False, True))
    )
    assert sort < plain
    assert mirror < plain


def test_searching_on_among_equals_changes_no_value() -> None:
    for position in some_positions(Game.OTHELLO, 6):
        found = []
        for text in (
            "tt_entries=0,move_ordering=false",
            "tt_entries=0,move_ordering=false,strict_cutoff=true",
            "strict_cutoff=true",
        ):
            player = make_player(f"negamax-alphabeta:absolute@4,{text}")
            player.begin(Game.OTHELLO, 1)
            analysis = player.choose(position, Clock()).analysis
            assert analysis
            found.append(analysis)
        assert len({(one.value, one.best_moves) for one in found}) == 1
        assert found[1].nodes >= found[0].nodes


def test_a_sure_win_comes_first() -> None:
    position = parse_position("XOO-----" + "-" * 56 + " X")  # d1 takes everything
    found = analyse(position, "alphabeta", 3, Evaluator(Game.OTHELLO, Heuristic("positional", "2")))
    assert (found.value, found.exact) == (64, True)


def test_a_pass_is_a_ply() -> None:
    position = parse_position("-OXXXXXX" + "-" * 48 + "------OX" + " X")
    evaluator = Evaluator(Game.OTHELLO, Heuristic("absolute"))
    for algorithm in FOUR:
        assert scaled(*_value(analyse(position, algorithm, 2, evaluator))) == slow_value(position, 2, evaluator)[0]


def _value(analysis: object) -> tuple[float, bool]:
    return analysis.value, analysis.exact  # type: ignore[attr-defined]


@pytest.mark.parametrize("spec", PLAYERS)
def test_ties_are_broken_by_chance(spec: str) -> None:
    chosen: Counter[int] = Counter()
    player = make_player(spec)
    for seed in range(60):
        player.begin(Game.OTHELLO, seed)
        chosen[player.choose(Position.start(), Clock()).move] += 1
    assert chosen.keys() == {19, 26, 37, 44}  # the four first moves are images of each other
    assert min(chosen.values()) > 3


@pytest.mark.parametrize(
    ("spec", "part"),
    [
        ("minimax@100ms", "needs a depth"),
        ("minimax@0", "needs a depth"),
        ("minimax@65", "needs a depth"),
        ("minimax:nothing@3", "no heuristic 'nothing'"),
        ("minimax:diffscore@3", "no heuristic 'diffscore' for othello"),
        ("minimax:mixed@3,thresholds=30", "thresholds '30'"),
        ("minimax@3,table=9", "no table '9'"),
    ],
)
def test_wrong_settings_are_refused(spec: str, part: str) -> None:
    with pytest.raises((SpecError, ConfigError), match=part):
        make_player(spec).begin(Game.OTHELLO, 1)


def test_every_algorithm_is_tested() -> None:
    assert set(ALGORITHMS) == {*FOUR, "alphabeta_tt"}
