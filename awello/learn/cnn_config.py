"""The settings of a training of the convolutional network; needs no PyTorch, so that reports can be read without it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

FORMER_NAMES = {
    "whole": "squeeze_excitation",
    "taught": "teacher_weight",
    "losers": "loser_weight",
    "value": "value_weight",
    "smoothing": "label_smoothing",
    "batch": "batch_size",
    "rate": "learning_rate",
    "decay": "weight_decay",
    "average": "ema_decay",
    "every": "eval_interval",
}
"""The settings under their names in older files."""


@dataclass(frozen=True)
class CnnConfig:
    """Everything that determines the weights; a checkpoint is resumed with the same settings only."""

    network: str = "residual"
    """Or `report`, the network of report 0."""
    width: int = 128
    blocks: int = 15
    squeeze_excitation: int = 1
    """1 adds squeeze-and-excitation to each block; 0 gives a network that is faster on a CPU when quantised."""
    view: str = "mover"
    """Own, opponent's, legal and ones; `colours`: Black's, White's and who moves; `one`: own less opponent's."""
    moves: str = "all"
    """Or `winners`: learn from the winners' moves only, and without a value head."""
    teacher: str = ""
    """Weights of a teacher network, whose predictions are used as soft targets."""
    teacher_weight: float = 0.8
    """Share of the teacher's prediction in the target; the rest is the move played."""
    loser_weight: float = 0.5
    """Weight of a loser's move, relative to a winner's."""
    value_weight: float = 0.3
    """Weight of the value loss, relative to the policy loss."""
    label_smoothing: float = 0.02
    """Share of the target that is spread over all legal moves."""
    batch_size: int = 4096
    learning_rate: float = 2e-3
    weight_decay: float = 0.03
    """Of AdamW."""
    ema_decay: float = 0.999
    """Decay of the exponential moving average of the weights, per step."""
    minutes: float = 10.0
    """Training time; the learning rate reaches zero at its end."""
    steps: int = 0
    """Number of steps; if positive, it replaces `minutes`."""
    eval_interval: int = 1000
    """Steps between two evaluations on the validation set; 0: ten evaluations in all."""
    patience: int = 20
    """Evaluations without improvement after which training stops early."""
    seed: int = 1


def rename_former_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings as they are called today, from a file of any age."""
    return {FORMER_NAMES.get(name, name): value for name, value in {**settings}.items()}
