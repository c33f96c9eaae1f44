"""Lists of transcripts: one game per line, optionally with a result and a note, such as `f5d6c3d3 -12 Ann - Bob`.

The moves may be preceded by a start position: an OBF board or an Awalé diagram.  `#` starts a comment.  A line
such as `# othello6` or `# romein` sets the rules for the lines below it; the default is Othello on 8x8 or, if the moves
are single letters, abapa.

The number after the moves is kept as the tag `Difference`, the rest of the line as `Note`.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import takewhile

from awello.errors import AwelloError, NotationError
from awello.formats.common import MAX_GAME_CHARS, ReadResults, describe_extra_moves, iter_lines, parse_squares
from awello.formats.transcript import format_transcript, play_names, split_transcript
from awello.position import Position, format_position, parse_position
from awello.record import Record, restore_passes
from awello.rules.game import DEFAULT_BY_FAMILY, PASS, Game

GAMES_BY_NAME = {str(game): game for game in Game}
SQUARES_PATTERN = re.compile(r"(?:[a-h][1-8])+", re.A)
BOARD_PATTERN = re.compile(r"([-.*XxOoBbWw]{16}|[-.*XxOoBbWw]{36}|[-.*XxOoBbWw]{64})\s+[*XxOoBbWw](?!\S)", re.A)
DIAGRAM_PATTERN = re.compile(r"[0-9]{1,3}(?:-[0-9]{1,3}){13}-[SNsn](?!\S)", re.A)
MOVE_NUMBER_PATTERN = r"(?:[0-9]{1,3}\.+)?"
MOVES_PATTERNS = {
    "othello": re.compile(rf"{MOVE_NUMBER_PATTERN}(?:[a-h][1-8]|--|pass|pa|ps)+|[0-9]{{1,3}}\.+", re.A | re.I),
    "awale": re.compile(rf"{MOVE_NUMBER_PATTERN}[A-Fa-f]+|[0-9]{{1,3}}\.+", re.A),
}
AWALE_START_PATTERN = re.compile(r"(?:[0-9]{1,3}\.+\s*)?[A-Fa-f]+(?!\S)", re.A)  # the beginning of a game of Awalé
DIFFERENCE_PATTERN = re.compile(r"[+-]?[0-9]{1,2}", re.A)


# ---- reading --------------------------------------------------------------------------------------------------------
def read_transcripts(content: str, game: Game = Game.OTHELLO) -> ReadResults:
    """Read the games of a list; `game` is the default until a line such as `# romein` changes it."""
    for number, line in enumerate(iter_lines(content), 1):
        text, _, comment = line[:MAX_GAME_CHARS].partition("#")
        if not (words := text.split()):
            game = GAMES_BY_NAME.get(comment.strip(), game)
            continue
        try:
            record, error = (
                (_read_simple_line(words), "") if _is_simple_line(words, game) else _read_line(text.strip(), game)
            )
            yield record
            if error:
                yield NotationError(f"line {number}: {error}")
        except AwelloError as error:
            yield NotationError(f"line {number}: {error}")


def _is_simple_line(words: list[str], game: Game) -> bool:
    """Return whether a line has the usual form: 8x8 Othello moves without spaces, alone or followed by a result."""
    is_suffix_simple = len(words) == 1 or DIFFERENCE_PATTERN.fullmatch(words[1])
    return game is Game.OTHELLO and is_suffix_simple is not None and SQUARES_PATTERN.fullmatch(words[0]) is not None


def _read_simple_line(words: list[str]) -> Record:
    moves, start = words[0], Position.start()
    return Record(start, restore_passes(start, parse_squares(moves[::2], moves[1::2])), tags=_parse_tags(words[1:]))


def _read_line(text: str, game: Game) -> tuple[Record, str]:
    """Read a line in any form; return the game, and an error message if moves follow its end."""
    start, rest = _parse_start(text, game)
    words = rest.split()
    moves = list(takewhile(MOVES_PATTERNS[start.game.family].fullmatch, words))
    if not moves and rest == text:
        raise NotationError(f"expected moves such as f5d6c3 or FfBe, found {text[:24]!r}")
    record, error = play_names(split_transcript(" ".join(moves), start.game)[0], start)
    if error and not record.final.over:
        raise error
    return Record(start, record.moves, tags=_parse_tags(words[len(moves) :])), describe_extra_moves(
        record
    ) if error else ""


def _parse_start(text: str, game: Game) -> tuple[Position, str]:
    """Parse the start position of a line; return it and the rest of the line."""
    if board := BOARD_PATTERN.match(text):
        return parse_position(board[0]), text[board.end() :]
    diagram, letters = DIAGRAM_PATTERN.match(text), AWALE_START_PATTERN.match(text)
    family = "awale" if diagram or letters else "othello"
    if game.family != family:
        game = DEFAULT_BY_FAMILY[family]
    return (parse_position(diagram[0], game), text[diagram.end() :]) if diagram else (Position.start(game), text)


def _parse_tags(words: list[str]) -> dict[str, str]:
    """Parse the words after the moves into the tags `Difference` and `Note`."""
    difference = {"Difference": words[0]} if words and DIFFERENCE_PATTERN.fullmatch(words[0]) else {}
    note = " ".join(words[len(difference) :])
    return difference | {"Note": note} if note else difference


# ---- writing --------------------------------------------------------------------------------------------------------
def write_transcripts(records: Iterable[Record]) -> Iterator[str]:
    """Format games as lines of a list, with a comment such as `# othello6` wherever the rules change."""
    game = Game.OTHELLO
    for record in records:
        line = _format_line(record)
        if record.start.game != game:
            game = record.start.game
            yield f"# {game}\n"
        yield f"{line}\n"


def _format_line(record: Record) -> str:
    """Format a game as a line; passes are omitted, except at the very end."""
    start, moves = record.start, record.moves
    prefix = "" if moves and start == Position.start(start.game) else format_position(start)
    final_pass = "--" if moves[-1:] == (PASS,) else ""
    return " ".join(filter(None, (prefix, format_transcript(record) + final_pass, _format_suffix(record))))


def _format_suffix(record: Record) -> str:
    """Format the difference and the note; raise `NotationError` if reading them back would give other tags."""
    kept = {tag: record.tags[tag] for tag in ("Difference", "Note") if tag in record.tags}
    text = " ".join(kept.values())
    is_moves = text and MOVES_PATTERNS[record.start.game.family].fullmatch(text.split(maxsplit=1)[0])
    if is_moves or "#" in text or len(text) > MAX_GAME_CHARS // 2 or _parse_tags(text.split()) != kept:
        raise NotationError(
            f"a transcript list cannot store {text[:40]!r} after the moves: give a score difference of one or two "
            "digits and a short one-line note that has no # or repeated spaces and does not start with a move or a "
            "number"
        )
    return text
