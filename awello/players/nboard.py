"""Another program as a player, spoken to in the protocol of NBoard, version 2, which most Othello programs know.

    nboard@5s,command=ntest,depth=14

The protocol has no clock: the program is told a depth, and a limit only decides when it is too late.
"""

import re
from dataclasses import dataclass, replace
from typing import Annotated

from pydantic import Field

from awello.errors import SpecError
from awello.formats.ggf import format_ggf
from awello.limits import Clock
from awello.players.player import register
from awello.players.program import Program, Stranger
from awello.record import Record
from awello.rules.game import Game

ABOUT = {"Site": "Awello", "Black": "Black", "White": "White", "RE": "?", "TI": "15:00"}  # what programs look for


@register("nboard", "another program for Othello that speaks NBoard's protocol: nboard@5s,command=ntest,depth=14")
@dataclass
class NBoard(Stranger):
    """Plays what a program answers to go."""

    PROTOCOL = "NBoard"

    depth: Annotated[int, Field(ge=1, le=60)] = 12
    """The depth that the program is told."""

    def check(self, game: Game) -> None:
        super().check(game)
        if game != Game.OTHELLO:
            raise SpecError(f"player nboard plays Othello on 8x8 alone, not {game}")

    def greet(self, program: Program) -> None:
        program.say("nboard 2")
        program.say(f"set depth {self.depth}")

    def get_ready(self, program: Program, game: Game) -> None:
        program.say("ping 1")
        program.hear(lambda line: re.fullmatch(r"pong\s+1", line))

    def ask(self, program: Program, record: Record, clock: Clock) -> str:
        program.say(f"set game {format_ggf(replace(record, tags=ABOUT))}")
        program.say("go")
        answer = program.hear(lambda line: line.startswith("==="), self.seconds(clock))
        return re.split(r"[\s/]", answer.removeprefix("===").strip())[0]
