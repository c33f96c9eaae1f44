"""UCI for Awalé, as Auale and Aalina speak it.

A score of 100 means that the side to move will end the game one seed ahead.
"""

from dataclasses import replace
from itertools import pairwise

from awello.analysis import Analysis
from awello.engine.block import MOST_THREADS
from awello.engine.book import shipped_book
from awello.engine.engine import LEAST_HASH, MOST_HASH
from awello.errors import NotationError
from awello.formats.transcript import parse_transcript
from awello.limits import Clock, Limit
from awello.position import Position, parse_position
from awello.protocols.talk import NAME, SHOWN, Settings, Talk, format_line, parse_whole
from awello.rules.game import VARIANTS, Game

NULL_MOVE = "0000"


class Uci(Talk):
    """The engine as Auale talks to it."""

    GAME = Game.ABAPA
    URGENT = "stop"

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.position: Position | None = Position.start(self.GAME)
        self.book = True

    def complain(self, line: str, what: str) -> None:
        self.say(f"info string {what}")

    def interject(self, line: str) -> bool:
        if line == "isready":
            self.say("readyok")
        return line == "isready"

    def answer(self, line: str) -> bool:
        command, *words = line.split() or [""]
        match command.lower():
            case "quit":
                return False
            case "uci":
                self._introduce()
            case "isready":
                self.say("readyok")
            case "ucinewgame":
                self.engine.clear()
            case "setoption":
                self._set(words)
            case "position":
                self.position = None  # a wrong one is no reason to think about another
                self.position = self._parse(words)
            case "go":
                self._go(words)
        return True

    def _introduce(self) -> None:
        variants = " ".join(f"var {name}" for name in VARIANTS)
        self.say(f"id name {NAME}")
        self.say("id author The Awello developers")
        self.say(f"option name Hash type spin default {self.settings.hash} min {LEAST_HASH} max {MOST_HASH}")
        self.say(f"option name Threads type spin default {self.settings.threads} min 1 max {MOST_THREADS}")
        self.say("option name OwnBook type check default true")
        self.say(f"option name Variant type combo default {self.engine.game} {variants}")
        self.say("uciok")

    def _set(self, words: list[str]) -> None:
        """setoption name NAME value VALUE."""
        match [word.lower() for word in words]:
            case ["name", "ownbook", "value", ("true" | "false") as value]:
                self.book = value == "true"
            case ["name", "variant", "value", value] if value in VARIANTS:
                self.change_to(VARIANTS[value])
                self.position = Position.start(self.engine.game)
            case ["name", "hash", "value", value]:
                self._renew(replace(self.settings, hash=parse_whole(value, "megabytes")))
            case ["name", "threads", "value", value]:
                self._renew(replace(self.settings, threads=parse_whole(value, "a number of threads")))
            case _:
                options = f"Hash, Threads, OwnBook (true, false), Variant ({', '.join(VARIANTS)})"
                raise NotationError(
                    f"expected 'name OPTION value VALUE' of {options}, found {' '.join(words)[:SHOWN]!r}"
                )

    def _renew(self, settings: Settings) -> None:
        """Have an engine with other settings, if there can be one."""
        before, self.settings = self.settings, settings
        try:
            engine = self.make_engine(self.engine.game)
        except (ValueError, MemoryError):
            self.settings = before
            raise
        self.engine.close()
        self.engine = engine

    def _parse(self, words: list[str]) -> Position:
        """The position of `startpos` or `fen DIAGRAM`, and the moves after it."""
        match words:
            case ["startpos", *rest]:
                start = Position.start(self.engine.game)
            case ["fen", diagram, *rest]:
                start = parse_position(diagram, self.engine.game)
            case _:
                raise NotationError("a position is startpos or fen DIAGRAM, then moves")
        if rest and rest[0] != "moves":
            raise NotationError(f"after the position come moves, not {rest[0]!r}")
        return parse_transcript("".join(rest[1:]), start).final

    # ---- thoughts ----------------------------------------------------------------------------------------------------
    def _go(self, words: list[str]) -> None:
        position = self.position
        endless = bool({"infinite", "ponder"} & set(words))
        if position is None or position.over:
            if endless:
                self.await_interruption()
            self.say(f"bestmove {NULL_MOVE}")
            return
        found = self._think(position, words, endless)
        best = position.format_move(found.move)
        reply = f" ponder {position.after(found.move).format_move(found.line[1])}" if len(found.line) > 1 else ""
        self.say(f"bestmove {best}{reply}")

    def _think(self, position: Position, words: list[str], endless: bool) -> Analysis:
        def show(analysis: Analysis) -> None:
            score = round(100 * (position.lead + analysis.value))
            moves = format_line(position, analysis.line, Position.format_move)
            self.say(f"info depth {analysis.depth} score cp {score} pv {moves}")

        if endless:
            return self.think(self.engine.analyse(position), show, endless=True)
        if known := self._from_book(position):
            show(known)
            return known
        return self.think(self.engine.think(position, Clock(), self._limit(words)), show)

    def _from_book(self, position: Position) -> Analysis | None:
        """What the book says; a level is to show its own strength, and plays without it."""
        found = shipped_book(position.game).choose(position) if self.book and self.settings.level is None else None
        return Analysis(*found, False, 0, 0, 0, 0.0, (found,), found[:1]) if found else None

    def _limit(self, words: list[str]) -> Limit | None:
        """What a line allows: a time, a depth or, where it says nothing, the level."""
        said = dict(pairwise(words))
        if "movetime" in said:
            return Limit(seconds=max(1, parse_whole(said["movetime"], "milliseconds")) / 1000)
        if "depth" in said:
            return Limit(depth=max(1, parse_whole(said["depth"], "a depth")))
        return self.settings.limit
