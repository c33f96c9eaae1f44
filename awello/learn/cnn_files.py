"""Network files: PyTorch weights, and ONNX files for players."""

import copy
import importlib.util
import logging
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor, nn

from awello.errors import ConfigError
from awello.folders import draft_path
from awello.learn.cnn_config import CnnConfig
from awello.learn.cnn_models import make_network
from awello.learn.cnn_positions import PLANE_COUNTS, CnnPositions, encode_planes

SNAPSHOT_SHARES = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0)  # shares of the training run; a snapshot is exported after each
CALIBRATION_BOARDS = 512  # for the quantisation of snapshots


def save_network(file: Path, config: CnnConfig, network: nn.Module) -> None:
    """Save a network in half precision, together with its settings."""
    weights = {name: part.half() if part.is_floating_point() else part for name, part in network.state_dict().items()}
    torch.save({"config": asdict(config), "weights": weights}, file)


def load_state(file: Path, device: str = "cpu") -> dict[str, Any]:
    """Load a dictionary saved by PyTorch; return an empty one if the file is damaged or has another format."""
    try:
        content = torch.load(file, map_location=device, weights_only=True)
    except Exception:  # PyTorch has no exception class for invalid files
        return {}
    return content if isinstance(content, dict) else {}


def load_network(file: Path) -> tuple[CnnConfig, nn.Module]:
    """Load a network and its settings from a file; raise `ConfigError` if the file contains none."""
    try:
        content = load_state(file)
        config = CnnConfig(**content["config"])
        network = make_network(config).eval()
        network.load_state_dict(content["weights"])
    except (KeyError, TypeError, RuntimeError):
        raise ConfigError(
            f"cannot read a network from {str(file)!r}: give a weights.pt written by 'awello train cnn'"
        ) from None
    return config, network


class ExportedNetwork(nn.Module):  # type: ignore[misc]
    """A network with only the outputs that players need: the logits of winners' moves and, if predicted, the value."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, board: Tensor) -> tuple[Tensor, ...]:
        logits, value = self.network(board)
        return (logits[:, 0],) if value is None else (logits[:, 0], value)


def export_onnx(config: CnnConfig, network: nn.Module, boards: Tensor, file: Path) -> None:
    """Export a network to ONNX: its input is a batch of boards; its outputs are `moves` and, if predicted, `value`.

    Weights and activations are quantised to eight bits, which makes the network about three times as fast on CPUs
    (Jacob et al., 2018); the range of each layer is calibrated on `boards`.
    """
    from onnxruntime.quantization import QuantType, quantize_static

    board = torch.zeros(2, PLANE_COUNTS[config.input_planes], 8, 8)
    outputs = ["moves", "value"] if config.network == "residual" else ["moves"]
    axes = {name: {0: "positions"} for name in ("board", *outputs)}
    exported = ExportedNetwork(copy.deepcopy(network).cpu().float().to(memory_format=torch.contiguous_format)).eval()
    names = {"input_names": ["board"], "output_names": outputs, "dynamic_axes": axes}
    parts = ({"board": part.numpy()} for part in boards.cpu().contiguous().split(256))
    with TemporaryDirectory() as folder, ExitStack() as stack:
        exact = Path(folder) / "exact.onnx"
        torch.onnx.export(exported, (board,), str(exact), opset_version=17, dynamo=False, **names)
        kinds = {"activation_type": QuantType.QUInt8, "weight_type": QuantType.QInt8, "per_channel": True}
        stack.callback(logging.disable, logging.root.manager.disable)
        logging.disable(logging.WARNING)  # suppress the advice to preprocess the network, which has no benefit here
        quantize_static(exact, file, SimpleNamespace(get_next=lambda: next(parts, None)), **kinds)


def can_export() -> bool:
    """Return whether the ONNX libraries are installed."""
    return all(importlib.util.find_spec(name) for name in ("onnx", "onnxruntime"))


def save_snapshot(
    folder: Path, config: CnnConfig, network: nn.Module, positions: CnnPositions, step: int, progress: float
) -> None:
    """Export a snapshot of the network, `network-STEP.onnx`, if training has reached the next of `SNAPSHOT_SHARES`.

    Snapshots are used by the experiment `awello lab learning`, so only networks that players support are exported.
    """
    if not (config.network == "residual" and config.input_planes == "mover" and can_export()):
        return
    snapshots = {file: int(file.stem.rpartition("-")[2]) for file in folder.glob("network-*.onnx")}
    for file in [file for file in snapshots if snapshots[file] >= step]:
        file.unlink()  # from an earlier training run
        del snapshots[file]
    if len(snapshots) >= sum(progress >= share for share in SNAPSHOT_SHARES):
        return
    folder.mkdir(exist_ok=True)
    sample = positions.take(slice(None, None, 1 + len(positions) // CALIBRATION_BOARDS))
    with draft_path(folder / f"network-{step}.onnx") as draft:
        export_onnx(config, network, encode_planes(config.input_planes, sample, torch.zeros_like(sample.own)), draft)
