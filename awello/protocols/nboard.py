"""The protocol of NBoard, version 2: Othello, with values in discs from the side to move.

    nboard@5s,command=ntest,depth=14

The protocol has no clock.  The depth that a board sets is our engine's level; a program is told a depth, and a time
limit only decides when its answer is late.
"""

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated

from pydantic import Field

from awello.analysis import Analysis
from awello.engine.levels import DEFAULT_LEVEL, MAX_LEVEL
from awello.errors import NotationError
from awello.formats.common import parse_number
from awello.formats.ggf import format_ggf, parse_ggf
from awello.limits import Clock, Limit
from awello.players.player import register
from awello.position import Position
from awello.protocols.engine_server import NAME, EngineServer, parse_whole
from awello.protocols.external_engine import ExternalEnginePlayer, Told, read_analysis
from awello.protocols.line_process import LineProcess
from awello.record import Record
from awello.rules.game import PASS, Game

ABOUT = {"Site": "Awello", "Black": "Black", "White": "White", "RE": "?", "TI": "15:00"}  # tags that programs expect
MOST_DEPTH = 60


class NBoardServer(EngineServer):
    """Our engine as NBoard talks to it."""

    GAME = Game.OTHELLO
    URGENT = "ping"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.level = DEFAULT_LEVEL if self.level is None else self.level
        self.positions = [Position.start()]

    def refuse(self, line: str, why: str) -> None:
        self.say(f"status {why}")

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
                self._search("Analysing", parse_whole(rest or "1", "the number of moves to look at"))
                self.say("status")
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
        if what.lower() == "depth":
            self.level = min(max(0, parse_whole(value, f"a depth from 0 to {MAX_LEVEL}")), MAX_LEVEL)
            self._say_name()
        elif what.lower() == "game":
            self.positions = list(parse_ggf(value).positions())
            self.change_engine(self.positions[0].game)

    def _move(self, text: str) -> None:
        position, name = self.positions[-1], re.split(r"[\s/]", text.strip())[0]
        if position.legal_moves() == (PASS,) and not name.lower().startswith("pa"):
            self.positions.append(position := position.after(PASS))
        self.positions.append(position.play(position.parse_move(name)))

    def _go(self) -> None:
        started = time.perf_counter()
        found = self._search("Thinking")
        seconds = time.perf_counter() - started
        self.say(f"=== {_format_line(self.positions[-1], (found.move,))}/{found.value:.2f}/{seconds:.2f}", "status")

    def _search(self, status: str, best: int = 1) -> Analysis:
        """Search the last position, and show what is found."""
        position = self.positions[-1]
        if position.over:
            raise NotationError("the game is over")
        self.say(f"status {status}")

        def show(analysis: Analysis) -> None:
            for move, value in analysis.candidates:
                line = analysis.pv if move == analysis.move else (move,)
                self.say(f"search {_format_line(position, line)} {value:+.2f} 0 {_format_depth(analysis)}")

        best = max(1, min(best, len(position.legal_moves())))
        found = self.search(self.engine.think(position, Clock(), self.limit, multipv=best), show)
        self.say(f"nodestats {found.nodes} {found.seconds:.2f}")
        return found

    def _analyse(self) -> None:
        """Value each position of the game, the last first: the engine then knows where the others lead."""
        self.say("status Analysing")
        for made in range(len(self.positions) - 1, -1, -1):
            if self.called:
                break
            position = self.positions[made]
            if position.over:
                value = float(position.margin)
            else:
                value = self.search(self.engine.think(position, Clock(), self.limit)).value
            self.say(f"analysis {made} {value:+.2f}")
        self.say("status")


@register("nboard", "another program for Othello that speaks NBoard's protocol: nboard@5s,command=ntest,depth=14")
@dataclass
class NBoardPlayer(ExternalEnginePlayer):
    """Plays a program's answer to go."""

    PROTOCOL = "NBoard"
    GAMES = (Game.OTHELLO,)

    depth: Annotated[int, Field(ge=1, le=MOST_DEPTH)] = 12
    """The depth that the program is told."""

    def greet(self, program: LineProcess) -> None:
        program.say("nboard 2", f"set depth {self.depth}")

    def get_ready(self, program: LineProcess, game: Game) -> None:
        program.say("ping 1")
        program.hear(lambda line: re.fullmatch(r"pong\s+1", line))

    def ask(self, program: LineProcess, record: Record, clock: Clock) -> Told:
        return self._search(program, record, "go", program.lines(_is_answer, self.seconds(clock, self.limit)))

    def examine(self, program: LineProcess, position: Position, limit: Limit) -> Told:
        how, seconds = "hint 1" if limit.depth is None else "go", self.seconds(Clock(), limit)
        lines = _read_hint(program, seconds) if limit.depth is None else program.lines(_is_answer, seconds)
        program.say(f"set depth {min(limit.depth or MOST_DEPTH, MOST_DEPTH)}")
        yield from self._search(program, Record(position), how, lines)
        program.say(f"set depth {self.depth}")

    def _search(self, program: LineProcess, record: Record, how: str, lines: Iterator[str]) -> Told:
        last = None
        program.say(f"set game {format_ggf(replace(record, tags=ABOUT))}", how)
        for line in lines:
            found = _parse_search(record.final, line)
            if found and not (_is_answer(line) and last and found.candidates == last.candidates):
                yield (last := found)  # an answer that repeats the last value would only lose its depth and line
            if _is_answer(line):
                yield re.split(r"[\s/]", line.removeprefix("===").strip())[0]


def _is_answer(line: str) -> bool:
    return line.startswith("===")


def _read_hint(program: LineProcess, seconds: float) -> Iterator[str]:
    """What a program says while it analyses, until we interrupt it: the protocol has no line that ends a hint."""
    end = time.monotonic() + seconds
    while (line := program.read(end)) is not None:
        yield line
    program.say("ping 2")
    yield from program.lines(lambda line: re.fullmatch(r"pong\s+2", line))


def _parse_search(position: Position, line: str) -> Analysis | None:
    """The analysis of `search F5D6 +1.25 0 12`, or of the shorter `=== F5/1.25/0.8`."""
    kind, moves, value, _, depth = [*re.split(r"[\s/]+", line.replace("===", "=== ", 1)), *[""] * 5][:5]
    if kind not in ("search", "book", "==="):
        return None
    if depth.startswith("100%"):
        return read_analysis(position, moves, parse_number(value), position.empties, depth == "100%")
    reached = re.match(r"([0-9]{1,2})(?:@([0-9]{1,2})%)?(?![0-9])", depth)
    plies, confidence = (int(number or 100) for number in reached.groups()) if reached else (0, 100)
    return read_analysis(position, moves, parse_number(value), plies, confidence=confidence)


def _format_line(position: Position, line: tuple[int, ...]) -> str:
    """The moves of a line, written together: two letters each, `F5` or `PA`."""
    return "".join("PA" if move == PASS else position.format_move(move).upper() for move in line)


def _format_depth(analysis: Analysis) -> str:
    """How deep, and how sure: `12`, `24@95%`, and `100%` for an exact score."""
    confidence = "" if analysis.confidence == 100 else f"@{analysis.confidence}%"
    return "100%" if analysis.exact else f"{analysis.depth}{confidence}"
