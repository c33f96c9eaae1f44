"""The options by which commands ask for games of the archive."""

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from awello.archive.archive import Archive, Wanted
    from awello.rules.game import Game

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


def open_archive(place: str | None) -> "Archive":
    """The archive that was asked for, or the user's own."""
    from awello.archive.archive import Archive

    return Archive(place)


def wanted_game(game: str | None, size: int | None, variant: str | None) -> "Game | None":
    """The game that was asked for, None if any will do."""
    from awello.rules.game import find_game

    if game is None and size is None and variant is None:
        return None
    return find_game(game or ("awale" if variant else "othello"), size, variant)


def wanted_games(
    game: "Game | None", player: str, event: str, years: str, opening: str, result: str, moves: str = ""
) -> "Wanted":
    """Which games the options ask for."""
    from awello.archive.archive import Wanted, parse_years
    from awello.errors import ConfigError
    from awello.formats.transcript import parse_transcript
    from awello.position import Position
    from awello.rules.game import Game

    if result and result not in RESULTS:
        raise ConfigError(f"no result {result!r}: choose {', '.join(RESULTS)}")
    start = Position.start(game or Game.OTHELLO)
    through = parse_transcript(moves, start).final if moves else None
    return Wanted(game, player, event, parse_years(years), opening, RESULTS.get(result, ""), through)
