"""A convolutional network for Othello that predicts the winner's moves and the result (see `learn/cnn_training.py`).

The network is an ONNX file run by onnxruntime, which is fastest with many positions at a time.  Its input is four
planes of 8x8 from the mover's view: the mover's discs, the opponent's discs, the legal moves, and a plane of ones, by
which the network recognises the edge of the board.
"""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from awello.errors import ConfigError
from awello.folders import data_file
from awello.kernel import Float32Array, U, Words
from awello.rules.game import Game, legal_moves
from awello.rules.othello import apply_symmetry

SYMMETRY_COUNT = 8
ILLEGAL_LOGIT = np.float32(-1e4)  # replaces the logits of illegal moves
# For each symmetry, the square to which it maps each square.
SYMMETRY_SQUARES = np.array(
    [
        [int(apply_symmetry(U(1 << square), turn)).bit_length() - 1 for square in range(64)]
        for turn in range(SYMMETRY_COUNT)
    ]
)


class Cnn:
    """A convolutional network loaded from a file."""

    def __init__(self, session: Any) -> None:
        self.session = session

    def predict(self, words: Words) -> tuple[Float32Array, Float32Array]:
        """Evaluate positions, given as rows of `own` and `opp`.

        Return, for each position, a logit for each square, and a value from -1 (lost) to 1 (won).
        """
        legal = np.array([legal_moves(int(Game.OTHELLO), own, opp) for own, opp in words], np.uint64)
        bits = unpack_bits(np.column_stack([words, legal, np.full(len(words), ~U(0))]))
        logits, values = self.session.run(["moves", "value"], {"board": bits.reshape(-1, 4, 8, 8)})
        return np.where(bits[:, 2] == 1, logits, ILLEGAL_LOGIT), values

    def predict_position(self, own: int, opp: int, symmetries: int = SYMMETRY_COUNT) -> tuple[Float32Array, float]:
        """Return the move probabilities by square and the value of a position, averaged over symmetries."""
        images = [[apply_symmetry(U(own), number), apply_symmetry(U(opp), number)] for number in range(symmetries)]
        logits, values = self.predict(np.array(images, np.uint64))
        policies = softmax(np.take_along_axis(logits, SYMMETRY_SQUARES[:symmetries], axis=1))
        return policies.mean(axis=0), float(values.mean())


def unpack_bits(words: Words) -> Float32Array:
    """Unpack each 64-bit word into a row of 64 ones and zeros."""
    octets = np.ascontiguousarray(words).astype("<u8").view(np.uint8).reshape(*words.shape, 8)
    return np.unpackbits(octets, axis=-1, bitorder="little").astype(np.float32)


def softmax(logits: Float32Array) -> Float32Array:
    """Convert logits to probabilities."""
    odds = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(odds / odds.sum(axis=1, keepdims=True))


def load_cnn(game: Game, weights: Path | None = None, threads: int = 1) -> Cnn:
    """Load a network from a file (default: the shipped one); raise `ConfigError` for any game but Othello on 8x8."""
    if game != Game.OTHELLO:
        raise ConfigError("the convolutional network supports only Othello on 8x8: choose another player")
    return load_cnn_file(weights or data_file("cnn.onnx"), threads)


@cache
def load_cnn_file(file: Path, threads: int = 1) -> Cnn:
    """Load a network from a file; it runs on `threads` threads."""
    try:
        from onnxruntime import InferenceSession, SessionOptions
    except ImportError:
        raise ConfigError("the convolutional network requires onnxruntime: run pip install 'awello[neural]'") from None
    options = SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = threads, 4  # no log lines: errors are reported below
    try:
        session = InferenceSession(file.read_bytes(), options, providers=["CPUExecutionProvider"])
        names = [node.name for node in session.get_inputs()], [node.name for node in session.get_outputs()]
        valid = names == (["board"], ["moves", "value"]) and session.get_inputs()[0].shape[1:] == [4, 8, 8]
    except Exception:  # onnxruntime has no common exception class for invalid files
        valid = False
    if not valid:
        problem = "cannot be read or is not a convolutional network"
        raise ConfigError(f"{str(file)!r} {problem}: check the path, or train one with 'awello train cnn'")
    return Cnn(session)
