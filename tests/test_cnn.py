"""The convolutional network: its file, its symmetries, the searches that use it, and its players."""

import random
import sys
from pathlib import Path

import numpy as np
import pytest
from random_games import play_random_moves

from awello import PASS, Clock, Game, Match, Position, make_player, parse_position, play_match
from awello.errors import ConfigError, SpecError
from awello.evaluate.cnn import ILLEGAL_LOGIT, SYMMETRY_SQUARES, Cnn, load_cnn, load_cnn_file, unpack_bits
from awello.evaluate.perceptron import PerceptronState, forward
from awello.evaluate.perceptron_weights import load_perceptron
from awello.kernel import Float32Array, U, Words
from awello.rules.othello import apply_symmetry
from awello.search.batched_alphabeta import INFINITY, BatchedAlphaBeta
from awello.search.montecarlo import CnnTree, PerceptronTree
from awello.search.puct import BATCH_SIZE
from awello.search.uct import TreeNode


class PerceptronAsCnn(Cnn):
    """The shipped perceptron with the interface of `Cnn`; it counts the positions that it evaluates."""

    def __init__(self) -> None:
        self.perceptron, self.evaluated = load_perceptron(Game.OTHELLO), 0

    def predict(self, words: Words) -> tuple[Float32Array, Float32Array]:
        promises, values = np.zeros((len(words), 64), np.float32), np.zeros(len(words), np.float32)
        state = PerceptronState.new()
        state.layers = self.perceptron.layers
        for row, (own, opp) in enumerate(words):
            values[row] = forward(int(Game.OTHELLO), own, opp, self.perceptron.weights, state)
            promises[row] = state.outputs[:64]
        self.evaluated += len(words)
        return promises, values


def some_positions(count: int, plies: tuple[int, int] = (0, 58)) -> list[Position]:
    """Return random positions in which the mover has a legal move."""
    rng, found = random.Random(count), list[Position]()
    while len(found) < count:
        position = play_random_moves(Game.OTHELLO, rng.randrange(1000), rng.randint(*plies)).final
        if position.legal_moves() not in ((), (PASS,)):
            found.append(position)
    return found


# ---- the network ----------------------------------------------------------------------------------------------------
def test_words_become_planes() -> None:
    words = np.array([[1, 1 << 63], [0x8100000000000081, 2]], np.uint64)
    bits = unpack_bits(words)
    assert bits.shape == (2, 2, 64) and bits.sum() == 7
    assert bits[0, 0, 0] == bits[0, 1, 63] == bits[1, 1, 1] == 1 and (bits[1, 0, [0, 7, 56, 63]] == 1).all()


def test_only_legal_moves_have_logits() -> None:
    network, positions = load_cnn(Game.OTHELLO), some_positions(20)
    promises, values = network.predict(np.array([[each.own, each.opp] for each in positions], np.uint64))
    assert promises.shape == (20, 64) and (abs(values) <= 1).all()
    for position, row in zip(positions, promises, strict=True):
        assert set(np.flatnonzero(row != ILLEGAL_LOGIT)) == set(position.legal_moves())


def test_symmetric_boards_have_equal_predictions() -> None:
    network = load_cnn(Game.OTHELLO)
    for number, position in enumerate(some_positions(8)):
        shares, value = network.predict_position(position.own, position.opp)
        assert shares.sum() == pytest.approx(1, abs=1e-5)
        assert set(np.flatnonzero(shares > 1e-9)) <= set(position.legal_moves())
        own, opp = (int(apply_symmetry(U(word), number)) for word in (position.own, position.opp))
        turned, same = network.predict_position(own, opp)
        assert same == pytest.approx(value, abs=1e-5)
        assert turned[SYMMETRY_SQUARES[number]] == pytest.approx(shares, abs=1e-5)


def test_it_predicts_common_moves() -> None:
    """The network prefers an available corner, and after f5 it rates the usual replies higher than a rare one."""
    network = load_cnn(Game.OTHELLO)
    after = Position.start().after(37)
    shares, _ = network.predict_position(after.own, after.opp)
    assert shares[[43, 45]].min() > 0.3 and shares[29] < shares[43]  # d6 and f6 are usual; f4 is rare
    corner = parse_position("-XO-----" + "--------" * 2 + "---OX---" + "---XO---" + "--------" * 3 + " O")
    shares, value = network.predict_position(corner.own, corner.opp)
    assert shares.argmax() == 0 and value > 0


def test_invalid_networks_are_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match="supports only Othello on 8x8"):
        load_cnn(Game.ABAPA)
    (tmp_path / "damaged.onnx").write_bytes(b"none")
    for name in ("damaged.onnx", "nothing.onnx"):
        with pytest.raises(ConfigError, match="is not a convolutional network: check the path, or train one"):
            load_cnn(Game.OTHELLO, tmp_path / name)
    load_cnn_file.cache_clear()
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(ConfigError, match=r"requires onnxruntime: run pip install 'awello\[neural\]'"):
        load_cnn(Game.OTHELLO)


# ---- alpha-beta -----------------------------------------------------------------------------------------------------
def minimax(network: Cnn, position: Position, depth: int) -> float:
    """Return the value of a position by plain minimax; leaves are evaluated one at a time."""
    if position.over:
        own, opp = position.score()[position.side], position.score()[1 - position.side]
        return float(np.sign(own - opp)) + (own - opp) / 64
    if depth == 0:
        if position.legal_moves() == (PASS,):
            return -minimax(network, position.after(PASS), 0)
        return float(network.predict(np.array([[position.own, position.opp]], np.uint64))[1][0])
    return max(-minimax(network, position.after(move), depth - 1) for move in position.legal_moves())


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_alpha_beta_equals_minimax(depth: int) -> None:
    passes = 0
    for position in some_positions(4) + some_positions(24, (45, 57)):
        analysis = BatchedAlphaBeta(PerceptronAsCnn()).analyse(position, depth)
        values = {move: -minimax(PerceptronAsCnn(), position.after(move), depth - 1) for move in position.legal_moves()}
        passes += any(position.after(move).legal_moves() == (PASS,) for move in position.legal_moves())
        assert analysis.value == pytest.approx(max(values.values()), abs=1e-6)
        assert values[analysis.move] == pytest.approx(analysis.value, abs=1e-6)
        assert sorted(move for move, _ in analysis.candidates) == sorted(values)
    assert passes


def test_a_finished_game_counts_its_discs() -> None:
    passed = False
    for position in some_positions(20, (54, 58)):
        best = BatchedAlphaBeta(PerceptronAsCnn()).analyse(position, 20).value
        passed = passed or any(position.after(move).legal_moves() == (PASS,) for move in position.legal_moves())

        def solve(position: Position) -> int:
            if position.over:
                score = position.score()
                return score[position.side] - score[1 - position.side]
            return max(-solve(position.after(move)) for move in position.legal_moves())

        discs = solve(position)
        assert best == pytest.approx(np.sign(discs) + discs / 64)
    assert passed


# ---- the search tree ------------------------------------------------------------------------------------------------
def test_batches_of_one_give_the_tree_of_the_perceptron() -> None:
    """With one leaf per batch, the batched search grows the same tree as the unbatched one."""
    for position in some_positions(4) + some_positions(4, (46, 57)):
        small = PerceptronAsCnn()
        tree, other = CnnTree(1 << 14, network=small), PerceptronTree(1 << 14, perceptron=small.perceptron)
        found = other.analyse(position, 10.0, 200, 0)
        tree.reset(position)
        for _ in range(200):
            tree.run_simulations(1)
        assert tree.node_count == other.node_count and small.evaluated <= 200
        for name in TreeNode.dtype.names or ():
            values, expected = (each.nodes[name][: each.node_count] for each in (tree, other))
            if name in ("prior", "total_value"):
                assert values == pytest.approx(expected, abs=1e-4)
            else:
                assert (values == expected).all()
        assert found.leaves == 200


@pytest.mark.parametrize("plies", [(0, 40), (50, 58)])
def test_virtual_losses_are_removed(plies: tuple[int, int]) -> None:
    for position in some_positions(6, plies):
        tree = CnnTree(1 << 12, network=PerceptronAsCnn())
        analysis = tree.analyse(position, 10.0, 100, 0)
        assert analysis.leaves == 100 == tree.nodes[0].visits
        grown = tree.nodes[: tree.node_count]
        assert (abs(grown["total_value"]) <= grown["visits"] + 1e-6).all()
        assert grown["visits"][tree._children(0)].sum() == 99
        assert analysis.move in position.legal_moves() and BATCH_SIZE > 1


def test_more_rounds_than_a_batch_need_several_batches() -> None:
    tree = CnnTree(1 << 12, network=PerceptronAsCnn())
    tree.reset(Position.start())
    tree.run_simulations(5 * BATCH_SIZE + 1)
    assert tree.nodes[0].visits == 5 * BATCH_SIZE + 1


def test_a_full_tree_keeps_searching() -> None:
    tree = CnnTree(1 << 10, network=PerceptronAsCnn())
    assert tree.analyse(Position.start(), 10.0, 400, 0).leaves == 400 and tree.node_count <= 1 << 10


# ---- the players ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("spec", ["cnn", "cnn,symmetries=1", "cnn-value@1", "puct:cnn@16n"])
def test_network_players_beat_the_greedy_player(spec: str) -> None:
    recap = play_match(Match(Game.OTHELLO, spec, "greedy", 2, 5))
    assert recap.wins == 2


def test_the_policy_player_plays_the_most_likely_move() -> None:
    player, network = make_player("cnn"), load_cnn(Game.OTHELLO)
    player.begin(Game.OTHELLO, 0)
    for position in some_positions(5):
        choice, (shares, value) = (
            player.choose(position, Clock(10)),
            network.predict_position(position.own, position.opp),
        )
        assert choice.move == shares.argmax() and choice.analysis and choice.analysis.value == pytest.approx(value)


@pytest.mark.parametrize(
    ("spec", "game", "message"),
    [
        ("cnn", Game.OTHELLO6, "supports only Othello on 8x8"),
        ("cnn@3", Game.OTHELLO, "has no setting 'limit'"),
        ("cnn-value@100ms", Game.OTHELLO, "needs a depth from 1 to 8, such as cnn-value@2"),
        ("puct:cnn@100n", Game.ABAPA, "supports only Othello on 8x8"),
        ("puct:large@100n", Game.OTHELLO, "'perceptron' or 'cnn'"),
        ("cnn,weights=nothing", Game.OTHELLO, "is not a convolutional network"),
    ],
)
def test_invalid_settings_are_rejected(spec: str, game: Game, message: str) -> None:
    with pytest.raises((ConfigError, SpecError), match=message):
        make_player(spec).begin(game, 0)


def test_infinity_exceeds_all_values() -> None:
    assert INFINITY > 1 + 64 / 64
