"""Version 2 of the Go Text Protocol for Othello, with GoGui's rules extension.

    gtp,command=gtp-rhino -l 5

A client may omit passes.  The protocol transmits moves without values.
"""

import math
import re
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.metadata import version
from inspect import signature
from pathlib import Path

from awello.errors import AwelloError, NotationError, SpecError
from awello.formats.common import MAX_QUOTED_CHARS, parse_number
from awello.formats.ggf import parse_ggf
from awello.limits import Clock, Limit
from awello.players.player import Forfeit, register
from awello.position import Position, format_position
from awello.protocols.engine_server import ENGINE_NAME, EngineServer, parse_int
from awello.protocols.external_engine import EngineOutput, ExternalEnginePlayer
from awello.protocols.line_process import MAX_LINES, LineProcess
from awello.record import Record
from awello.rules.game import GAMES_BY_SIZE, PASS, Game

COLOURS = "black", "white"


@dataclass(frozen=True)
class TimeLeft:
    """The clock of one side: the seconds left for the next `moves` moves (0: for all moves), then overtime."""

    seconds: float = math.inf
    moves: int = 0
    overtime_seconds: float = 0.0
    """Seconds per overtime period."""
    overtime_moves: int = 0
    """Moves per overtime period."""

    def limits(self) -> tuple[Clock, float | None]:
        """Return the clock for time management, and the fixed time for this move, if any."""
        if self.moves:
            return Clock(), max(0.0, self.seconds) / self.moves
        increment = self.overtime_seconds / self.overtime_moves if self.overtime_moves else 0.0
        return Clock(max(0.0, self.seconds), increment), None

    def spend(self, seconds: float) -> "TimeLeft":
        """Return the clock after a move that took `seconds`."""
        left, moves = self.seconds - seconds, max(0, self.moves - 1)
        if self.overtime_moves and (moves == 0 if self.moves else left <= 0):
            left, moves = self.overtime_seconds, self.overtime_moves
        return TimeLeft(left, moves, self.overtime_seconds, self.overtime_moves)


class GtpServer(EngineServer):
    """Awello's engine for GTP controllers."""

    GAME = Game.OTHELLO

    def __post_init__(self) -> None:
        super().__post_init__()
        self.positions = [Position.start()]  # the start position, then the position after each move
        self.times = [TimeLeft(), TimeLeft()]
        self.commands: dict[str, Callable[..., str | None]] = {
            "protocol_version": lambda: "2",
            "name": lambda: ENGINE_NAME,
            "version": lambda: version("awello"),
            "known_command": lambda name: "true" if name in self.commands else "false",
            "list_commands": lambda: "\n".join(self.commands),
            "quit": lambda: None,
            "boardsize": self._set_size,
            "clear_board": self._clear,
            "komi": self._set_komi,
            "play": self._play,
            "genmove": lambda colour: self._choose(colour, play=True),
            "reg_genmove": lambda colour: self._choose(colour, play=False),
            "undo": self._undo,
            "time_settings": self._set_time,
            "time_left": self._set_time_left,
            "set_game": self._set_game,
            "list_games": lambda: "Othello",
            "loadsgf": self._load,
            "showboard": lambda: f"\n{self.position}",
            "final_score": self._format_score,
            "gogui-rules_game_id": lambda: "Othello",
            "gogui-rules_board": self._format_board,
            "gogui-rules_board_size": lambda: str(self.position.game.size),
            "gogui-rules_legal_moves": lambda: " ".join(map(self.position.format_move, self.position.legal_moves())),
            "gogui-rules_side_to_move": lambda: COLOURS[self.position.side],
            "gogui-rules_final_result": lambda: Record(self.position).describe() if self.position.over else "",
        }

    def answer(self, line: str) -> bool:
        number, name, words = _parse(line)
        if not name:
            return True
        if name not in self.commands:
            raise NotationError("unknown command")
        try:
            signature(self.commands[name]).bind(*words)
        except TypeError:
            raise NotationError(f"syntax error: wrong number of arguments for {name} ({len(words)})") from None
        text = self.commands[name](*words) or ""
        self.send(f"={number} {text}".rstrip(" ") + "\n")
        return name != "quit"

    def report_error(self, line: str, reason: str) -> None:
        self.send(f"?{_parse(line)[0]} {reason}\n")

    @property
    def position(self) -> Position:
        """The current position."""
        return self.positions[-1]

    def _set_size(self, size: str) -> None:
        if (rows := parse_int(size, "4, 6 or 8 rows")) not in GAMES_BY_SIZE:
            raise NotationError("unacceptable size")
        self.change_engine(GAMES_BY_SIZE[rows])
        self._clear()

    def _clear(self) -> None:
        self.positions = [Position.start(self.engine.game)]
        self.engine.clear()

    def _set_game(self, game: str) -> None:
        if game.lower() not in ("othello", "reversi"):
            raise NotationError("unknown game")
        self._clear()

    def _set_komi(self, komi: str) -> None:
        _parse_number(komi, "a number of points")  # Othello has no komi, but Go controllers send it

    def _find_position(self, side: int) -> Position:
        """Return the current position with this side to move, after a forced pass of the other side if necessary."""
        position = self.position
        if position.side != side and position.legal_moves() == (PASS,):
            position = position.after(PASS)
        if position.side != side and not position.over:
            raise NotationError(f"it is {COLOURS[position.side]}'s turn")
        return position

    def _play(self, colour: str, name: str) -> None:
        position = self._find_position(_parse_side(colour))
        self.positions.append(position.play(position.parse_move(name)))

    def _undo(self) -> None:
        if len(self.positions) == 1:
            raise NotationError("cannot undo")
        self.positions.pop()

    def _load(self, file: str, move: str = "") -> None:
        """Load a game from a file in the Generic Game Format (GGF), Othello's counterpart of SGF.

        If the move number `move` is given, load only the moves before that move.
        """
        try:
            record = parse_ggf(Path(file).read_text("utf-8", "replace"))
        except OSError as error:
            raise NotationError(f"cannot load file: {error.strerror}") from None
        except AwelloError as error:
            raise NotationError(f"cannot load file as a game in GGF: {error}") from None
        positions = list(record.positions())
        self.change_engine(record.start.game)
        self.positions = positions[: max(1, parse_int(move, "the number of a move"))] if move else positions

    def _choose(self, colour: str, play: bool) -> str:
        """Search for the best move of a colour, play it if `play` is set, and return its name."""
        position = self._find_position(_parse_side(colour))
        if position.over:
            return "pass"
        started, left = time.perf_counter(), self.times[position.side]
        clock, seconds = left.limits()
        limit = self.limit if seconds is None else replace(self.limit or Limit(), seconds=seconds)
        analysis = self.search(self.engine.analyse_with_clock(position, clock, limit))
        self.times[position.side] = left.spend(time.perf_counter() - started)
        if play:
            self.positions.append(position.after(analysis.move))
        return position.format_move(analysis.move)

    def _set_time(self, main: str, overtime: str, moves: str) -> None:
        seconds, (overtime_seconds, overtime_moves) = _parse_time(main, "0")[0], _parse_time(overtime, moves)
        if not overtime_moves:  # in the protocol, overtime without stones means no limit, like a total time of 0
            overtime_seconds, seconds = 0.0, math.inf if overtime_seconds or not seconds else seconds
        clock = TimeLeft(seconds, 0, overtime_seconds, overtime_moves)
        self.times = [clock if seconds else clock.spend(0.0)] * 2

    def _set_time_left(self, colour: str, seconds: str, moves: str) -> None:
        side, (left, stones) = _parse_side(colour), _parse_time(seconds, moves)
        self.times[side] = replace(self.times[side], seconds=left, moves=stones)

    def _format_score(self) -> str:
        black, white = self.position.score()
        return "0" if black == white else f"B+{black - white}" if black > white else f"W+{white - black}"

    def _format_board(self) -> str:
        """Format the rows in GoGui's order, highest number first."""
        size, squares = self.position.game.size, format_position(self.position).replace("-", ".")
        return "\n".join(squares[size * row : size * (row + 1)] for row in range(size - 1, -1, -1))


def _parse(line: str) -> tuple[str, str, list[str]]:
    """Split a line into its number, command and arguments, ignoring a comment."""
    words = re.sub(r"[\x00-\x08\x0b-\x1f\x7f]", "", line.partition("#")[0]).split()
    number = words.pop(0) if words and re.fullmatch("[0-9]{1,18}", words[0]) else ""
    return number, words[0].lower() if words else "", words[1:]


def _parse_side(colour: str) -> int:
    if colour.lower() not in ("b", "w", *COLOURS):
        raise NotationError("invalid color")
    return int(colour.lower().startswith("w"))


def _parse_number(text: str, expected: str, minimum: float = -math.inf) -> float:
    number = parse_number(text)
    if number is None or number < minimum:
        raise NotationError(f"syntax error: expected {expected}, found {text[:MAX_QUOTED_CHARS]!r}")
    return number


def _parse_time(seconds: str, moves: str) -> tuple[float, int]:
    return _parse_number(seconds, "seconds, 0 or more", 0), parse_int(moves, "a number of stones, 0 or more", 0)


class GtpError(Forfeit):
    """Raised if the engine answers a command with an error."""


@register("gtp", "an external Othello engine that speaks GTP; example: gtp@5s,command=gtp-rhino -l 5")
@dataclass
class GtpPlayer(ExternalEnginePlayer):
    """Plays an external engine's answer to `genmove`."""

    PROTOCOL = "GTP"
    GAMES = tuple(GAMES_BY_SIZE.values())

    def handshake(self, process: LineProcess) -> None:
        with suppress(GtpError):
            request(process, "set_game Othello")  # optional: some engines play only Othello and lack the command

    def start_game(self, process: LineProcess, game: Game) -> None:
        request(process, f"boardsize {game.size}")
        self._clear(process)
        if self.limit is not None:
            with suppress(GtpError):
                # 0 seconds would mean no limit
                request(process, f"time_settings 0 {max(1, int(self.limit.seconds or 0))} 1")

    def request_move(self, process: LineProcess, record: Record, clock: Clock) -> EngineOutput:
        if record.start != Position.start(record.start.game):
            raise SpecError(
                "player gtp plays only from the start of a game, since GTP cannot set up a position: use nboard"
            )
        self._send_moves(process, record)
        colour, seconds = COLOURS[record.final.side], self.time_limit(clock, self.limit)
        if self.limit is not None or math.isfinite(clock.seconds):
            stones = int(self.limit is not None and seconds < clock.seconds)
            with suppress(GtpError):
                request(process, f"time_left {colour} {max(1, int(seconds))} {stones}")
        answer = request(process, f"genmove {colour}", seconds)
        with suppress(AwelloError):
            self.sent_moves.append(record.final.parse_move(answer))
        yield answer

    def _clear(self, process: LineProcess) -> None:
        request(process, "clear_board")
        self.sent_moves = list[int]()

    def _send_moves(self, process: LineProcess, record: Record) -> None:
        """Send the moves that the engine has not received; after a takeback, clear its board and send all moves."""
        if tuple(self.sent_moves) != record.moves[: len(self.sent_moves)]:
            self._clear(process)
        already_sent = len(self.sent_moves)
        positions = list(record.positions())
        for position, move in zip(positions[already_sent:], record.moves[already_sent:], strict=False):
            try:
                request(process, f"play {COLOURS[position.side]} {position.format_move(move)}")
            except GtpError:
                if move != PASS:  # some engines pass automatically and reject the command
                    raise
            self.sent_moves.append(move)


def request(process: LineProcess, command: str, seconds: float | None = None) -> str:
    """Send a command and return the answer as one line; raise `GtpError` if the answer is an error."""
    process.send(command)
    answer = list[str]()
    for line in process.read_lines(lambda line: answer and not line, seconds):
        if answer or line.startswith(("=", "?")):  # lines before the answer are skipped
            answer.append(line)
        if len(answer) > MAX_LINES:
            raise Forfeit("crash", f"the answer of {process.command!r} to {command!r} is too long")
    text = " ".join(answer)[1:].strip()
    if answer[0].startswith("?"):
        raise GtpError("crash", f"{process.command!r} refused {command!r}: {text}")
    return text
