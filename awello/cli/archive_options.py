"""The options that select games in the archive."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from inspect import Parameter, signature
from typing import Annotated, Any

import typer

from awello.archive.archive import Archive, GameFilter, parse_years
from awello.errors import ConfigError, join_choices
from awello.formats.transcript import parse_transcript, split_transcript
from awello.position import Position
from awello.rules.game import Game, find_game
from awello.storage.database_urls import may_exist

MovesOption = Annotated[
    str, typer.Option("--moves", help="Only games that reach the position after MOVES; default: all", metavar="MOVES")
]

EMPTY_ARCHIVE_MESSAGE = "the archive is empty: import games with 'awello games import FILE'"
RESULT_BY_OPTION = {
    "black": "first",
    "south": "first",
    "white": "second",
    "north": "second",
    "draw": "draw",
    "unfinished": "unfinished",
}


def open_archive(database: str | None, create: bool = False) -> Archive:
    """Open the given archive, or the user's own by default; a given file must exist unless `create` is set."""

    if database is not None and not database.strip():
        raise ConfigError("--archive is empty: give a file or a database URL, or omit --archive to use your own")
    if database and not create and not may_exist(database):
        raise ConfigError(
            f"archive {database!r} does not exist: create it with 'awello games import FILE --archive {database}'"
        )
    return Archive(database)


@dataclass(frozen=True)
class GameOptions:
    """Options that select games."""

    game: Annotated[str | None, typer.Option(help="othello or awale; default: both", metavar="GAME")] = None
    size: Annotated[int | None, typer.Option(help="Othello: board size 4, 6 or 8; default: all", metavar="SIZE")] = None
    variant: Annotated[
        str | None, typer.Option(help="Awalé: abapa, tournament or romein; default: all", metavar="VARIANT")
    ] = None
    player: Annotated[str, typer.Option(help="Part of a player's name; default: all", metavar="NAME")] = ""
    event: Annotated[str, typer.Option(help="Part of an event's name; default: all", metavar="NAME")] = ""
    year: Annotated[
        str, typer.Option(help="Year or range, such as 1996 or 1990-1999; default: all", metavar="YEARS")
    ] = ""
    opening: Annotated[
        str, typer.Option(help="Part of an opening's English or French name; default: all", metavar="NAME")
    ] = ""
    result: Annotated[
        str,
        typer.Option(help="Winner (black, white, south, north), draw, or unfinished; default: all", metavar="RESULT"),
    ] = ""

    def parse_game(self) -> Game | None:
        """Return the game given by --game, --size and --variant, or None without these options."""
        if not (self.game or self.size or self.variant):
            return None
        return find_game(self.game or ("awale" if self.variant else "othello"), self.size, self.variant)

    def make_filter(self, moves: str = "") -> GameFilter:
        """Build the filter; --game without --size or --variant selects every size or variant."""
        if self.result and self.result not in RESULT_BY_OPTION:
            raise ConfigError(f"{self.result!r} is not a result: choose {join_choices(RESULT_BY_OPTION)}")
        games: tuple[Game, ...] = ()
        if (chosen := self.parse_game()) is not None:
            family = tuple(game for game in Game if game.family == chosen.family)
            games = (chosen,) if self.size or self.variant else family
        position = self.find_position(moves) if moves else None
        years, result = parse_years(self.year), RESULT_BY_OPTION.get(self.result, "")
        return GameFilter(games, self.player, self.event, years, self.opening, result, position)

    def find_position(self, moves: str) -> Position:
        """Return the position after the given moves, whose notation determines the game if no option selects it."""
        game = self.parse_game()
        if game is None:
            pits, rest = split_transcript(moves, Game.ABAPA)
            game = Game.ABAPA if pits and not rest else Game.OTHELLO
        return parse_transcript(moves, Position.start(game)).final


def selects_games(command: Callable[..., None]) -> Callable[..., None]:
    """Replace a command's parameter `options` with one parameter for each field of its class, such as `GameOptions`."""
    parameters = dict(signature(command).parameters)
    options_class = parameters.pop("options").annotation
    shared = signature(options_class).parameters

    @wraps(command)
    def run(**values: Any) -> None:
        options = options_class(**{name: values.pop(name) for name in shared})
        command(options=options, **values)

    keywords = (
        parameter.replace(kind=Parameter.KEYWORD_ONLY) for parameter in (*shared.values(), *parameters.values())
    )
    run.__signature__ = signature(command).replace(parameters=list(keywords))  # type: ignore[attr-defined]
    return run
