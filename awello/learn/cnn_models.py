"""The architectures of the convolutional networks."""

import torch
from torch import Tensor, nn
from torch.nn import functional

from awello.learn.cnn_config import CnnConfig
from awello.learn.cnn_positions import PLANE_COUNTS


# Both networks return the logits of the 64 squares for each policy head, and the value, which is None if the network
# has no value head.  Logits of illegal moves are meaningless.
class Report0Network(nn.Module):  # type: ignore[misc]
    """The network of report 0, table 2.1: eight convolutions and two dense layers."""

    def __init__(self, inputs: int) -> None:
        super().__init__()
        layers, channels = [], inputs
        for next_channels in (64, 64, 128, 128, 256, 256, 256, 256):
            layers += [nn.Conv2d(channels, next_channels, 3, padding=1), nn.BatchNorm2d(next_channels), nn.ReLU()]
            channels = next_channels
        dense = [nn.Flatten(), nn.Linear(64 * channels, 128), nn.ReLU(), nn.Linear(128, 64)]
        self.layers = nn.Sequential(*layers, *dense)

    def forward(self, board: Tensor) -> tuple[Tensor, Tensor | None]:
        return self.layers(board)[:, None], None


class ResidualBlock(nn.Module):  # type: ignore[misc]
    """Two convolutions with a skip connection, optionally with squeeze-and-excitation."""

    def __init__(self, channels: int, squeeze_excitation: bool) -> None:
        super().__init__()
        self.first, self.second = make_convolution(channels, channels, 3), make_convolution(channels, channels, 3)
        self.squeeze_excitation = squeeze_excitation
        if squeeze_excitation:
            self.squeeze, self.excite = nn.Linear(channels, channels // 4), nn.Linear(channels // 4, channels)

    def forward(self, board: Tensor) -> Tensor:
        residual = self.second(functional.relu(self.first(board)))
        if not self.squeeze_excitation:
            return functional.relu(board + residual)
        weights = torch.sigmoid(self.excite(functional.relu(self.squeeze(residual.mean((2, 3))))))
        return functional.relu(board + residual * weights[:, :, None, None])


class ResidualNetwork(nn.Module):  # type: ignore[misc]
    """A tower of residual blocks with three heads: moves of winners, moves of losers, and value."""

    def __init__(self, inputs: int, channels: int, blocks: int, squeeze_excitation: bool) -> None:
        super().__init__()
        tower = [ResidualBlock(channels, squeeze_excitation) for _ in range(blocks)]
        self.tower = nn.Sequential(make_convolution(inputs, channels, 3), nn.ReLU(), *tower)
        self.moves = nn.Sequential(make_convolution(channels, 64, 3), nn.ReLU(), nn.Conv2d(64, 2, 1), nn.Flatten(2))
        value_head = [nn.Flatten(), nn.Linear(512, 64), nn.ReLU(), nn.Linear(64, 1), nn.Tanh(), nn.Flatten(0)]
        self.value = nn.Sequential(make_convolution(channels, 8, 1), nn.ReLU(), *value_head)

    def forward(self, board: Tensor) -> tuple[Tensor, Tensor | None]:
        features = self.tower(board)
        return self.moves(features), self.value(features)


def make_convolution(inputs: int, outputs: int, size: int) -> nn.Sequential:
    """Make a convolution with padding and batch normalisation."""
    return nn.Sequential(nn.Conv2d(inputs, outputs, size, padding=size // 2, bias=False), nn.BatchNorm2d(outputs))


def make_network(config: CnnConfig) -> nn.Module:
    """Make an untrained network."""
    if config.network == "report0":
        return Report0Network(PLANE_COUNTS[config.input_planes])
    return ResidualNetwork(
        PLANE_COUNTS[config.input_planes], config.channels, config.blocks, bool(config.squeeze_excitation)
    )


def count_parameters(network: nn.Module) -> int:
    """Count the trainable parameters."""
    return sum(weights.numel() for weights in network.parameters())
