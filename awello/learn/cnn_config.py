"""Settings for training a convolutional network.

This module does not import PyTorch, so reports of training runs can be read without it.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class CnnConfig:
    """All settings that determine the weights.  A training run can be resumed only with the same settings."""

    network: str = "residual"
    """`residual`, or `report0` for the network of report 0."""
    channels: int = 128
    """Number of channels per residual block."""
    blocks: int = 15
    squeeze_excitation: int = 1
    """1: with squeeze-and-excitation in each block; 0: without, which is faster on a CPU after quantisation."""
    input_planes: str = "mover"
    """`mover`: own discs, opponent's discs, legal moves, ones; `colours`: Black's discs, White's discs, side to move;
    `one`: own minus opponent's discs."""
    target_moves: str = "all"
    """`all`, or `winners` to learn only from the moves of winners and of both sides in drawn games."""
    teacher: str = ""
    """Weights file of a teacher network, whose predictions are soft targets."""
    teacher_weight: float = 0.8
    """Share of the teacher's prediction in the target; the move played has the remaining share."""
    loser_weight: float = 0.5
    """Weight of a loser's move, relative to a winner's move."""
    value_weight: float = 0.3
    """Weight of the value loss, relative to the policy loss."""
    label_smoothing: float = 0.02
    """Label smoothing: share of the target that is spread over all legal moves."""
    batch_size: int = 4096
    learning_rate: float = 2e-3
    weight_decay: float = 0.03
    """Weight decay of AdamW."""
    ema_decay: float = 0.999
    """Decay of the exponential moving average of the weights, per step."""
    minutes: float = 10.0
    """Training time in minutes; the learning rate decays to zero by the end."""
    steps: int = 0
    """Number of training steps; if positive, it replaces `minutes`."""
    eval_interval: int = 1000
    """Steps between two evaluations on the validation set; 0: ten evaluations in total."""
    patience: int = 20
    """Number of evaluations without improvement after which training stops early."""
    seed: int = 1
