"""The options that select games of the archive."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from inspect import Parameter, signature
from typing import Annotated, Any

import typer

from awello.archive.archive import Archive, GameFilter, parse_years
from awello.cli.app import Size, Variant
from awello.errors import ConfigError
from awello.formats.transcript import parse_transcript, split_transcript
from awello.position import Position
from awello.rules.game import Game, find_game
from awello.storage.addresses import may_exist

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


@dataclass(frozen=True)
class GameOptions:
    """The options of a command that selects games."""

    game: Annotated[str | None, typer.Option(help="othello or awale", metavar="GAME")] = None
    size: Size = None
    variant: Variant = None
    player: Annotated[str, typer.Option(help="Part of a player's name", metavar="NAME")] = ""
    event: Annotated[str, typer.Option(help="Part of an event's name", metavar="NAME")] = ""
    year: Annotated[str, typer.Option(help="A year or several, such as 1996 or 1990-1999", metavar="Y")] = ""
    opening: Annotated[str, typer.Option(help="Part of an opening's English or French name")] = ""
    result: Annotated[str, typer.Option(help="black, white, south, north, draw or open", metavar="R")] = ""

    def rules(self) -> Game | None:
        """The game of the first three options, if one of them is given."""
        if not (self.game or self.size or self.variant):
            return None
        return find_game(self.game or ("awale" if self.variant else "othello"), self.size, self.variant)

    def wanted(self, moves: str = "") -> GameFilter:
        """Which games the options select; a game without size and variant means all of its family."""
        if self.result and self.result not in RESULTS:
            raise ConfigError(f"no result {self.result!r}: choose {', '.join(RESULTS)}")
        games: tuple[Game, ...] = ()
        if (rules := self.rules()) is not None:
            family = tuple(game for game in Game if game.family == rules.family)
            games = (rules,) if self.size or self.variant else family
        through = self.position_after(moves) if moves else None
        years, result = parse_years(self.year), RESULTS.get(self.result, "")
        return GameFilter(games, self.player, self.event, years, self.opening, result, through)

    def position_after(self, moves: str) -> Position:
        """Where moves lead; unless an option names the game, their letters tell it."""
        game = self.rules()
        if game is None:
            pits, rest = split_transcript(moves, Game.ABAPA)
            game = Game.ABAPA if pits and not rest else Game.OTHELLO
        return parse_transcript(moves, Position.start(game)).final


def selects_games(command: Callable[..., None]) -> Callable[..., None]:
    """Add `GameOptions` to the options of a command, whose parameter `options` receives them together."""
    shared = signature(GameOptions).parameters
    parameters = [each for name, each in signature(command).parameters.items() if name != "options"]

    @wraps(command)
    def run(**given: Any) -> None:
        options = GameOptions(**{name: given.pop(name) for name in shared})
        command(options=options, **given)

    keywords = (each.replace(kind=Parameter.KEYWORD_ONLY) for each in (*shared.values(), *parameters))
    run.__signature__ = signature(command).replace(parameters=list(keywords))  # type: ignore[attr-defined]
    return run
