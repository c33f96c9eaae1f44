"""PUCT and its perceptron: the kernel compared with plain NumPy, stable training, the tree and its player."""

import json
import random
from importlib.resources import files
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import reference_search
from conftest import fresh_awello
from waiting import SteppingTime

from awello import PASS, Clock, Game, Match, Position, make_player, parse_position, play_match
from awello.errors import ConfigError, SpecError
from awello.evaluate.perceptron import HIDDEN_WIDTH, TYPICAL_SEEDS, PerceptronState, forward
from awello.evaluate.perceptron_weights import (
    MAX_LAYERS,
    Perceptron,
    load_perceptron,
    load_perceptron_file,
    new_perceptron,
)
from awello.kernel import U
from awello.learn import perceptron as learning
from awello.rules.awale import TOTAL_SEEDS
from awello.search import montecarlo
from awello.search.montecarlo import PerceptronTree

GAMES = [Game.OTHELLO, Game.TOURNAMENT]


def make_perceptron(game: Game, layers: int = 2, seed: int = 1) -> Perceptron:
    rng = np.random.default_rng(seed)
    made = new_perceptron(game, layers, rng)
    made.weights[:] += rng.normal(0, 0.05, made.weight_count)
    return made


def play_random_plies(game: Game, plies: int, rng: random.Random) -> Position:
    position = Position.start(game)
    for _ in range(plies):
        after = position.after(rng.choice(position.legal_moves()))
        if after.over:
            break
        position = after
    return position


# ---- the perceptron -------------------------------------------------------------------------------------------------
def plain_inputs(position: Position) -> list[float]:
    if position.game.family == "othello":
        return [float(word >> square & 1) for word in (position.own, position.opp) for square in range(64)]
    rows = [[word >> 8 * pit & 255 for pit in range(7)] for word in (position.own, position.opp)]
    return [(seeds - 4) / 4 if pit < 6 else (seeds - 12) / 12 for row in rows for pit, seeds in enumerate(row)]


def plain_outputs(made: Perceptron, position: Position) -> npt.NDArray[np.float64]:
    signal = np.array(plain_inputs(position))
    *hidden, last = [(matrix.astype(float), biases.astype(float)) for matrix, biases in made.matrices(made.weights)]
    for matrix, biases in hidden:
        signal = np.maximum(0, signal @ matrix + biases)
    outputs: npt.NDArray[np.float64] = signal @ last[0] + last[1]
    return outputs


@pytest.mark.parametrize("layers", [1, 2, 5])
@pytest.mark.parametrize("game", GAMES)
def test_the_kernel_agrees_with_plain_numpy(game: Game, layers: int) -> None:
    made, rng, state = make_perceptron(game, layers), random.Random(layers), PerceptronState.new()
    state.layers = layers
    for plies in range(0, 50, 3):
        position = play_random_plies(game, plies, rng)
        value = forward(int(game), U(position.own), U(position.opp), made.weights, state)
        expected = plain_outputs(made, position)
        assert state.outputs[: len(expected)] == pytest.approx(expected, abs=1e-5)
        assert value == pytest.approx(np.tanh(expected[-1]), abs=1e-5)
        words = np.array([[position.own, position.opp, 0]], np.uint64)
        assert learning.encode_inputs(made.board, words)[0] == pytest.approx(plain_inputs(position))


def test_perceptron_files(tmp_path: Path) -> None:
    made, file = make_perceptron(Game.OTHELLO6, 3), tmp_path / "six.npz"
    made.save(file)
    again = load_perceptron(Game.OTHELLO6, file)
    assert (again.board, again.layers) == ("othello6", 3) and (again.weights == made.weights).all()
    with pytest.raises(ConfigError, match="is for othello6, not othello:"):
        load_perceptron(Game.OTHELLO, file)
    with pytest.raises(ConfigError, match="--size 4"):
        load_perceptron(Game.OTHELLO4)
    Perceptron("othello", 3, made.weights[:-1]).save(file)
    with pytest.raises(ConfigError, match="is not a perceptron"):
        load_perceptron_file(file)
    made.save(file)
    cut = file.read_bytes()[:500]
    other = files("awello").joinpath("data/awale_network.npz").read_bytes()
    scrambled = bytes(byte ^ 0x5A if 200 <= place < 1200 else byte for place, byte in enumerate(other))
    for damaged in (b"", cut, scrambled):
        file.write_bytes(damaged)
        with pytest.raises(ConfigError, match="is not a perceptron"):
            load_perceptron_file(file)
    assert {load_perceptron(game).board for game in (Game.OTHELLO, Game.ABAPA, Game.ROMEIN)} == {"othello", "awale"}


# ---- learning -------------------------------------------------------------------------------------------------------
def make_batch(made: Perceptron, examples: learning.PerceptronExamples, turn: int = 0) -> learning.Batch:
    return learning.make_batch(made, examples, np.full(len(examples), turn))


@pytest.mark.parametrize("game", GAMES)
def test_gradients_agree_with_differences(game: Game) -> None:
    made, rng = make_perceptron(game, 3), np.random.default_rng(2)
    shown = make_batch(made, learning.PerceptronSelfPlay(game, made, simulations=20).play(rng))
    reals = (each.astype(float) for each in (shown.inputs, shown.policies, shown.values))
    inputs, policies, values = reals
    doubles, weights = learning.Batch(inputs, shown.legal, policies, values), made.weights.astype(float)
    _, slope = learning.compute_gradient(made, weights, doubles)
    busy = np.argsort(-abs(slope))[:200]
    for place in [*rng.choice(busy, 20), *rng.integers(made.weight_count, size=20)]:
        step = np.zeros(made.weight_count)
        step[place] = 1e-6
        up, down = (learning.compute_gradient(made, weights + sign * step, doubles)[0].total for sign in (1, -1))
        assert (up - down) / 2e-6 == pytest.approx(slope[place], rel=1e-3, abs=1e-7)


def make_impossible_examples(rng: np.random.Generator) -> learning.PerceptronExamples:
    """Return examples that never occur in games: all seeds in one pit, empty boards, contradictory labels."""
    words = np.zeros((64, 3), np.uint64)
    for row in range(48):
        words[row, rng.integers(2)] = TOTAL_SEEDS << 8 * int(rng.integers(7))
    words[:, 2] = rng.integers(1, 64, 64)
    policies = np.zeros((64, 6), np.float32)
    for row in range(64):
        policies[row, rng.choice(np.flatnonzero(int(words[row, 2]) >> np.arange(6) & 1))] = 1
    return learning.PerceptronExamples(words, policies, rng.choice(np.array([-1, 1], np.float32), 64))


@pytest.mark.parametrize(("layers", "dropout"), [(2, 0.0), (MAX_LAYERS, 0.5)])
def test_training_stays_finite_on_impossible_examples(layers: int, dropout: float) -> None:
    rng = np.random.default_rng(3)
    learner = learning.PerceptronLearner(make_perceptron(Game.ABAPA, layers), dropout)
    for rate in (0.002, 0.1, 1e4):
        for _ in range(100):
            loss = learner.train_step(make_impossible_examples(rng), rate, rng)
            assert np.isfinite(loss.total)
    assert np.isfinite(learner.perceptron.weights).all() and learner.steps == 300
    assert abs(learner.perceptron.weights).max() == learning.MAX_WEIGHT, "the examples push the weights to their bound"
    position, state = Position.start(Game.ABAPA), PerceptronState.new()
    state.layers = layers
    assert abs(forward(3, U(position.own), U(position.opp), learner.perceptron.weights, state)) <= 1


@pytest.mark.slow
def test_a_hundred_thousand_steps_of_the_network_of_the_report_stay_finite(monkeypatch: pytest.MonkeyPatch) -> None:
    """Train eight hidden layers with dropout 0.5, as in report 1, on games and on impossible examples."""
    monkeypatch.setattr(learning, "BATCH_SIZE", 64)  # so that the test takes only minutes
    rng = np.random.default_rng(7)
    learner = learning.PerceptronLearner(new_perceptron(Game.TOURNAMENT, MAX_LAYERS, rng), 0.5)
    buffer = learning.ReplayBuffer(learner.perceptron.move_count)
    for step in range(100_000):
        if step % 1000 == 0:
            selfplay = learning.PerceptronSelfPlay(Game.TOURNAMENT, learner.perceptron, simulations=16)
            for _ in range(5):
                buffer.add(selfplay.play(rng))
        examples = make_impossible_examples(rng) if step % 100 == 99 else buffer.sample(rng)
        assert np.isfinite(learner.train_step(examples, learning.LEARNING_RATE, rng).total)
    assert learner.steps == 100_000 and np.isfinite(learner.perceptron.weights).all()


def test_no_product_of_layers_can_overflow() -> None:
    """Layer sums are largest if all weights are at their bound with equal signs and dropout removes half the units."""
    largest = max(abs((TOTAL_SEEDS - TYPICAL_SEEDS) / TYPICAL_SEEDS)) * 128 * learning.MAX_WEIGHT
    assert largest * (2 * HIDDEN_WIDTH * learning.MAX_WEIGHT) ** MAX_LAYERS < np.finfo(np.float32).max


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_training_without_bounds_diverges(monkeypatch: pytest.MonkeyPatch) -> None:
    """Train as in report 1: raw seed counts, plain gradient descent, unclipped gradients."""
    rng, made = np.random.default_rng(3), make_perceptron(Game.ABAPA, MAX_LAYERS)
    monkeypatch.setattr(learning, "TYPICAL_SEEDS", np.ones(14, np.float32))
    weights = made.weights.copy()
    for _ in range(100):
        examples = make_batch(made, make_impossible_examples(rng))
        weights -= 0.1 * learning.compute_gradient(made, weights, examples, 0.5, rng)[1]
    assert not np.isfinite(weights).all()
    monkeypatch.setattr(learning, "MAX_GRADIENT_NORM", np.inf)
    monkeypatch.setattr(learning, "MAX_WEIGHT", np.inf)
    learner = learning.PerceptronLearner(made)
    with pytest.raises(ConfigError, match="not finite"):
        for _ in range(100):
            learner.train_step(make_impossible_examples(rng), 1e4, rng)


def test_it_learns_a_simple_rule() -> None:
    """All examples follow one rule: the lowest legal move is best, and the player with more seeds wins."""
    rng = np.random.default_rng(4)
    words = np.zeros((256, 3), np.uint64)
    taken = rng.integers(0, 20, (256, 2))
    words[:, :2] = (taken << 48) + 0x010203040506
    words[:, 2] = rng.integers(1, 64, 256)
    policies = np.zeros((256, 6), np.float32)
    policies[range(256), [(int(moves) & -int(moves)).bit_length() - 1 for moves in words[:, 2]]] = 1
    examples = learning.PerceptronExamples(words, policies, np.sign(taken[:, 0] - taken[:, 1]).astype(np.float32))
    learner = learning.PerceptronLearner(make_perceptron(Game.ABAPA))
    losses = [learner.train_step(examples, 0.003, rng) for _ in range(300)]
    assert losses[0].policy_loss > 0.5 and losses[-1].policy_loss < 0.1
    assert losses[0].value_loss > 0.5 and losses[-1].value_loss < 0.1


# ---- self-play ------------------------------------------------------------------------------------------------------
def next_choices(position: Position) -> list[Position]:
    """Return the position after each move, or after the forced pass that follows the move."""
    children = [position.after(move) for move in position.legal_moves()]
    return [child.after(PASS) if child.legal_moves() == (PASS,) else child for child in children]


def replay(game: Game, examples: learning.PerceptronExamples) -> list[Position]:
    """Reconstruct the positions of a game's examples; append a final position that can follow the last of them."""
    positions, choices = [], [Position.start(game)]
    for own, opp, _ in examples.words.tolist():
        positions.append(next(each for each in choices if (each.own, each.opp) == (own, opp)))
        choices = next_choices(positions[-1])
    return [*positions, next(each for each in choices if each.over)]


def test_games_give_valid_examples(game: Game) -> None:
    selfplay, rng = learning.PerceptronSelfPlay(game, make_perceptron(game), simulations=16), np.random.default_rng(5)
    for _ in range(3):
        examples = selfplay.play(rng)
        *positions, _ = replay(game, examples)
        assert len(examples) > 5 and (abs(examples.values) <= 1).all()
        for position, moves, policy in zip(positions, examples.words[:, 2], examples.policies, strict=True):
            assert not position.over and reference_search.legal_moves_mask(position) == moves
            assert policy.sum() == pytest.approx(1)
            assert set(np.flatnonzero(policy)) <= set(position.legal_moves())


def test_values_average_the_tree_and_the_result() -> None:
    """With a perceptron that predicts draws, an example's value is half of the mover's result, even after passes."""
    made, rng, passes = make_perceptron(Game.OTHELLO4, 1), np.random.default_rng(2), 0
    made.weights[:] = 0
    selfplay = learning.PerceptronSelfPlay(Game.OTHELLO4, made, simulations=2)
    while passes < 5:
        examples = selfplay.play(rng)
        *positions, end = replay(Game.OTHELLO4, examples)
        sides = np.array([position.side for position in positions])
        if len(next_choices(positions[-1])) == 1 and (sides[1:] == sides[:-1]).any():
            passes += 1
            first, second = end.score()
            results = np.sign(first - second) * (1 - 2 * sides)
            assert (np.sign(examples.values) == results).all()
            assert abs(examples.values[:4]) == pytest.approx(0.5 * abs(results[:4]))


def test_the_buffer_keeps_the_latest_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learning, "BUFFER_POSITIONS", 10)
    buffer = learning.ReplayBuffer(6)
    for number in range(4):
        words = np.full((4, 3), number, np.uint64)
        buffer.add(learning.PerceptronExamples(words, np.zeros((4, 6), np.float32), np.zeros(4, np.float32)))
    assert sorted(buffer.words[:, 0].tolist()) == [1, 1, 2, 2, 2, 2, 3, 3, 3, 3]
    drawn = buffer.sample(np.random.default_rng(1))
    assert set(drawn.words[:, 0].tolist()) == {1, 2, 3}


@pytest.mark.parametrize("turn", range(8))
def test_symmetries_map_boards_and_policies_alike(turn: int) -> None:
    """After a symmetry, the legal moves match the board and keep their probabilities."""
    made = make_perceptron(Game.OTHELLO)
    examples = learning.PerceptronSelfPlay(Game.OTHELLO, made, simulations=8).play(np.random.default_rng(6))
    turned = make_batch(made, examples, turn)
    for row, policy in enumerate(examples.policies):
        own, opp = (sum(1 << int(at) for at in np.flatnonzero(half)) for half in np.split(turned.inputs[row], 2))
        legal = Position(Game.OTHELLO, own, opp).legal_moves()
        assert tuple(np.flatnonzero(turned.legal[row])) == legal
        assert sorted(turned.policies[row]) == sorted(policy) and turned.policies[row, legal].sum() == pytest.approx(1)


def test_training_can_be_interrupted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learning, "MATCH_GAMES", 2)
    monkeypatch.setattr(learning, "GAMES_PER_ITERATION", 1)
    monkeypatch.setattr(learning, "time", SteppingTime(0.2))
    out = tmp_path / "made.npz"
    passed: list[float] = []
    first = next(learning.train(Game.ABAPA, 1.0, out, 1, 2, 0.0, passed.append))
    beside = tmp_path / "made.npz.checkpoint"
    assert out.exists() and beside.exists() and first.seconds < 1
    with pytest.raises(ConfigError, match="another game or another value of --layers"):
        next(learning.train(Game.ABAPA, 1.0, out, 1, 3, 0.0, passed.append))
    checkpoint = beside.read_bytes()
    load_perceptron_file(out).save(beside)
    with pytest.raises(ConfigError, match="is damaged"):
        next(learning.train(Game.ABAPA, 1.0, out, 1, 2, 0.0, passed.append))
    beside.write_bytes(checkpoint)
    passed.clear()
    *_, last = learning.train(Game.ABAPA, 1.0, out, 1, 2, 0.0, passed.append)
    assert passed[0] == pytest.approx(first.seconds) and sum(passed) == pytest.approx(last.seconds)
    assert last.seconds >= 1 and last.games > first.games and last.steps > first.steps
    assert not beside.exists() and np.isfinite(load_perceptron_file(out).weights).all()


def test_the_command(tmp_path: Path) -> None:
    out = tmp_path / "small.npz"
    words = (
        "train",
        "perceptron",
        "--game",
        "othello",
        "--size",
        "4",
        "--duration",
        "300ms",
        "--out",
        str(out),
        "--json",
    )
    done = fresh_awello(*words)
    assert done.returncode == 0, done.stderr
    reports = json.loads(done.stdout)["reports"]
    assert reports and all(0 <= report["points_share"] <= 1 and report["games"] > 0 for report in reports)
    assert load_perceptron_file(out).board == "othello4"


# ---- the search tree ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("game", GAMES)
def test_counts_add_up(game: Game) -> None:
    made, rng = make_perceptron(game), random.Random(1)
    tree, position = PerceptronTree(max_nodes=1 << 15, perceptron=made), play_random_plies(game, 6, rng)
    found = tree.analyse(position, 60.0, 1500, 0)
    assert found.leaves == 1500 == tree.nodes[0].visits
    assert {move for move, _ in found.candidates} == set(position.legal_moves())
    grown = np.flatnonzero(tree.nodes["child_count"][: tree.node_count])
    assert len(grown) > 100
    for node in grown:
        children = tree.nodes[tree._children(int(node))]
        assert children["prior"].sum() == pytest.approx(1)
        assert (abs(children["total_value"]) <= children["visits"] + 1e-9).all()
        if children[0].move != PASS:
            assert children["visits"].sum() == tree.nodes[node].visits - 1
    end = position
    for move in found.pv:
        end = end.play(move)
    again = tree.analyse(position, 60.0, 1500, 0)
    assert again.candidates == found.candidates, "the tree is cleared before each decision"


def test_a_full_tree_keeps_searching() -> None:
    tree = PerceptronTree(max_nodes=1 << 10, perceptron=make_perceptron(Game.OTHELLO))
    found = tree.analyse(Position.start(), 60.0, 3000, 0)
    assert found.leaves == 3000 and found.nodes <= 1 << 10


def test_priors_are_the_softmax_of_the_network() -> None:
    made, position = make_perceptron(Game.TOURNAMENT), play_random_plies(Game.TOURNAMENT, 9, random.Random(2))
    tree = PerceptronTree(max_nodes=1 << 10, perceptron=made)
    found = tree.analyse(position, 60.0, 1, 0)
    promises = plain_outputs(made, position)[list(position.legal_moves())]
    shares = np.exp(promises) / np.exp(promises).sum()
    assert tree.nodes["prior"][tree._children(0)] == pytest.approx(shares, abs=1e-5)
    assert found.move == position.legal_moves()[int(np.argmax(shares))]


def test_a_win_within_reach_is_found() -> None:
    """Even with an untrained perceptron, the search finds the win, because it values finished games by their result."""
    made, found, solved, rng = make_perceptron(Game.OTHELLO), 0, 0, random.Random(3)
    while solved < 12:
        position = reference_search.random_position(Game.OTHELLO, 6, rng)
        values = {move: -reference_search.solve(position.after(move)) for move in position.legal_moves()}
        if max(values.values()) > 0 > min(values.values()):
            solved += 1
            found += values[PerceptronTree(1 << 14, perceptron=made).analyse(position, 60.0, 4000, 1).move] > 0
    assert found >= 11
    winning = parse_position("0-0-0-0-0-2-0-1-9-9-0-0-23-4-S", Game.ABAPA)
    analysis = PerceptronTree(1 << 14, perceptron=make_perceptron(Game.ABAPA)).analyse(winning, 60.0, 200, 1)
    assert winning.format_move(analysis.move) == "F" and analysis.value == pytest.approx(1)


# ---- the player -----------------------------------------------------------------------------------------------------
def test_the_player_respects_its_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(montecarlo, "time", SteppingTime(0.02))
    player = make_player("puct@50ms")
    player.begin(Game.ABAPA, 1)
    choice = player.choose(Position.start(Game.ABAPA), Clock())
    assert choice.analysis and choice.analysis.leaves == 3 * PerceptronTree.simulations_per_check, (
        "the third check of the clock is past the limit"
    )
    with pytest.raises(SpecError, match="needs a time"):
        make_player("puct@4").begin(Game.OTHELLO, 0)
    with pytest.raises(ConfigError, match="no shipped perceptron for othello6"):
        make_player("puct@50ms").begin(Game.OTHELLO6, 0)


def test_it_beats_random() -> None:
    for game in (*GAMES, Game.ROMEIN):
        result = play_match(Match(game, "puct@100n,max_nodes=8192", "random", games=10, seed=2))
        assert result.wins >= 9
