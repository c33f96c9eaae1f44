"""Another program for Awalé as a player, spoken to as Auale speaks to Aalina: in the manner of UCI.

    uci@1s,command=aalina

Without a limit the program is given a share of its clock or, where there is none, a second.
"""

import math
import re
from dataclasses import dataclass

from awello.errors import SpecError
from awello.formats.transcript import format_transcript
from awello.limits import Clock
from awello.players.player import Forfeit, register
from awello.players.program import Program, Stranger
from awello.position import Position, format_position
from awello.record import Record
from awello.rules.game import Game

USUAL = 1.0  # seconds


@register("uci", "another program for Awalé that speaks UCI as Aalina does: uci@1s,command=aalina; @8 sets a depth")
@dataclass
class Uci(Stranger):
    """Plays a program's bestmove."""

    PROTOCOL = "UCI"

    def check(self, game: Game) -> None:
        if self.limit is not None and self.limit.depth is None:
            super().check(game)
        if game.family != "awale":
            raise SpecError(f"player uci plays Awalé alone, not {game}")

    def greet(self, program: Program) -> None:
        program.say("uci")
        self.knows_variants = False
        while (line := program.hear(lambda line: line.startswith(("option", "uciok")))) != "uciok":
            self.knows_variants |= bool(re.match(r"option\s+name\s+Variant\b", line, re.I))

    def get_ready(self, program: Program, game: Game) -> None:
        if self.knows_variants:
            program.say(f"setoption name Variant value {game}")
        elif game != Game.ABAPA:
            raise Forfeit("crash", f"{self.command!r} plays abapa alone: it has no option Variant for {game}")
        program.say("ucinewgame")
        program.say("isready")
        program.hear(lambda line: line == "readyok")

    def ask(self, program: Program, record: Record, clock: Clock) -> str:
        start = record.start
        where = "startpos" if start == Position.start(start.game) else f"fen {format_position(start)}"
        moves = f" moves {format_transcript(record)}" if record.moves else ""
        program.say(f"position {where}{moves}")
        if self.limit is not None and self.limit.depth is not None:
            program.say(f"go depth {self.limit.depth}")
        else:
            program.say(f"go movetime {max(1, int(1000 * self._aim(record.final, clock)))}")
        answer = program.hear(lambda line: line.startswith("bestmove"), self.seconds(clock))
        return answer.split()[1] if len(answer.split()) > 1 else ""

    def _aim(self, position: Position, clock: Clock) -> float:
        """The seconds that the program is told to think."""
        if self.limit is not None and self.limit.seconds is not None:
            return min(self.limit.seconds, clock.seconds)
        if math.isinf(clock.seconds):
            return USUAL
        from awello.engine.clock import allowance, moves_left

        return allowance(clock, moves_left(position)).aim
