"""`awello engine`: the champion under other people's boards, by NBoard, GTP or UCI."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from awello import __version__
from awello.cli.app import app
from awello.protocols.gtp import Gtp
from awello.protocols.nboard import NBoard
from awello.protocols.talk import Settings
from awello.protocols.uci import Uci


class Protocol(StrEnum):
    """A language that boards and engines talk in."""

    NBOARD = "nboard"
    GTP = "gtp"
    UCI = "uci"


@app.command()
def engine(
    protocol: Annotated[Protocol, typer.Argument(help="Othello: nboard or gtp; Awalé: uci")],
    level: Annotated[
        int | None, typer.Option(help="The champion's level, 0 to 30; unless said, its clock or 12", metavar="N")
    ] = None,
    threads: Annotated[int, typer.Option(min=1, help="Threads that search together", metavar="N")] = 1,
    hash: Annotated[int, typer.Option(min=1, max=65536, help="Memory for positions, in MiB", metavar="MB")] = 64,
    weights: Annotated[
        Path | None, typer.Option(help="Learnt weights in place of the shipped ones", metavar="FILE")
    ] = None,
) -> None:
    """Put the champion under another program's board: it talks on standard input and output.

    It is the command to give to the board. NBoard and Auale, for instance, start it and quit it by themselves.
    """
    talks: dict[Protocol, type[NBoard | Gtp | Uci]] = {
        Protocol.NBOARD: NBoard,
        Protocol.GTP: Gtp,
        Protocol.UCI: Uci,
    }
    talks[protocol](Settings(level, threads, hash, weights, __version__)).converse()
