"""What positions teach a network: how far it is from the moves that were played, and from a teacher's word."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from awello.learn.network_figures import ILLEGAL, portions, promise
from awello.learn.network_positions import UNKNOWN, Positions, planes, turned, unpack
from awello.learn.network_shapes import Plan

Teacher = tuple[Plan, nn.Module]


@dataclass(frozen=True)
class Lessons:
    """What a teacher says of positions: the share of each square, and the value."""

    shares: Tensor
    value: Tensor

    def take(self, chosen: Tensor) -> "Lessons":
        """Some of them."""
        return Lessons(self.shares[chosen], self.value[chosen])


def ask_teacher(teacher: Teacher, positions: Positions, symmetries: int) -> Lessons:
    """What a network says of positions, each turned in so many ways."""
    parts = []
    with torch.no_grad():
        for some in portions(positions):
            shares, value = promise(*teacher, some, symmetries)
            parts.append((shares.half(), value))
    return Lessons(*(torch.cat(column) for column in zip(*parts, strict=True)))


def losses(
    plan: Plan, network: nn.Module, some: Positions, turns: Tensor, lessons: Lessons | None = None
) -> tuple[Tensor, Tensor]:
    """How far a network is from what positions teach: the cross-entropy of the moves, the square error of the value.

    A teacher is believed to know what a winner would play where a loser moved, so that the first head learns from all.
    """
    won, device, turns = some.won, some.own.device, turns.masked_fill(some.even, 0)
    with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
        promises, value = network(planes(plan.view, some, turns))
    # Step 1. What is to be said of each board.
    allowed, squares = unpack(some.legal, turns) == 1, turned(device)[1][turns, some.square.long()]
    shares = torch.zeros(allowed.shape, device=device).scatter_(1, squares[:, None], 1.0)
    shares = shares.lerp(allowed / allowed.sum(1, keepdim=True), plan.smoothing)
    result, known = some.margin.sign().float(), some.margin != UNKNOWN
    heads, weights = torch.where(won, 0, promises.shape[1] - 1), torch.where(won, 1.0, plan.losers)
    if lessons:
        taught = torch.where(won, plan.taught, 1.0)
        shares = shares.lerp(lessons.shares.float().gather(1, turned(device)[0][turns]), taught[:, None])
        result = result.lerp(lessons.value, torch.where(known, plan.taught, 1.0))
        heads, weights, known = torch.zeros_like(heads), torch.ones_like(weights), torch.ones_like(known)
    # Step 2. How far from it the network is.
    promises = promises.float()[torch.arange(len(some), device=device), heads]
    likely = promises.masked_fill(~allowed, ILLEGAL).log_softmax(1)
    moves = -(weights * (shares * likely).sum(1)).sum() / weights.sum()
    if value is None:
        return moves, torch.zeros_like(moves)
    misses = torch.where(known, value.float() - result, 0)
    return moves, misses.square().sum() / known.sum().clamp(min=1)
