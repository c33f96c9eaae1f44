"""`awello engine`: run the champion as an NBoard, GTP or UCI engine."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from awello.cli.app import app
from awello.cli.options import Hash, Threads, parse_level
from awello.protocols.gtp import GtpServer
from awello.protocols.nboard import NBoardServer
from awello.protocols.uci import UciServer


@app.command()
def engine(
    protocol: Annotated[
        Literal["nboard", "gtp", "uci"],
        typer.Argument(help="Othello: nboard or gtp; Awalé: uci", metavar="PROTOCOL"),
    ],
    limit: Annotated[
        str | None,
        typer.Option(
            help="Level, from level=0 to level=30; default: search time from the clock, or level=12 without a clock",
            metavar="LIMIT",
        ),
    ] = None,
    threads: Threads = 1,
    hash: Hash = 64,
    weights: Annotated[
        Path | None, typer.Option(help="File of evaluation weights; default: the shipped weights", metavar="FILE")
    ] = None,
) -> None:
    """Run the champion as an NBoard, GTP or UCI engine.

    The engine communicates over standard input and output. Register this command in an application such as NBoard or
    Aualé.
    """

    servers: dict[str, type[NBoardServer | GtpServer | UciServer]]
    servers = {"nboard": NBoardServer, "gtp": GtpServer, "uci": UciServer}
    level = None if limit is None else parse_level(limit)
    servers[protocol](level, threads, hash, weights).serve()
