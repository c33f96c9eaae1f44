"""Transcripts: the moves of a game, written without spaces, such as `f5d6c3` or `FfBeBc`.

Passes are usually omitted in Othello; the reader inserts them where necessary.  The reader ignores spaces, move numbers
and, in Othello, case.  In Awalé, upper-case letters are South's pits and lower-case letters are North's.
"""

import re
from collections.abc import Iterable

from awello.errors import AwelloError, IllegalMoveError, NotationError, join_choices
from awello.position import Position
from awello.record import Record
from awello.rules.game import PASS, Game
from awello.rules.othello import PASS_NAMES

MOVE_PATTERNS = {"othello": r"[a-hA-H]\s?[1-8]|--|(?i:pass|pa|ps)", "awale": r"[a-fA-F]"}
MOVES_ADVICE = "write moves such as f5d6c3 or FfBe"
MAX_QUOTED_CHARS = 24  # characters of an invalid move that error messages quote
SEPARATOR_PATTERN = r"(?:\d+\s*\.+|[\s,;])*"  # move numbers and punctuation between moves


def format_transcript(record: Record) -> str:
    """Format the moves of a record as one string, omitting spaces and passes."""
    start, format_move = record.start, record.start.game.adapter.format_move
    return "".join(format_move(move, ply % 2) for ply, move in enumerate(record.moves, start.side) if move != PASS)


def parse_transcript(text: str, start: Position | None = None) -> Record:
    """Parse a transcript; error messages quote an invalid move and give its number."""
    start = start or Position.start()
    names, rest = split_transcript(text, start.game)
    record, error = play_names(names, start)
    if error:
        raise error
    if rest:
        word = rest.split()[0][:MAX_QUOTED_CHARS]
        raise NotationError(f"move {len(record.moves) + 1}: {word!r} is not a move: {MOVES_ADVICE}")
    return record


def split_transcript(text: str, game: Game) -> tuple[list[str], str]:
    """Return the names of the moves with which a text begins, and the rest of the text."""
    token = re.compile(SEPARATOR_PATTERN + MOVE_PATTERNS[game.family].join("()"))
    names, at = [], 0
    while match := token.match(text, at):
        names.append("".join(match[1].split()))
        at = match.end()
    return names, text[at:].lstrip(" \t\r\n.,;")


def play_names(names: Iterable[str], start: Position) -> tuple[Record, AwelloError | None]:
    """Play moves by name up to the first illegal one; return the game and the error for that move, if any."""
    position, moves = start, []
    for name in names:
        if position.legal_moves() == (PASS,) and name.lower() not in PASS_NAMES:
            moves.append(PASS)
            position = position.after(PASS)
        try:
            if not position.over and start.game.adapter.side_of_move(name) not in (None, position.side):
                legal = join_choices(map(position.format_move, position.legal_moves()))
                raise NotationError(f"{name} is not a pit of {position.side_name}, who is to move: choose {legal}")
            moves.append(position.parse_move(name))
        except AwelloError as error:
            number = len(moves) + 1
            located_error = type(error)(f"move {number}: {error}", IllegalMoveError.code, number=number, move=name)
            return Record(start, tuple(moves)), located_error
        position = position.after(moves[-1])
    return Record(start, tuple(moves)), None
