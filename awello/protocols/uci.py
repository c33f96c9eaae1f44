"""UCI for Awalé, as used by Aualé and Aalina.

    uci@1s,command=aalina

A score of 100 means that the side to move is expected to win by one seed.  Without a limit, an external engine gets a
share of its clock for each move or, without a clock, one second.
"""

import math
import re
from dataclasses import dataclass
from itertools import pairwise

from awello.analysis import Analysis
from awello.engine.book import load_shipped_book
from awello.engine.engine import MAX_HASH_MIB, MIN_HASH_MIB
from awello.engine.othello_state import MAX_THREADS
from awello.engine.time_management import allocate_time, estimate_moves_left
from awello.errors import NotationError, join_choices
from awello.formats.common import MAX_QUOTED_CHARS
from awello.formats.transcript import format_transcript, parse_transcript
from awello.limits import Clock, Limit
from awello.players.player import Forfeit, register
from awello.position import Position, format_position, parse_position
from awello.protocols.engine_server import ENGINE_NAME, EngineServer, parse_int
from awello.protocols.external_engine import EngineOutput, ExternalEnginePlayer, read_analysis
from awello.protocols.line_process import LineProcess
from awello.record import Record
from awello.rules.game import GAMES_BY_VARIANT, Game

NULL_MOVE = "0000"
DEFAULT_SECONDS = 1.0
OPTION_PATTERN = re.compile(r"option\s+name\s+(Variant|OwnBook)\b", re.I)  # the options that `UciPlayer` sets


class UciServer(EngineServer):
    """Awello's engine for GUIs that speak UCI, such as Aualé."""

    GAME = Game.ABAPA
    STOP_WORD = "stop"
    IMMEDIATE_LINE = "isready"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.position: Position | None = Position.start(self.GAME)
        self.book = True

    def report_error(self, line: str, reason: str) -> None:
        self.send(f"info string {reason}")

    def answer(self, line: str) -> bool:
        command, *words = line.split() or [""]
        match command.lower():
            case "quit":
                return False
            case "uci":
                self._introduce()
            case "isready":
                self.send("readyok")
            case "ucinewgame":
                self.engine.clear()
            case "setoption":
                self._set_option(words)
            case "position":
                self.position = None  # so that `go` after an invalid line does not search the old position
                self.position = self._parse_position(words)
            case "go":
                self._go(words)
        return True

    def _introduce(self) -> None:
        variants = " ".join(f"var {name}" for name in GAMES_BY_VARIANT)
        self.send(
            f"id name {ENGINE_NAME}",
            "id author The Awello developers",
            f"option name Hash type spin default {self.hash} min {MIN_HASH_MIB} max {MAX_HASH_MIB}",
            f"option name Threads type spin default {self.threads} min 1 max {MAX_THREADS}",
            "option name OwnBook type check default true",
            f"option name Variant type combo default {self.engine.game} {variants}",
            "uciok",
        )

    def _set_option(self, words: list[str]) -> None:
        """Handle `setoption name NAME value VALUE`."""
        match [word.lower() for word in words]:
            case ["name", "ownbook", "value", ("true" | "false") as value]:
                self.book = value == "true"
            case ["name", "variant", "value", value] if value in GAMES_BY_VARIANT:
                self.change_engine(GAMES_BY_VARIANT[value])
                self.position = Position.start(self.engine.game)
            case ["name", "hash", "value", value]:
                self.change_engine(self.engine.game, hash=parse_int(value, "a number of megabytes"))
            case ["name", "threads", "value", value]:
                self.change_engine(self.engine.game, threads=parse_int(value, "a number of threads"))
            case _:
                options = f"Hash, Threads, OwnBook (true or false) or Variant ({join_choices(GAMES_BY_VARIANT)})"
                text = " ".join(words)[:MAX_QUOTED_CHARS]
                advice = f"write 'name OPTION value VALUE', where OPTION is {options}"
                raise NotationError(f"{text!r} does not set an option: {advice}")

    def _parse_position(self, words: list[str]) -> Position:
        """Parse `startpos` or `fen DIAGRAM`, optionally followed by `moves` and the moves."""
        match words:
            case ["startpos", *rest]:
                start = Position.start(self.engine.game)
            case ["fen", diagram, *rest]:
                start = parse_position(diagram, self.engine.game)
            case _:
                raise NotationError("expected startpos or fen DIAGRAM, and optionally moves")
        if rest and rest[0] != "moves":
            raise NotationError(f"expected the word 'moves' after the position, found {rest[0]!r}")
        return parse_transcript("".join(rest[1:]), start).final

    def _go(self, words: list[str]) -> None:
        position = self.position
        endless = bool({"infinite", "ponder"} & set(words))
        if position is None or position.over:
            if endless:
                self.wait_for_stop()
            self.send(f"bestmove {NULL_MOVE}")
            return
        analysis = self._search(position, words, endless)
        reply = f" ponder {position.after(analysis.move).format_move(analysis.pv[1])}" if len(analysis.pv) > 1 else ""
        self.send(f"bestmove {position.format_move(analysis.move)}{reply}")

    def _search(self, position: Position, words: list[str], endless: bool) -> Analysis:
        def show(analysis: Analysis) -> None:
            score = round(100 * (position.lead + analysis.value))
            moves = format_transcript(Record(position, analysis.pv))
            self.send(f"info depth {analysis.depth} score cp {score} pv {moves}")

        if endless:
            return self.search(self.engine.analyse(position), show, endless=True)
        if book_move := self._find_in_book(position):
            show(book_move)
            return book_move
        return self.search(self.engine.analyse_with_clock(position, Clock(), self._parse_limit(words)), show)

    def _find_in_book(self, position: Position) -> Analysis | None:
        """Return a book move, or None if the position has none, if OwnBook is false, or if a level is set."""
        entry = load_shipped_book(position.game).choose(position) if self.book and self.level is None else None
        return Analysis(*entry, False, 0, 0, 0, 0.0, (entry,), entry[:1]) if entry else None

    def _parse_limit(self, words: list[str]) -> Limit | None:
        """Return the time or depth in a `go` line as a limit; if it has neither, return the level as a limit."""
        values = dict(pairwise(words))
        if "movetime" in values:
            return Limit(seconds=max(1, parse_int(values["movetime"], "a number of milliseconds")) / 1000)
        if "depth" in values:
            return Limit(depth=max(1, parse_int(values["depth"], "a depth")))
        return self.limit


@register("uci", "an external Awalé engine that speaks UCI; the limit can be a depth; example: uci@1s,command=aalina")
@dataclass
class UciPlayer(ExternalEnginePlayer):
    """Plays an external engine's `bestmove`."""

    PROTOCOL = "UCI"
    GAMES = tuple(GAMES_BY_VARIANT.values())
    SUPPORTS_DEPTH = True

    def handshake(self, process: LineProcess) -> None:
        process.send("uci")
        matches = (OPTION_PATTERN.match(line) for line in process.read_lines(lambda line: line == "uciok"))
        self.options = {option[1].lower() for option in matches if option}

    def start_game(self, process: LineProcess, game: Game) -> None:
        if "variant" in self.options:
            process.send(f"setoption name Variant value {game}")
        elif game != Game.ABAPA:
            raise Forfeit(
                "crash", f"{self.command!r} plays only abapa: it has no Variant option; use another engine for {game}"
            )
        process.send("ucinewgame", "isready")
        process.wait_for(lambda line: line == "readyok")

    def request_move(self, process: LineProcess, record: Record, clock: Clock) -> EngineOutput:
        default_seconds = (
            DEFAULT_SECONDS
            if math.isinf(clock.seconds)
            else allocate_time(clock, estimate_moves_left(record.final)).optimum
        )
        limit = self.limit or Limit(seconds=default_seconds)
        if limit.seconds is not None:
            limit = Limit(seconds=min(limit.seconds, clock.seconds))
        return self._go(process, record, limit, self.time_limit(clock, self.limit))

    def request_analysis(self, process: LineProcess, position: Position, limit: Limit) -> EngineOutput:
        has_book = "ownbook" in self.options
        process.send(*["setoption name OwnBook value false"] * has_book)  # book moves have no principal variation
        yield from self._go(process, Record(position), limit, self.time_limit(Clock(), limit))
        process.send(*["setoption name OwnBook value true"] * has_book)

    def _go(self, process: LineProcess, record: Record, limit: Limit, seconds: float) -> EngineOutput:
        start = record.start
        where = "startpos" if start == Position.start(start.game) else f"fen {format_position(start)}"
        moves = f" moves {format_transcript(record)}" if record.moves else ""
        go = f"movetime {max(1, int(1000 * (limit.seconds or 0)))}" if limit.depth is None else f"depth {limit.depth}"
        process.send(f"position {where}{moves}", f"go {go}")
        for line in process.read_lines(lambda line: line.startswith("bestmove"), seconds):
            if analysis := _parse_info(record.final, line):
                yield analysis
        yield "".join(line.split()[1:2])


def _parse_info(position: Position, line: str) -> Analysis | None:
    """Parse `info depth 8 score cp 150 pv FfBe`; return None for other lines."""
    info = re.match(r"info\b(?:.* depth ([0-9]{1,3})\b)?.* score cp (-?[0-9]{1,6})\b.* pv ([A-Fa-f ]+)", line)
    return info and read_analysis(position, info[3], int(info[2]) / 100 - position.lead, int(info[1] or 0))
