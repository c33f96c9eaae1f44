"""Version 2 of NBoard's protocol for Othello; values are in discs from the point of view of the side to move.

    nboard@5s,command=ntest,depth=14

The protocol has no clock.  The depth that NBoard sets is the level of Awello's engine.  In games, an external engine
searches to a depth; a time limit only determines when its answer is late.
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
from awello.protocols.engine_server import ENGINE_NAME, EngineServer, parse_int
from awello.protocols.external_engine import EngineOutput, ExternalEnginePlayer, read_analysis
from awello.protocols.line_process import LineProcess
from awello.record import Record
from awello.rules.game import PASS, Game

GGF_TAGS = {"Site": "Awello", "Black": "Black", "White": "White", "RE": "?", "TI": "15:00"}  # required by engines
MAX_DEPTH = 60


class NBoardServer(EngineServer):
    """Awello's engine for NBoard and other GUIs that speak NBoard's protocol."""

    GAME = Game.OTHELLO
    STOP_WORD = "ping"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.level = DEFAULT_LEVEL if self.level is None else self.level
        self.positions = [Position.start()]

    def report_error(self, line: str, reason: str) -> None:
        self.send(f"status {reason}")

    def answer(self, line: str) -> bool:
        command, _, rest = line.partition(" ")
        match command.lower():
            case "quit":
                return False
            case "nboard":
                self._send_name()
            case "set":
                self._set(*rest.strip().partition(" ")[::2])
            case "move":
                self._move(rest)
            case "hint":
                self._search("Analysing", parse_int(rest or "1", "a number of moves"))
                self.send("status")
            case "go":
                self._go()
            case "analyze" | "analyse":
                self._analyse()
            case "ping":
                self.send(f"pong {rest.strip()}")
            case "learn":
                self.send("learned")
            case _ if re.fullmatch(r"([a-h][1-8]|pa)(/\S*)?", line, re.I):
                self._move(line)  # a move in version 1 of the protocol
        return True

    def _send_name(self) -> None:
        self.send(f"set myname {ENGINE_NAME}{self.level}")

    def _set(self, name: str, value: str) -> None:
        if name.lower() == "depth":
            self.level = min(max(0, parse_int(value, f"a depth from 0 to {MAX_LEVEL}")), MAX_LEVEL)
            self._send_name()
        elif name.lower() == "game":
            self.positions = list(parse_ggf(value).positions())
            self.change_engine(self.positions[0].game)

    def _move(self, text: str) -> None:
        position, name = self.positions[-1], re.split(r"[\s/]", text.strip())[0]
        if position.legal_moves() == (PASS,) and not name.lower().startswith("pa"):
            self.positions.append(position := position.after(PASS))
        self.positions.append(position.play(position.parse_move(name)))

    def _go(self) -> None:
        started = time.perf_counter()
        analysis = self._search("Thinking")
        seconds = time.perf_counter() - started
        self.send(
            f"=== {_format_moves(self.positions[-1], (analysis.move,))}/{analysis.value:.2f}/{seconds:.2f}", "status"
        )

    def _search(self, status: str, multipv: int = 1) -> Analysis:
        """Search the last position and send the results."""
        position = self.positions[-1]
        if position.over:
            raise NotationError("the game is over")
        self.send(f"status {status}")

        def show(analysis: Analysis) -> None:
            for move, value in analysis.candidates:
                line = analysis.pv if move == analysis.move else (move,)
                self.send(f"search {_format_moves(position, line)} {value:+.2f} 0 {_format_depth(analysis)}")

        multipv = max(1, min(multipv, len(position.legal_moves())))
        analysis = self.search(self.engine.analyse_with_clock(position, Clock(), self.limit, multipv=multipv), show)
        self.send(f"nodestats {analysis.nodes} {analysis.seconds:.2f}")
        return analysis

    def _analyse(self) -> None:
        """Evaluate all positions of the game, last to first: the results speed up the searches of earlier positions."""
        self.send("status Analysing")
        for ply in range(len(self.positions) - 1, -1, -1):
            if self.stop_requested:
                break
            position = self.positions[ply]
            if position.over:
                value = float(position.margin)
            else:
                value = self.search(self.engine.analyse_with_clock(position, Clock(), self.limit)).value
            self.send(f"analysis {ply} {value:+.2f}")
        self.send("status")


@register(
    "nboard", "an external Othello engine that speaks NBoard's protocol; example: nboard@5s,command=ntest,depth=14"
)
@dataclass
class NBoardPlayer(ExternalEnginePlayer):
    """Plays an external engine's answer to `go`."""

    PROTOCOL = "NBoard"
    GAMES = (Game.OTHELLO,)

    depth: Annotated[int, Field(ge=1, le=MAX_DEPTH)] = 12
    """Search depth of the engine, in plies."""

    def handshake(self, process: LineProcess) -> None:
        process.send("nboard 2", f"set depth {self.depth}")

    def start_game(self, process: LineProcess, game: Game) -> None:
        process.send("ping 1")
        process.wait_for(lambda line: re.fullmatch(r"pong\s+1", line))

    def request_move(self, process: LineProcess, record: Record, clock: Clock) -> EngineOutput:
        return self._search(process, record, "go", process.read_lines(_is_answer, self.time_limit(clock, self.limit)))

    def request_analysis(self, process: LineProcess, position: Position, limit: Limit) -> EngineOutput:
        how, seconds = "hint 1" if limit.depth is None else "go", self.time_limit(Clock(), limit)
        lines = _read_hint(process, seconds) if limit.depth is None else process.read_lines(_is_answer, seconds)
        process.send(f"set depth {min(limit.depth or MAX_DEPTH, MAX_DEPTH)}")
        yield from self._search(process, Record(position), how, lines)
        process.send(f"set depth {self.depth}")

    def _search(self, process: LineProcess, record: Record, command: str, lines: Iterator[str]) -> EngineOutput:
        last = None
        process.send(f"set game {format_ggf(replace(record, tags=GGF_TAGS))}", command)
        for line in lines:
            analysis = _parse_search(record.final, line)
            if analysis and not (_is_answer(line) and last and analysis.candidates == last.candidates):
                yield (last := analysis)  # the answer may repeat the value without depth and variation
            if _is_answer(line):
                yield re.split(r"[\s/]", line.removeprefix("===").strip())[0]


def _is_answer(line: str) -> bool:
    return line.startswith("===")


def _read_hint(process: LineProcess, seconds: float) -> Iterator[str]:
    """Yield the output of `hint`; stop the search after `seconds`, because no line marks the end of the output."""
    deadline = time.monotonic() + seconds
    while (line := process.read_line(deadline)) is not None:
        yield line
    process.send("ping 2")
    yield from process.read_lines(lambda line: re.fullmatch(r"pong\s+2", line))


def _parse_search(position: Position, line: str) -> Analysis | None:
    """Parse `search F5D6 +1.25 0 12`, `book ...` or the shorter `=== F5/1.25/0.8`; return None for other lines."""
    kind, moves, value, _, depth = [*re.split(r"[\s/]+", line.replace("===", "=== ", 1)), *[""] * 5][:5]
    if kind not in ("search", "book", "==="):
        return None
    if depth.startswith("100%"):
        return read_analysis(position, moves, parse_number(value), position.empties, depth == "100%")
    reached = re.match(r"([0-9]{1,2})(?:@([0-9]{1,2})%)?(?![0-9])", depth)
    plies, confidence = (int(number or 100) for number in reached.groups()) if reached else (0, 100)
    return read_analysis(position, moves, parse_number(value), plies, confidence=confidence)


def _format_moves(position: Position, moves: tuple[int, ...]) -> str:
    """Format moves without spaces, two characters each: `F5` or `PA`."""
    return "".join("PA" if move == PASS else position.format_move(move).upper() for move in moves)


def _format_depth(analysis: Analysis) -> str:
    """Format depth and confidence, such as `12` or `24@95%`; for an exact value, return `100%`."""
    confidence = "" if analysis.confidence == 100 else f"@{analysis.confidence}%"
    return "100%" if analysis.exact else f"{analysis.depth}{confidence}"
