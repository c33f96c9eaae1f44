r"""OGN, the Oware Game Notation of Aualé: a PGN-like format for Awalé.

A game starts with tags such as `[South "Ann"]`.  The moves follow, such as `1. C d 2. E+3 f`: upper-case letters are
South's pits, lower-case letters are North's, and `+3` means that the move captures three seeds.  The result comes last:
the seeds of both sides, such as `26-22`; `1-0` or `0-1` after a resignation, a forfeit or a loss on time; or `*` for an
unfinished game.  The tag `FEN` contains a non-standard start position.  The tag value `?` means unknown.

A comment such as `{[%eval 2.5] [%emt 0.8]}` gives the value of the preceding move, in seeds from the mover's view, and
its time in seconds.  Other comments, variations in parentheses and annotations such as `!` are skipped.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from textwrap import fill

from awello.errors import AwelloError, NotationError, join_choices
from awello.formats.common import (
    MAX_GAME_CHARS,
    DamagedFileError,
    ReadResults,
    describe_extra_moves,
    format_loss,
    format_number,
    keep_if_any_known,
    make_damage_error,
    parse_loss,
    parse_number,
    read_first_game,
)
from awello.position import Position, format_position, parse_position
from awello.record import Record
from awello.rules.game import GAMES_BY_VARIANT, Game

ROSTER_TAGS = ("Event", "Site", "Date", "Round", "South", "North")
RESERVED_TAGS = ("Variant", "FEN", "Lost")  # a record stores these outside its tags
VARIANT_ALIASES = {"oware": Game.ABAPA, "awale": Game.ABAPA, "awalé": Game.ABAPA, "awari": Game.ROMEIN}
MAX_LINE_CHARS = 79  # the maximum length of a line of moves

TAG_LINE_PATTERN = re.compile(r"^[ \t]*\[[ \t]*[A-Za-z_]", re.M)
TAG_PATTERN = re.compile(r'\s*\[\s*([A-Za-z_]\w*)\s+"([^"\\\n]*(?:\\[^\n][^"\\\n]*)*)"\s*\]', re.A)
RESULT_PATTERN = re.compile(r"\*|[0-9]{1,2}(?:/2)?-[0-9]{1,2}(?:/2)?", re.A)
TOKEN_PATTERN = re.compile(
    r"(?P<move>[A-Fa-f])(?:\+(?P<captured>[0-9]{1,2}))?(?!\w)"
    rf"|(?P<result>{RESULT_PATTERN.pattern})(?!\S)|(?P<comment>\{{[^}}]*\}})|(?P<variation>\()"
    r"|[0-9]{1,9}\.+|\.+|;[^\n]*|[!?]+|\$[0-9]{1,9}",  # move numbers, comments up to the end of the line, annotations
    re.A,
)
WHITESPACE_PATTERN = re.compile(r"\s*")
COMMENT_OR_BRACKET_PATTERN = re.compile(r"\{[^}]*|[()]")
ANNOTATION_PATTERN = re.compile(r"\[%(eval|emt)\s+([^\s\]]+)\]")


# ---- reading --------------------------------------------------------------------------------------------------------
def parse_ogn(text: str) -> Record:
    """Parse the first game of a text."""
    return read_first_game(read_ogn(text))


def read_ogn(content: str) -> ReadResults:
    """Read the games of a text; a tag line after the moves of a game begins the next game."""
    line = 1
    for start, end in pairwise([*_find_game_starts(content), len(content)]):
        if text := content[start : min(end, start + MAX_GAME_CHARS)].rstrip():
            yield from _read_game(text, line)
        line += content.count("\n", start, end)


def _find_game_starts(content: str) -> Iterator[int]:
    """Yield the offsets at which games begin."""
    yield 0
    end = 0
    for tag in TAG_LINE_PATTERN.finditer(content):
        if content[end : tag.start()].strip():
            yield tag.start()
        end = content.find("\n", tag.end())
        if end < 0:
            return


def _read_game(text: str, line: int) -> ReadResults:
    """Read a game that begins at line `line`; moves after its end are dropped and reported as an error."""
    try:
        tags, at = _read_tags(text, line)
        game = _parse_variant(tags.pop("Variant", "abapa"))
        start = parse_position(tags.pop("FEN"), game) if "FEN" in tags else Position.start(game)
        loser, reason = parse_loss(tags.pop("Lost", ""), game)
        record, result, extra_moves = _read_moves(text, at, line, start)
        stated = tags.pop("Result", "*")
        kept = {tag: value for tag, value in tags.items() if value != "?" or tag not in ROSTER_TAGS}
        record = Record(start, record.moves, record.seconds, record.values, kept, loser, reason)
        if (stated_result := result if stated in ("*", "?") else stated) not in ("*", _format_result(record)):
            kept["Result"] = stated_result
        yield record
        if extra_moves:
            yield extra_moves
    except DamagedFileError as error:
        yield error
    except AwelloError as error:
        yield NotationError(f"line {line}: {error}")


def _read_tags(text: str, line: int) -> tuple[dict[str, str], int]:
    """Read the tags at the beginning of a text; return them and the offset of their end."""
    tags, at = {}, 0
    while match := TAG_PATTERN.match(text, at):
        tags[match[1]] = re.sub(r'\\(["\\])', r"\1", match[2])
        at = match.end()
    end = _skip_space(text, at)
    if text[end : end + 1] == "[":
        raise make_damage_error(
            _format_line_number(text, end, line), 'a tag such as [South "Ann"]', text[end:].partition("\n")[0]
        )
    return tags, at


def _parse_variant(name: str) -> Game:
    """Look up a variant by name, ignoring case."""
    games = {**{str(variant): game for variant, game in GAMES_BY_VARIANT.items()}, **VARIANT_ALIASES}
    if name.strip().lower() not in games:
        raise NotationError(f"expected a variant ({join_choices(GAMES_BY_VARIANT)}), found {name[:24]!r}")
    return games[name.strip().lower()]


def _read_moves(text: str, at: int, line: int, start: Position) -> tuple[Record, str, DamagedFileError | None]:
    """Read the moves with values and times; return the game, its result, and an error if moves follow its end."""
    position, moves, result, extra_moves = start, list[int](), "", None
    numbers: dict[str, list[float | None]] = {"eval": [], "emt": []}
    while (at := _skip_space(text, at)) < len(text):
        token = TOKEN_PATTERN.match(text, at)
        if result or not token:
            expected = "the end of the game" if result else "a move such as C or d+3, or a result"
            raise make_damage_error(_format_line_number(text, at, line), expected, text[at:])
        if token["move"] and position.over:
            extra_moves = extra_moves or DamagedFileError(
                f"{_format_line_number(text, at, line)}: {describe_extra_moves(Record(start, tuple(moves)))}"
            )
        elif token["move"]:
            try:
                move = _parse_move(token, position)
            except AwelloError as error:
                raise DamagedFileError(
                    f"{_format_line_number(text, at, line)}: move {len(moves) + 1}: {error}"
                ) from None
            position = position.after(move)
            moves.append(move)
            for kept in numbers.values():
                kept.append(None)
        elif token["comment"] and moves and not extra_moves:
            for kind, number in ANNOTATION_PATTERN.findall(token["comment"]):
                numbers[kind][-1] = parse_number(number)
        result = token["result"] or ""
        at = _find_variation_end(text, at, line) if token["variation"] else token.end()
    return (
        Record(start, tuple(moves), keep_if_any_known(numbers["emt"]), keep_if_any_known(numbers["eval"])),
        result or "*",
        extra_moves,
    )


def _format_line_number(text: str, at: int, first: int) -> str:
    """Return text such as `line 12` for the line at an offset; `first` is the number of the text's first line."""
    return f"line {first + text.count(chr(10), 0, at)}"


def _skip_space(text: str, at: int) -> int:
    return at + len(WHITESPACE_PATTERN.match(text, at)[0])  # type: ignore[index]


def _parse_move(token: re.Match[str], position: Position) -> int:
    """Parse a legal move and verify the number of captured seeds."""
    name, side = token["move"], position.side
    if position.game.adapter.side_of_move(name) != side:
        raise NotationError(f"expected a pit of {position.side_name}, found {name}")
    move = position.parse_move(name)
    if token["captured"]:
        after, before = position.after(move), position.own >> 48
        captured = after.opp >> 48
        possible = {
            captured - before,
            after.counts()[side] - before,
        }  # some programs also count the seeds gained at the end of the game
        if int(token["captured"]) not in possible:
            raise NotationError(f"expected {name}+{captured - before}, found {token[0]}")
    return move


def _find_variation_end(text: str, at: int, line: int) -> int:
    """Return the offset after the variation that begins at `at`."""
    depth = 0
    for bracket in COMMENT_OR_BRACKET_PATTERN.finditer(text, at):
        depth += {"(": 1, ")": -1}.get(bracket[0], 0)
        if not depth:
            return bracket.end()
    raise make_damage_error(_format_line_number(text, at, line), "a ) at the end of the variation", "")


# ---- writing --------------------------------------------------------------------------------------------------------
def write_ogn(records: Iterable[Record]) -> Iterator[str]:
    """Format games, separated by empty lines."""
    for number, record in enumerate(records):
        yield "\n" * (number > 0) + format_ogn(record)


def format_ogn(record: Record) -> str:
    """Format a game of Awalé: tags, an empty line, moves."""
    game, start = record.start.game, record.start
    if game.family != "awale":
        raise NotationError(
            "OGN stores only games of Awalé, not of Othello: omit the game, or write GGF or transcripts"
        )
    if wrong := [tag for tag in record.tags if tag in RESERVED_TAGS or not re.fullmatch(r"[A-Za-z_]\w*", tag, re.A)]:
        raise NotationError(
            f"OGN cannot store a tag named {wrong[0]!r}: choose another name, which must start with a letter or _ and "
            "contain only letters, digits and _"
        )
    result = record.tags.get("Result") or _format_result(record)
    tags = {"Variant": str(game).capitalize()} | dict.fromkeys(ROSTER_TAGS, "?") | {"Result": result}
    if start != Position.start(game):
        tags["FEN"] = format_position(start)
    if record.loser is not None:
        tags["Lost"] = format_loss(record)
    lines = [f'[{tag} "{_escape(value)}"]\n' for tag, value in (tags | dict(record.tags)).items()]
    words = " ".join([*_format_moves(record), result if RESULT_PATTERN.fullmatch(result) else "*"])
    return "".join([*lines, "\n", fill(words, MAX_LINE_CHARS, break_long_words=False, break_on_hyphens=False), "\n"])


def _escape(value: str) -> str:
    if "\n" in value or "\r" in value:
        raise NotationError(f"OGN cannot store the tag value {value[:40]!r}: put it on one line")
    return re.sub(r'(["\\])', r"\\\1", value)


def _format_moves(record: Record) -> Iterator[str]:
    rows = zip(pairwise(record.positions()), record.annotated_moves(), strict=True)
    for ply, ((before, after), (move, value, seconds)) in enumerate(rows):
        if ply % 2 == 0:
            yield f"{ply // 2 + 1}."
        captured = (after.opp >> 48) - (before.own >> 48)
        yield before.format_move(move) + (f"+{captured}" if captured else "")
        pairs = (("eval", value), ("emt", seconds))
        if annotations := [f"[%{kind} {format_number(number)}]" for kind, number in pairs if number is not None]:
            yield f"{{{' '.join(annotations)}}}"


def _format_result(record: Record) -> str:
    """Format the result: seeds such as `26-22`; `1-0` or `0-1` if the record has a `loser`; `*` if unfinished."""
    if record.loser is not None:
        return ("0-1", "1-0")[record.loser]
    return "-".join(map(str, record.final.score())) if record.final.over else "*"
