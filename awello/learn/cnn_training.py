"""Train a network on played games to predict the winner's move and the winner (based on report 0, with corrections).

The network is a tower of residual blocks; its input is the board from the mover's view, with the legal moves.  The
network learns from all moves, but has separate heads for the moves of winners and losers: losers' moves train the
tower, but not the head that predicts winners' moves.  A third head predicts the winner.  A small network learns more
from a large one, its teacher, than from the moves alone (Hinton et al., 2015): the teacher's move probabilities contain
more information than the move played.  With a teacher, all positions train the head for winners' moves; where a loser
moved, the target is the teacher's prediction alone.

All settings are in `CnnConfig`.  Boards are transformed by random symmetries.  The result is the moving average of
the weights at the step where its accuracy on the validation set was best.  A training run that is resumed from its
checkpoint trains on the same batches as an uninterrupted one.

This module and the `cnn_*` modules that it imports need PyTorch and NumPy but no compiler, so they run on any GPU
machine:

    python3 -m awello.learn.cnn_training games.npz --out FOLDER --minutes 10

`awello train cnn` does the same with fewer options; with its defaults, training takes minutes on a CPU.
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
from awello.learn.cnn_config import CnnConfig
from awello.learn.cnn_files import can_export, export_onnx, load_network, load_state, save_network, save_snapshot
from awello.learn.cnn_metrics import (
    SoftTargets,
    Teacher,
    compute_accuracy,
    compute_losses,
    compute_soft_targets,
    evaluate,
    evaluate_test_set,
)
from awello.learn.cnn_models import count_parameters, make_network
from awello.learn.cnn_positions import PLANE_COUNTS, CnnPositions, DatasetSplit, GameArrays, encode_planes

MAX_GRADIENT_NORM = 1.0
WARMUP_STEPS = 300
LOSS_CHECK_STEPS = 50  # between two checks; not after every step, because a check waits for the device
TEACHER_SYMMETRIES = 4  # for averaging a teacher's predictions
DEFAULT_EVALUATIONS = 10  # if `eval_interval` is 0
CHECKPOINT_SECONDS = 15
CALIBRATION_BOARDS = 4096  # for the quantisation of the final network
CURVES_FILE, REPORT_FILE = "curves.jsonl", "report.json"

Row = dict[str, float]


# ---- training steps -------------------------------------------------------------------------------------------------
def learning_rate_at(config: CnnConfig, step: int, progress: float) -> float:
    """Return the learning rate of a step: linear warm-up, for at most a tenth of the training, then cosine decay."""
    warmup = min(1.0, max((step + 1) / WARMUP_STEPS, 10 * progress))
    return config.learning_rate * warmup * (1 + math.cos(math.pi * min(1.0, progress))) / 2


def draw_batch(config: CnnConfig, count: int, step: int, device: str) -> tuple[Tensor, Tensor]:
    """Draw the positions and the symmetries of a step; both depend only on the seed and the step.

    No position is drawn twice in an epoch.
    """
    rng, batch = torch.Generator(device), min(config.batch_size, count)
    epoch, offset = divmod(step, count // batch)
    order = _shuffle(count, config.seed * 1000 + epoch, device)
    rng.manual_seed(config.seed * 10_000_000 + step)
    symmetry_ids = torch.randint(8, (batch,), generator=rng, device=device)
    return order[offset * batch : (offset + 1) * batch], symmetry_ids


@lru_cache(maxsize=1)
def _shuffle(count: int, seed: int, device: str) -> Tensor:
    """Return a random order of the positions."""
    return torch.randperm(count, generator=torch.Generator(device).manual_seed(seed), device=device)


class CnnTraining:
    """The training state: the network, its moving average, and the best average so far."""

    def __init__(
        self, config: CnnConfig, training_set: CnnPositions, validation_set: CnnPositions, compiled: bool = False
    ) -> None:
        self.config, self.device = config, training_set.own.device.type
        winners_only = config.target_moves == "winners"
        self.training_set = training_set.take(training_set.not_lost) if winners_only else training_set
        self.validation_set = validation_set
        if not len(self.training_set) or not self.training_set.not_lost.any():
            raise ConfigError("no training game is finished: give games that were played to the end")
        self.teacher, self.soft_targets = self.load_teacher()
        torch.manual_seed(config.seed)
        self.network = make_network(config).to(self.device, memory_format=torch.channels_last)
        self.average, self.best = copy.deepcopy(self.network).eval(), copy.deepcopy(self.network).eval()
        self.averaged_tensors = [
            [part for part in network.state_dict().values() if part.is_floating_point()]
            for network in (self.average, self.network)
        ]
        self.compiled_network = torch.compile(self.network) if compiled else self.network
        matrices = [weights for weights in self.network.parameters() if weights.dim() > 1]
        others = [weights for weights in self.network.parameters() if weights.dim() == 1]
        groups = [{"params": matrices, "weight_decay": config.weight_decay}, {"params": others, "weight_decay": 0.0}]
        self.optimiser = torch.optim.AdamW(groups, config.learning_rate, fused=self.device == "cuda")
        self.step, self.seconds, self.best_accuracy, self.evaluations_without_improvement = 0, 0.0, 0.0, 0
        self.loss_sums = torch.zeros(2, device=self.device)

    def load_teacher(self) -> tuple[Teacher | None, SoftTargets | None]:
        """Load the teacher, if any; on a GPU, compute its predictions once for all epochs."""
        if not self.config.teacher:
            return None, None
        config, network = load_network(Path(self.config.teacher))
        teacher = config, network.to(self.device, memory_format=torch.channels_last)
        return teacher, compute_soft_targets(
            teacher, self.training_set, TEACHER_SYMMETRIES
        ) if self.device == "cuda" else None

    @property
    def progress(self) -> float:
        """Completed share of the training run."""
        return self.step / self.config.steps if self.config.steps else self.seconds / (60 * self.config.minutes)

    @property
    def finished(self) -> bool:
        """Whether the training run is complete or has stopped early for lack of improvement."""
        return self.progress >= 1 or self.evaluations_without_improvement >= self.config.patience

    @property
    def epochs(self) -> float:
        """Number of passes over the training set so far; usually not a whole number."""
        return self.step * min(self.config.batch_size, len(self.training_set)) / len(self.training_set)

    def train_step(self) -> None:
        """Run a training step on a batch."""
        for group in self.optimiser.param_groups:
            group["lr"] = learning_rate_at(self.config, self.step, self.progress)
        selection, symmetry_ids = draw_batch(self.config, len(self.training_set), self.step, self.device)
        batch, soft_targets = self.training_set.take(selection), None
        if self.soft_targets:
            soft_targets = self.soft_targets[0][selection], self.soft_targets[1][selection]
        elif self.teacher:
            soft_targets = compute_soft_targets(self.teacher, batch, 1)
        policy_loss, value_loss = compute_losses(self.config, self.compiled_network, batch, symmetry_ids, soft_targets)
        self.optimiser.zero_grad(set_to_none=True)
        (policy_loss + self.config.value_weight * value_loss).backward()
        nn.utils.clip_grad_norm_(self.network.parameters(), MAX_GRADIENT_NORM)
        self.optimiser.step()
        self.step += 1
        self.loss_sums += torch.stack([policy_loss.detach(), value_loss.detach()])
        self.update_average()

    def update_average(self) -> None:
        """Update the moving average of the weights; its decay is lower in the first steps."""
        decay = min(self.config.ema_decay, (1 + self.step) / (10 + self.step))
        get_ema_multi_avg_fn(decay)(*self.averaged_tensors, self.step)

    def check_loss(self) -> None:
        """Wait for the device, and raise `ConfigError` if the loss is not finite."""
        if not math.isfinite(float(self.loss_sums.sum())):
            raise ConfigError(
                f"the loss is not finite near step {self.step}: train with fewer --blocks or, if you run "
                "awello.learn.cnn_training, with a lower --learning-rate"
            )

    def evaluate(self, last_step: int) -> Row:
        """Evaluate the averaged weights on the validation set; add the mean training losses since `last_step`."""
        predictions = evaluate(self.config, self.average, self.validation_set)
        row = {
            name: share
            for name, share in compute_accuracy(predictions, self.validation_set.not_lost).items()
            if name != "positions"
        }
        accuracy_all = compute_accuracy(predictions, torch.ones_like(self.validation_set.not_lost))
        policy_loss, value_loss = (self.loss_sums / max(1, self.step - last_step)).tolist()
        self.loss_sums.zero_()
        self.evaluations_without_improvement += 1
        if row["top1"] >= self.best_accuracy:  # with `>=`, the latest average is kept if the accuracy is always 0
            self.best_accuracy, self.evaluations_without_improvement = row["top1"], 0
            self.best.load_state_dict(self.average.state_dict())
        rate = learning_rate_at(self.config, self.step, self.progress)
        counts = {"step": self.step, "epochs": self.epochs, "seconds": self.seconds, "learning_rate": rate}
        return (
            counts
            | {"policy_loss": policy_loss, "value_loss": value_loss}
            | row
            | {"top1_all": accuracy_all["top1"], "value_mse": predictions.value_mse()}
        )

    # ---- checkpoints ------------------------------------------------------------------------------------------------
    STATE_DICTS = "network", "average", "best", "optimiser"
    COUNTERS = "step", "seconds", "best_accuracy", "evaluations_without_improvement"

    def save_checkpoint(self, file: Path) -> None:
        """Save the state needed to resume training."""
        states = {name: getattr(self, name).state_dict() for name in self.STATE_DICTS}
        header = {"config": asdict(self.config), "positions": self.fingerprint}
        with replace_atomically(file) as stream:
            torch.save(header | states | {name: getattr(self, name) for name in self.COUNTERS}, stream)

    @property
    def fingerprint(self) -> list[int]:
        """The number of training positions and a checksum of them, to recognise the training set."""
        return [len(self.training_set), int(self.training_set.own.sum())]

    def load_checkpoint(self, file: Path) -> None:
        """Restore the training state from a checkpoint; raise `ConfigError` if it does not belong to this run."""
        content = read_checkpoint(file, self.config, self.device)
        if content["positions"] != self.fingerprint:
            raise ConfigError(
                f"{str(file)!r} belongs to a training run with other games: give the games of that run to resume it, "
                "or remove the file to start a new run"
            )
        for name in self.STATE_DICTS:
            getattr(self, name).load_state_dict(content[name])
        for name in self.COUNTERS:
            setattr(self, name, content[name])


def read_checkpoint(file: Path, config: CnnConfig, device: str) -> dict[str, Any]:
    """Read a checkpoint; raise `ConfigError` if it is damaged or has other settings."""
    content = load_state(file, device)
    if not content.keys() >= {"config", "positions", *CnnTraining.STATE_DICTS, *CnnTraining.COUNTERS}:
        raise ConfigError(f"{str(file)!r} is damaged: remove it to start a new training run")
    if content["config"] != asdict(config):
        raise ConfigError(
            f"{str(file)!r} belongs to a training run with other settings: give the options of that run to resume it, "
            "or remove the file to start a new run"
        )
    return content


# ---- training runs --------------------------------------------------------------------------------------------------
def run(
    config: CnnConfig,
    games: GameArrays,
    out: Path,
    checkpoint: Path,
    device: str = "cpu",
    compiled: bool = False,
    max_minutes: float = 0,
    quick: bool = False,
    on_progress: Callable[[float], object] = lambda seconds: None,
) -> Iterator[Row]:
    """Train for at most `max_minutes` in this call (0: no limit), and write the results to a folder.

    `curves.jsonl` and `weights.pt` are updated after each evaluation; `report.json` is written at the end.  If the ONNX
    libraries are installed, snapshots are exported to `snapshots/`, and the finished network to `network.onnx`.
    Yields one row per evaluation, and calls `on_progress` with the training time so far in seconds.  With `quick`, the
    network is evaluated on fewer positions.
    """
    started = time.monotonic()
    if config.teacher:
        load_network(Path(config.teacher))  # reports a damaged file before the games are replayed
    if checkpoint.exists():
        read_checkpoint(checkpoint, config, device)
    sets = DatasetSplit.build(games, config.seed, device, quick)
    training = CnnTraining(config, sets.training, sets.validation, compiled)
    if checkpoint.exists():
        training.load_checkpoint(checkpoint)
    out.mkdir(parents=True, exist_ok=True)
    checkpoint.parent.mkdir(parents=True, exist_ok=True)
    yield from train(training, out, checkpoint, started + 60 * max_minutes if max_minutes else math.inf, on_progress)
    write_results(training, sets, out, quick)


def train(
    training: CnnTraining, out: Path, checkpoint: Path, deadline: float, on_progress: Callable[[float], object]
) -> Iterator[Row]:
    """Train until the training is finished or the deadline is reached; yield the rows of the evaluations."""
    if training.finished:
        return
    config, last_step, rows = training.config, training.step, int(DEFAULT_EVALUATIONS * training.progress)
    last_saved = time.monotonic()
    start = last_saved - training.seconds
    with (out / CURVES_FILE).open("a" if training.step else "w") as curves:
        stopped = False
        while not stopped:
            # Step 1. Train, if time remains.
            now = time.monotonic()
            training.seconds = now - start
            on_progress(training.seconds)
            stopped = training.finished or now > deadline
            if not stopped:
                training.train_step()
            # Step 2. Check the loss, evaluate, and save a checkpoint.
            evaluations = int(DEFAULT_EVALUATIONS * training.progress)
            due = stopped or (training.step % config.eval_interval == 0 if config.eval_interval else evaluations > rows)
            save = due or now > last_saved + CHECKPOINT_SECONDS
            if save or training.step % LOSS_CHECK_STEPS == 0:
                training.check_loss()
            row = training.evaluate(last_step) if due and training.step > last_step else None
            if save:
                training.save_checkpoint(checkpoint)
                last_saved = now
            # Step 3. Report.
            if row:
                last_step, rows = training.step, evaluations
                save_network(out / "weights.pt", config, training.best)
                curves.write(json.dumps(row) + "\n")
                curves.flush()
                done = 1.0 if training.finished else training.progress
                save_snapshot(out / "snapshots", config, training.average, training.training_set, training.step, done)
                yield row


def write_results(training: CnnTraining, sets: DatasetSplit, out: Path, quick: bool) -> None:
    """Evaluate the network on the test set; write the report; export the network if the training is finished."""
    config, network = training.config, training.best
    report = {
        "finished": training.finished,
        "config": asdict(config),
        "parameters": count_parameters(network),
        "games": sets.games,
        "positions": sets.positions | {"training": len(training.training_set)},
        "step": training.step,
        "epochs": training.epochs,
        "seconds": training.seconds,
        "steps_per_second": training.step / training.seconds,
        "validation": {"top1": training.best_accuracy},
        "test": evaluate_test_set(config, network, sets.test, sets.duplicates, 1),
    }
    write_report(out, report)
    if not training.finished:
        return
    if not quick:
        report["test_eight_symmetries"] = evaluate_test_set(config, network, sets.test, sets.duplicates, 8)
        write_report(out, report)
    if can_export():
        selection, symmetry_ids = draw_batch(
            replace(config, batch_size=CALIBRATION_BOARDS), len(training.training_set), 0, training.device
        )
        export_onnx(
            config,
            network,
            encode_planes(config.input_planes, training.training_set.take(selection), symmetry_ids),
            out / "network.onnx",
        )


def write_report(out: Path, report: dict[str, Any]) -> None:
    """Write the report of a training run."""
    (out / REPORT_FILE).write_text(json.dumps(report, indent=1) + "\n")


def read_report(out: Path) -> dict[str, Any]:
    """Read the report of a training run."""
    report: dict[str, Any] = json.loads((out / REPORT_FILE).read_text())
    return report


def read_curves(out: Path) -> list[Row]:
    """Read all evaluations of a training run."""
    return [json.loads(line) for line in (out / CURVES_FILE).read_text().splitlines()]


def format_row(row: Row) -> str:
    """Format an evaluation as one line."""
    done = f"{row['seconds']:6.0f} s: {row['step']:7,.0f} steps, {row['epochs']:5.2f} epochs"
    loss = f"policy loss {row['policy_loss']:.4f}, value loss {row['value_loss']:.4f}"
    return f"{done}, {loss}; validation {row['top1']:.2%} (top 3 {row['top3']:.2%}), all {row['top1_all']:.2%}"


def main(words: Sequence[str] | None = None) -> int:
    """Train a network with the options of the command line."""
    parser = argparse.ArgumentParser("cnn_training", description="Train a network on games of Othello.")
    parser.add_argument("games", type=Path, help="file written by cnn_games.write_games")
    parser.add_argument("--out", type=Path, required=True, help="output folder")
    parser.add_argument("--checkpoint", type=Path, help="checkpoint to resume from; default: in the output folder")
    parser.add_argument(
        "--max-minutes", type=float, default=0, help="minutes after which this run stops; default: 0, no limit"
    )
    parser.add_argument(
        "--device",
        default="cuda" if torch.cuda.is_available() else "cpu",
        help="PyTorch device; default: cuda if available, else cpu",
    )
    parser.add_argument("--compile", action="store_true", help="compile the network with torch.compile")
    choices = {
        "network": ["residual", "report0"],
        "input_planes": list(PLANE_COUNTS),
        "target_moves": ["all", "winners"],
    }
    for field in fields(CnnConfig):
        kind = type(field.default)
        parser.add_argument(
            f"--{field.name.replace('_', '-')}", type=kind, default=field.default, choices=choices.get(field.name)
        )
    options = parser.parse_args(words)
    config = CnnConfig(**{field.name: getattr(options, field.name) for field in fields(CnnConfig)})
    torch.set_float32_matmul_precision("high")
    torch.backends.cudnn.benchmark = True
    checkpoint = options.checkpoint or options.out / "checkpoint.pt"
    try:
        games = GameArrays.load(options.games)
        for row in run(config, games, options.out, checkpoint, options.device, options.compile, options.max_minutes):
            print(format_row(row), flush=True)
    except ConfigError as error:
        print(f"awello: {error}", file=sys.stderr)
        return 2
    report = read_report(options.out)
    print(json.dumps({name: report[name] for name in report if name.startswith("test")}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
