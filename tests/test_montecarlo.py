"""Monte Carlo tree search: consistent counts, winning moves, the players and their limits."""

import inspect
import random
import sys

import numpy as np
import pytest
import reference_search
from conftest import run
from waiting import SteppingTime

from awello import Clock, Game, Match, Position, make_player, parse_position, play_match
from awello.errors import SpecError
from awello.kernel import COMPILED, U
from awello.players.montecarlo import TreeSearchPlayer
from awello.search import montecarlo, ppaf, uct
from awello.search.montecarlo import MonteCarloTree, PpafTree
from awello.search.uct import TreeNode, run_playout


@pytest.mark.parametrize("make", [MonteCarloTree, PpafTree])
def test_counts_add_up(make: type[MonteCarloTree], game: Game) -> None:
    tree, rng = make(max_nodes=1 << 14), random.Random(1)
    position = Position.start(game)
    for _ in range(6):
        position = position.play(rng.choice(position.legal_moves()))
    found = tree.analyse(position, 60.0, 3000, 5)
    assert found.leaves == 3000 == tree.nodes[0].visits
    assert {move for move, _ in found.candidates} == set(position.legal_moves())
    grown = np.flatnonzero(tree.nodes["child_count"][: tree.node_count])
    assert len(grown) > 20
    for node in grown:
        children = tree.nodes[tree._children(int(node))]
        visits, points = children["visits"].sum(), children["half_points"].sum()
        assert visits == tree.nodes[node].visits - (node > 0), "all visits but the first continue to a child"
        assert 0 <= points <= 2 * visits
        assert tree.nodes[node].first_child > node
    end = position
    for move in found.pv:
        end = end.play(move)


def test_random_games_are_fair() -> None:
    """From a symmetric start, both sides score about equally."""
    state, results = U(12345), []
    for _ in range(4000):
        result, state = run_playout(int(Game.ABAPA), U(0x040404040404), U(0x040404040404), U(state))
        results.append(result)
    assert set(results) == {0, 1, 2} and 0.9 < np.mean(results) < 1.1


def test_equal_seeds_give_equal_trees_and_full_trees_keep_searching() -> None:
    position, tree = Position.start(Game.OTHELLO), MonteCarloTree(max_nodes=1 << 10)
    first = tree.analyse(position, 60.0, 5000, 3)
    again = tree.analyse(position, 60.0, 5000, 3)
    other = tree.analyse(position, 60.0, 5000, 4)
    assert first.candidates == again.candidates != other.candidates
    assert first.nodes <= 1 << 10 and first.leaves == 5000


def test_a_win_within_reach_is_found() -> None:
    found, solved = 0, 0
    rng = random.Random(3)
    while solved < 12:
        position = reference_search.random_position(Game.OTHELLO, 6, rng)
        values = {move: -reference_search.solve(position.after(move)) for move in position.legal_moves()}
        if max(values.values()) > 0 > min(values.values()):
            solved += 1
            found += values[MonteCarloTree(1 << 14).analyse(position, 60.0, 4000, 1).move] > 0
    assert found >= 11
    capture = parse_position("0-0-0-0-0-2-0-1-9-9-0-0-13-14-S", Game.ABAPA)
    assert capture.format_move(MonteCarloTree(1 << 14).analyse(capture, 60.0, 2000, 1).move) == "F"


def test_a_node_has_the_documented_size() -> None:
    described = inspect.getsource(TreeSearchPlayer)
    assert f"{TreeNode.dtype.itemsize} bytes" in described
    assert MonteCarloTree(1 << 10).nodes.nbytes == TreeNode.dtype.itemsize << 10


def test_uncompiled_kernels_check_the_size_of_the_tree() -> None:
    if COMPILED:  # compiled kernels do not check indices
        done = run("-m", "pytest", "-q", f"{__file__}::{sys._getframe().f_code.co_name}", NUMBA_DISABLE_JIT="1")
        assert done.returncode == 0, done.stdout
        return
    tree = MonteCarloTree(max_nodes=5)  # the root and its four children
    tree.reset(Position.start())
    with pytest.raises(IndexError):
        uct.expand(tree.nodes, tree.state, 1)
    tree.state.path.length = uct.MAX_PATH
    with pytest.raises(IndexError):
        uct.append_node(tree.state.path, 0)
    learning = PpafTree(1 << 10)
    learning.policy.ply_count = uct.MAX_PLAYOUT_PLIES + 1
    with pytest.raises(IndexError):
        ppaf.adapt_policy(learning.policy, 0)


# ---- learning policy ------------------------------------------------------------------------------------------------
def test_categories_of_moves() -> None:
    """As in report 1, Awalé moves are grouped by pit, its seeds, and the seeds in the pit of the last sown seed."""
    position = parse_position("1-0-3-0-0-13-2-5-0-0-7-0-8-9-S", Game.ABAPA)
    own, opp = U(position.own), U(position.opp)
    expected = {0: 0 + 6 * 1 + 288 * 0, 2: 2 + 6 * 3 + 288 * 13, 5: 5 + 6 * 13 + 288 * 5}
    for pit, category in expected.items():
        assert ppaf.category_of(int(Game.ABAPA), own, opp, pit) == category < ppaf.CATEGORY_COUNT
    start = Position.start()
    categories = {ppaf.category_of(0, U(start.own), U(start.opp), move) for move in start.legal_moves()}
    assert categories == {move + 64 for move in start.legal_moves()}


def test_the_policy_adapts_to_the_winner() -> None:
    position = parse_position("0-0-1-0-2-0-0-1-0-0-3-0-20-21-S", Game.ABAPA)
    state = ppaf.PpafState.new()
    state.tree.game, state.ply_count = int(Game.ABAPA), 1
    state.moves[0].own, state.moves[0].opp, state.moves[0].move = U(position.own), U(position.opp), 2
    ppaf.adapt_policy(state, 0)
    categories = [ppaf.category_of(int(Game.ABAPA), U(position.own), U(position.opp), pit) for pit in (2, 4)]
    weights, changes = np.array(state.weights), np.array(state.weight_changes)
    assert weights[categories].tolist() == pytest.approx([ppaf.LEARNING_RATE / 2, -ppaf.LEARNING_RATE / 2])
    assert np.count_nonzero(weights) == 2 and not changes.any()


def test_learnt_weights_are_kept_within_a_game() -> None:
    tree = PpafTree(1 << 12)
    tree.analyse(Position.start(Game.ABAPA), 60.0, 300, 1)
    learnt = np.array(tree.policy.weights)
    assert learnt.any() and np.isfinite(learnt).all()
    tree.analyse(Position.start(Game.ABAPA), 60.0, 1, 1)
    assert np.count_nonzero(tree.policy.weights == learnt) > ppaf.CATEGORY_COUNT // 2


# ---- players --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["uct", "ppaf"])
def test_the_player_respects_its_time_limit(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(montecarlo, "time", SteppingTime(0.02))
    player = make_player(f"{name}@50ms")
    player.begin(Game.ABAPA, 1)
    choice = player.choose(Position.start(Game.ABAPA), Clock())
    assert choice.analysis and choice.analysis.leaves == 3 * MonteCarloTree.simulations_per_check, (
        "the third check of the clock is past the limit"
    )
    with pytest.raises(SpecError, match="needs a time"):
        make_player(f"{name}@4").begin(Game.OTHELLO, 0)


@pytest.mark.parametrize("name", ["uct", "ppaf"])
def test_it_beats_random(name: str) -> None:
    for game in (Game.TOURNAMENT, Game.OTHELLO):
        result = play_match(Match(game, f"{name}@300n,max_nodes=4096", "random", games=10, seed=2))
        assert result.wins >= 8
