"""The predictions, losses and accuracy of a network."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from awello.learn.cnn_config import CnnConfig
from awello.learn.cnn_positions import UNKNOWN, CnnPositions, build_symmetry_tables, encode_planes, unpack_bits

Teacher = tuple[CnnConfig, nn.Module]
SoftTargets = tuple[Tensor, Tensor]
"""Predictions of a teacher: the probability of each square, and the value."""

ILLEGAL_LOGIT = -1e4  # finite, because 0 times infinity is NaN
CUDA_BATCH, CPU_BATCH = 16_384, 512  # in positions; on a CPU, a batch should fit into the cache


@dataclass(frozen=True)
class CnnPredictions:
    """Comparison of a network's predictions with the moves and results of games, one row per position."""

    top1: Tensor
    """Whether the move played has the highest probability."""
    top3: Tensor
    """Whether the move played is among the three most probable ones."""
    value_errors: Tensor
    """Predicted value minus result; 0 for unfinished games."""
    value_correct: Tensor
    """Whether the value favours the winner; false without a winner."""

    def value_mse(self) -> float:
        """Return the mean square error of the value; for unfinished games, the error counts as 0."""
        return float(self.value_errors.square().mean())


def evaluate(config: CnnConfig, network: nn.Module, positions: CnnPositions, symmetries: int = 1) -> CnnPredictions:
    """Compare a network's predictions, averaged over `symmetries` symmetries, with the moves and results of games."""
    parts = []
    with torch.no_grad():
        for batch in iterate_batches(positions):
            policies, value = predict(config, network, batch, symmetries)
            best = policies.topk(3, 1).indices == batch.square[:, None]
            result = batch.margin.sign() * (batch.margin != UNKNOWN)
            value_errors = torch.where(batch.margin == UNKNOWN, 0, value - result)
            parts.append((best[:, 0], best.any(1), value_errors, value * result > 0))
    return CnnPredictions(*(torch.cat(column) for column in zip(*parts, strict=True)))


def iterate_batches(positions: CnnPositions) -> Iterator[CnnPositions]:
    """Split positions into batches."""
    size = CUDA_BATCH if positions.own.device.type == "cuda" else CPU_BATCH
    return (positions.take(slice(start, start + size)) for start in range(0, len(positions), size))


def predict(config: CnnConfig, network: nn.Module, batch: CnnPositions, symmetries: int) -> tuple[Tensor, Tensor]:
    """Predict the probabilities of winners' moves and the value, averaged over a number of symmetries."""
    device = batch.own.device
    policies, values = torch.zeros(len(batch), 64, device=device), torch.zeros(len(batch), device=device)
    illegal = unpack_bits(batch.legal, torch.zeros_like(batch.own)) == 0
    for symmetry_id in range(symmetries):
        symmetry_ids = torch.full_like(batch.own, symmetry_id).masked_fill(batch.symmetric, 0)
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            logits, value = network(encode_planes(config.input_planes, batch, symmetry_ids))
        logits = logits[:, 0].float().gather(1, build_symmetry_tables(device)[1][symmetry_ids])
        policies += logits.masked_fill(illegal, ILLEGAL_LOGIT).softmax(1) / symmetries
        values += 0 if value is None else value.float() / symmetries
    return policies, values


def compute_soft_targets(teacher: Teacher, positions: CnnPositions, symmetries: int) -> SoftTargets:
    """Return a teacher's predictions, averaged over a number of symmetries."""
    with torch.no_grad():
        parts = [predict(*teacher, batch, symmetries) for batch in iterate_batches(positions)]
    policies, values = zip(*parts, strict=True)
    return torch.cat([policy.half() for policy in policies]), torch.cat(values)


def compute_losses(
    config: CnnConfig,
    network: nn.Module,
    batch: CnnPositions,
    symmetry_ids: Tensor,
    soft_targets: SoftTargets | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the policy loss (cross-entropy of the moves) and the value loss (mean square error).

    With a teacher, the head for winners' moves learns from all positions: where a loser moved, the target is the
    teacher's prediction of a winner's move.
    """
    not_lost, device, symmetry_ids = batch.not_lost, batch.own.device, symmetry_ids.masked_fill(batch.symmetric, 0)
    with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
        logits, value = network(encode_planes(config.input_planes, batch, symmetry_ids))
    # Step 1. Compute the targets.
    legal = unpack_bits(batch.legal, symmetry_ids) == 1
    sources, targets = build_symmetry_tables(device)
    squares = targets[symmetry_ids, batch.square.long()]
    policies = torch.zeros(legal.shape, device=device).scatter_(1, squares[:, None], 1.0)
    policies = policies.lerp(legal / legal.sum(1, keepdim=True), config.label_smoothing)
    result, has_result = batch.margin.sign().float(), batch.margin != UNKNOWN
    heads, weights = torch.where(not_lost, 0, logits.shape[1] - 1), torch.where(not_lost, 1.0, config.loser_weight)
    if soft_targets:
        teacher_weight = torch.where(not_lost, config.teacher_weight, 1.0)
        teacher_policies = soft_targets[0].float().gather(1, sources[symmetry_ids])
        policies = policies.lerp(teacher_policies, teacher_weight[:, None])
        result = result.lerp(soft_targets[1], torch.where(has_result, config.teacher_weight, 1.0))
        heads, weights, has_result = torch.zeros_like(heads), torch.ones_like(weights), torch.ones_like(has_result)
    # Step 2. Compute the losses.
    logits = logits.float()[torch.arange(len(batch), device=device), heads]
    log_policies = logits.masked_fill(~legal, ILLEGAL_LOGIT).log_softmax(1)
    policy_loss = -(weights * (policies * log_policies).sum(1)).sum() / weights.sum()
    if value is None:
        return policy_loss, torch.zeros_like(policy_loss)
    value_errors = torch.where(has_result, value.float() - result, 0)
    return policy_loss, value_errors.square().sum() / has_result.sum().clamp(min=1)


def compute_accuracy(predictions: CnnPredictions, selection: Tensor) -> dict[str, float]:
    """Compute the top-1 and top-3 accuracy on selected positions."""
    count = int(selection.sum())
    hits = [float((hit & selection).sum()) / max(1, count) for hit in (predictions.top1, predictions.top3)]
    return {"positions": count, "top1": hits[0], "top3": hits[1]}


def evaluate_test_set(
    config: CnnConfig, network: nn.Module, test: CnnPositions, duplicates: Tensor, symmetries: int
) -> dict[str, Any]:
    """Compute the accuracy on the test set: in total, on games that no other set contains, and by game stage."""
    predictions, not_lost = evaluate(config, network, test, symmetries), test.not_lost
    stage_of = torch.clamp(test.empties // 10, max=5)
    decided = (test.margin != UNKNOWN) & (test.margin != 0)
    return {
        "winners": compute_accuracy(predictions, not_lost),
        "all": compute_accuracy(predictions, torch.ones_like(not_lost)),
        "winners_new": compute_accuracy(predictions, not_lost & ~duplicates),
        "all_new": compute_accuracy(predictions, ~duplicates),
        "stages": {10 * stage: compute_accuracy(predictions, not_lost & (stage_of == stage)) for stage in range(6)},
        "value": {
            "mse": predictions.value_mse(),
            "sign_accuracy": float((predictions.value_correct & decided).sum() / decided.sum().clamp(min=1)),
        },
    }
