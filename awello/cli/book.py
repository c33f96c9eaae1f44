"""`awello book`: expand and show an opening book for Awalé."""

from pathlib import Path
from typing import Annotated

import typer

from awello.cli.app import app
from awello.cli.options import Hash, Json, Variant
from awello.cli.output import print_result, write_file
from awello.cli.progress import show_step_progress
from awello.engine.book import OpeningBook, format_book, load_book, load_shipped_book
from awello.engine.engine import Engine
from awello.errors import ConfigError
from awello.formats.transcript import parse_transcript
from awello.limits import parse_limit
from awello.position import Position
from awello.rules.game import Game, find_game

book = typer.Typer(help="Expand and show an opening book for Awalé.", no_args_is_help=True)
app.add_typer(book, name="book")

BookGame = Annotated[str, typer.Argument(metavar="GAME", help="awale; Othello has no opening book")]


@book.command()
def expand(
    game: BookGame,
    variant: Variant = None,
    positions: Annotated[int, typer.Option(min=1, help="Number of positions to expand", metavar="N")] = 100,
    limit: Annotated[
        str,
        typer.Option(
            help="Limit for the search of each move: 14 (plies), 500ms, 450000n (nodes) or level=12", metavar="LIMIT"
        ),
    ] = "14",
    out: Annotated[Path | None, typer.Option(help="Book to expand; default: VARIANT.book", metavar="FILE")] = None,
    hash: Hash = 64,
    json: Json = False,
) -> None:
    """Expand the most promising positions of a book.

    Lincke's drop-out expansion extends good variations further than bad ones. Can be interrupted; run the same command
    again to expand the book further.
    """

    chosen, search_limit = _find_awale_variant(game, variant), parse_limit(limit)
    file = out or Path(f"{chosen}.book")
    opening_book: OpeningBook = load_book(file, chosen)
    done = 0
    with Engine(chosen, hash=hash) as engine, show_step_progress(f"book {chosen}", positions) as step:

        def evaluate(position: Position) -> float:
            *_, last = engine.analyse(position, search_limit)
            return last.value

        try:
            while done < positions and opening_book.expand(evaluate) is not None:
                done += 1
                step()
        finally:
            if done:
                write_file(file, format_book(opening_book))
    size = len(opening_book.values)
    content = {"variant": str(chosen), "expanded": done, "positions": size, "file": str(file)}
    print_result(content, f"positions expanded: {done}; positions in {file}: {size}", json)


@book.command()
def show(
    game: BookGame,
    moves: Annotated[
        str, typer.Argument(metavar="MOVES", help="Moves so far, such as FbE; default: the start position")
    ] = "",
    variant: Variant = None,
    book: Annotated[
        Path | None, typer.Option("--book", help="Book to show; default: the shipped book", metavar="FILE")
    ] = None,
    json: Json = False,
) -> None:
    """Show the book value of each move in a position."""

    chosen = _find_awale_variant(game, variant)
    if book is not None and not book.exists():
        raise ConfigError(f"book {str(book)!r} does not exist: create one with 'awello book expand awale'")
    opening_book = load_shipped_book(chosen) if book is None else load_book(book, chosen)
    position = parse_transcript(moves, Position.start(chosen)).final
    key = position.board_words
    values = opening_book.move_values(key) if opening_book.is_expanded(key) else {}
    rows = sorted(((position.format_move(move), value) for move, value in values.items()), key=lambda row: -row[1])
    text = "\n".join(f"{name} {value:+.2f}" for name, value in rows) or "the book has no values for these moves"
    print_result({"moves": moves, "values": dict(rows)}, text, json)


def _find_awale_variant(game: str, variant: str | None) -> Game:
    """Return the variant of Awalé, or raise `ConfigError` for any other game."""

    if game != "awale":
        raise ConfigError(f"{game!r} is not a game with an opening book: write awale, the only one")
    return find_game(game, variant=variant)
