"""Training runs of the convolutional network: learning curves, final accuracy, and snapshots.

The folder of a run contains `curves.jsonl`, `report.json` and the snapshots in `snapshots/`.  The results of four runs
are shipped in `data/cnn-training-runs.json`, so that their curves can be drawn without the folders of the runs.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from awello.errors import ConfigError
from awello.folders import data_file

CURVE_COLUMNS = ("step", "epochs", "seconds", "policy_loss", "value_loss", "top1", "top3", "top1_all")
SETTING_NAMES = (
    "network",
    "channels",
    "blocks",
    "squeeze_excitation",
    "input_planes",
    "target_moves",
    "teacher",
    "teacher_weight",
    "batch_size",
)
INPUT_DESCRIPTIONS = {
    "mover": "four planes: own discs, opponent's discs, legal moves, all ones",
    "colours": "Black's and White's discs, side to move",
    "one": "own minus opponent's discs, in one plane",
}


@dataclass(frozen=True)
class TrainingRun:
    """The results of a training run."""

    name: str
    settings: Mapping[str, Any]
    """Settings that differ between runs; empty for an unfinished run."""
    parameters: int | None
    positions: int | None
    """Number of positions in the training set."""
    winners_top1: float | None
    """Top-1 accuracy on winners' moves of the test set."""
    all_top1: float | None
    """Top-1 accuracy on all moves of the test set."""
    curves: tuple[tuple[float, ...], ...]
    """One row per evaluation on the validation set, with the columns `CURVE_COLUMNS`."""

    def column(self, name: str) -> list[float]:
        """Return a column of the curves."""
        return [row[CURVE_COLUMNS.index(name)] for row in self.curves]

    def last(self, name: str) -> float:
        """Return the last value of a column."""
        return self.column(name)[-1]

    def describe(self) -> tuple[str | None, str | None, str | None]:
        """Describe the network, its inputs and its targets."""
        if not self.settings:
            return None, None, None
        network = "as in report 0: 8 convolutions, 2 dense layers"
        if self.settings["network"] != "report0":
            gates = " with squeeze-and-excitation" if self.settings["squeeze_excitation"] else ""
            network = f"{self.settings['blocks']} residual blocks of {self.settings['channels']} channels{gates}"
        played = "moves of winners" if self.settings["target_moves"] == "winners" else "all moves, result"
        teacher = f"a teacher ({100 * self.settings['teacher_weight']:.0f} %); " if self.settings["teacher"] else ""
        return network, INPUT_DESCRIPTIONS[self.settings["input_planes"]], teacher + played


def load_shipped_training_runs() -> list[TrainingRun]:
    """Load the results of the shipped training runs; the first run produced the shipped network."""
    content = json.loads(data_file("cnn-training-runs.json").read_text("utf-8"))
    return [TrainingRun(**each | {"curves": tuple(map(tuple, each["curves"]))}) for each in content]


def write_training_runs(training_runs: list[TrainingRun], file: Path) -> None:
    """Write the results of training runs to a file, one run per line."""
    lines = [json.dumps(asdict(each), separators=(",", ":")) for each in training_runs]
    file.write_text("[\n" + ",\n".join(lines) + "\n]\n", "utf-8")


def read_training_run(folder: Path, name: str) -> TrainingRun:
    """Read the results of a training run from its folder, rounded to four significant digits."""
    curves, file = _read_curves(folder), folder / "report.json"
    if not file.exists():  # an unfinished run has only curves
        return TrainingRun(name, {}, None, None, None, None, curves)
    try:
        report = json.loads(file.read_text("utf-8"))
        settings = {key: report["config"][key] for key in SETTING_NAMES}
        settings["teacher"] = Path(settings["teacher"]).name
        positions = report["positions"]["training"]
        winners, all_moves = (_round(report["test"][part]["top1"]) for part in ("winners", "all"))
        return TrainingRun(name, settings, report["parameters"], positions, winners, all_moves, curves)
    except (OSError, ValueError, KeyError, TypeError):
        raise ConfigError(f"{file} is damaged: remove it, or give the folder of another training run") from None


def find_snapshots(folder: Path) -> dict[int, Path]:
    """Return the snapshot files of a training run by step, in increasing order."""
    snapshots = {file.stem.partition("-")[2]: file for file in (folder / "snapshots").glob("network-*.onnx")}
    return {int(step): snapshots[step] for step in sorted(filter(str.isdecimal, snapshots), key=int)}


def _read_curves(folder: Path) -> tuple[tuple[float, ...], ...]:
    """Read the evaluations; if a resumed run has repeated steps, keep the later rows."""
    file, rows = folder / "curves.jsonl", list[tuple[float, ...]]()
    try:
        for line in file.read_text("utf-8").splitlines():
            row = json.loads(line)
            measured = tuple(_round(row[name]) for name in CURVE_COLUMNS)
            rows = [*(before for before in rows if before[0] < measured[0]), measured]
    except OSError:
        raise ConfigError(f"cannot read {file}: give the folder of a training run that contains {file.name}") from None
    except (ValueError, KeyError, TypeError):
        raise ConfigError(f"{file} is damaged: give the folder of another training run") from None
    if not rows:
        raise ConfigError(f"{file} is empty: wait for the first evaluation of the training run")
    return tuple(rows)


def _round(value: float) -> float:
    """Round to four significant digits; integers are unchanged."""
    return value if isinstance(value, int) else float(f"{value:.4g}")
