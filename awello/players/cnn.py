"""Players that use a convolutional network trained on Othello tournament games, alone or in an alpha-beta search."""

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from pydantic import Field

from awello.analysis import Analysis
from awello.errors import SpecError
from awello.evaluate.cnn import SYMMETRY_COUNT, load_cnn
from awello.limits import Clock, Limit
from awello.players.player import Choice, Player, register
from awello.position import Position
from awello.rules.game import Game
from awello.search.batched_alphabeta import BatchedAlphaBeta

MAX_CNN_DEPTH = 8


@register("cnn", "the most probable move of a convolutional network trained on tournament games; no search")
@dataclass
class CnnPolicyPlayer(Player):
    """Plays the move with the highest predicted probability."""

    weights: Path | None = None
    """Network file written by `awello train cnn`; default: the shipped network."""
    symmetries: Annotated[int, Field(ge=1, le=SYMMETRY_COUNT)] = SYMMETRY_COUNT
    """Number of board symmetries over which the network's outputs are averaged."""

    def begin(self, game: Game, seed: int) -> None:
        self.network = load_cnn(game, self.weights)

    def choose(self, position: Position, clock: Clock) -> Choice:
        started = time.perf_counter()
        shares, value = self.network.predict_position(position.own, position.opp, self.symmetries)
        candidates = tuple((move, float(shares[move])) for move in position.legal_moves())
        move = max(candidates, key=lambda candidate: candidate[1])[0]
        seconds = time.perf_counter() - started
        return Choice(move, Analysis(move, value, False, 0, self.symmetries, self.symmetries, seconds, candidates))


@register("cnn-value", "alpha-beta with the value of the convolutional network as evaluation; default @2")
@dataclass
class CnnValuePlayer(Player):
    """Searches to a fixed depth, with the network's value as evaluation."""

    limit: Limit = field(default_factory=lambda: Limit(depth=2))
    weights: Path | None = None
    """Network file written by `awello train cnn`; default: the shipped network."""
    threads: Annotated[int, Field(ge=1, le=64)] = 1
    """Number of threads that evaluate positions with the network."""

    def begin(self, game: Game, seed: int) -> None:
        if self.limit.depth is None or not 1 <= self.limit.depth <= MAX_CNN_DEPTH:
            raise SpecError(
                f"player {self.spec.typed} needs a depth from 1 to {MAX_CNN_DEPTH}, such as {self.spec.name}@2"
            )
        self.search = BatchedAlphaBeta(load_cnn(game, self.weights, self.threads))

    def choose(self, position: Position, clock: Clock) -> Choice:
        analysis = self.search.analyse(position, self.limit.depth or 1)
        return Choice(analysis.move, analysis)
