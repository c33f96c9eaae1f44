"""The options by which commands ask for games of the archive."""

from typing import Annotated

import typer

from awello.archive.archive import Archive, Wanted, parse_years
from awello.errors import ConfigError
from awello.formats.transcript import parse_transcript, split_transcript
from awello.position import Position
from awello.rules.game import Game, find_game
from awello.storage.addresses import may_exist

Place = Annotated[
    str | None,
    typer.Option("--archive", help="A file or postgresql://USER@HOST/NAME; unless said, your own", metavar="PLACE"),
]
GameOption = Annotated[str | None, typer.Option("--game", help="othello or awale", metavar="GAME")]
Player = Annotated[str, typer.Option(help="Part of a player's name", metavar="NAME")]
Event = Annotated[str, typer.Option(help="Part of an event's name", metavar="NAME")]
Years = Annotated[str, typer.Option("--year", help="A year or several, such as 1996 or 1990-1999", metavar="Y")]
OpeningName = Annotated[str, typer.Option("--opening", help="Part of an opening's English or French name")]
Result = Annotated[str, typer.Option(help="black, white, south, north, draw or open", metavar="R")]
Through = Annotated[str, typer.Option("--moves", help="Moves whose final position was reached", metavar="MOVES")]

EMPTY = "the archive is empty: 'awello games import FILE' fills it"
RESULTS = {"black": "first", "south": "first", "white": "second", "north": "second", "draw": "draw", "open": "open"}


def open_archive(place: str | None, make: bool = False) -> Archive:
    """The archive that was asked for, or the user's own; another than that is not made by a question."""

    if place is not None and not place.strip():
        raise ConfigError("--archive needs a file or an address: leave it out for your own")
    if place and not make and not may_exist(place):
        raise ConfigError(f"there is no archive {place!r}: 'awello games import FILE --archive {place}' makes one")
    return Archive(place)


def wanted_games(
    game: str | None,
    size: int | None,
    variant: str | None,
    player: str,
    event: str,
    years: str,
    opening: str,
    result: str,
    moves: str = "",
) -> Wanted:
    """Which games the options ask for; a game without size and variant means all of them."""

    if result and result not in RESULTS:
        raise ConfigError(f"no result {result!r}: choose {', '.join(RESULTS)}")
    kinds: tuple[Game, ...] = ()
    if game or size or variant:
        one = find_game(game or _family(variant), size, variant)
        kinds = (one,) if size or variant else tuple(kind for kind in Game if kind.family == one.family)
    through = position_after(moves, game, size, variant) if moves else None
    return Wanted(kinds, player, event, parse_years(years), opening, RESULTS.get(result, ""), through)


def position_after(moves: str, game: str | None, size: int | None, variant: str | None) -> Position:
    """Where moves lead; unless an option says of which game they are, their letters tell it."""

    if game or size or variant:
        kind = find_game(game or _family(variant), size, variant)
    else:
        pits, rest = split_transcript(moves, Game.ABAPA)
        kind = Game.ABAPA if pits and not rest else Game.OTHELLO
    return parse_transcript(moves, Position.start(kind)).final


def _family(variant: str | None) -> str:
    return "awale" if variant else "othello"
