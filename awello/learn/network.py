"""Train a network on tournament games: which move the winner plays in a position, and who wins (report 0, mended).

Report 0's network sees the board in one plane, learns the winners' moves and was never trained to its end.  Ours is a
tower of residual blocks.  It sees the board as the mover does, and the legal moves.  It learns from all moves, but
winners and losers have a head each, so that bad moves form the tower and not the answer; a third head says who wins.

Every number of a training is in its `Plan`.  Games up to 2015 teach, but for a few that tell when to stop; later ones
are only for the figures of the report.  Boards are turned by chance, but for those that a symmetry leaves as they are:
of their moves, which are equally good, people choose one by habit (the first is always f5), and nobody could guess it
on a turned board.  The weights that count are a moving average, the best by the games set aside.  A training that was
interrupted goes on from its checkpoint, as if nothing had been.

This file needs PyTorch and NumPy and nothing else of Awello's, so that it runs wherever there is a fast machine:

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
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.optim.swa_utils import get_ema_multi_avg_fn

from awello.errors import ConfigError

NONE = 255  # no square, or no score, in the file of games
UNKNOWN = -128  # the margin of a game that was not played to its end
HELD_OUT = 2016  # the first year of the games that only measure
ASIDE = 0.02  # share of the earlier games that tell when to stop
BLACK, WHITE = 0x0000000810000000, 0x0000001008000000
ALL, NOT_A, NOT_H = 0xFFFFFFFFFFFFFFFF, 0xFEFEFEFEFEFEFEFE, 0x7F7F7F7F7F7F7F7F
DIRECTIONS = (
    *((1, NOT_A), (7, NOT_H), (8, ALL), (9, NOT_A)),
    *((-1, NOT_H), (-7, NOT_A), (-8, ALL), (-9, NOT_H)),
)
EVEN = 12  # plies in which boards are asked whether a symmetry leaves them as they are
ILLEGAL = -1e4  # in the place of a promise; finite, because infinities times nothing are no numbers
PLANES = {"mover": 4, "colours": 3, "one": 1}
CLIP = 1.0  # the longest gradient
WARM = 300  # steps in which the rate rises
LOOK = 50  # steps between two looks at the loss, for which the device is waited for
MEASURED = 16_384  # positions at a time

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Plan:
    """What decides the weights; the same plan goes on from a checkpoint."""

    network: str = "residual"
    """Or `report`, the network of report 0."""
    width: int = 128
    blocks: int = 15
    view: str = "mover"
    """Own, opponent's, legal and ones; `colours`: Black's, White's and who moves; `one`: own less opponent's."""
    moves: str = "all"
    """Or `winners`, who alone teach then, and nothing about who wins."""
    losers: float = 0.5
    """What a loser's move weighs beside a winner's."""
    value: float = 0.3
    """What the error of the value weighs beside the loss of the moves."""
    smoothing: float = 0.02
    """The share of a move that is given to all legal ones."""
    batch: int = 4096
    rate: float = 2e-3
    decay: float = 0.03
    """Of the weights, by AdamW."""
    average: float = 0.999
    """Of the moving average, what is kept at each step."""
    minutes: float = 10.0
    """How long to train; the rate falls to nothing by then."""
    steps: int = 0
    """If any, the length of the training instead of the minutes."""
    every: int = 1000
    """Steps between two measures on the games set aside."""
    patience: int = 20
    """Measures without a better one that end a training early."""
    seed: int = 1


# ---- games and positions --------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Games:
    """The arrays of a file of games, as `network_data` writes it."""

    moves: npt.NDArray[np.uint8]
    black: npt.NDArray[np.uint8]
    year: npt.NDArray[np.uint16]
    same: npt.NDArray[np.uint32]

    @staticmethod
    def read(file: Path) -> "Games":
        """The games of a file."""
        try:
            with np.load(file) as content:
                return Games(*(content[field.name] for field in fields(Games)))
        except (OSError, KeyError, ValueError):
            raise ConfigError(f"cannot read games from {str(file)!r}: network_data.write_games makes a file") from None


def split(games: Games, seed: int) -> tuple[Bools, Bools, Bools]:
    """Which games teach, which tell when to stop and which are held out; those with the same moves stay together."""
    late = games.year >= HELD_OUT
    aside = np.random.default_rng(seed).random(int(games.same.max()) + 1)[games.same] < ASIDE
    return ~late & ~aside, ~late & aside, late


@dataclass(frozen=True)
class Positions:
    """Positions in which somebody moved, a row each: boards as words from the mover's view, the square played, ..."""

    own: Tensor
    opp: Tensor
    legal: Tensor
    square: Tensor
    black: Tensor
    """Whether Black moves."""
    margin: Tensor
    """The final score for the mover, `UNKNOWN` if there is none."""
    game: Tensor
    empties: Tensor
    even: Tensor
    """Whether some symmetry leaves the board as it is."""

    def __len__(self) -> int:
        return len(self.own)

    def take(self, chosen: Tensor | slice) -> "Positions":
        """Some of them."""
        return Positions(*(getattr(self, field.name)[chosen] for field in fields(self)))

    @property
    def won(self) -> Tensor:
        """Whether the mover won; a draw is won by both."""
        return self.margin >= 0


def _step(words: Tensor, amount: int, kept: int) -> Tensor:
    """Move all discs by so many squares, backwards if it is negative; those that leave the board are gone."""
    if amount > 0:
        return words << amount & _signed(kept)
    return words >> -amount & _signed(kept & ALL >> -amount)


def _signed(word: int) -> int:
    """A word as the 64-bit number that PyTorch has for it."""
    return word - (1 << 64) if word >= 1 << 63 else word


def _line(start: Tensor, opp: Tensor, direction: tuple[int, int]) -> Tensor:
    """The discs of the opponent in one line from some squares on."""
    line = _step(start, *direction) & opp
    for _ in range(5):
        line = line | _step(line, *direction) & opp
    return line


def find_moves(own: Tensor, opp: Tensor) -> Tensor:
    """The legal moves of many positions at once."""
    moves = torch.zeros_like(own)
    for direction in DIRECTIONS:
        moves = moves | _step(_line(own, opp, direction), *direction)
    return moves & ~(own | opp)


def find_flips(own: Tensor, opp: Tensor, placed: Tensor) -> Tensor:
    """The discs that a disc placed in each of many positions turns."""
    flips = torch.zeros_like(own)
    for direction in DIRECTIONS:
        line = _line(placed, opp, direction)
        closed = _step(line, *direction) & own != 0
        flips = flips | torch.where(closed, line, 0)
    return flips


def replay(games: Games, device: str) -> Positions:
    """All positions of all games, played move by move, all games at once; passes are put back."""
    moves, discs = torch.from_numpy(games.moves).to(device), torch.from_numpy(games.black).to(device)
    final = torch.where(discs == NONE, UNKNOWN, 2 * discs.int() - 64)
    own, opp = torch.full_like(final, BLACK, dtype=torch.int64), torch.full_like(final, WHITE, dtype=torch.int64)
    black, wrong = torch.ones_like(discs, dtype=torch.bool), torch.zeros_like(discs, dtype=torch.bool)
    number, plies = torch.arange(len(moves), device=device, dtype=torch.int32), []
    for ply in range(moves.shape[1]):
        square = moves[:, ply].long()
        played = square != NONE
        legal = find_moves(own, opp)
        passed = played & (legal == 0)
        own, opp, black = torch.where(passed, opp, own), torch.where(passed, own, opp), black ^ passed
        legal = torch.where(passed, find_moves(own, opp), legal)
        wrong |= played & (legal >> square.clamp(max=63) & 1 == 0)
        margin = torch.where(black | (final == UNKNOWN), final, -final)
        empties, even = torch.full_like(discs, 60 - ply), is_even(own, opp) if ply < EVEN else torch.zeros_like(played)
        row = own, opp, legal, square.to(torch.uint8), black, margin.to(torch.int8), number, empties, even
        plies.append([column[played] for column in row])
        placed = torch.where(played, torch.ones_like(own) << square.clamp(max=63), 0)
        flips = find_flips(own, opp, placed)
        after = opp & ~flips, own | flips | placed
        own, opp = torch.where(played, after[0], own), torch.where(played, after[1], opp)
        black = black ^ played
    if wrong.any():
        raise ConfigError(f"game {int(wrong.nonzero()[0])} of the file has an illegal move: make the file again")
    return Positions(*(torch.cat(column) for column in zip(*plies, strict=True)))


# ---- what a network sees --------------------------------------------------------------------------------------------
@cache
def turned(device: torch.device) -> tuple[Tensor, Tensor]:
    """For each symmetry the square whose disc comes to each square, and the square to which each square's disc goes."""
    board = torch.arange(64).view(8, 8)
    turns = [torch.rot90(board, turn) for turn in range(4)]
    squares = torch.stack([turn.flatten() for turn in [*turns, *(turn.flip(1) for turn in turns)]])
    return squares.to(device), squares.argsort(1).to(device)


def unpack(words: Tensor, turns: Tensor) -> Tensor:
    """Boards as rows of 64 bits, each turned by a symmetry."""
    return words[:, None] >> turned(words.device)[0][turns] & 1


def is_even(own: Tensor, opp: Tensor) -> Tensor:
    """Which positions some symmetry leaves as they are."""
    even, board = torch.zeros_like(own, dtype=torch.bool), torch.zeros_like(own)
    for turn in range(1, 8):
        same = [unpack(words, board + turn) == unpack(words, board) for words in (own, opp)]
        even |= (same[0] & same[1]).all(1)
    return even


def planes(view: str, some: Positions, turns: Tensor) -> Tensor:
    """The inputs of a network."""
    own, opp = unpack(some.own, turns), unpack(some.opp, turns)
    if view == "mover":
        rows = [own, opp, unpack(some.legal, turns), torch.ones_like(own)]
    elif view == "colours":
        black = some.black[:, None]
        rows = [torch.where(black, own, opp), torch.where(black, opp, own), black.long().expand_as(own)]
    else:
        rows = [own - opp]
    board = torch.stack(rows, 1).view(len(own), -1, 8, 8).float()
    return board.contiguous(memory_format=torch.channels_last)


# ---- networks -------------------------------------------------------------------------------------------------------
# Each gives what it promises of the 64 squares, by one head or by two (winners and losers), and the value or None.
# What is promised of illegal moves means nothing.
class Report(nn.Module):  # type: ignore[misc]
    """The network of report 0, table 2.1: eight convolutions and two dense layers."""

    def __init__(self, inputs: int) -> None:
        super().__init__()
        layers, before = [], inputs
        for width in (64, 64, 128, 128, 256, 256, 256, 256):
            layers += [nn.Conv2d(before, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU()]
            before = width
        dense = [nn.Flatten(), nn.Linear(64 * before, 128), nn.ReLU(), nn.Linear(128, 64)]
        self.layers = nn.Sequential(*layers, *dense)

    def forward(self, board: Tensor) -> tuple[Tensor, Tensor | None]:
        return self.layers(board)[:, None], None


class Block(nn.Module):  # type: ignore[misc]
    """Two convolutions beside a short cut; a look at the whole board weighs what they add (squeeze and excitation)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first, self.second = convolution(width, width, 3), convolution(width, width, 3)
        self.squeeze, self.excite = nn.Linear(width, width // 4), nn.Linear(width // 4, width)

    def forward(self, board: Tensor) -> Tensor:
        added = self.second(functional.relu(self.first(board)))
        weights = torch.sigmoid(self.excite(functional.relu(self.squeeze(added.mean((2, 3))))))
        return functional.relu(board + added * weights[:, :, None, None])


class Residual(nn.Module):  # type: ignore[misc]
    """A tower of residual blocks with three heads: the moves of winners and of losers, and who wins."""

    def __init__(self, inputs: int, width: int, blocks: int) -> None:
        super().__init__()
        self.tower = nn.Sequential(convolution(inputs, width, 3), nn.ReLU(), *[Block(width) for _ in range(blocks)])
        self.moves = nn.Sequential(convolution(width, 64, 3), nn.ReLU(), nn.Conv2d(64, 2, 1), nn.Flatten(2))
        judge = [nn.Flatten(), nn.Linear(512, 64), nn.ReLU(), nn.Linear(64, 1), nn.Tanh(), nn.Flatten(0)]
        self.value = nn.Sequential(convolution(width, 8, 1), nn.ReLU(), *judge)

    def forward(self, board: Tensor) -> tuple[Tensor, Tensor | None]:
        seen = self.tower(board)
        return self.moves(seen), self.value(seen)


def convolution(inputs: int, outputs: int, size: int) -> nn.Sequential:
    """A convolution that keeps the board's size, normalised."""
    return nn.Sequential(nn.Conv2d(inputs, outputs, size, padding=size // 2, bias=False), nn.BatchNorm2d(outputs))


def make_network(plan: Plan) -> nn.Module:
    """A network that knows nothing."""
    if plan.network == "report":
        return Report(PLANES[plan.view])
    return Residual(PLANES[plan.view], plan.width, plan.blocks)


def count_parameters(network: nn.Module) -> int:
    """The number of the weights that are learnt."""
    return sum(weights.numel() for weights in network.parameters())


# ---- learning -------------------------------------------------------------------------------------------------------
def losses(plan: Plan, network: nn.Module, some: Positions, turns: Tensor) -> tuple[Tensor, Tensor]:
    """How far a network is from what positions teach: the cross-entropy of the moves, the square error of the value."""
    won, device, turns = some.won, some.own.device, turns.masked_fill(some.even, 0)
    with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
        promises, value = network(planes(plan.view, some, turns))
    allowed, squares = unpack(some.legal, turns) == 1, turned(device)[1][turns, some.square.long()]
    heads = torch.where(won, 0, promises.shape[1] - 1)
    promises = promises.float()[torch.arange(len(some), device=device), heads]
    likely = promises.masked_fill(~allowed, ILLEGAL).log_softmax(1)
    played = likely.gather(1, squares[:, None])[:, 0]
    even = likely.masked_fill(~allowed, 0).sum(1) / allowed.sum(1)
    weights = torch.where(won, 1.0, plan.losers)
    moves = -(weights * torch.lerp(played, even, plan.smoothing)).sum() / weights.sum()
    if value is None:
        return moves, torch.zeros_like(moves)
    known = some.margin != UNKNOWN
    misses = torch.where(known, value.float() - some.margin.sign(), 0)
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
        moves, value = losses(self.plan, self.fast, self.train.take(chosen), turns)
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


# ---- figures --------------------------------------------------------------------------------------------------------
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
        for place in range(0, len(positions), MEASURED):
            some = positions.take(slice(place, place + MEASURED))
            shares, value = promise(plan, network, some, symmetries)
            best = shares.topk(3, 1).indices == some.square[:, None]
            result = some.margin.sign() * (some.margin != UNKNOWN)
            misses = torch.where(some.margin == UNKNOWN, 0, value - result)
            parts.append((best[:, 0], best.any(1), misses, value * result > 0))
    return Judged(*(torch.cat(column) for column in zip(*parts, strict=True)))


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


# ---- files ----------------------------------------------------------------------------------------------------------
def save_network(file: Path, plan: Plan, network: nn.Module) -> None:
    """Write a network down in half precision, with its plan."""
    weights = {name: part.half() if part.is_floating_point() else part for name, part in network.state_dict().items()}
    torch.save({"plan": asdict(plan), "weights": weights}, file)


def load_network(file: Path) -> tuple[Plan, nn.Module]:
    """The network of a file, and its plan."""
    content = torch.load(file, map_location="cpu", weights_only=True)
    plan = Plan(**content["plan"])
    network = make_network(plan).eval()
    network.load_state_dict(content["weights"])
    return plan, network


class Shipped(nn.Module):  # type: ignore[misc]
    """What players need of a network: what winners play, and who wins."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, board: Tensor) -> tuple[Tensor, ...]:
        promises, value = self.network(board)
        return (promises[:, 0],) if value is None else (promises[:, 0], value)


def export(plan: Plan, network: nn.Module, file: Path) -> None:
    """Write a network as ONNX: any number of boards in, `moves` and `value` out; weights are kept in half precision.

    Weights become single precision again when the file is loaded, because processors have nothing faster.
    """
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    board = torch.zeros(2, PLANES[plan.view], 8, 8)
    outputs = ["moves", "value"] if plan.network == "residual" else ["moves"]
    axes = {name: {0: "positions"} for name in ("board", *outputs)}
    shipped = Shipped(copy.deepcopy(network).cpu().float().to(memory_format=torch.contiguous_format)).eval()
    names = {"input_names": ["board"], "output_names": outputs, "dynamic_axes": axes}
    torch.onnx.export(shipped, (board,), str(file), opset_version=17, dynamo=False, **names)
    model = onnx.load(str(file))
    for weights in list(model.graph.initializer):
        if weights.data_type == TensorProto.FLOAT:
            half = numpy_helper.from_array(numpy_helper.to_array(weights).astype(np.float16), weights.name + ".half")
            cast = helper.make_node("Cast", [half.name], [weights.name], to=TensorProto.FLOAT)
            model.graph.initializer.remove(weights)
            model.graph.initializer.append(half)
            model.graph.node.insert(0, cast)
    onnx.checker.check_model(model)
    onnx.save(model, str(file))


# ---- the training ---------------------------------------------------------------------------------------------------
def run(
    plan: Plan, games: Games, out: Path, checkpoint: Path, device: str = "cpu", compiled: bool = False, stop: float = 0
) -> dict[str, Any]:
    """Train until the plan is done, or for so many minutes if `stop` says so, and write what came of it to a folder.

    There `curves.jsonl` and `weights.pt` follow it; `report.json` and, where ONNX is installed, `network.onnx` end it.
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
        if importlib.util.find_spec("onnx"):
            export(plan, training.best, out / "network.onnx")
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
