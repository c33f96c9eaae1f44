"""Transcripts: the moves of a game written together, `f5d6c3` or `FfBeBc`.

Othello's passes are usually left out; they are put back where the rules demand one.  Case, spaces and move
numbers do not matter when reading Othello; in Awalé capital letters are South's pits and small ones North's.
"""

import re

from awello.errors import AwelloError, NotationError
from awello.position import Position
from awello.record import Record
from awello.rules.game import PASS, Game

OTHELLO_MOVE = r"[a-hA-H]\s?[1-8]|--|(?i:pass|pa|ps)"
AWALE_MOVE = r"[a-fA-F]"
PASSES = re.compile(r"--|pass|pa|ps", re.I)
FILLER = r"(?:\d+\s*\.+|[\s,;])*"  # move numbers and what stands between moves


def format_transcript(record: Record) -> str:
    """The moves of a record written together, without passes."""
    pairs = zip(record.positions(), record.moves, strict=False)
    return "".join(position.format_move(move) for position, move in pairs if move != PASS)


def parse_transcript(text: str, start: Position | None = None) -> Record:
    """The record of a transcript; an error names the move that is wrong and its number."""
    start = position = start or Position.start()
    token = re.compile(FILLER + (AWALE_MOVE if start.game >= Game.ABAPA else OTHELLO_MOVE).join("()"))
    moves: list[int] = []
    at = 0
    while rest := text[at:].lstrip(" \t\r\n.,;"):
        match = token.match(text, at)
        if not match:
            raise NotationError(f"move {len(moves) + 1} of the transcript, {rest[:8]!r}, is no move")
        name, at = "".join(match[1].split()), match.end()
        if position.legal_moves() == (PASS,) and not PASSES.fullmatch(name):
            moves.append(PASS)
            position = position.after(PASS)
        _check_side(name, position, len(moves) + 1)
        try:
            move = position.parse_move(name)
        except AwelloError as error:
            raise type(error)(f"move {len(moves) + 1} of the transcript: {error}") from None
        moves.append(move)
        position = position.after(move)
    return Record(start, tuple(moves))


def _check_side(name: str, position: Position, number: int) -> None:
    """Awalé's letters say whose pit it is."""
    if position.game >= Game.ABAPA and name.isupper() == bool(position.side):
        raise NotationError(f"move {number} of the transcript: {name} is not a pit of {position.mover}, who is to move")
