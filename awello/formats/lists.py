"""Lists of games, one transcript a line, perhaps with a result and a note behind: `f5d6c3d3 -12 Ann - Bob`.

A position may stand before the moves, an OBF board or an Awalé diagram; else the game begins as usual.  `#` starts a
comment.  A comment that is the name of a game, such as `# othello6` or `# romein`, says what the lines below are; else
they are Othello on 8x8 or, if the moves are letters alone, abapa.

The number behind the moves is kept as the tag `Difference` and the rest of the line as `Note`.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import takewhile

from awello.errors import AwelloError, NotationError
from awello.formats.reading import LONGEST, Reading, gone_on, lines_of, squares_named
from awello.formats.transcript import follow, format_transcript, split_transcript
from awello.position import Position, format_position, parse_position
from awello.record import Record, put_back_passes
from awello.rules.game import PASS, USUAL, Game

GAMES = {str(game): game for game in Game}
TOGETHER = re.compile(r"(?:[a-h][1-8])+", re.A)
BOARD = re.compile(r"([-.*XxOoBbWw]{16}|[-.*XxOoBbWw]{36}|[-.*XxOoBbWw]{64})\s+[*XxOoBbWw](?!\S)", re.A)
DIAGRAM = re.compile(r"[0-9]{1,3}(?:-[0-9]{1,3}){13}-[SNsn](?!\S)", re.A)
NUMBERED = r"(?:[0-9]{1,3}\.+)?"
MOVES = {
    "othello": re.compile(rf"{NUMBERED}(?:[a-h][1-8]|--|pass|pa|ps)+|[0-9]{{1,3}}\.+", re.A | re.I),
    "awale": re.compile(rf"{NUMBERED}[A-Fa-f]+|[0-9]{{1,3}}\.+", re.A),
}
LETTERS = re.compile(r"(?:[0-9]{1,3}\.+\s*)?[A-Fa-f]+(?!\S)", re.A)  # how a game of Awalé begins
DIFFERENCE = re.compile(r"[+-]?[0-9]{1,2}", re.A)


# ---- reading --------------------------------------------------------------------------------------------------------
def read_transcripts(content: str, game: Game = Game.OTHELLO) -> Reading:
    """The games of a list; those from the usual start are of the game given, unless a line says otherwise."""
    for number, line in enumerate(lines_of(content), 1):
        text, _, comment = line[:LONGEST].partition("#")
        if not (words := text.split()):
            game = GAMES.get(comment.strip(), game)
            continue
        try:
            record, beyond = (_fast(words), "") if _is_usual(words, game) else _read_line(text.strip(), game)
            yield record
            if beyond:
                yield NotationError(f"line {number}: {beyond}")
        except AwelloError as error:
            yield NotationError(f"line {number}: {error}")


def _is_usual(words: list[str], game: Game) -> bool:
    """Whether a line is nothing but moves written together and a result, as in most lists."""
    plain = len(words) == 1 or DIFFERENCE.fullmatch(words[1])
    return game is Game.OTHELLO and plain is not None and TOGETHER.fullmatch(words[0]) is not None


def _fast(words: list[str]) -> Record:
    moves, start = words[0], Position.start()
    return Record(start, put_back_passes(start, squares_named(moves[::2], moves[1::2])), tags=_tags(words[1:]))


def _read_line(text: str, game: Game) -> tuple[Record, str]:
    """The game of a line in any form, and what is wrong if moves follow its end."""
    start, rest = _start(text, game)
    words = rest.split()
    moves = list(takewhile(MOVES[start.game.family].fullmatch, words))
    if not moves and rest == text:
        raise NotationError(f"expected moves such as f5d6c3 or FfBe, found {text[:24]!r}")
    record, error = follow(split_transcript(" ".join(moves), start.game)[0], start)
    if error and not record.final.over:
        raise error
    return Record(start, record.moves, tags=_tags(words[len(moves) :])), gone_on(record) if error else ""


def _start(text: str, game: Game) -> tuple[Position, str]:
    """Where the game of a line begins, and what stands behind it."""
    if board := BOARD.match(text):
        return parse_position(board[0]), text[board.end() :]
    diagram, letters = DIAGRAM.match(text), LETTERS.match(text)
    family = "awale" if diagram or letters else "othello"
    if game.family != family:
        game = USUAL[family]
    return (parse_position(diagram[0], game), text[diagram.end() :]) if diagram else (Position.start(game), text)


def _tags(words: list[str]) -> dict[str, str]:
    """What stands behind the moves."""
    difference = {"Difference": words[0]} if words and DIFFERENCE.fullmatch(words[0]) else {}
    note = " ".join(words[len(difference) :])
    return difference | {"Note": note} if note else difference


# ---- writing --------------------------------------------------------------------------------------------------------
def write_transcripts(records: Iterable[Record]) -> Iterator[str]:
    """Games as lines of a list; a line before them names the game where it changes."""
    game = Game.OTHELLO
    for record in records:
        line = _format_line(record)
        if record.start.game != game:
            game = record.start.game
            yield f"# {game}\n"
        yield f"{line}\n"


def _format_line(record: Record) -> str:
    """A game in a line; passes are left out but for one at the very end."""
    start, moves = record.start, record.moves
    given = "" if moves and start == Position.start(start.game) else format_position(start)
    passing = "--" if moves[-1:] == (PASS,) else ""
    return " ".join(filter(None, (given, format_transcript(record) + passing, _behind(record))))


def _behind(record: Record) -> str:
    """What stands behind the moves; it must be what a reader takes it for."""
    kept = {tag: record.tags[tag] for tag in ("Difference", "Note") if tag in record.tags}
    text = " ".join(kept.values())
    is_moves = text and MOVES[record.start.game.family].fullmatch(text.split(maxsplit=1)[0])
    if is_moves or "#" in text or len(text) > LONGEST // 2 or _tags(text.split()) != kept:
        raise NotationError(f"a list holds a difference and a note in one line, neither like moves, not {text[:40]!r}")
    return text
