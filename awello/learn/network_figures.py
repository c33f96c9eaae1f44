"""How well a network foretells the moves of games, and who wins them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from awello.learn.network_positions import UNKNOWN, Positions, planes, turned, unpack
from awello.learn.network_shapes import Plan

ILLEGAL = -1e4  # in the place of a promise; finite, because infinities times nothing are no numbers
MEASURED, CACHED = 16_384, 512  # positions at a time; on a processor so few that its cache holds them


@dataclass(frozen=True)
class Judged:
    """What a network says of positions, beside what happened."""

    top1: Tensor
    """Whether the move it promises most is the one that was played."""
    top3: Tensor
    """Whether the move that was played is among the three it promises most."""
    misses: Tensor
    """The value less the result, 0 where there is none of either."""
    right: Tensor
    """Whether the value is on the winner's side."""

    def error(self) -> float:
        """The mean square error of the value."""
        return float(self.misses.square().mean())


def judge(plan: Plan, network: nn.Module, positions: Positions, symmetries: int = 1) -> Judged:
    """Ask a network about positions, each turned in so many ways; what it says of them is averaged."""
    parts = []
    with torch.no_grad():
        for some in portions(positions):
            shares, value = promise(plan, network, some, symmetries)
            best = shares.topk(3, 1).indices == some.square[:, None]
            result = some.margin.sign() * (some.margin != UNKNOWN)
            misses = torch.where(some.margin == UNKNOWN, 0, value - result)
            parts.append((best[:, 0], best.any(1), misses, value * result > 0))
    return Judged(*(torch.cat(column) for column in zip(*parts, strict=True)))


def portions(positions: Positions) -> Iterator[Positions]:
    """Positions, some at a time."""
    size = MEASURED if positions.own.device.type == "cuda" else CACHED
    return (positions.take(slice(place, place + size)) for place in range(0, len(positions), size))


def promise(plan: Plan, network: nn.Module, some: Positions, symmetries: int) -> tuple[Tensor, Tensor]:
    """The shares that winners give to each square, and the value, averaged over so many symmetries."""
    device = some.own.device
    shares, values = torch.zeros(len(some), 64, device=device), torch.zeros(len(some), device=device)
    illegal = unpack(some.legal, torch.zeros_like(some.own)) == 0
    for turn in range(symmetries):
        turns = torch.full_like(some.own, turn).masked_fill(some.even, 0)
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            promises, value = network(planes(plan.view, some, turns))
        promises = promises[:, 0].float().gather(1, turned(device)[1][turns])
        shares += promises.masked_fill(illegal, ILLEGAL).softmax(1) / symmetries
        values += 0 if value is None else value.float() / symmetries
    return shares, values


def figures(judged: Judged, chosen: Tensor) -> dict[str, float]:
    """How often a network finds the moves of some positions."""
    count = int(chosen.sum())
    hits = [float((hit & chosen).sum()) / max(1, count) for hit in (judged.top1, judged.top3)]
    return {"positions": count, "top1": hits[0], "top3": hits[1]}


def examine(plan: Plan, network: nn.Module, test: Positions, repeated: Tensor, symmetries: int) -> dict[str, Any]:
    """The figures on held-out games, with and without those whose moves were played before, and by tens of empties."""
    judged, won = judge(plan, network, test, symmetries), test.won
    stages = torch.clamp(test.empties // 10, max=5)
    decided = (test.margin != UNKNOWN) & (test.margin != 0)
    return {
        "winners": figures(judged, won),
        "all": figures(judged, torch.ones_like(won)),
        "winners_new": figures(judged, won & ~repeated),
        "all_new": figures(judged, ~repeated),
        "stages": {10 * stage: figures(judged, won & (stages == stage)) for stage in range(6)},
        "value": {
            "square_error": judged.error(),
            "right": float((judged.right & decided).sum() / decided.sum().clamp(min=1)),
        },
    }
