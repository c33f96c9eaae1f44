"""A convolutional network for Othello: what winners play in a position, and who wins (made by `learn/cnn_training.py`).

The network is an ONNX file and runs by onnxruntime, best with many positions at a time.  It sees a position as the
mover does, in four planes of 8x8: the mover's discs, the opponent's, the legal moves, and ones, by which it knows the
edge of the board.
"""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from awello.errors import ConfigError
from awello.folders import data_file
from awello.kernel import U, Words
from awello.rules.game import Game, legal_moves
from awello.rules.othello import symmetric

SYMMETRIES = 8
ILLEGAL_LOGIT = np.float32(-1e4)  # in the place of a promise
# For each symmetry, where the disc of each square goes.
SYMMETRY_SQUARES = np.array(
    [[int(symmetric(U(1 << square), turn)).bit_length() - 1 for square in range(64)] for turn in range(SYMMETRIES)]
)

Reals = npt.NDArray[np.float32]


class Cnn:
    """A network that was loaded from a file."""

    def __init__(self, session: Any) -> None:
        self.session = session

    def predict(self, words: Words) -> tuple[Reals, Reals]:
        """What positions, a row of own and opp each, promise by square, and their values from -1 (lost) to 1 (won)."""
        legal = np.array([legal_moves(int(Game.OTHELLO), own, opp) for own, opp in words], np.uint64)
        bits = unpack_bits(np.column_stack([words, legal, np.full(len(words), ~U(0))]))
        promises, values = self.session.run(["moves", "value"], {"board": bits.reshape(-1, 4, 8, 8)})
        return np.where(bits[:, 2] == 1, promises, ILLEGAL_LOGIT), values

    def predict_position(self, own: int, opp: int, symmetries: int = SYMMETRIES) -> tuple[Reals, float]:
        """The share of each square and the value of one position, the mean over boards that are turned."""
        turns = range(symmetries)
        turned = np.array([[symmetric(U(own), turn), symmetric(U(opp), turn)] for turn in turns], np.uint64)
        promises, values = self.predict(turned)
        shares = softmax(np.take_along_axis(promises, SYMMETRY_SQUARES[:symmetries], axis=1))
        return shares.mean(axis=0), float(values.mean())


def unpack_bits(words: Words) -> Reals:
    """Words as rows of 64 ones and zeros."""
    octets = np.ascontiguousarray(words).astype("<u8").view(np.uint8).reshape(*words.shape, 8)
    return np.unpackbits(octets, axis=-1, bitorder="little").astype(np.float32)


def softmax(promises: Reals) -> Reals:
    """Promises as shares of a whole."""
    shares = np.exp(promises - promises.max(axis=1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def load_cnn(game: Game, weights: Path | None = None, threads: int = 1) -> Cnn:
    """The network for a game, which is Othello on 8x8: that of a file, or the one that Awello ships."""
    if game != Game.OTHELLO:
        raise ConfigError("the convolutional network plays Othello on 8x8 and nothing else: choose another player")
    return load_cnn_file(weights or data_file("cnn.onnx"), threads)


@cache
def load_cnn_file(file: Path, threads: int = 1) -> Cnn:
    """The network of a file, which computes on so many threads."""
    try:
        from onnxruntime import InferenceSession, SessionOptions
    except ImportError:
        raise ConfigError("a convolutional network needs onnxruntime: pip install 'awello[neural]'") from None
    options = SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = threads, 4  # what is wrong is told here
    try:
        session = InferenceSession(file.read_bytes(), options, providers=["CPUExecutionProvider"])
        found = [place.name for place in session.get_inputs()], [place.name for place in session.get_outputs()]
        whole = found == (["board"], ["moves", "value"]) and session.get_inputs()[0].shape[1:] == [4, 8, 8]
    except Exception:  # onnxruntime has no class of its own for what is wrong with a file
        whole = False
    if not whole:
        raise ConfigError(f"{file} holds no network: 'awello train cnn' makes one")
    return Cnn(session)
