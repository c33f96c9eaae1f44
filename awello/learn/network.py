"""Train a network on tournament games: which move the winner plays in a position, and who wins (report 0, mended).

Report 0's network sees the board in one plane, learns the winners' moves and was never trained to its end.  Ours is a
tower of residual blocks.  It sees the board as the mover does, and the legal moves.  It learns from all moves, but
winners and losers have a head each, so that bad moves form the tower and not the answer; a third head says who wins.
A small network learns more from a large one that was trained before it, its teacher, than from the moves alone (Hinton
and others 2015): what the teacher thinks of all moves of a position tells more than the one that was played.

Every number of a training is in its `Plan`.  Games up to 2015 teach, but for a few that tell when to stop; later ones
are only for the figures of the report.  Boards are turned by chance.  The weights that count are a moving average, the
best by the games set aside.  A training that was interrupted goes on from its checkpoint, as if nothing had been.

This file and the `network_*` that it imports need PyTorch and NumPy and no compiler, so that they run wherever there is
a fast machine:

    python3 -m awello.learn.network games.npz --out FOLDER --minutes 10
"""

import argparse
import copy
import importlib.util
import json
import math
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim.swa_utils import get_ema_multi_avg_fn

from awello.errors import ConfigError
from awello.learn.network_figures import ILLEGAL, MEASURED, examine, figures, judge, promise
from awello.learn.network_files import export, keep_age, load_network, save_network
from awello.learn.network_positions import (
    HELD_OUT,
    PLANES,
    UNKNOWN,
    Games,
    Positions,
    planes,
    replay,
    split,
    turned,
    unpack,
)
from awello.learn.network_shapes import Plan, count_parameters, make_network

CLIP = 1.0  # the longest gradient
WARM = 300  # steps in which the rate rises
LOOK = 50  # steps between two looks at the loss, for which the device is waited for
SEEN = 4  # symmetries in which a teacher sees a position


# ---- learning -------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Lessons:
    """What a teacher says of positions: the share of each square, and the value."""

    shares: Tensor
    value: Tensor

    def take(self, chosen: Tensor) -> "Lessons":
        """Some of them."""
        return Lessons(self.shares[chosen], self.value[chosen])


def ask_teacher(file: Path, positions: Positions) -> Lessons:
    """What the network of a file says of positions."""
    plan, network = load_network(file)
    network = network.to(positions.own.device, memory_format=torch.channels_last)
    parts = []
    with torch.no_grad():
        for place in range(0, len(positions), MEASURED):
            shares, value = promise(plan, network, positions.take(slice(place, place + MEASURED)), SEEN)
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


def rate_at(plan: Plan, step: int, done: float) -> float:
    """The rate of a step when a share of the training is done: it rises for a while, then falls along a cosine."""
    warm = min(WARM, plan.steps // 10 or WARM)
    return plan.rate * min(1.0, (step + 1) / warm) * (1 + math.cos(math.pi * min(1.0, done))) / 2


def draw(plan: Plan, count: int, step: int, device: str) -> tuple[Tensor, Tensor]:
    """Which positions are shown at a step, each once in an epoch, and how they are turned; chance follows from both."""
    chance, batch = torch.Generator(device), min(plan.batch, count)
    epoch, place = divmod(step, count // batch)
    order = _order(count, plan.seed * 1000 + epoch, device)
    chance.manual_seed(plan.seed * 10_000_000 + step)
    turns = torch.randint(8, (batch,), generator=chance, device=device)
    return order[place * batch : (place + 1) * batch], turns


@lru_cache(maxsize=1)
def _order(count: int, seed: int, device: str) -> Tensor:
    """An order by chance."""
    return torch.randperm(count, generator=torch.Generator(device).manual_seed(seed), device=device)


class Training:
    """A network in the making, its moving average, and the best average so far."""

    def __init__(self, plan: Plan, train: Positions, aside: Positions, compiled: bool = False) -> None:
        self.plan, self.device = plan, train.own.device.type
        self.train, self.aside = train.take(train.won) if plan.moves == "winners" else train, aside
        self.lessons = ask_teacher(Path(plan.teacher), self.train) if plan.teacher else None
        torch.manual_seed(plan.seed)
        self.network = make_network(plan).to(self.device, memory_format=torch.channels_last)
        self.average, self.best = copy.deepcopy(self.network).eval(), copy.deepcopy(self.network).eval()
        self.followed = [
            [part for part in network.state_dict().values() if part.is_floating_point()]
            for network in (self.average, self.network)
        ]
        self.fast = torch.compile(self.network) if compiled else self.network
        matrices = [weights for weights in self.network.parameters() if weights.dim() > 1]
        others = [weights for weights in self.network.parameters() if weights.dim() == 1]
        groups = [{"params": matrices, "weight_decay": plan.decay}, {"params": others, "weight_decay": 0.0}]
        self.optimiser = torch.optim.AdamW(groups, plan.rate, fused=self.device == "cuda")
        self.step, self.seconds, self.score, self.stale = 0, 0.0, 0.0, 0
        self.sums = torch.zeros(2, device=self.device)

    @property
    def done(self) -> float:
        """Which share of the training is done."""
        return self.step / self.plan.steps if self.plan.steps else self.seconds / (60 * self.plan.minutes)

    @property
    def epochs(self) -> float:
        """How often each position has been shown."""
        return self.step * min(self.plan.batch, len(self.train)) / len(self.train)

    def show(self) -> None:
        """Take a step towards what some positions teach."""
        for group in self.optimiser.param_groups:
            group["lr"] = rate_at(self.plan, self.step, self.done)
        chosen, turns = draw(self.plan, len(self.train), self.step, self.device)
        lessons = self.lessons.take(chosen) if self.lessons else None
        moves, value = losses(self.plan, self.fast, self.train.take(chosen), turns, lessons)
        self.optimiser.zero_grad(set_to_none=True)
        (moves + self.plan.value * value).backward()
        nn.utils.clip_grad_norm_(self.network.parameters(), CLIP)
        self.optimiser.step()
        self.step += 1
        self.sums += torch.stack([moves.detach(), value.detach()])
        self.follow()

    def follow(self) -> None:
        """Let the average follow the weights; at first it is young and follows them closely."""
        kept = min(self.plan.average, (1 + self.step) / (10 + self.step))
        get_ema_multi_avg_fn(kept)(*self.followed, self.step)

    def look(self) -> None:
        """Wait for the device and stop a training whose loss is not finite."""
        if not math.isfinite(float(self.sums.sum())):
            raise ConfigError(f"the loss is not finite near step {self.step}: train again with a smaller --rate")

    def measure(self, since: int) -> dict[str, float]:
        """How the average fares on the games set aside; the losses are the mean of the steps since one."""
        found = judge(self.plan, self.average, self.aside)
        row = {name: share for name, share in figures(found, self.aside.won).items() if name != "positions"}
        every = figures(found, torch.ones_like(self.aside.won))
        moves, value = (self.sums / max(1, self.step - since)).tolist()
        self.sums.zero_()
        self.stale += 1
        if row["top1"] > self.score:
            self.score, self.stale = row["top1"], 0
            self.best.load_state_dict(self.average.state_dict())
        rate = rate_at(self.plan, self.step, self.done)
        counts = {"step": self.step, "epochs": self.epochs, "seconds": self.seconds, "rate": rate}
        return counts | {"moves": moves, "value": value} | row | {"top1_all": every["top1"], "error": found.error()}

    # ---- checkpoints ------------------------------------------------------------------------------------------------
    PARTS = "network", "average", "best", "optimiser"
    COUNTS = "step", "seconds", "score", "stale"

    def keep(self, file: Path) -> None:
        """Write down all that is needed to go on; the file is whole at every moment."""
        beside = file.with_name(file.name + ".part")
        parts = {name: getattr(self, name).state_dict() for name in self.PARTS}
        torch.save({"plan": asdict(self.plan)} | parts | {name: getattr(self, name) for name in self.COUNTS}, beside)
        beside.replace(file)

    def resume(self, file: Path) -> None:
        """Go on from a checkpoint."""
        kept = torch.load(file, map_location=self.device, weights_only=True)
        if kept["plan"] != asdict(self.plan):
            raise ConfigError(f"{str(file)!r} is of a training with another plan: remove it, or give its options again")
        for name in self.PARTS:
            getattr(self, name).load_state_dict(kept[name])
        for name in self.COUNTS:
            setattr(self, name, kept[name])


# ---- the training ---------------------------------------------------------------------------------------------------
def run(
    plan: Plan, games: Games, out: Path, checkpoint: Path, device: str = "cpu", compiled: bool = False, stop: float = 0
) -> dict[str, Any]:
    """Train until the plan is done, or for so many minutes if `stop` says so, and write what came of it to a folder.

    There `curves.jsonl` and `weights.pt` follow it; `report.json` and, with onnxruntime, `network.onnx` end it. With
    onnxruntime too, `epochs` holds the network as it was on the way.
    """
    began = time.monotonic()
    # Step 1. Positions.
    teaching, telling, held = (torch.from_numpy(part).to(device) for part in split(games, plan.seed))
    every = replay(games, device)
    number = every.game.long()
    training = Training(plan, every.take(teaching[number]), every.take(telling[number]), compiled)
    print(f"{len(training.train):,d} positions teach, {time.monotonic() - began:.1f} s", flush=True)
    # Step 2. Train.
    out.mkdir(parents=True, exist_ok=True)
    checkpoint.parent.mkdir(parents=True, exist_ok=True)
    if checkpoint.exists():
        training.resume(checkpoint)
    before, since, first = training.seconds, training.step, training.step
    start = time.monotonic()
    finished = False
    with (out / "curves.jsonl").open("a") as curves:
        while True:
            training.seconds = before + time.monotonic() - start
            finished = training.done >= 1 or training.stale >= plan.patience
            stopped = finished or (stop > 0 and time.monotonic() - began > 60 * stop)
            if not stopped:
                training.show()
            measured = stopped or training.step % plan.every == 0
            if measured or training.step % LOOK == 0:
                training.look()
            if measured and training.step > since:
                row = training.measure(since)
                since = training.step
                training.keep(checkpoint)
                save_network(out / "weights.pt", plan, training.best)
                curves.write(json.dumps(row) + "\n")
                curves.flush()
                print(format_row(row), flush=True)
                done = 1.0 if finished else training.done
                keep_age(out / "epochs", plan, training.average, training.train, training.step, done)
            if stopped:
                break
    speed = (training.step - first) / (time.monotonic() - start)
    # Step 3. The figures, and the network.
    test = every.take(held[number])
    earlier = np.unique(games.same[games.year < HELD_OUT])
    repeated = torch.from_numpy(np.isin(games.same, earlier)).to(device)[test.game.long()]
    report = {
        "finished": finished,
        "plan": asdict(plan),
        "parameters": count_parameters(training.best),
        "games": {"teaching": int(teaching.sum()), "aside": int(telling.sum()), "held_out": int(held.sum())},
        "positions": {"teaching": len(training.train), "aside": len(training.aside), "held_out": len(test)},
        "step": training.step,
        "epochs": training.epochs,
        "seconds": training.seconds,
        "steps_a_second": speed,
        "aside": {"top1": training.score},
        "test": examine(plan, training.best, test, repeated, 1),
    }
    write_report(out, report)
    if finished:
        report["test_eight_symmetries"] = examine(plan, training.best, test, repeated, 8)
        write_report(out, report)
        if importlib.util.find_spec("onnx") and importlib.util.find_spec("onnxruntime"):
            chosen, turns = draw(plan, len(training.train), 0, device)
            boards = planes(plan.view, training.train.take(chosen), turns)
            export(plan, training.best, boards, out / "network.onnx")
    return report


def write_report(out: Path, report: dict[str, Any]) -> None:
    """Write the figures of a training down."""
    (out / "report.json").write_text(json.dumps(report, indent=1) + "\n")


def format_row(row: dict[str, float]) -> str:
    """How training stands, in a line."""
    done = f"{row['seconds']:6.0f} s: {row['step']:7,.0f} steps, {row['epochs']:5.2f} epochs"
    loss = f"loss {row['moves']:.4f} and {row['value']:.4f}"
    return f"{done}, {loss}; aside {row['top1']:.2%} ({row['top3']:.2%} of three), all {row['top1_all']:.2%}"


def main(words: Sequence[str] | None = None) -> int:
    """Train by the command line."""
    parser = argparse.ArgumentParser("network", description="Train a network on games of Othello.")
    parser.add_argument("games", type=Path, help="the file that network_data.write_games wrote")
    parser.add_argument("--out", type=Path, required=True, help="the folder for what comes of it")
    parser.add_argument("--checkpoint", type=Path, help="the file to go on from; unless said, in that folder")
    parser.add_argument("--stop", type=float, default=0, help="pause after so many minutes of this run")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--compile", action="store_true", help="let PyTorch compile the network first")
    choices = {"network": ["residual", "report"], "view": list(PLANES), "moves": ["all", "winners"]}
    for field in fields(Plan):
        kind = type(field.default)
        parser.add_argument(f"--{field.name}", type=kind, default=field.default, choices=choices.get(field.name))
    given = parser.parse_args(words)
    plan = Plan(**{field.name: getattr(given, field.name) for field in fields(Plan)})
    torch.set_float32_matmul_precision("high")
    torch.backends.cudnn.benchmark = True
    checkpoint = given.checkpoint or given.out / "checkpoint.pt"
    try:
        games = Games.read(given.games)
        report = run(plan, games, given.out, checkpoint, given.device, given.compile, given.stop)
    except ConfigError as error:
        print(f"awello: {error}", file=sys.stderr)
        return 2
    print(json.dumps({name: report[name] for name in report if name.startswith("test")}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
