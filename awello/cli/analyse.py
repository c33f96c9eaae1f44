"""`awello analyse`: a played game with the value of each move, its mistakes and what was better."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from awello.cli.app import Hash, Json, Size, Threads, Variant, app, print_json, progress
from awello.cli.positions import is_source, read_source
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
    size: Size = None,
    variant: Variant = None,
    limit: Annotated[
        str, typer.Option(help="For each position: level=12, 10 (plies), 500ms or 450000n (nodes)", metavar="L")
    ] = "level=12",
    threads: Threads = 1,
    memory: Hash = 64,
    plot: Annotated[Path | None, typer.Option(help="Draw the values to this .svg or .png too", metavar="FILE")] = None,
    engine: Annotated[str, typer.Option(help="Use another program: nboard,command=ntest", metavar="SPEC")] = "",
    json: Json = False,
) -> None:
    """Judge every move of a game. Ctrl-C ends with what was judged so far, from the end of the game.

    The game may be written in any usual form, with a position before its moves and other text round it. The table and
    the chart give what it will end with for Black or South; JSON gives it for whoever moved.
    """

    spent = parse_limit(limit)
    given = size is not None or variant is not None
    game = find_game("awale" if variant else "othello", size, variant) if given else None
    if plot:
        check_plot(plot)
    played = read_record(record, game)
    judgements, interrupted = judge(played, spent, threads, memory, engine)
    if json:
        print_json(ReviewJson.of(played, judgements).model_dump())
    else:
        print_review(played, judgements)
    if plot and judgements:
        write_plot(plot, lambda axes: plot_review(axes, judgements))
    if interrupted:
        raise typer.Exit(130)


def read_record(text: str, game: Game | None) -> Record:
    """The game that is written in a text, in a file, or on standard input (`-`)."""

    held = is_source(text)
    name, content = read_source(text, "a game is moves such as f5d6c3") if held else ("", text)
    try:
        record = detect_game(content, game).record
    except NotationError as error:
        if not held and Path(text).suffix[1:].isalnum():
            raise ConfigError(f"no file has the name {text!r}, and {error}") from None
        raise ConfigError(f"{name}: {error}" if held else str(error)) from None
    if not record.moves:
        raise ConfigError("this is a position without moves: write the moves of a game behind it")
    return record


def judge(record: Record, limit: Limit, threads: int, memory: int, external: str = "") -> tuple[list[MoveReview], bool]:
    """The judgements in the order of the game, and whether Ctrl-C left some out."""

    analyst = make_player(external) if external else None
    if not isinstance(analyst, ExternalEnginePlayer | None):
        raise ConfigError(f"player {analyst} is not an external engine: choose nboard or uci with a command")
    judgements: list[MoveReview] = []
    interrupted = False
    with progress("analyse", len(record.moves)) as step, Engine(record.start.game, threads, memory) as engine:
        try:
            for judgement in review_game(record, analyst or engine, limit):
                judgements.append(judgement)
                step()
        except KeyboardInterrupt:
            interrupted = True
    return judgements[::-1], interrupted


def print_review(record: Record, judgements: Sequence[MoveReview]) -> None:
    """The review for people: a table of the moves, a chart of the values, and how well either side played."""

    console = Console(highlight=False, markup=False)
    if judgements:
        table = draw_table(judgements)
        value = next(str(column.header) for column in table.columns if str(column.header).startswith("value"))
        print_table(console, table, (value, "best line"), ("best line", "side"))
        console.print(format_legend(record.start.game), style="dim", soft_wrap=True)
        console.print(draw_chart(judgements, len(record.moves), console.width), soft_wrap=True)
    if len(judgements) < len(record.moves):
        console.print(f"the last {len(judgements)} of {len(record.moves)} moves were judged")
    for side, name in enumerate(record.start.game.sides):
        console.print(format_summary(name, summarise(judgements, side)), soft_wrap=True)
    console.print(record.describe(), style="bold")
