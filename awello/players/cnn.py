"""Players that know Othello from tournament games by a convolutional network: at a glance, or with a little search."""

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from pydantic import Field

from awello.analysis import Analysis
from awello.errors import SpecError
from awello.evaluate.cnn import SYMMETRIES, cnn_for
from awello.limits import Clock, Limit
from awello.players.player import Choice, Player, register
from awello.position import Position
from awello.rules.game import Game
from awello.search.batched_alphabeta import BatchedAlphaBeta

MAX_DEPTH = 8


@register("cnn", "the move that a network, taught by tournament games, expects of a winner; no search")
@dataclass
class CnnPolicyPlayer(Player):
    """Plays the most likely move of a winner, whatever comes of it."""

    weights: Path | None = None
    """A file that `awello train cnn` made; unless said, the one that is shipped."""
    symmetries: Annotated[int, Field(ge=1, le=SYMMETRIES)] = SYMMETRIES
    """In how many ways the board is turned; the mean of what the network says of them counts."""

    def begin(self, game: Game, seed: int) -> None:
        self.network = cnn_for(game, self.weights)

    def choose(self, position: Position, clock: Clock) -> Choice:
        started = time.perf_counter()
        shares, value = self.network.look(position.own, position.opp, self.symmetries)
        candidates = tuple((move, float(shares[move])) for move in position.legal_moves())
        move = max(candidates, key=lambda candidate: candidate[1])[0]
        seconds = time.perf_counter() - started
        return Choice(move, Analysis(move, value, False, 0, self.symmetries, self.symmetries, seconds, candidates))


@register("cnn-value", "alpha-beta that ends at what the network says of who wins; @2")
@dataclass
class CnnValuePlayer(Player):
    """Searches to a depth by the network's values."""

    limit: Limit = field(default_factory=lambda: Limit(depth=2))
    weights: Path | None = None
    """As for `cnn`."""
    threads: Annotated[int, Field(ge=1, le=64)] = 1
    """On which the network computes."""

    def begin(self, game: Game, seed: int) -> None:
        if self.limit.depth is None or not 1 <= self.limit.depth <= MAX_DEPTH:
            raise SpecError(f"player {self.spec} needs a depth from 1 to {MAX_DEPTH}, such as {self.spec.name}@2")
        self.search = BatchedAlphaBeta(cnn_for(game, self.weights, self.threads))

    def choose(self, position: Position, clock: Clock) -> Choice:
        analysis = self.search.analyse(position, self.limit.depth or 1)
        return Choice(analysis.move, analysis)
