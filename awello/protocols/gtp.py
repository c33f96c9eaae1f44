"""Version 2 of the Go Text Protocol for Othello, with what GoGui asks to know the rules.

A player without a move passes: the controller may say so, or leave it out.
"""

import math
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from inspect import signature
from pathlib import Path

from awello.analysis import Analysis
from awello.errors import AwelloError, NotationError
from awello.formats.ggf import parse_ggf
from awello.formats.reading import parse_number
from awello.limits import Clock, Limit
from awello.position import Position, format_position
from awello.protocols.talk import NAME, SHOWN, Settings, Talk, parse_whole
from awello.record import Record
from awello.rules.game import PASS, SIZES, Game

COLOURS = {"b": 0, "black": 0, "w": 1, "white": 1}
SIDES = "black", "white"


@dataclass(frozen=True)
class Time:
    """A colour's clock: seconds left, for so many moves or (0) for the game, and what comes after them."""

    seconds: float = math.inf
    moves: int = 0
    more: float = 0.0
    """Seconds of the overtime."""
    more_moves: int = 0

    def limits(self) -> tuple[Clock, float | None]:
        """The clock to think by, and the seconds for this move if it is not up to the clock."""
        if self.moves:
            return Clock(), max(0.0, self.seconds) / self.moves
        return Clock(max(0.0, self.seconds), self.more / self.more_moves if self.more_moves else 0.0), None

    def spend(self, seconds: float) -> "Time":
        """The clock after a move."""
        left, moves = self.seconds - seconds, max(0, self.moves - 1)
        if self.more_moves and (moves == 0 if self.moves else left <= 0):
            left, moves = self.more, self.more_moves
        return Time(left, moves, self.more, self.more_moves)


class Gtp(Talk):
    """The engine as a controller of GTP talks to it."""

    GAME = Game.OTHELLO

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.positions = [Position.start()]  # after each command to play
        self.times = [Time(), Time()]
        self.commands: dict[str, Callable[..., str]] = {
            "protocol_version": lambda: "2",
            "name": lambda: NAME,
            "version": lambda: self.settings.version,
            "known_command": lambda name: "true" if name in self.commands else "false",
            "list_commands": lambda: "\n".join(self.commands),
            "quit": lambda: "",
            "boardsize": self._size,
            "clear_board": self._clear,
            "komi": self._set_komi,
            "play": self._play,
            "genmove": self._generate,
            "reg_genmove": lambda colour: self._choose(colour)[0],
            "undo": self._undo,
            "time_settings": self._set_time,
            "time_left": self._set_time_left,
            "set_game": self._set_game,
            "list_games": lambda: "Othello",
            "loadsgf": self._load,
            "showboard": lambda: f"\n{self.position}",
            "final_score": self._score,
            "gogui-rules_game_id": lambda: "Othello",
            "gogui-rules_board": self._board,
            "gogui-rules_board_size": lambda: str(self.position.game.size),
            "gogui-rules_legal_moves": lambda: " ".join(map(self.position.format_move, self.position.legal_moves())),
            "gogui-rules_side_to_move": lambda: SIDES[self.position.side],
            "gogui-rules_final_result": lambda: Record(self.position).describe() if self.position.over else "",
        }

    # ---- lines -------------------------------------------------------------------------------------------------------
    def answer(self, line: str) -> bool:
        number, name, words = _parse(line)
        if not name:
            return True
        if name not in self.commands:
            raise NotationError("unknown command")
        try:
            signature(self.commands[name]).bind(*words)
        except TypeError:
            raise NotationError(f"syntax error: {name} does not take {len(words)} words") from None
        text = self.commands[name](*words)
        self.say(f"={number} {text}".rstrip(" ") + "\n")
        return name != "quit"

    def complain(self, line: str, what: str) -> None:
        self.say(f"?{_parse(line)[0]} {what}\n")

    # ---- the game ----------------------------------------------------------------------------------------------------
    @property
    def position(self) -> Position:
        """The position that questions are about."""
        return self.positions[-1]

    def _size(self, size: str) -> str:
        if (rows := parse_whole(size, "4, 6 or 8 rows")) not in SIZES:
            raise NotationError("unacceptable size")
        self.change_to(SIZES[rows])
        return self._clear()

    def _clear(self) -> str:
        self.positions = [Position.start(self.engine.game)]
        self.engine.clear()
        return ""

    def _set_game(self, game: str) -> str:
        if game.lower() not in ("othello", "reversi"):
            raise NotationError("unknown game")
        return self._clear()

    def _set_komi(self, komi: str) -> str:
        _number(komi, "a number of points")  # Othello has none, but those who know Go say it
        return ""

    def _turn(self, side: int) -> Position:
        """The position with a side to move: the other one passes, if it must."""
        position = self.position
        if position.side != side and position.legal_moves() == (PASS,):
            position = position.after(PASS)
        if position.side != side and not position.over:
            raise NotationError(f"it is {SIDES[position.side]}'s turn")
        return position

    def _play(self, colour: str, name: str) -> str:
        position = self._turn(_side(colour))
        self.positions.append(position.play(position.parse_move(name)))
        return ""

    def _undo(self) -> str:
        if len(self.positions) == 1:
            raise NotationError("cannot undo")
        self.positions.pop()
        return ""

    def _load(self, file: str, move: str = "") -> str:
        """A game in the Generic Game Format, which is SGF as Othello programs write it; before a move, if given."""
        try:
            record = parse_ggf(Path(file).read_text("utf-8", "replace"))
        except OSError as error:
            raise NotationError(f"cannot load file: {error.strerror}") from None
        except AwelloError as error:
            raise NotationError(f"cannot load file, it must be a game in GGF: {error}") from None
        positions = list(record.positions())
        self.change_to(record.start.game)
        self.positions = positions[: max(1, parse_whole(move, "the number of a move"))] if move else positions
        return ""

    # ---- moves -------------------------------------------------------------------------------------------------------
    def _generate(self, colour: str) -> str:
        name, position = self._choose(colour)
        if not position.over:
            self.positions.append(position.play(name))
        return name

    def _choose(self, colour: str) -> tuple[str, Position]:
        """The best move of a colour by its name, and the position that it is played in."""
        position = self._turn(_side(colour))
        if position.over:
            return "pass", position
        begun, side = time.perf_counter(), position.side
        found = self._search(position, self.times[side])
        self.times[side] = self.times[side].spend(time.perf_counter() - begun)
        return position.format_move(found.move), position

    def _search(self, position: Position, left: Time) -> Analysis:
        clock, seconds = left.limits()
        limit = self.settings.limit
        if seconds is not None:
            limit = replace(limit or Limit(), seconds=seconds)
        return self.think(self.engine.think(position, clock, limit))

    def _set_time(self, main: str, more: str, moves: str) -> str:
        seconds, overtime, stones = _seconds(main), _seconds(more), _moves(moves)
        if not stones:  # overtime without moves means that there is no limit, and so does no time at all
            overtime, seconds = 0.0, math.inf if overtime or not seconds else seconds
        clock = Time(seconds, 0, overtime, stones)
        self.times = [clock if seconds else clock.spend(0.0)] * 2
        return ""

    def _set_time_left(self, colour: str, seconds: str, moves: str) -> str:
        side = _side(colour)
        self.times[side] = replace(self.times[side], seconds=_seconds(seconds), moves=_moves(moves))
        return ""

    # ---- what there is to see ----------------------------------------------------------------------------------------
    def _score(self) -> str:
        black, white = self.position.score()
        return "0" if black == white else f"B+{black - white}" if black > white else f"W+{white - black}"

    def _board(self) -> str:
        """The rows as GoGui shows them, the one with the highest number first."""
        size, squares = self.position.game.size, format_position(self.position).replace("-", ".")
        return "\n".join(squares[size * row : size * (row + 1)] for row in range(size - 1, -1, -1))


def _parse(line: str) -> tuple[str, str, list[str]]:
    """The number, the command and the other words of a line, without what is a comment."""
    words = re.sub(r"[\x00-\x08\x0b-\x1f\x7f]", "", line.partition("#")[0]).split()
    number = words.pop(0) if words and re.fullmatch("[0-9]{1,18}", words[0]) else ""
    return number, words[0].lower() if words else "", words[1:]


def _side(colour: str) -> int:
    if colour.lower() not in COLOURS:
        raise NotationError("invalid color")
    return COLOURS[colour.lower()]


def _moves(text: str) -> int:
    if (moves := parse_whole(text, "a number of stones")) < 0:
        raise NotationError("a number of stones is 0 or more")
    return moves


def _seconds(text: str) -> float:
    if (seconds := _number(text, "a time in seconds")) < 0:
        raise NotationError("a time is 0 or more seconds")
    return seconds


def _number(text: str, what: str) -> float:
    if (number := parse_number(text)) is None:
        raise NotationError(f"syntax error: expected {what}, found {text[:SHOWN]!r}")
    return number
