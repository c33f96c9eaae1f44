"""The English and French names of Othello's openings, looked up by position.

Symmetric positions and transpositions are treated as the same position.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from awello.folders import data_file
from awello.formats.transcript import parse_transcript
from awello.position import Position
from awello.record import Record
from awello.rules.game import Game


@dataclass(frozen=True)
class Opening:
    """The English and French names of an opening."""

    en: str
    fr: str


def find_opening(game: Record | Iterable[Position]) -> Opening | None:
    """Find the opening of a game by the last position that has an opening name; return None if there is none."""
    positions = game.positions() if isinstance(game, Record) else game
    return next(filter(None, map(find_opening_at, reversed(list(positions)))), None)


def find_opening_at(position: Position) -> Opening | None:
    """Find the opening whose moves lead to a position, or return None; only Othello on 8x8 has named openings."""
    return load_opening_names().get(position.canonical()) if position.game is Game.OTHELLO else None


def find_opening_by_name(english: str | None) -> Opening | None:
    """Find an opening by its English name; return None if there is none."""
    return _load_openings_by_name().get(english) if english else None


@cache
def _load_openings_by_name() -> dict[str, Opening]:
    return {opening.en: opening for opening in load_opening_names().values()}


@cache
def load_opening_names() -> dict[tuple[int, int], Opening]:
    """Load the table of openings, keyed by canonical position."""
    _, *lines = data_file("openings.tsv").read_text("utf-8").splitlines()
    rows = (line.split("\t") for line in lines)
    return {parse_transcript(moves).final.canonical(): Opening(en, fr) for moves, en, fr in rows}
