"""JSON Lines: one game per line, `{"game": "othello", "players": ["champion", "greedy"], "moves": "f5d6c3...", ...}`.

Matches, tournaments and self-play write their journals in this format.  The fields `game` (the rules) and `moves` (the
transcript) are required; `players`, `score`, `seconds`, `loser`, `reason` and `tags` are optional; other fields are
ignored.  Only games from the standard start position can be written.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from awello.errors import AwelloError, NotationError
from awello.formats.common import ReadResults
from awello.formats.transcript import format_transcript, parse_transcript
from awello.position import Position
from awello.record import Record
from awello.rules.game import PASS, Game


def build_record(
    game: str,
    moves: str,
    players: Sequence[str] = (),
    seconds: Sequence[float | None] = (),
    loser: int | None = None,
    reason: str = "",
    tags: Mapping[str, str] | None = None,
) -> Record:
    """Build a record from the fields of a line."""
    start = Position.start(Game(game))  # type: ignore[arg-type]  # a name
    played = parse_transcript(moves, start).moves
    if len(played) == len(seconds) - 1:  # the extra time is that of a final pass in an unfinished or forfeited game
        played = (*played, PASS)
    names = dict(zip(start.game.sides, players, strict=False))
    return Record(start, played, tuple(seconds), (), {**names, **(tags or {})}, loser, reason)


def read_jsonl(content: str) -> ReadResults:
    """Read the games of a journal."""
    for number, line in enumerate(content.splitlines(), 1):
        if line.strip():
            try:
                yield _read_line(line)
            except AwelloError as error:
                yield NotationError(f"line {number}: {error}")


def _read_line(line: str) -> Record:
    try:
        fields = json.loads(line)
        known = {name: fields[name] for name in ("players", "seconds", "loser", "reason", "tags") if name in fields}
        record = build_record(str(fields["game"]), str(fields["moves"]), **known)
    except (ValueError, TypeError, KeyError, RecursionError, AttributeError) as error:
        if isinstance(error, AwelloError):
            raise
        raise NotationError('expected a game as JSON, such as {"game": "othello", "moves": "f5d6"}') from None
    _check_types(record)
    return record


def _check_types(record: Record) -> None:
    """Raise `NotationError` if a field has the wrong type, or if `seconds` does not have one entry per move."""
    times = all(isinstance(spent, int | float) or spent is None for spent in record.seconds)
    texts = all(isinstance(text, str) for text in (*record.tags, *record.tags.values(), record.reason))
    if not (times and texts and record.loser in (None, 0, 1) and len(record.seconds) in (0, len(record.moves))):
        raise NotationError(
            "expected strings in 'tags' and 'reason', a number or null per move in 'seconds', and 0 or 1 as 'loser'"
        )


def write_jsonl(records: Iterable[Record]) -> Iterator[str]:
    """Format games as lines of a journal."""
    for record in records:
        game = record.start.game
        if record.start != Position.start(game):
            raise NotationError(
                f"JSONL stores only games from the standard start, not from {record.start!r}: omit the game"
            )
        tags = dict(record.tags)
        fields: dict[str, Any] = {
            "game": str(game),
            "players": [tags.pop(side, "") for side in game.sides],
            "moves": format_transcript(record),
            "score": record.final.score(),
        }
        more = {"seconds": record.seconds, "loser": record.loser, "reason": record.reason, "tags": tags}
        fields |= {name: value for name, value in more.items() if value not in (None, (), "", {})}
        yield json.dumps(fields, ensure_ascii=False) + "\n"
