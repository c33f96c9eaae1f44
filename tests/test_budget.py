"""Alpha-beta with a node budget, and the players that use it, compared with minimax and algorithm 2 of report 1."""

import numpy as np
import pytest
from test_search import scaled, some_positions

from awello import PASS, Clock, Game, Position, make_player, parse_position
from awello.errors import SpecError
from awello.evaluate import awale
from awello.evaluate.evaluator import Evaluator, Heuristic, list_heuristics
from awello.evaluate.heuristics import DIFFSCORE, EXACT_SCALE, estimate
from awello.kernel import U
from awello.learn.categories import learn_scores
from awello.search import budget_kernels as kernels
from awello.search.budget_search import ORDERINGS, BudgetSearch, load_scores
from awello.search.textbook_search import analyse

ASYMMETRIC = Heuristic("travers", weights=(10, -7, 3, 2, -5, 1, 4, 6))


def two_heuristics(game: Game) -> list[Heuristic]:
    """Return two heuristics for a game; in Awalé, one of them has asymmetric weights."""
    return [ASYMMETRIC, Heuristic("diffscore")] if game >= Game.ABAPA else [Heuristic("mixed"), Heuristic("tactical")]


def without_history(position: Position) -> Position:
    """Return the position without its history, because searches ignore repetitions."""
    return Position(position.game, position.own, position.opp, position.side)


def leaf_value(position: Position, evaluator: Evaluator, ply: int) -> int:
    """Return the value of a leaf for the player at the root."""
    sign = -1 if ply % 2 else 1
    own, opp = U(position.own), U(position.opp)
    if not position.legal_moves():
        first, second = position.score()
        return sign * EXACT_SCALE * (second - first if position.side else first - second)
    if evaluator.heuristic_id <= DIFFSCORE:
        return sign * int(estimate(int(position.game), evaluator.heuristic_id, own, opp, evaluator.state))
    mine, theirs = (opp, own) if ply % 2 else (own, opp)
    value = awale.evaluate_features(evaluator.heuristic_id, mine, theirs, evaluator.state.weights)
    return int(value) - int(evaluator.state.root_value)


def reference_value(position: Position, budget: float, share_factor: float, ply: int, evaluator: Evaluator) -> int:
    """Compute the value for the player at the root by minimax, with node budgets divided as in report 1."""
    moves = position.legal_moves()
    if budget < 1 or not moves:
        return leaf_value(position, evaluator, ply)
    share = min((budget - 1) * share_factor / len(moves), budget - 1)
    children = [without_history(position.after(move)) for move in moves]
    values = [reference_value(child, share, share_factor, ply + 1, evaluator) for child in children]
    return min(values) if ply % 2 else max(values)


def category_of(position: Position, move: int) -> int:
    """Compute the category of a move (equation 2 of report 1) by sowing seed by seed."""
    board = [word >> 8 * pit & 255 for word in (position.own, position.opp) for pit in range(6)]
    place, left = move, board[move]
    while left:
        place = (place + 1) % 12
        left -= place != move
    return move + 6 * board[move] + 6 * 48 * board[place]


class AlgorithmTwo:
    """Algorithm 2 of report 1 as printed, with maximising and minimising players and category scores."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator, self.category_scores = evaluator, np.zeros(6 * 48 * 49, np.int64)

    def reward(self, tried: list[int]) -> None:
        self.category_scores[tried[-1]] += len(tried) - 1
        for category in tried[:-1]:
            self.category_scores[category] -= 1

    def value(self, position: Position, alpha: float, beta: float, depth: int, ply: int) -> float:
        if depth == 0 or not position.legal_moves():
            return leaf_value(position, self.evaluator, ply)
        sign = -1 if ply % 2 else 1
        best, tried = -sign * float("inf"), list[int]()
        for category, move in self.sorted_moves(position):
            child = without_history(position.after(move))
            # At the root, alpha is lower by 1, so that moves as good as the best one get exact values.
            found = self.value(child, alpha - (ply == 0), beta, depth - 1, ply + 1)
            tried.append(category)
            if sign * found > sign * best:
                best = found
                self.reward(tried)
                if (best >= beta) if sign > 0 else (best <= alpha):
                    self.reward(tried)
                    return best
            alpha, beta = (max(alpha, best), beta) if sign > 0 else (alpha, min(beta, best))
        return best

    def sorted_moves(self, position: Position) -> list[tuple[int, int]]:
        moves = [(category_of(position, move), move) for move in position.legal_moves()]
        return sorted(moves, key=lambda pair: -self.category_scores[pair[0]])


def test_a_fixed_depth_gives_minimax_values_with_every_move_ordering(game: Game) -> None:
    for name in list_heuristics(game):
        evaluator = Evaluator(game, Heuristic(name))
        searchers = [BudgetSearch(game, Heuristic(name), ordering) for ordering in ORDERINGS]
        for searcher in searchers:
            searcher.category_scores[:] = np.random.default_rng(1).integers(-99, 99, len(searcher.category_scores))
        for position in some_positions(game, 4):
            for depth in (1, 2, 3, 4):
                judge = analyse(position, "minimax", depth, evaluator)
                for searcher in searchers:
                    found = searcher.search_depth(position, depth)
                    assert (found.value, found.exact, found.depth) == (judge.value, judge.exact, depth)
                    assert found.best_moves == judge.best_moves


def test_without_move_ordering_it_equals_alphabeta_node_for_node(game: Game) -> None:
    for position in some_positions(game, 8):
        judge = analyse(position, "alphabeta", 5, Evaluator(game, Heuristic(list_heuristics(game)[0])))
        found = BudgetSearch(game, Heuristic(list_heuristics(game)[0]), "none").search_depth(position, 5)
        assert (found.nodes, found.leaves, found.candidates) == (judge.nodes, judge.leaves, judge.candidates)


@pytest.mark.parametrize("share_factor", [1.0, 1.5])
def test_budgets_are_divided_as_in_the_report(game: Game, share_factor: float) -> None:
    for heuristic in two_heuristics(game):
        searchers = [BudgetSearch(game, heuristic, ordering, share_factor) for ordering in ORDERINGS]
        for position in some_positions(game, 4):
            for nodes in (1, 9, 40, 120):
                found = [searcher.search_budget(position, nodes) for searcher in searchers]
                assert len({(one.value, one.exact, one.best_moves) for one in found}) == 1
                value = reference_value(without_history(position), nodes, share_factor, 0, searchers[0])
                assert scaled(found[0].value, found[0].exact) == value


def test_scores_of_a_small_case_by_hand() -> None:
    position = parse_position("1-5-0-5-1-0-1-1-2-6-6-0-10-10-S")
    categories = [category_of(position, move) for move in position.legal_moves()]
    searcher = BudgetSearch(Game.ABAPA, Heuristic("diffscore"))
    found = searcher.search_depth(position, 1)
    assert found.candidates == ((0, 0), (1, 2), (3, 7), (4, 0))
    assert [searcher.category_scores[category] for category in categories] == [
        -2,
        1 - 1,
        2,
        0,
    ]  # move B is better than A; then move D is better than A and B


def test_scores_equal_those_of_algorithm_two() -> None:
    for game in (Game.ABAPA, Game.TOURNAMENT, Game.ROMEIN):
        for position in some_positions(game, 12):
            for heuristic in two_heuristics(game):
                searcher = BudgetSearch(game, heuristic)
                twin = AlgorithmTwo(searcher)
                for depth in (1, 2, 3, 4):
                    found = searcher.search_depth(position, depth)
                    value = twin.value(without_history(position), -float("inf"), float("inf"), depth, 0)
                    assert scaled(found.value, found.exact) == value
                    assert (searcher.category_scores == twin.category_scores).all()
                assert searcher.category_scores.any() or len(position.legal_moves()) == 1


def test_scores_change_only_with_live_ordering() -> None:
    for ordering in ("none", "frozen"):
        searcher = BudgetSearch(Game.ABAPA, Heuristic("diffscore"), ordering)
        searcher.search_depth(Position.start(Game.ABAPA), 5)
        assert not searcher.category_scores.any()


@pytest.mark.parametrize("game", [Game.OTHELLO, Game.TOURNAMENT])
def test_learning_saves_nodes(game: Game) -> None:
    nodes = {}
    for ordering in ORDERINGS:
        searcher = BudgetSearch(game, Heuristic(list_heuristics(game)[-1]), ordering)
        nodes[ordering] = sum(searcher.search_depth(position, 6).nodes for position in some_positions(game, 10))
    assert nodes["live"] < 0.8 * nodes["none"]


def test_a_forced_line_ends_at_the_maximum_depth() -> None:
    position = parse_position("1-0-0-0-0-0-1-0-0-0-0-0-23-23-S", Game.ROMEIN)
    found = BudgetSearch(Game.ROMEIN, Heuristic("diffscore")).search_budget(position, 1e9)
    assert found.depth == kernels.MAX_DEPTH


def test_a_search_without_time_returns_a_move() -> None:
    start = Position.start(Game.ABAPA)
    found = BudgetSearch(Game.ABAPA, Heuristic("travers")).search_time(start, 0.0)
    assert found.move in start.legal_moves()
    assert len(found.candidates) == 6


def test_a_search_stops_at_its_node_limit() -> None:
    for limit in range(1, 400, 7):
        searcher = BudgetSearch(Game.ABAPA, Heuristic("diffscore"))
        searcher._search(Position.start(Game.ABAPA), 8, 0, limit)
        assert kernels.reached_node_limit(searcher.search_state)
        assert limit <= searcher.nodes <= limit + 8


def test_an_exact_result_ends_the_search() -> None:
    position = next(p for p in some_positions(Game.OTHELLO4, 20) if PASS not in p.legal_moves())
    found = BudgetSearch(Game.OTHELLO4, Heuristic("absolute")).search_time(position, 600.0)
    assert found.exact or len(found.candidates) == 1


def test_self_play_learns_scores() -> None:
    heuristic = Heuristic("diffscore")
    reports: list[int] = []
    scores = learn_scores(heuristic, games=3, nodes=300, seed=2, on_progress=reports.append)
    assert len(reports) == 3
    assert (scores == learn_scores(heuristic, games=3, nodes=300, seed=2)).all()
    assert (scores != learn_scores(heuristic, games=3, nodes=300, seed=3)).any()


def test_the_shipped_scores_save_nodes() -> None:
    nodes = {}
    for ordering in ("none", "frozen"):
        searcher = BudgetSearch(Game.TOURNAMENT, Heuristic("diffscore"), ordering, scores=load_scores(Game.ABAPA))
        nodes[ordering] = sum(
            searcher.search_depth(position, 7).nodes for position in some_positions(Game.TOURNAMENT, 10)
        )
    assert nodes["frozen"] < 0.7 * nodes["none"]


@pytest.mark.parametrize("ordering", ORDERINGS)
def test_players_with_a_depth_play_like_alphabeta(ordering: str) -> None:
    one, other = make_player(f"budget:h3@5,learnt_ordering={ordering}"), make_player("alphabeta:h3@5")
    for player in (one, other):
        player.begin(Game.TOURNAMENT, 1)
    for position in some_positions(Game.TOURNAMENT, 12):
        choices = [player.choose(position, Clock()) for player in (one, other)]
        assert choices[0].move == choices[1].move


def test_players_reset_their_scores_for_each_game() -> None:
    player, nodes = make_player("budget:diffscore@6"), []
    for _ in range(2):
        player.begin(Game.ABAPA, 1)
        analysis = player.choose(Position.start(Game.ABAPA), Clock()).analysis
        assert analysis
        nodes.append(analysis.nodes)
    assert nodes[0] == nodes[1]


@pytest.mark.parametrize("spec", ["budget:positional@500n", "budget@3", "budget@20ms", "budget@500n,share_factor=1.2"])
def test_players_accept_nodes_a_depth_or_a_time(spec: str) -> None:
    player = make_player(spec)
    player.begin(Game.OTHELLO, 1)
    assert player.choose(Position.start(), Clock()).move in Position.start().legal_moves()


def test_travers_opens_from_the_right() -> None:
    for game in (Game.ABAPA, Game.TOURNAMENT, Game.ROMEIN):
        player, start = make_player("travers@300n"), Position.start(game)
        player.begin(game, 1)
        assert start.format_move(player.choose(start, Clock()).move) == "F"
        later = start.play("A")
        choice = player.choose(later, Clock())
        assert choice.analysis and choice.move in choice.analysis.best_moves


@pytest.mark.parametrize(
    ("spec", "game", "part"),
    [
        ("travers", Game.OTHELLO, "plays only Awalé, not othello"),
        ("budget@level=3", Game.ABAPA, "needs a number of nodes, a time or a depth up to 128"),
        ("budget@129", Game.ABAPA, "needs a number of nodes, a time or a depth up to 128"),
        ("budget@0n", Game.ABAPA, "needs a number of nodes"),
        ("budget,share_factor=2", Game.ABAPA, "share_factor"),
        ("budget,learnt_ordering=best", Game.ABAPA, "learnt_ordering"),
    ],
)
def test_invalid_settings_are_rejected(spec: str, game: Game, part: str) -> None:
    with pytest.raises(SpecError, match=part):
        make_player(spec).begin(game, 1)
