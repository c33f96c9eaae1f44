"""Bots that misbehave in various ways; tests load this file into worker processes with AWELLO_PLAYERS."""

import ctypes
import math
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from awello import Choice, Game, Player, Position, Resignation, WeightsPlayer, register
from awello.limits import Clock


@register("first", "the first legal move, or a chosen failure")
@dataclass
class FirstMovePlayer(Player):
    """A bot that plays the first legal move, or fails in a chosen way."""

    failure: str = "nothing"
    where: str = "choose"

    def begin(self, game: Game, seed: int) -> None:
        self.kept: list[Any] = []
        self.fail_at("begin")

    def choose(self, position: Position, clock: Clock) -> Choice:
        self.fail_at("choose")
        if self.failure == "illegal":
            return Choice(77)
        if self.failure == "unwrapped":
            return 3  # type: ignore[return-value]
        return Choice(position.legal_moves()[0])

    def end(self) -> None:
        self.fail_at("end")

    def fail_at(self, where: str) -> None:
        """Cause the chosen failure if the calling method, `where`, is the chosen one."""
        if where != self.where:
            return
        match self.failure:
            case "exception":
                raise ZeroDivisionError("nothing to share")
            case "leaves":
                sys.exit()
            case "exits":
                os._exit(7)
            case "segfault":
                ctypes.string_at(0)
            case "endless":
                while True:
                    pass
            case "late":
                time.sleep(0.05)  # longer than the time limits in the tests
            case "big":
                self.kept = [np.ones(64 << 20, np.uint8)[::2]]
            case "hoards":
                self.kept.append(bytearray(5 << 30))
            case "resigns":
                raise Resignation
            case "prints":
                print("I print what I think")


@register("fixed-weights", "answers with given weights")
@dataclass
class FixedWeightsPlayer(WeightsPlayer):
    """A bot that returns weights chosen by a test."""

    answer: str = "rising"

    def weigh(self, position: Position, clock: Clock) -> Sequence[float]:
        return {
            "rising": [1, 2, 3, 4, 5, 6],
            "equal": [0] * 6,
            "squares": list(range(len(position.all_moves()))),
            "short": [1, 2, 3],
            "nan": [1, math.nan, 3, 4, 5, 6],
            "words": ["many", "few"],
            "none": None,
        }[self.answer]  # type: ignore[return-value]
