"""The protocol of NBoard, version 2: Othello, with evaluations as they grow better.

The depth that the board sets is a level.  Values are in discs, from the side to move.
"""

import re
import time

from awello.analysis import Analysis
from awello.engine.levels import HIGHEST, USUAL
from awello.errors import NotationError
from awello.formats.ggf import parse_ggf
from awello.limits import Clock, Limit
from awello.position import Position
from awello.protocols.talk import NAME, Settings, Talk, format_line, parse_whole
from awello.rules.game import PASS, Game


class NBoard(Talk):
    """The engine as NBoard talks to it."""

    GAME = Game.OTHELLO
    URGENT = "ping"

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.level = USUAL if settings.level is None else settings.level
        self.positions = [Position.start()]

    def complain(self, line: str, what: str) -> None:
        self.say(f"status {what}")

    def answer(self, line: str) -> bool:
        command, _, rest = line.partition(" ")
        match command.lower():
            case "quit":
                return False
            case "nboard":
                self._say_name()
            case "set":
                self._set(*rest.strip().partition(" ")[::2])
            case "move":
                self._move(rest)
            case "hint":
                self._hint(parse_whole(rest or "1", "the number of moves to look at"))
            case "go":
                self._go()
            case "analyze" | "analyse":
                self._analyse()
            case "ping":
                self.say(f"pong {rest.strip()}")
            case "learn":
                self.say("learned")
            case _ if re.fullmatch(r"([a-h][1-8]|pa)(/\S*)?", line, re.I):
                self._move(line)  # as version 1 writes it
        return True

    def _say_name(self) -> None:
        self.say(f"set myname {NAME}{self.level}")

    def _set(self, what: str, value: str) -> None:
        match what.lower():
            case "depth":
                self.level = min(max(0, parse_whole(value, f"a depth from 0 to {HIGHEST}")), HIGHEST)
                self._say_name()
            case "game":
                self.positions = list(parse_ggf(value).positions())
                self.change_to(self.positions[0].game)

    def _move(self, text: str) -> None:
        position, name = self.positions[-1], re.split(r"[\s/]", text.strip())[0]
        if position.legal_moves() == (PASS,) and not name.lower().startswith("pa"):
            self.positions.append(position := position.after(PASS))
        self.positions.append(position.play(position.parse_move(name)))

    # ---- thoughts ----------------------------------------------------------------------------------------------------
    def _hint(self, moves: int) -> None:
        best = max(1, min(moves, len(self._here().legal_moves())))
        self.say("status Analysing")
        self._think(best)
        self.say("status")

    def _go(self) -> None:
        position, begun = self._here(), time.perf_counter()
        self.say("status Thinking")
        found = self._think()
        seconds = time.perf_counter() - begun
        self.say(f"=== {format_name(position, found.move)}/{found.value:.2f}/{seconds:.2f}")
        self.say("status")

    def _here(self) -> Position:
        if self.positions[-1].over:
            raise NotationError("the game is over")
        return self.positions[-1]

    def _think(self, best: int = 1) -> Analysis:
        """Think about the last position, and show what is found."""
        position = self.positions[-1]

        def show(analysis: Analysis) -> None:
            for move, value in analysis.candidates:
                line = analysis.line if move == analysis.move else (move,)
                moves = format_line(position, line, format_name)
                self.say(f"search {moves} {value:+.2f} 0 {_depth(analysis)}")

        found = self.think(self.engine.think(position, Clock(), Limit(level=self.level), best=best), show)
        self.say(f"nodestats {found.nodes} {found.seconds:.2f}")
        return found

    def _analyse(self) -> None:
        """A value for each position of the game, the last first: what it leads to is then known."""
        self.say("status Analysing")
        for made in range(len(self.positions) - 1, -1, -1):
            if self.called:
                break
            position = self.positions[made]
            if position.over:
                value = float(position.margin)
            else:
                value = self.think(self.engine.think(position, Clock(), Limit(level=self.level))).value
            self.say(f"analysis {made} {value:+.2f}")
        self.say("status")


def format_name(position: Position, move: int) -> str:
    """The name of a move: two letters, `F5` or `PA`."""
    return "PA" if move == PASS else position.format_move(move).upper()


def _depth(analysis: Analysis) -> str:
    """How deep, and how sure: `12`, `24@95%`, and `100%` for an exact score."""
    if analysis.exact:
        return "100%"
    return f"{analysis.depth}" if analysis.certainty == 100 else f"{analysis.depth}@{analysis.certainty}%"
