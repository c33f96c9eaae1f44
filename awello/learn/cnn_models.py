"""The networks that learn from tournament games, and the plan of a training, which decides them."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from awello.learn.cnn_positions import PLANES


@dataclass(frozen=True)
class CnnConfig:
    """What decides the weights; the same plan goes on from a checkpoint."""

    network: str = "residual"
    """Or `report`, the network of report 0."""
    width: int = 128
    blocks: int = 15
    whole: int = 1
    """Whether a block looks at the whole board; 0 makes a network that processors run faster with whole numbers."""
    view: str = "mover"
    """Own, opponent's, legal and ones; `colours`: Black's, White's and who moves; `one`: own less opponent's."""
    moves: str = "all"
    """Or `winners`, who alone teach then, and nothing about who wins."""
    teacher: str = ""
    """The file of a network that teaches too: what it says of each position."""
    taught: float = 0.8
    """The share of what it says in what is taught, the rest being what was played."""
    losers: float = 0.5
    """What a loser's move weighs beside a winner's."""
    value: float = 0.3
    """What the error of the value weighs beside the loss of the moves."""
    smoothing: float = 0.02
    """The share of a move that is given to all legal ones."""
    batch: int = 4096
    rate: float = 2e-3
    decay: float = 0.03
    """Of the weights, by AdamW."""
    average: float = 0.999
    """Of the moving average, what is kept at each step."""
    minutes: float = 10.0
    """How long to train; the rate falls to nothing by then."""
    steps: int = 0
    """If any, the length of the training instead of the minutes."""
    every: int = 1000
    """Steps between two measures on the games set aside; 0 measures ten times in all."""
    patience: int = 20
    """Measures without a better one that end a training early."""
    seed: int = 1


# Each gives what it promises of the 64 squares, by one head or by two (winners and losers), and the value or None.
# What is promised of illegal moves means nothing.
class ReportNetwork(nn.Module):  # type: ignore[misc]
    """The network of report 0, table 2.1: eight convolutions and two dense layers."""

    def __init__(self, inputs: int) -> None:
        super().__init__()
        layers, before = [], inputs
        for width in (64, 64, 128, 128, 256, 256, 256, 256):
            layers += [nn.Conv2d(before, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU()]
            before = width
        dense = [nn.Flatten(), nn.Linear(64 * before, 128), nn.ReLU(), nn.Linear(128, 64)]
        self.layers = nn.Sequential(*layers, *dense)

    def forward(self, board: Tensor) -> tuple[Tensor, Tensor | None]:
        return self.layers(board)[:, None], None


class ResidualBlock(nn.Module):  # type: ignore[misc]
    """Two convolutions beside a short cut; a look at the whole board weighs what they add (squeeze and excitation)."""

    def __init__(self, width: int, whole: bool) -> None:
        super().__init__()
        self.first, self.second = convolution(width, width, 3), convolution(width, width, 3)
        self.whole = whole
        if whole:
            self.squeeze, self.excite = nn.Linear(width, width // 4), nn.Linear(width // 4, width)

    def forward(self, board: Tensor) -> Tensor:
        added = self.second(functional.relu(self.first(board)))
        if not self.whole:
            return functional.relu(board + added)
        weights = torch.sigmoid(self.excite(functional.relu(self.squeeze(added.mean((2, 3))))))
        return functional.relu(board + added * weights[:, :, None, None])


class ResidualNetwork(nn.Module):  # type: ignore[misc]
    """A tower of residual blocks with three heads: the moves of winners and of losers, and who wins."""

    def __init__(self, inputs: int, width: int, blocks: int, whole: bool) -> None:
        super().__init__()
        tower = [ResidualBlock(width, whole) for _ in range(blocks)]
        self.tower = nn.Sequential(convolution(inputs, width, 3), nn.ReLU(), *tower)
        self.moves = nn.Sequential(convolution(width, 64, 3), nn.ReLU(), nn.Conv2d(64, 2, 1), nn.Flatten(2))
        judge = [nn.Flatten(), nn.Linear(512, 64), nn.ReLU(), nn.Linear(64, 1), nn.Tanh(), nn.Flatten(0)]
        self.value = nn.Sequential(convolution(width, 8, 1), nn.ReLU(), *judge)

    def forward(self, board: Tensor) -> tuple[Tensor, Tensor | None]:
        seen = self.tower(board)
        return self.moves(seen), self.value(seen)


def convolution(inputs: int, outputs: int, size: int) -> nn.Sequential:
    """A convolution that keeps the board's size, normalised."""
    return nn.Sequential(nn.Conv2d(inputs, outputs, size, padding=size // 2, bias=False), nn.BatchNorm2d(outputs))


def make_network(plan: CnnConfig) -> nn.Module:
    """A network that knows nothing."""
    if plan.network == "report":
        return ReportNetwork(PLANES[plan.view])
    return ResidualNetwork(PLANES[plan.view], plan.width, plan.blocks, bool(plan.whole))


def count_parameters(network: nn.Module) -> int:
    """The number of the weights that are learnt."""
    return sum(weights.numel() for weights in network.parameters())
