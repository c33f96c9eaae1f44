"""Trainings of the convolutional network: how it learnt, what it was worth in the end, and its networks on the way.

The folder of a training has `curves.jsonl`, `report.json` and the networks `epochs/network-STEP.onnx`.  What four
trainings left is in `data/cnn-curves.json`, so that their curves can be drawn everywhere.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from awello.errors import ConfigError
from awello.folders import data_file
from awello.learn.cnn_config import rename_former_settings

COLUMNS = ("step", "epochs", "seconds", "moves", "value", "top1", "top3", "top1_all")
SETTINGS = (
    "network",
    "width",
    "blocks",
    "squeeze_excitation",
    "view",
    "moves",
    "teacher",
    "teacher_weight",
    "batch_size",
)
VIEW_DESCRIPTIONS = {
    "mover": "own and opponent's discs, legal moves, ones",
    "colours": "Black's and White's discs, who moves",
    "one": "own less opponent's discs, in one plane",
}


@dataclass(frozen=True)
class TrainingCurves:
    """What is told of a training; a share of right moves is of the move that the network promises most."""

    name: str
    settings: Mapping[str, Any]
    """What differs between trainings; nothing if it is not over."""
    parameters: int | None
    positions: int | None
    """Those that taught."""
    winners_top1: float | None
    """The share of winners' moves in games held out."""
    all_top1: float | None
    """The same of all moves."""
    curves: tuple[tuple[float, ...], ...]
    """A row of COLUMNS for each measure; shares are of games set aside."""

    def column(self, name: str) -> list[float]:
        """One figure at all measures."""
        return [row[COLUMNS.index(name)] for row in self.curves]

    def last(self, name: str) -> float:
        """A figure at the end."""
        return self.column(name)[-1]

    def describe(self) -> tuple[str | None, str | None, str | None]:
        """The network, what it sees of a position and what it learns from, in words."""
        if not self.settings:
            return None, None, None
        network = "report 0's: 8 convolutions, 2 dense layers"
        if self.settings["network"] != "report":
            gates = " that look at the whole board" if self.settings["squeeze_excitation"] else ""
            network = f"{self.settings['blocks']} residual blocks of {self.settings['width']}{gates}"
        played = "moves of winners" if self.settings["moves"] == "winners" else "all moves, who wins"
        teacher = f"a teacher ({100 * self.settings['teacher_weight']:.0f} %); " if self.settings["teacher"] else ""
        return network, VIEW_DESCRIPTIONS[self.settings["view"]], teacher + played


def load_shipped_trainings() -> list[TrainingCurves]:
    """The trainings that Awello tells of: the one of its network first."""
    content = json.loads(data_file("cnn-curves.json").read_text("utf-8"))
    return [TrainingCurves(**each | {"curves": tuple(map(tuple, each["curves"]))}) for each in content]


def write_trainings(trainings: list[TrainingCurves], file: Path) -> None:
    """Write what is told of trainings, a line each."""
    lines = [json.dumps(asdict(each), separators=(",", ":")) for each in trainings]
    file.write_text("[\n" + ",\n".join(lines) + "\n]\n", "utf-8")


def read_training(folder: Path, name: str) -> TrainingCurves:
    """What the folder of a training tells, to four digits; figures in the end only if there are any yet."""
    curves, file = _read_curves(folder), folder / "report.json"
    if not file.exists():
        return TrainingCurves(name, {}, None, None, None, None, curves)
    try:
        report = json.loads(file.read_text("utf-8"))
        current = rename_former_settings(report["plan"])
        settings = {key: current[key] for key in SETTINGS}
        settings["teacher"] = Path(settings["teacher"]).name
        positions = report["positions"]
        taught = positions["training"] if "training" in positions else positions["teaching"]  # older reports
        winners, all_moves = (_round(report["test"][part]["top1"]) for part in ("winners", "all"))
        return TrainingCurves(name, settings, report["parameters"], taught, winners, all_moves, curves)
    except (OSError, ValueError, KeyError, TypeError):
        raise ConfigError(f"{file} is damaged: remove it, or give the folder of another training") from None


def find_snapshots(folder: Path) -> dict[int, Path]:
    """The networks that a training kept on the way, by step."""
    snapshots = {file.stem.partition("-")[2]: file for file in (folder / "epochs").glob("network-*.onnx")}
    return {int(step): snapshots[step] for step in sorted(filter(str.isdecimal, snapshots), key=int)}


def _read_curves(folder: Path) -> tuple[tuple[float, ...], ...]:
    """The measures of a training; one that went on from an earlier step has them twice, and the later ones count."""
    file, rows = folder / "curves.jsonl", list[tuple[float, ...]]()
    try:
        for line in file.read_text("utf-8").splitlines():
            row = json.loads(line)
            measured = tuple(_round(row[name]) for name in COLUMNS)
            rows = [*(before for before in rows if before[0] < measured[0]), measured]
    except OSError:
        raise ConfigError(f"{folder} is no folder of a training: it has no curves.jsonl") from None
    except (ValueError, KeyError, TypeError):
        raise ConfigError(f"{file} is damaged: give the folder of another training") from None
    if not rows:
        raise ConfigError(f"{file} is empty: wait for the first measure of the training")
    return tuple(rows)


def _round(value: float) -> float:
    """A number to four digits; whole ones stay."""
    return value if isinstance(value, int) else float(f"{value:.4g}")
