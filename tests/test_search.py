"""The textbook searches: they agree at every depth, their techniques change no value, and ties are broken fairly."""

import random
from collections import Counter

import pytest

from awello import PASS, Game, Position, make_player, parse_position
from awello.errors import ConfigError, SpecError
from awello.evaluate.evaluator import Evaluator, Heuristic, list_heuristics
from awello.evaluate.heuristics import EXACT_SCALE, evaluate
from awello.kernel import U
from awello.limits import Clock
from awello.search import alphabeta_tt
from awello.search.alphabeta_tt import AlphaBetaEntry
from awello.search.textbook_search import ALGORITHMS, AlphaBetaEvaluator, analyse

alpha_beta_entry_at = getattr(alphabeta_tt.alpha_beta_entry_at, "py_func", alphabeta_tt.alpha_beta_entry_at)

TEXTBOOK = ("minimax", "alphabeta", "negamax", "negamax-alphabeta")
PLAYERS = (
    "minimax@3",
    "alphabeta@3",
    "negamax@3",
    "negamax-alphabeta@3",
    "alphabeta@3,tt_entries=0,move_ordering=false",
)


def some_positions(game: Game, count: int, seed: int = 1) -> list[Position]:
    """Return positions of random games, omitting those in which the mover must pass."""
    rng = random.Random(f"{game}/{seed}")
    found: list[Position] = []
    while len(found) < count:
        position = Position.start(game)
        for _ in range(rng.randrange(60)):
            if moves := position.legal_moves():
                position = position.after(rng.choice(moves))
        if not position.over and position.legal_moves() != (PASS,):
            found.append(Position(game, position.own, position.opp, position.side))
    return found


def reference_value(position: Position, depth: int, evaluator: Evaluator) -> tuple[int, int, int]:
    """Compute the value for the mover and the numbers of nodes and leaves by the definition of minimax."""
    moves = position.legal_moves()
    if depth == 0 or not moves:
        words = U(position.own), U(position.opp)
        return evaluate(int(position.game), evaluator.heuristic_id, *words, not moves, evaluator.state), 1, 1
    results = [reference_value(position.after(move), depth - 1, evaluator) for move in moves]
    return max(-value for value, _, _ in results), 1 + sum(r[1] for r in results), sum(r[2] for r in results)


def scaled(value: float, exact: bool) -> float:
    return value * EXACT_SCALE if exact else value


def test_minimax_matches_its_definition(game: Game) -> None:
    for position in some_positions(game, 6):
        evaluator = Evaluator(game, Heuristic(list_heuristics(game)[-1]))
        for depth in (1, 2, 3):
            evaluator.prepare(position, depth)
            unplayed = Position(game, position.own, position.opp, position.side)
            value, nodes, leaves = reference_value(unplayed, depth, evaluator)
            for algorithm in ("minimax", "negamax"):
                found = analyse(position, algorithm, depth, evaluator)
                assert (scaled(found.value, found.exact), found.nodes, found.leaves) == (value, nodes, leaves)


def test_all_algorithms_agree_at_every_depth(game: Game) -> None:
    for position in some_positions(game, 8):
        for name in list_heuristics(game):
            for depth in (1, 2, 3, 4, 5):
                evaluator = Evaluator(game, Heuristic(name))
                found = [analyse(position, algorithm, depth, evaluator) for algorithm in TEXTBOOK]
                for tt_entries, move_ordering, skip_mirrors in (
                    (64, False, False),
                    (0, True, False),
                    (0, False, True),
                    (4096, True, True),
                ):
                    evaluator = AlphaBetaEvaluator(game, Heuristic(name), tt_entries, move_ordering, skip_mirrors)
                    found.append(analyse(position, "alphabeta_tt", depth, evaluator))
                assert len({(one.value, one.exact, one.best_moves) for one in found}) == 1
                assert found[0].nodes == found[2].nodes >= found[1].nodes == found[3].nodes


def test_the_table_is_kept_between_moves_and_changes_no_value() -> None:
    saved = 0
    for seed in range(6):
        rng, position = random.Random(seed), Position.start()
        lasting = AlphaBetaEvaluator(Game.OTHELLO, Heuristic("positional"), 1 << 14, False, False)
        while not position.over and position.legal_moves() != (PASS,):
            fresh = AlphaBetaEvaluator(Game.OTHELLO, Heuristic("positional"), 1 << 14, False, False)
            one, other = (analyse(position, "alphabeta_tt", 4, evaluator) for evaluator in (lasting, fresh))
            assert (one.value, one.best_moves) == (other.value, other.best_moves)
            saved += other.nodes - one.nodes
            position = position.after(rng.choice(one.best_moves))
    assert saved > 0


def test_the_table_stores_bounds() -> None:
    state = AlphaBetaEvaluator(Game.OTHELLO, Heuristic("positional"), 1, False, False).search_state
    own, opp, other = U(1), U(2), U(3)
    assert alphabeta_tt.probe_tt(own, opp, state) == 0
    for value, bound in ((-9, alphabeta_tt.BOUND_UPPER), (0, alphabeta_tt.BOUND_EXACT), (7, alphabeta_tt.BOUND_LOWER)):
        alphabeta_tt.store_tt(own, opp, value, -5, 5, 4, 19, state)
        entry = alpha_beta_entry_at(int(alphabeta_tt.probe_tt(own, opp, state)))
        assert (entry.value, entry.bound, entry.depth, entry.move) == (value, bound, 4, 19)
        assert alphabeta_tt.allows_cutoff(entry, -5, 5, 4) and not alphabeta_tt.allows_cutoff(entry, -5, 5, 3)
        assert alphabeta_tt.allows_cutoff(entry, -20, 20, 4) == (bound == alphabeta_tt.BOUND_EXACT)
    assert alphabeta_tt.probe_tt(own, other, state) == alphabeta_tt.probe_tt(other, opp, state) == 0
    assert AlphaBetaEntry.dtype.itemsize == 24, "the docs state this size"


def test_without_a_table_nothing_is_stored() -> None:
    state = AlphaBetaEvaluator(Game.OTHELLO, Heuristic("positional"), 0, False, False).search_state
    alphabeta_tt.store_tt(U(1), U(2), 3, -5, 5, 4, 19, state)
    assert alphabeta_tt.probe_tt(U(1), U(2), state) == 0


def test_move_ordering_and_mirror_skipping_save_nodes() -> None:
    start = Position.start()
    plain, ordered, mirrored = (
        analyse(
            start, "alphabeta_tt", 6, AlphaBetaEvaluator(Game.OTHELLO, Heuristic("positional"), 0, order, skip)
        ).nodes
        for order, skip in ((False, False), (True, False), (False, True))
    )
    assert ordered < plain
    assert mirrored < plain


def test_strict_cutoffs_change_no_value() -> None:
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


def test_a_certain_win_is_preferred() -> None:
    position = parse_position("XOO-----" + "-" * 56 + " X")  # d1 flips all discs of White
    found = analyse(position, "alphabeta", 3, Evaluator(Game.OTHELLO, Heuristic("positional", "2")))
    assert (found.value, found.exact) == (64, True)


def test_a_pass_is_a_ply() -> None:
    position = parse_position("-OXXXXXX" + "-" * 48 + "------OX" + " X")
    evaluator = Evaluator(Game.OTHELLO, Heuristic("absolute"))
    for algorithm in TEXTBOOK:
        assert scaled(*_value(analyse(position, algorithm, 2, evaluator))) == reference_value(position, 2, evaluator)[0]


def _value(analysis: object) -> tuple[float, bool]:
    return analysis.value, analysis.exact  # type: ignore[attr-defined]


@pytest.mark.parametrize("spec", PLAYERS)
def test_ties_are_broken_by_chance(spec: str) -> None:
    chosen: Counter[int] = Counter()
    player = make_player(spec)
    for seed in range(60):
        player.begin(Game.OTHELLO, seed)
        chosen[player.choose(Position.start(), Clock()).move] += 1
    assert chosen.keys() == {19, 26, 37, 44}  # the legal first moves, which are symmetric to each other
    assert min(chosen.values()) > 3


@pytest.mark.parametrize(
    ("spec", "part"),
    [
        ("minimax@100ms", "needs a depth"),
        ("minimax@0", "needs a depth"),
        ("minimax@65", "needs a depth"),
        ("minimax:nothing@3", "'nothing' is not a heuristic"),
        ("minimax:diffscore@3", "'diffscore' is not a heuristic for othello"),
        ("minimax:mixed@3,thresholds=30", "thresholds '30'"),
        ("minimax@3,square_table=9", "'9' is not a square table"),
    ],
)
def test_invalid_settings_are_rejected(spec: str, part: str) -> None:
    with pytest.raises((SpecError, ConfigError), match=part):
        make_player(spec).begin(Game.OTHELLO, 1)


def test_every_algorithm_is_tested() -> None:
    assert set(ALGORITHMS) == {*TEXTBOOK, "alphabeta_tt"}
