"""`awello engine`: the champion as an engine for other boards, by NBoard, GTP or UCI."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from awello.cli.app import Hash, Threads, app
from awello.protocols.gtp import GtpServer
from awello.protocols.nboard import NBoardServer
from awello.protocols.uci import UciServer


@app.command()
def engine(
    protocol: Annotated[Literal["nboard", "gtp", "uci"], typer.Argument(help="Othello: nboard or gtp; Awalé: uci")],
    level: Annotated[int | None, typer.Option(help="0 to 30; default: its clock, or 12", metavar="N")] = None,
    threads: Threads = 1,
    hash: Hash = 64,
    weights: Annotated[Path | None, typer.Option(help="Learnt weights to play with", metavar="FILE")] = None,
) -> None:
    """Run the champion as an engine for another board.

    It talks on standard input and output. Give this command to the board, such as NBoard or Auale, which starts and
    quits it.
    """

    servers: dict[str, type[NBoardServer | GtpServer | UciServer]]
    servers = {"nboard": NBoardServer, "gtp": GtpServer, "uci": UciServer}
    servers[protocol](level, threads, hash, weights).serve()
