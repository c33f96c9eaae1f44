"""Train a network on tournament games: which move the winner plays in a position, and who wins (report 0, mended).

The network is a tower of residual blocks that sees the board as the mover does, and the legal moves.  It learns from
all moves, but winners and losers have a head each, so that bad moves form the tower and not the answer; a third head
says who wins.  A small network learns more from a large one, its teacher, than from the moves alone (Hinton and others
2015): what the teacher thinks of all moves of a position tells more than the one that was played.

Every number of a training is in its `Plan`.  Boards are turned by chance; the weights that count are a moving average,
the best by the games set aside.  A training that was interrupted resumes from its checkpoint with the same results.

This file and the `network_*` that it imports need PyTorch and NumPy and no compiler, so that they run wherever there is
a fast machine.  `awello train cnn` does the same with fewer options, by default in minutes on a processor:

    python3 -m awello.learn.cnn_training games.npz --out FOLDER --minutes 10
"""

import argparse
import copy
import json
import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim.swa_utils import get_ema_multi_avg_fn

from awello.errors import ConfigError
from awello.folders import replace_atomically
from awello.learn.cnn_files import can_export, export, keep_age, load_network, load_parts, save_network
from awello.learn.cnn_metrics import Lessons, Teacher, ask_teacher, examine, figures, judge, losses
from awello.learn.cnn_models import CnnConfig, count_parameters, make_network
from awello.learn.cnn_positions import PLANES, CnnPositions, DatasetSplit, GameArrays, planes

CLIP = 1.0  # the longest gradient
WARM = 300  # steps in which the rate rises
LOOK = 50  # steps between two looks at the loss, for which the device is waited for
SEEN = 4  # symmetries in which a teacher sees a position
ROWS = 10  # measures of a training that does not say how often
KEEP = 15  # seconds between two checkpoints at most, if the steps are not longer
SHOWN = 4096  # boards by which the range of every layer is measured
CURVES, REPORT = "curves.jsonl", "report.json"  # files of a training's folder

Row = dict[str, float]


# ---- learning -------------------------------------------------------------------------------------------------------
def rate_at(plan: CnnConfig, step: int, done: float) -> float:
    """The rate of a step when a share of the training is done: it rises, for a tenth at most, and falls by a cosine."""
    risen = min(1.0, max((step + 1) / WARM, 10 * done))
    return plan.rate * risen * (1 + math.cos(math.pi * min(1.0, done))) / 2


def draw(plan: CnnConfig, count: int, step: int, device: str) -> tuple[Tensor, Tensor]:
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


class CnnTraining:
    """A network in the making, its moving average, and the best average so far."""

    def __init__(self, plan: CnnConfig, train: CnnPositions, aside: CnnPositions, compiled: bool = False) -> None:
        self.plan, self.device = plan, train.own.device.type
        self.train, self.aside = train.take(train.won) if plan.moves == "winners" else train, aside
        if not len(self.train) or not self.train.won.any():
            raise ConfigError("no game that teaches was played to its end: a network learns from winners' moves")
        self.teacher, self.lessons = self.find_teacher()
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

    def find_teacher(self) -> tuple[Teacher | None, Lessons | None]:
        """The teacher, if any, and its lessons, if all are asked for before: a fast device shows positions often."""
        if not self.plan.teacher:
            return None, None
        plan, network = load_network(Path(self.plan.teacher))
        teacher = plan, network.to(self.device, memory_format=torch.channels_last)
        return teacher, ask_teacher(teacher, self.train, SEEN) if self.device == "cuda" else None

    @property
    def done(self) -> float:
        """Which share of the training is done."""
        return self.step / self.plan.steps if self.plan.steps else self.seconds / (60 * self.plan.minutes)

    @property
    def finished(self) -> bool:
        """Whether all is done, or nothing gets better any more."""
        return self.done >= 1 or self.stale >= self.plan.patience

    @property
    def epochs(self) -> float:
        """How often each position has been shown."""
        return self.step * min(self.plan.batch, len(self.train)) / len(self.train)

    def show(self) -> None:
        """Take a step towards what some positions teach."""
        for group in self.optimiser.param_groups:
            group["lr"] = rate_at(self.plan, self.step, self.done)
        chosen, turns = draw(self.plan, len(self.train), self.step, self.device)
        some, lessons = self.train.take(chosen), None
        if self.lessons:
            lessons = self.lessons[0][chosen], self.lessons[1][chosen]
        elif self.teacher:
            lessons = ask_teacher(self.teacher, some, 1)
        moves, value = losses(self.plan, self.fast, some, turns, lessons)
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

    def measure(self, since: int) -> Row:
        """How the average fares on the games set aside; the losses are the mean of the steps since one."""
        found = judge(self.plan, self.average, self.aside)
        row = {name: share for name, share in figures(found, self.aside.won).items() if name != "positions"}
        every = figures(found, torch.ones_like(self.aside.won))
        moves, value = (self.sums / max(1, self.step - since)).tolist()
        self.sums.zero_()
        self.stale += 1
        if row["top1"] >= self.score:  # if no winners are known among them, the last average is the best
            self.score, self.stale = row["top1"], 0
            self.best.load_state_dict(self.average.state_dict())
        rate = rate_at(self.plan, self.step, self.done)
        counts = {"step": self.step, "epochs": self.epochs, "seconds": self.seconds, "rate": rate}
        return counts | {"moves": moves, "value": value} | row | {"top1_all": every["top1"], "error": found.error()}

    # ---- checkpoints ------------------------------------------------------------------------------------------------
    PARTS = "network", "average", "best", "optimiser"
    COUNTS = "step", "seconds", "score", "stale"

    def keep(self, file: Path) -> None:
        """Write all that is needed to resume."""
        parts = {name: getattr(self, name).state_dict() for name in self.PARTS}
        marks = {"plan": asdict(self.plan), "positions": self.mark}
        with replace_atomically(file) as content:
            torch.save(marks | parts | {name: getattr(self, name) for name in self.COUNTS}, content)

    @property
    def mark(self) -> list[int]:
        """A sign of the positions that teach."""
        return [len(self.train), int(self.train.own.sum())]

    def resume(self, file: Path) -> None:
        """Go on from a checkpoint."""
        kept = read_checkpoint(file, self.plan, self.device)
        if kept["positions"] != self.mark:
            raise ConfigError(f"{str(file)!r} is of a training with other games: remove it, or give these again")
        for name in self.PARTS:
            getattr(self, name).load_state_dict(kept[name])
        for name in self.COUNTS:
            setattr(self, name, kept[name])


def read_checkpoint(file: Path, plan: CnnConfig, device: str) -> dict[str, Any]:
    """What was kept of a training, whose plan is this one."""
    kept = load_parts(file, device)
    if not kept.keys() >= {"plan", "positions", *CnnTraining.PARTS, *CnnTraining.COUNTS}:
        raise ConfigError(f"{str(file)!r} is damaged: remove it, and the training begins again")
    if kept["plan"] != asdict(plan):
        raise ConfigError(f"{str(file)!r} is of a training with another plan: remove it, or give its options again")
    return kept


# ---- the training ---------------------------------------------------------------------------------------------------
def run(
    plan: CnnConfig,
    games: GameArrays,
    out: Path,
    checkpoint: Path,
    device: str = "cpu",
    compiled: bool = False,
    stop: float = 0,
    brief: bool = False,
    passed: Callable[[float], object] = lambda seconds: None,
) -> Iterator[Row]:
    """Train until the plan is done, or for so many minutes if `stop` says so, and write what came of it to a folder.

    There `curves.jsonl` and `weights.pt` follow it; `report.json` and, with onnxruntime, `network.onnx` end it.  Yields
    how training stands, and calls `passed` with the seconds spent.  A brief one is measured on fewer positions.  With
    onnxruntime too, `epochs` holds the network as it was on the way.
    """
    began = time.monotonic()
    if plan.teacher:
        load_network(Path(plan.teacher))  # what is wrong with files shows before all games are played
    if checkpoint.exists():
        read_checkpoint(checkpoint, plan, device)
    sets = DatasetSplit.of(games, plan.seed, device, brief)
    training = CnnTraining(plan, sets.teaching, sets.aside, compiled)
    if checkpoint.exists():
        training.resume(checkpoint)
    out.mkdir(parents=True, exist_ok=True)
    checkpoint.parent.mkdir(parents=True, exist_ok=True)
    yield from train(training, out, checkpoint, began + 60 * stop if stop else math.inf, passed)
    conclude(training, sets, out, brief)


def train(
    training: CnnTraining, out: Path, checkpoint: Path, until: float, passed: Callable[[float], object]
) -> Iterator[Row]:
    """Take steps until the training is finished, or until a moment; yields how it stands."""
    if training.finished:
        return
    plan, since, rows = training.plan, training.step, int(ROWS * training.done)
    kept = time.monotonic()
    start = kept - training.seconds
    with (out / CURVES).open("a" if training.step else "w") as curves:
        stopped = False
        while not stopped:
            # Step 1. Learn, if there is time.
            now = time.monotonic()
            training.seconds = now - start
            passed(training.seconds)
            stopped = training.finished or now > until
            if not stopped:
                training.show()
            # Step 2. Look whether all is well, and keep it.
            share = int(ROWS * training.done)
            measured = stopped or (training.step % plan.every == 0 if plan.every else share > rows)
            keep = measured or now > kept + KEEP
            if keep or training.step % LOOK == 0:
                training.look()
            row = training.measure(since) if measured and training.step > since else None
            if keep:
                training.keep(checkpoint)
                kept = now
            # Step 3. Tell.
            if row:
                since, rows = training.step, share
                save_network(out / "weights.pt", plan, training.best)
                curves.write(json.dumps(row) + "\n")
                curves.flush()
                done = 1.0 if training.finished else training.done
                keep_age(out / "epochs", plan, training.average, training.train, training.step, done)
                yield row


def conclude(training: CnnTraining, sets: DatasetSplit, out: Path, brief: bool) -> None:
    """Measure what was learnt on games that were held out, and write the report and the network."""
    plan, network = training.plan, training.best
    report = {
        "finished": training.finished,
        "plan": asdict(plan),
        "parameters": count_parameters(network),
        "games": sets.games,
        "positions": sets.positions | {"teaching": len(training.train)},
        "step": training.step,
        "epochs": training.epochs,
        "seconds": training.seconds,
        "steps_a_second": training.step / training.seconds,
        "aside": {"top1": training.score},
        "test": examine(plan, network, sets.test, sets.repeated, 1),
    }
    write_report(out, report)
    if not training.finished:
        return
    if not brief:
        report["test_eight_symmetries"] = examine(plan, network, sets.test, sets.repeated, 8)
        write_report(out, report)
    if can_export():
        chosen, turns = draw(replace(plan, batch=SHOWN), len(training.train), 0, training.device)
        export(plan, network, planes(plan.view, training.train.take(chosen), turns), out / "network.onnx")


def write_report(out: Path, report: dict[str, Any]) -> None:
    """Write the figures of a training down."""
    (out / REPORT).write_text(json.dumps(report, indent=1) + "\n")


def read_report(out: Path) -> dict[str, Any]:
    """The figures of a training that has ended."""
    report: dict[str, Any] = json.loads((out / REPORT).read_text())
    return report


def read_curves(out: Path) -> list[Row]:
    """How a training stood, from its beginning."""
    return [json.loads(line) for line in (out / CURVES).read_text().splitlines()]


def format_row(row: Row) -> str:
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
    for field in fields(CnnConfig):
        kind = type(field.default)
        parser.add_argument(f"--{field.name}", type=kind, default=field.default, choices=choices.get(field.name))
    given = parser.parse_args(words)
    plan = CnnConfig(**{field.name: getattr(given, field.name) for field in fields(CnnConfig)})
    torch.set_float32_matmul_precision("high")
    torch.backends.cudnn.benchmark = True
    checkpoint = given.checkpoint or given.out / "checkpoint.pt"
    try:
        games = GameArrays.read(given.games)
        for row in run(plan, games, given.out, checkpoint, given.device, given.compile, given.stop):
            print(format_row(row), flush=True)
    except ConfigError as error:
        print(f"awello: {error}", file=sys.stderr)
        return 2
    report = read_report(given.out)
    print(json.dumps({name: report[name] for name in report if name.startswith("test")}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
