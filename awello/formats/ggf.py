r"""GGF, the Generic Game Format for Othello, used by the Generic Game Server and NBoard.

A game is `(;TAG[value]...;)`: the players (`PB`, `PW`), site and date (`PC`, `DT`), the starting board (`BO`), the
result (`RE`) and the moves as `B[f5/value/seconds]`, where unknown parts are empty.  A number before a game counts the
games that belong together: `2` marks a synchro pair, which consists of two games.  Values are in discs, from the
mover's view.  Text around the games is skipped.  `(;` always begins a game; inside `[...]`, `]`, `\` and the `;` of
`(;` are escaped with `\`.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from itertools import pairwise

from awello.errors import AwelloError, NotationError
from awello.formats.common import (
    MAX_GAME_CHARS,
    DamagedFileError,
    ReadResults,
    format_loss,
    format_number,
    keep_if_any_known,
    make_damage_error,
    parse_loss,
    parse_number,
    read_first_game,
)
from awello.position import Position, format_position, parse_position
from awello.record import Record, restore_passes
from awello.rules.game import GAMES_BY_SIZE, PASS, Game
from awello.rules.othello import PASS_NAMES, format_square, squares_of

TAG_NAMES = {"PC": "Site", "DT": "Date", "EV": "Event", "RO": "Round", "PB": "Black", "PW": "White"}
GGF_TAGS = {name: tag for tag, name in TAG_NAMES.items()}
# A record stores these outside its tags, or as tags with other names.
RESERVED_TAGS = {*TAG_NAMES, "GM", "BO", "B", "W", "Lost"}
PAIR_TAG = "Synchro"
LOSS_FLAGS = {"r": "resigned", "t": "ran out of time"}

GAME_START_PATTERN = re.compile(r"\(;")
PAIR_NUMBER_PATTERN = re.compile(r"\b([0-9]{1,3})\s{0,8}\Z")
TAG_PATTERN = re.compile(r"[\s;]*([A-Za-z][A-Za-z0-9]*)\s*\[([^\]\\]*(?:\\.[^\]\\]*)*)\]", re.S)
GAME_END_PATTERN = re.compile(r"[\s;]*;\s*\)")
ESCAPED_PATTERN = re.compile(r"\\([\]\\;])")
RESULT_PATTERN = re.compile(r"\s*([+-]?[0-9]{1,3}(?:\.[0-9]{0,9})?)\s*(?::\s*([a-z]?))?\s*", re.A)

GgfMove = tuple[int, int, float | None, float | None]  # side, move, value, seconds


# ---- reading --------------------------------------------------------------------------------------------------------
def parse_ggf(text: str) -> Record:
    """Parse the first game of a text."""
    return read_first_game(read_ggf(text))


def read_ggf(content: str) -> ReadResults:
    """Read the games of a text; the two games of a synchro pair follow each other."""
    line, counted_to, game_of_pair = 1, 0, 0
    starts = [match.start() for match in GAME_START_PATTERN.finditer(content)]
    for start, end in pairwise([*starts, len(content)]):
        line, counted_to = line + content.count("\n", counted_to, start), start
        if number := PAIR_NUMBER_PATTERN.search(content[max(0, start - 12) : start]):
            game_of_pair = 1 if number[1] == "2" else 0
        yield _read_game(content[start : min(end, start + MAX_GAME_CHARS)], line, game_of_pair)
        game_of_pair = 2 if game_of_pair == 1 else 0


def _read_game(text: str, line: int, game_of_pair: int) -> Record | NotationError:
    """Read the game at the start of a text."""
    try:
        fields, moves = _parse_fields(text, line)
        if game_of_pair:
            fields[PAIR_TAG] = str(game_of_pair)
        return _build_record(fields, moves)
    except DamagedFileError as error:
        return error
    except AwelloError as error:
        return NotationError(f"line {line}: {error}")


def _parse_fields(text: str, line: int) -> tuple[dict[str, str], list[tuple[str, str, int]]]:
    """Parse a game; return its tags, and the side, text and line number of each move."""
    fields: dict[str, str] = {}
    moves: list[tuple[str, str, int]] = []
    at = counted_to = text.index(";") + 1
    while match := TAG_PATTERN.match(text, at):
        name, value = match[1], ESCAPED_PATTERN.sub(r"\1", match[2])
        line, counted_to = line + text.count("\n", counted_to, match.end()), match.end()
        if name in ("B", "W"):
            moves.append((name, value, line))
        else:
            fields[name] = f"{fields[name]}\n{value}" if name in fields else value
        at = match.end()
    if not GAME_END_PATTERN.match(text, at):
        rest = text[at:].strip()
        line += text.count("\n", counted_to, text.find(rest[:1], at))
        raise make_damage_error(f"line {line}", "a tag such as PB[name], or ;) at the end", rest)
    return fields, moves


def _build_record(fields: dict[str, str], given_moves: list[tuple[str, str, int]]) -> Record:
    """Build a record from the tags and moves of a game."""
    if fields.pop("GM", "Othello").strip().lower() != "othello":
        raise NotationError("expected GM[Othello], found another game")
    start = _parse_start(fields.pop("BO", None), fields.get("TY", ""))
    size = str(start.game.size)
    if fields.get("TY") == size:
        del fields["TY"]
    moves = _restore_passes(start, [_parse_move(side, text, size, line) for side, text, line in given_moves])
    result, lost = fields.pop("RE", ""), fields.pop("Lost", None)
    loser, reason = _parse_result_loss(result) if lost is None else parse_loss(lost, start.game)
    tags = {TAG_NAMES.get(tag, tag): value for tag, value in fields.items()}
    numbers = keep_if_any_known(move[3] for move in moves), keep_if_any_known(move[2] for move in moves)
    record = Record(start, tuple(move[1] for move in moves), *numbers, tags, loser, reason)
    if result and _normalise_result(result) != _normalise_result(_format_result(record)):
        tags["RE"] = result
    return record


def _parse_start(board: str | None, kind: str) -> Position:
    """Parse the starting board; without one, return the standard start for the board size in the game type `kind`."""
    if board is None:
        size = re.match(r"s?([0-9]{1,3})", kind)
        return Position.start(_parse_size(size[1] if size else "8"))
    size_text, squares = [*board.split(maxsplit=1), "", ""][:2]
    return parse_position(squares, _parse_size(size_text))


def _parse_size(text: str) -> Game:
    game = GAMES_BY_SIZE.get(int(text)) if re.fullmatch(r"[0-9]{1,3}", text, re.A) else None
    if game is None:
        raise NotationError(f"expected a board of size 8, 6 or 4, found {text[:12]!r}")
    return game


@cache
def _map_names_to_moves(size: str) -> dict[str, int]:
    """Return a dictionary from names to moves (squares and passes) on a board of the given size."""
    squares = {format_square(square, int(size)): square for square in squares_of(int(size))}
    return squares | dict.fromkeys(PASS_NAMES, PASS)


def _parse_move(side: str, text: str, size: str, line: int) -> GgfMove:
    """Parse a move such as `f5/-2.00/1.5`."""
    name, *parts = (part.strip() for part in text.split("/"))
    move = _map_names_to_moves(size).get(name.lower())
    numbers = [parse_number(part) if part else None for part in parts]
    if (
        move is None
        or len(parts) > 2
        or any(number is None and part for number, part in zip(numbers, parts, strict=True))
    ):
        raise make_damage_error(
            f"line {line}", f"a move such as {side}[f5], {side}[f5/value/seconds] or {side}[PA]", text
        )
    value, seconds = [*numbers, None, None][:2]
    return "BW".index(side), move, value, seconds


def _restore_passes(start: Position, given_moves: list[GgfMove]) -> list[GgfMove]:
    """Insert missing passes; raise `NotationError` if a move is illegal or belongs to the wrong side."""
    moves, sides = tuple(move for _, move, _, _ in given_moves), [side for side, _, _, _ in given_moves]
    with suppress(AwelloError):  # fast path for regular games
        found = restore_passes(start, [move for move in moves if move != PASS])
        if found == moves and sides == [(start.side + ply) % 2 for ply in range(len(moves))]:
            return given_moves
    played, position = list[GgfMove](), start
    for ggf_move in given_moves:
        side, move, _, _ = ggf_move
        if position.over and move == PASS:
            break  # some programs write passes after the end of the game
        if position.legal_moves() == (PASS,) and move != PASS:
            played.append((position.side, PASS, None, None))
            position = position.after(PASS)
        if side != position.side:
            names = start.game.sides
            raise NotationError(
                f"move {len(played) + 1}: expected a move by {position.side_name}, found one by {names[side]}"
            )
        try:
            position = position.play(move)
        except AwelloError as error:
            raise NotationError(f"move {len(played) + 1}: {error}") from None
        played.append(ggf_move)
    return played


def _parse_result_loss(result: str) -> tuple[int | None, str]:
    """Parse the side that lost by resignation or on time, and the reason, from a result such as `-64.00:r`."""
    match = RESULT_PATTERN.fullmatch(result)
    if not match or match[2] not in LOSS_FLAGS or not float(match[1]):
        return None, ""
    return int(float(match[1]) > 0), LOSS_FLAGS[match[2]]


def _normalise_result(result: str) -> tuple[float, str] | str:
    match = RESULT_PATTERN.fullmatch(result)
    return (float(match[1]), match[2] or "") if match else result.strip()


# ---- writing --------------------------------------------------------------------------------------------------------
def write_ggf(records: Iterable[Record]) -> Iterator[str]:
    """Format games, one per line; a synchro pair is on one line."""
    first = ""
    for record in records:
        game_of_pair, text = record.tags.get(PAIR_TAG), format_ggf(record)
        if first and game_of_pair == "2":
            yield f"2 {first}{text}\n"
            first = ""
            continue
        if first:
            yield f"1 {first}\n"
        first = text if game_of_pair == "1" else ""
        if not first:
            yield f"1 {text}\n"
    if first:
        yield f"1 {first}\n"


def format_ggf(record: Record) -> str:
    """Format a game of Othello as `(;...;)`."""
    game = record.start.game
    if game.family != "othello":
        raise NotationError(
            f"GGF stores only games of Othello, not of {game}: omit the game, or write OGN or transcripts"
        )
    result = record.tags.get("RE") or _format_result(record)
    fields = {"GM": "Othello"} | {tag: record.tags[name] for tag, name in TAG_NAMES.items() if name in record.tags}
    for name, value in record.tags.items():
        if name in RESERVED_TAGS or not re.fullmatch(r"[A-Za-z][A-Za-z0-9]*", name, re.A):
            raise NotationError(
                f"GGF cannot store a tag named {name!r}: choose another name, which must start with a letter and "
                "contain only letters and digits"
            )
        if name not in GGF_TAGS and name != PAIR_TAG:
            fields[name] = value
    fields |= {"RE": result} | ({"TY": str(game.size)} if "TY" not in fields else {})
    if _parse_result_loss(result) != (record.loser, record.reason if record.loser is not None else ""):
        fields["Lost"] = format_loss(record)
    fields["BO"] = f"{game.size} {format_position(record.start).translate(str.maketrans('X', '*'))}"
    tags = "".join(f"{name}[{_escape(value)}]" for name, value in fields.items())
    return f"(;{tags}{''.join(_format_moves(record))};)"


def _format_moves(record: Record) -> Iterator[str]:
    names = {square: name.upper() for name, square in _map_names_to_moves(str(record.start.game.size)).items()} | {
        PASS: "PA"
    }
    for ply, (move, value, seconds) in enumerate(record.annotated_moves(), record.start.side):
        numbers = ["" if number is None else format_number(number) for number in (value, seconds)]
        yield f"{'BW'[ply % 2]}[{'/'.join([names[move], *numbers]).rstrip('/')}]"


def _escape(value: str) -> str:
    return re.sub(r"([\]\\]|(?<=\();)", r"\\\1", value)


def _format_result(record: Record) -> str:
    """Format the result of a record from Black's view."""
    max_score = record.start.game.max_score
    if record.loser is not None:
        flag = next((f":{flag}" for flag, reason in LOSS_FLAGS.items() if reason == record.reason), "")
        return f"{max_score if record.loser else -max_score:+d}.00{flag}"
    first, second = record.final.score()
    return f"{first - second:+d}.00" if record.final.over else "?"
