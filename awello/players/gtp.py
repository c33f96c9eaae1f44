"""Another program as a player, spoken to in version 2 of the Go Text Protocol as Othello programs know it.

gtp,command=gtp-rhino -l 5
"""

import math
from contextlib import suppress
from dataclasses import dataclass

from awello.errors import SpecError
from awello.limits import Clock
from awello.players.player import Forfeit, register
from awello.players.program import MOST_LINES, Program, Stranger
from awello.position import Position
from awello.record import Record
from awello.rules.game import PASS, Game

COLOURS = "black", "white"


class Refused(Forfeit):
    """The program knows what was asked and will not do it."""


@register("gtp", "another program for Othello that speaks GTP: gtp@5s,command=gtp-rhino -l 5")
@dataclass
class Gtp(Stranger):
    """Plays what a program answers to genmove."""

    PROTOCOL = "GTP"

    def check(self, game: Game) -> None:
        super().check(game)
        if game.family != "othello":
            raise SpecError(f"player gtp plays Othello alone, not {game}")

    def greet(self, program: Program) -> None:
        with suppress(Refused):
            request(program, "set_game Othello")  # many play nothing else, and some do not know the word

    def get_ready(self, program: Program, game: Game) -> None:
        request(program, f"boardsize {game.size}")
        self._clear(program)
        if self.limit is not None:
            with suppress(Refused):
                request(program, f"time_settings 0 {whole(self.limit.seconds or 0)} 1")

    def ask(self, program: Program, record: Record, clock: Clock) -> str:
        if record.start != Position.start(record.start.game):
            raise SpecError("player gtp plays games from the start: its protocol knows no other position")
        self._catch_up(program, record)
        colour, seconds = COLOURS[record.final.side], self.seconds(clock)
        if self.limit is not None or math.isfinite(clock.seconds):
            stones = int(self.limit is not None and seconds < clock.seconds)
            with suppress(Refused):
                request(program, f"time_left {colour} {whole(seconds)} {stones}")
        answer = request(program, f"genmove {colour}", seconds)
        with suppress(ValueError):
            self.told.append(record.final.parse_move(answer))
        return answer

    def _clear(self, program: Program) -> None:
        request(program, "clear_board")
        self.told = list[int]()

    def _catch_up(self, program: Program, record: Record) -> None:
        """Tell the program the moves that it has not seen; all of them, if some were taken back."""
        if tuple(self.told) != record.moves[: len(self.told)]:
            self._clear(program)
        known = len(self.told)
        positions = list(record.positions())
        for position, move in zip(positions[known:], record.moves[known:], strict=False):
            try:
                request(program, f"play {COLOURS[position.side]} {position.format_move(move)}")
            except Refused:
                if move != PASS:  # some programs pass by themselves, and do not know the word
                    raise
            self.told.append(move)


def whole(seconds: float) -> int:
    """Seconds as GTP writes them: whole ones, and 0 would mean that there is no limit."""
    return max(1, int(seconds))


def request(program: Program, command: str, seconds: float | None = None) -> str:
    """The answer to a command, in a line; `Refused` if it is an error."""
    program.say(command)
    answer = list[str]()

    def is_last(line: str) -> bool:
        if answer or line.startswith(("=", "?")):  # what comes before is no part of the answer
            answer.append(line)
        if len(answer) > MOST_LINES:
            raise Forfeit("crash", f"the answer of {program.command!r} to {command!r} does not end")
        return bool(answer and not line)

    program.hear(is_last, seconds)
    text = " ".join(answer)[1:].strip()
    if answer[0].startswith("?"):
        raise Refused("crash", f"{program.command!r} refuses {command!r}: {text}")
    return text
