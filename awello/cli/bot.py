"""`awello bot`: a player of ours in somebody's club."""

import asyncio
import os
import re
import sys
from contextlib import suppress
from typing import Annotated
from urllib.parse import urlsplit

import typer

from awello.cli.app import app
from awello.errors import ConfigError
from awello.limits import parse_clock
from awello.protocols.club import Bot, Manners
from awello.rules.game import Game


@app.command()
def bot(  # nosec B107 # no token unless one is given
    spec: Annotated[str, typer.Argument(help="Who plays, such as champion@level=6", metavar="SPEC")],
    server: Annotated[str, typer.Option(help="The address of the club, such as https://HOST", metavar="URL")],
    token: Annotated[
        str, typer.Option(help="The program's token; better in AWELLO_TOKEN, where others cannot read it", metavar="T")
    ] = "",
    kind: Annotated[
        list[str] | None, typer.Option(help="Only this game, such as othello or abapa; again for more", metavar="GAME")
    ] = None,
    most: Annotated[int, typer.Option(min=1, max=64, help="Games at once", metavar="N")] = 4,
    only: Annotated[
        list[str] | None, typer.Option(help="Only challenges of this name; again for more", metavar="NAME")
    ] = None,
    seek: Annotated[
        str, typer.Option(help="Seek a game whenever it plays none, such as 'othello 5m'", metavar="GAME TIME")
    ] = "",
    tournament: Annotated[
        str, typer.Option(help="Enter this tournament before it begins", metavar="NUMBER or NAME")
    ] = "",
    casual: Annotated[bool, typer.Option("--casual", help="What it seeks is not rated")] = False,
) -> None:
    """Let a player of yours play whoever challenges it in a club. Ctrl-C ends it.

    A broken connection is made again, and games go on where they were.
    """
    check_server(server)
    games = {str(game): game for game in Game}
    for name in [*(kind or ()), *seek.split()[:1]]:
        if name not in games:
            raise ConfigError(f"no game {name!r}: choose {', '.join(games)}")
    secret = token or os.environ.get("AWELLO_TOKEN", "")
    if not secret:
        raise ConfigError("a bot needs a token: make one on the club's page, and set AWELLO_TOKEN")
    if not re.fullmatch(r"[!-~]+", secret):
        raise ConfigError("the token is not valid: copy it from the club's page without spaces or line breaks")
    words = seek.split()
    if words and len(words) != 2:
        raise ConfigError(f"{seek!r} is no game to seek: write a game and a time, such as 'othello 5m'")
    wanted = (games[words[0]], parse_clock(words[1])) if words else None
    kinds = frozenset(games[name] for name in kind) if kind else frozenset(Game)
    entered = int(tournament) if re.fullmatch(r"[0-9]{1,9}", tournament) else tournament or None
    manners = Manners(kinds, most, frozenset(name.lower() for name in only or ()), wanted, not casual, entered)
    with suppress(KeyboardInterrupt):
        asyncio.run(Bot(server, secret, spec, manners, lambda line: print(line, file=sys.stderr, flush=True)).run())


def check_server(server: str) -> None:
    """Refuse an address that can never be reached."""
    try:
        parts = urlsplit(server)
        valid = parts.scheme in ("http", "https") and (parts.hostname or "").encode("idna") and parts.port != 0
    except ValueError:  # a port that is not a number, brackets that do not match, a label that no host can have
        valid = False
    if not valid or any(letter.isspace() for letter in server):
        raise ConfigError(f"--server {server!r} is not the address of a club: write https://HOST or http://HOST:PORT")
