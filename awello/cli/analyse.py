"""`awello analyse`: show the value of each move of a game, the mistakes, and better moves."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from awello.cli.app import app
from awello.cli.input import is_file_or_stdin, read_text
from awello.cli.options import Hash, Json, Threads
from awello.cli.output import print_json
from awello.cli.progress import show_step_progress
from awello.cli.tables import print_table
from awello.engine.engine import Engine
from awello.errors import ConfigError, NotationError
from awello.formats.detection import detect_game
from awello.lab.report import check_plot, write_plot
from awello.lab.review_charts import draw_chart, draw_table, format_legend, format_summary, plot_review
from awello.limits import Limit, parse_limit
from awello.players.player import make_player
from awello.protocols.external_engine import ExternalEnginePlayer
from awello.record import Record
from awello.review.review import MoveReview, review_game, summarise
from awello.rules.game import Game, find_game
from awello.schemas import ReviewJson


@app.command()
def analyse(
    record: Annotated[str, typer.Argument(metavar="RECORD", help="Moves such as f5d6c3, a file, or - for stdin")],
    size: Annotated[
        int | None, typer.Option(help="Othello: board size 4, 6 or 8; default: that of RECORD", metavar="SIZE")
    ] = None,
    variant: Annotated[
        str | None,
        typer.Option(help="Awalé: abapa, tournament or romein; default: that of RECORD", metavar="VARIANT"),
    ] = None,
    limit: Annotated[
        str, typer.Option(help="Limit per position: 14 (plies), 500ms, 450000n (nodes) or level=12", metavar="LIMIT")
    ] = "level=12",
    threads: Threads = 1,
    hash: Hash = 64,
    plot: Annotated[
        Path | None, typer.Option(help="Also plot the values to an .svg or .png file; default: none", metavar="FILE")
    ] = None,
    engine: Annotated[
        str, typer.Option(help="External engine, such as nboard,command=ntest; default: the champion", metavar="SPEC")
    ] = "",
    json: Json = False,
) -> None:
    """Review every move of a game, from the last to the first.

    The game in RECORD can be a transcript, GGF, OGN, or moves with other text around them. A start position may
    precede the moves. In the table and the chart, values are from the point of view of Black or South; in JSON, from
    the point of view of the mover.
    Ctrl-C stops the review and prints the moves reviewed so far.
    """

    search_limit = parse_limit(limit)
    chosen = size is not None or variant is not None
    game = find_game("awale" if variant else "othello", size, variant) if chosen else None
    if plot:
        check_plot(plot)
    played = read_record(record, game)
    reviews, interrupted = review_moves(played, search_limit, threads, hash, engine)
    if json:
        print_json(ReviewJson.of(played, reviews).model_dump())
    else:
        print_review(played, reviews)
    if plot and reviews:
        write_plot(plot, lambda axes: plot_review(axes, reviews))
    if interrupted:
        raise typer.Exit(130)


def read_record(text: str, game: Game | None) -> Record:
    """Read a game from a text, a file or standard input (`-`)."""

    is_file = is_file_or_stdin(text)
    name, content = read_text(text, "write moves such as f5d6c3") if is_file else ("", text)
    try:
        record = detect_game(content, game).record
    except NotationError as error:
        if game is not None and error.code == "other_game":
            option = "--variant" if game.variant else "--size"
            raise ConfigError(f"{str(error).partition(':')[0]}: omit {option}") from None
        if not is_file and Path(text).suffix[1:].isalnum():
            reason = f"the argument is not a game ({error})"
            raise ConfigError(f"file {text!r} does not exist, and {reason}; check the path or the moves") from None
        raise ConfigError(f"{name}: {error}" if is_file else str(error)) from None
    if not record.moves:
        raise ConfigError("the text contains a position without moves: add the moves of a game")
    return record


def review_moves(
    record: Record, limit: Limit, threads: int, hash: int, external: str = ""
) -> tuple[list[MoveReview], bool]:
    """Return the reviews of the moves in game order, and whether Ctrl-C interrupted the review."""

    analyst = make_player(external) if external else None
    if not isinstance(analyst, ExternalEnginePlayer | None):
        raise ConfigError(f"player {analyst} is not an external engine: give one such as nboard,command=ntest")
    reviews: list[MoveReview] = []
    interrupted = False
    with show_step_progress("analyse", len(record.moves)) as step, Engine(record.start.game, threads, hash) as engine:
        try:
            for move_review in review_game(record, analyst or engine, limit):
                reviews.append(move_review)
                step()
        except KeyboardInterrupt:
            interrupted = True
    return reviews[::-1], interrupted


def print_review(record: Record, reviews: Sequence[MoveReview]) -> None:
    """Print a table of the moves, a chart of the values and a summary for each side."""

    console = Console(highlight=False, markup=False)
    if reviews:
        table = draw_table(reviews)
        value = next(str(column.header) for column in table.columns if str(column.header).startswith("value"))
        print_table(console, table, (value, "best line"), ("best line", "side"))
        console.print(format_legend(record.start.game), style="dim", soft_wrap=True)
        console.print(draw_chart(reviews, len(record.moves), console.width), soft_wrap=True)
    if len(reviews) < len(record.moves):
        console.print(f"only the last {len(reviews)} of {len(record.moves)} moves were reviewed")
    for side, name in enumerate(record.start.game.sides):
        console.print(format_summary(name, summarise(reviews, side), record.start.game.adapter.unit), soft_wrap=True)
    console.print(record.describe(), style="bold")
