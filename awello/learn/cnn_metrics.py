"""What a network says of positions: how far it is from what they teach, and how often it is right."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from awello.learn.cnn_models import CnnConfig
from awello.learn.cnn_positions import UNKNOWN, CnnPositions, planes, turned, unpack

Teacher = tuple[CnnConfig, nn.Module]
Lessons = tuple[Tensor, Tensor]
"""What a teacher says of positions: the share of each square, and the value."""

ILLEGAL = -1e4  # in the place of a promise; finite, because infinities times nothing are no numbers
MEASURED, CACHED = 16_384, 512  # positions at a time; on a processor so few that its cache holds them


@dataclass(frozen=True)
class CnnPredictions:
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


def judge(plan: CnnConfig, network: nn.Module, positions: CnnPositions, symmetries: int = 1) -> CnnPredictions:
    """Ask a network about positions, each turned in so many ways; what it says of them is averaged."""
    parts = []
    with torch.no_grad():
        for some in portions(positions):
            shares, value = promise(plan, network, some, symmetries)
            best = shares.topk(3, 1).indices == some.square[:, None]
            result = some.margin.sign() * (some.margin != UNKNOWN)
            misses = torch.where(some.margin == UNKNOWN, 0, value - result)
            parts.append((best[:, 0], best.any(1), misses, value * result > 0))
    return CnnPredictions(*(torch.cat(column) for column in zip(*parts, strict=True)))


def portions(positions: CnnPositions) -> Iterator[CnnPositions]:
    """Positions, some at a time."""
    size = MEASURED if positions.own.device.type == "cuda" else CACHED
    return (positions.take(slice(place, place + size)) for place in range(0, len(positions), size))


def promise(plan: CnnConfig, network: nn.Module, some: CnnPositions, symmetries: int) -> tuple[Tensor, Tensor]:
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


def ask_teacher(teacher: Teacher, positions: CnnPositions, symmetries: int) -> Lessons:
    """What a network says of positions, each turned in so many ways."""
    with torch.no_grad():
        parts = [promise(*teacher, some, symmetries) for some in portions(positions)]
    shares, values = zip(*parts, strict=True)
    return torch.cat([share.half() for share in shares]), torch.cat(values)


def losses(
    plan: CnnConfig, network: nn.Module, some: CnnPositions, turns: Tensor, lessons: Lessons | None = None
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
        shares = shares.lerp(lessons[0].float().gather(1, turned(device)[0][turns]), taught[:, None])
        result = result.lerp(lessons[1], torch.where(known, plan.taught, 1.0))
        heads, weights, known = torch.zeros_like(heads), torch.ones_like(weights), torch.ones_like(known)
    # Step 2. How far from it the network is.
    promises = promises.float()[torch.arange(len(some), device=device), heads]
    likely = promises.masked_fill(~allowed, ILLEGAL).log_softmax(1)
    moves = -(weights * (shares * likely).sum(1)).sum() / weights.sum()
    if value is None:
        return moves, torch.zeros_like(moves)
    misses = torch.where(known, value.float() - result, 0)
    return moves, misses.square().sum() / known.sum().clamp(min=1)


def figures(judged: CnnPredictions, chosen: Tensor) -> dict[str, float]:
    """How often a network finds the moves of some positions."""
    count = int(chosen.sum())
    hits = [float((hit & chosen).sum()) / max(1, count) for hit in (judged.top1, judged.top3)]
    return {"positions": count, "top1": hits[0], "top3": hits[1]}


def examine(
    plan: CnnConfig, network: nn.Module, test: CnnPositions, repeated: Tensor, symmetries: int
) -> dict[str, Any]:
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
