"""Logistello's logbook: one game of Othello per line, `+d3-c3+c4...: -04 10`.

`+` marks Black's moves and `-` White's, so a repeated sign implies a pass.  After the moves come Black's discs minus
White's, not counting empty squares, and a number used by Logistello.  The difference and the number become the tags
`Difference` and `Note`.  `#` starts a comment.  Only games from the standard start position on 8x8 can be written.
"""

import re
from collections.abc import Iterable, Iterator

from awello.errors import AwelloError, NotationError
from awello.formats.common import ReadResults, check_standard_othello, iter_lines, make_damage_error, parse_squares
from awello.position import Position
from awello.record import Record, restore_passes
from awello.rules.game import PASS
from awello.rules.othello import format_square

LOGBOOK_LINE_PATTERN = re.compile(r"((?:[+-][a-h][1-8])*):[ \t]*([+-]?[0-9]{1,2})(?:[ \t]+(\S.*))?", re.A)
SQUARE_NAMES = [format_square(square, 8) for square in range(64)]
ALTERNATING_SIGNS = "+-" * 60  # signs of the plies, passes included


def read_logbook(content: str) -> ReadResults:
    """Read the games of a logbook."""
    start = Position.start()
    for number, line in enumerate(iter_lines(content), 1):
        text = line.strip()
        if not text or text[0] == "#":
            continue
        match = LOGBOOK_LINE_PATTERN.fullmatch(text)
        if not match:
            yield make_damage_error(f"line {number}", "moves and a disc difference, such as '+d3-c3: -04'", text)
            continue
        moves, difference, note = match.groups()
        try:
            restored = restore_passes(start, parse_squares(moves[1::3], moves[2::3]))
            _check_signs(moves[::3], restored)
        except AwelloError as error:
            yield NotationError(f"line {number}: {error}")
            continue
        yield Record(start, restored, tags={"Difference": difference} | ({"Note": note} if note else {}))


def _check_signs(signs: str, moves: tuple[int, ...]) -> None:
    """Raise `NotationError` if a move has the sign of the wrong side."""
    if signs == ALTERNATING_SIGNS[: len(moves)]:
        return
    expected = "".join(sign for sign, move in zip(ALTERNATING_SIGNS, moves, strict=False) if move != PASS)
    for number, (sign, found) in enumerate(zip(expected, signs, strict=True), 1):
        if sign != found:
            raise NotationError(f"move {number}: expected {sign} for {('Black', 'White')[sign == '-']}, found {found}")


def write_logbook(records: Iterable[Record]) -> Iterator[str]:
    """Format games as lines of a logbook."""
    for record in records:
        check_standard_othello(record, "a logbook")
        difference = record.tags.get("Difference")
        if difference is None:
            black, white = record.final.counts()
            difference = f"{black - white:+03d}"
        signed = zip(ALTERNATING_SIGNS, record.moves, strict=False)
        moves = "".join(f"{sign}{SQUARE_NAMES[move]}" for sign, move in signed if move != PASS)
        line = f"{moves}: {difference} {record.tags.get('Note', '')}".rstrip()
        match = LOGBOOK_LINE_PATTERN.fullmatch(line)
        if not match or (match[2], match[3]) != (difference, record.tags.get("Note")):
            raise NotationError(
                f"a logbook stores a disc difference and a one-line note, not {line[len(moves) :]!r}: "
                "correct the tags Difference and Note"
            )
        yield f"{line}\n"
