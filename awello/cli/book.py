"""`awello book`: grow an opening book of Awalé, and look into it."""

from pathlib import Path
from typing import Annotated

import typer

from awello.cli.app import Hash, Json, Variant, app, print_result, progress
from awello.cli.tree import write_whole
from awello.engine.book import OpeningBook, format_book, load_book, shipped_book
from awello.engine.engine import Engine
from awello.errors import ConfigError
from awello.formats.transcript import parse_transcript
from awello.limits import Limit
from awello.position import Position
from awello.rules.game import Game, find_game

book = typer.Typer(help="Grow an opening book of Awalé, and look into it.", no_args_is_help=True)
app.add_typer(book, name="book")

BookGame = Annotated[str, typer.Argument(metavar="GAME", help="awale")]


@book.command()
def expand(
    game: BookGame,
    variant: Variant = None,
    positions: Annotated[int, typer.Option(min=1, help="How many positions to expand", metavar="N")] = 100,
    depth: Annotated[int, typer.Option(min=1, max=60, help="Plies to search each move", metavar="N")] = 14,
    out: Annotated[Path | None, typer.Option(help="The file to grow; default: VARIANT.book", metavar="FILE")] = None,
    hash: Hash = 64,
    json: Json = False,
) -> None:
    """Expand the positions where the book will be left soonest. Can be interrupted; run it again to resume.

    Lincke's drop-out expansion: good lines are followed deep, bad ones only as far as they need.
    """

    chosen = _awale(game, variant)
    file = out or Path(f"{chosen}.book")
    grown: OpeningBook = load_book(file, chosen)
    done = 0
    with Engine(chosen, hash=hash) as engine, progress(f"book {chosen}", positions) as step:

        def judge(position: Position) -> float:
            *_, last = engine.analyse(position, Limit(depth=depth))
            return last.value

        try:
            while done < positions and grown.expand(judge) is not None:
                done += 1
                step()
        finally:
            if done:
                write_whole(file, format_book(grown))
    size = len(grown.values)
    content = {"variant": str(chosen), "expanded": done, "positions": size, "file": str(file)}
    print_result(content, f"{done} positions expanded; the book holds {size}: {file}", json)


@book.command()
def show(
    game: BookGame,
    moves: Annotated[str, typer.Argument(metavar="[MOVES]", help="The moves played, such as FbE")] = "",
    variant: Variant = None,
    book: Annotated[Path | None, typer.Option("--book", help="A book; default: the one shipped")] = None,
    json: Json = False,
) -> None:
    """What the book says of each move after some moves, the best first."""

    chosen = _awale(game, variant)
    if book is not None and not book.exists():
        raise ConfigError(f"no book {str(book)!r}: grow one with 'awello book expand awale'")
    known = shipped_book(chosen) if book is None else load_book(book, chosen)
    position = parse_transcript(moves, Position.start(chosen)).final
    key = position.board_words
    worths = known.move_values(key) if known.is_expanded(key) else {}
    rows = sorted(((position.format_move(move), worth) for move, worth in worths.items()), key=lambda row: -row[1])
    text = "\n".join(f"{name} {worth:+.2f}" for name, worth in rows) or "the book does not know this position"
    print_result({"moves": moves, "worths": dict(rows)}, text, json)


def _awale(game: str, variant: str | None) -> Game:
    """The variant of Awalé that is meant; Othello's book is another matter."""

    if game != "awale":
        raise ConfigError(f"books are for Awalé: write awale, not {game!r}")
    return find_game(game, variant=variant)
