"""UCI for Awalé, as Auale and Aalina speak it.

    uci@1s,command=aalina

A score of 100 means that the side to move will end the game one seed ahead.  Without a limit a program is given a share
of its clock or, if there is none, a second.
"""

import math
import re
from dataclasses import dataclass
from itertools import pairwise

from awello.analysis import Analysis
from awello.engine.book import shipped_book
from awello.engine.engine import MAX_HASH_MIB, MIN_HASH_MIB
from awello.engine.othello_state import MAX_THREADS
from awello.engine.time_management import allocate_time, estimate_moves_left
from awello.errors import NotationError
from awello.formats.common import MAX_QUOTED_CHARS
from awello.formats.transcript import format_transcript, parse_transcript
from awello.limits import Clock, Limit
from awello.players.player import Forfeit, register
from awello.position import Position, format_position, parse_position
from awello.protocols.engine_server import NAME, EngineServer, parse_whole
from awello.protocols.external_engine import ExternalEnginePlayer, Told, read_analysis
from awello.protocols.line_process import LineProcess
from awello.record import Record
from awello.rules.game import GAMES_BY_VARIANT, Game

NULL_MOVE = "0000"
USUAL_SECONDS = 1.0
OPTION = re.compile(r"option\s+name\s+(Variant|OwnBook)\b", re.I)  # those that we set


class UciServer(EngineServer):
    """Our engine as Auale talks to it."""

    GAME = Game.ABAPA
    URGENT = "stop"
    AT_ONCE = "isready"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.position: Position | None = Position.start(self.GAME)
        self.book = True

    def refuse(self, line: str, why: str) -> None:
        self.say(f"info string {why}")

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
                self._set_option(words)
            case "position":
                self.position = None  # an invalid position must not leave the one before
                self.position = self._parse_position(words)
            case "go":
                self._go(words)
        return True

    def _introduce(self) -> None:
        variants = " ".join(f"var {name}" for name in GAMES_BY_VARIANT)
        self.say(
            f"id name {NAME}",
            "id author The Awello developers",
            f"option name Hash type spin default {self.hash} min {MIN_HASH_MIB} max {MAX_HASH_MIB}",
            f"option name Threads type spin default {self.threads} min 1 max {MAX_THREADS}",
            "option name OwnBook type check default true",
            f"option name Variant type combo default {self.engine.game} {variants}",
            "uciok",
        )

    def _set_option(self, words: list[str]) -> None:
        """setoption name NAME value VALUE."""
        match [word.lower() for word in words]:
            case ["name", "ownbook", "value", ("true" | "false") as value]:
                self.book = value == "true"
            case ["name", "variant", "value", value] if value in GAMES_BY_VARIANT:
                self.change_engine(GAMES_BY_VARIANT[value])
                self.position = Position.start(self.engine.game)
            case ["name", "hash", "value", value]:
                self.change_engine(self.engine.game, hash=parse_whole(value, "megabytes"))
            case ["name", "threads", "value", value]:
                self.change_engine(self.engine.game, threads=parse_whole(value, "a number of threads"))
            case _:
                options = f"Hash, Threads, OwnBook (true, false), Variant ({', '.join(GAMES_BY_VARIANT)})"
                found = " ".join(words)[:MAX_QUOTED_CHARS]
                raise NotationError(f"expected 'name OPTION value VALUE' of {options}, found {found!r}")

    def _parse_position(self, words: list[str]) -> Position:
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

    def _go(self, words: list[str]) -> None:
        position = self.position
        endless = bool({"infinite", "ponder"} & set(words))
        if position is None or position.over:
            if endless:
                self.await_interruption()
            self.say(f"bestmove {NULL_MOVE}")
            return
        found = self._search(position, words, endless)
        reply = f" ponder {position.after(found.move).format_move(found.pv[1])}" if len(found.pv) > 1 else ""
        self.say(f"bestmove {position.format_move(found.move)}{reply}")

    def _search(self, position: Position, words: list[str], endless: bool) -> Analysis:
        def show(analysis: Analysis) -> None:
            score = round(100 * (position.lead + analysis.value))
            moves = format_transcript(Record(position, analysis.pv))
            self.say(f"info depth {analysis.depth} score cp {score} pv {moves}")

        if endless:
            return self.search(self.engine.analyse(position), show, endless=True)
        if known := self._find_in_book(position):
            show(known)
            return known
        return self.search(self.engine.think(position, Clock(), self._parse_limit(words)), show)

    def _find_in_book(self, position: Position) -> Analysis | None:
        """The book's move; a level is to show its own strength, and plays without the book."""
        found = shipped_book(position.game).choose(position) if self.book and self.level is None else None
        return Analysis(*found, False, 0, 0, 0, 0.0, (found,), found[:1]) if found else None

    def _parse_limit(self, words: list[str]) -> Limit | None:
        """The time or depth of a line; without one, the level."""
        said = dict(pairwise(words))
        if "movetime" in said:
            return Limit(seconds=max(1, parse_whole(said["movetime"], "milliseconds")) / 1000)
        if "depth" in said:
            return Limit(depth=max(1, parse_whole(said["depth"], "a depth")))
        return self.limit


@register("uci", "another program for Awalé that speaks UCI as Aalina does: uci@1s,command=aalina; @8 sets a depth")
@dataclass
class UciPlayer(ExternalEnginePlayer):
    """Plays a program's bestmove."""

    PROTOCOL = "UCI"
    GAMES = tuple(GAMES_BY_VARIANT.values())
    TAKES_DEPTH = True

    def greet(self, program: LineProcess) -> None:
        program.say("uci")
        found = (OPTION.match(line) for line in program.lines(lambda line: line == "uciok"))
        self.options = {option[1].lower() for option in found if option}

    def get_ready(self, program: LineProcess, game: Game) -> None:
        if "variant" in self.options:
            program.say(f"setoption name Variant value {game}")
        elif game != Game.ABAPA:
            raise Forfeit("crash", f"{self.command!r} plays abapa alone: it has no option Variant for {game}")
        program.say("ucinewgame", "isready")
        program.hear(lambda line: line == "readyok")

    def ask(self, program: LineProcess, record: Record, clock: Clock) -> Told:
        usual = (
            USUAL_SECONDS
            if math.isinf(clock.seconds)
            else allocate_time(clock, estimate_moves_left(record.final)).optimum
        )
        limit = self.limit or Limit(seconds=usual)
        if limit.seconds is not None:
            limit = Limit(seconds=min(limit.seconds, clock.seconds))
        return self._go(program, record, limit, self.seconds(clock, self.limit))

    def examine(self, program: LineProcess, position: Position, limit: Limit) -> Told:
        books = "ownbook" in self.options
        program.say(*["setoption name OwnBook value false"] * books)  # a book knows values, but no lines
        yield from self._go(program, Record(position), limit, self.seconds(Clock(), limit))
        program.say(*["setoption name OwnBook value true"] * books)

    def _go(self, program: LineProcess, record: Record, limit: Limit, seconds: float) -> Told:
        start = record.start
        where = "startpos" if start == Position.start(start.game) else f"fen {format_position(start)}"
        moves = f" moves {format_transcript(record)}" if record.moves else ""
        how = f"movetime {max(1, int(1000 * (limit.seconds or 0)))}" if limit.depth is None else f"depth {limit.depth}"
        program.say(f"position {where}{moves}", f"go {how}")
        for line in program.lines(lambda line: line.startswith("bestmove"), seconds):
            if found := _parse_info(record.final, line):
                yield found
        yield "".join(line.split()[1:2])


def _parse_info(position: Position, line: str) -> Analysis | None:
    """The analysis of `info depth 8 score cp 150 pv FfBe`; None for other lines."""
    info = re.match(r"info\b(?:.* depth ([0-9]{1,3})\b)?.* score cp (-?[0-9]{1,6})\b.* pv ([A-Fa-f ]+)", line)
    return info and read_analysis(position, info[3], int(info[2]) / 100 - position.lead, int(info[1] or 0))
