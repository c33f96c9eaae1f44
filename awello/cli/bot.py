"""`awello bot`: one of our players as a bot in a club."""

import asyncio
import os
import re
import sys
from contextlib import suppress
from typing import Annotated

import typer

from awello.cli.app import app
from awello.errors import ConfigError
from awello.limits import parse_clock
from awello.position import Position
from awello.protocols.club import BotPolicy, ClubBot
from awello.rules.game import Game


@app.command()
def bot(  # nosec B107 # no token unless one is given
    spec: Annotated[str, typer.Argument(help="Who plays, such as champion@level=6", metavar="SPEC")],
    server: Annotated[str, typer.Option(help="The address of the club, such as https://HOST", metavar="URL")],
    token: Annotated[str, typer.Option(help="The bot's token; safer in AWELLO_TOKEN", metavar="TOKEN")] = "",
    kind: Annotated[list[str] | None, typer.Option(help="Accept this game only; repeatable", metavar="GAME")] = None,
    most: Annotated[int, typer.Option(min=1, max=64, help="Games at once", metavar="N")] = 4,
    only: Annotated[list[str] | None, typer.Option(help="Accept this player only; repeatable", metavar="NAME")] = None,
    seek: Annotated[str, typer.Option(help="Seek when idle, such as 'othello 5m'", metavar="GAME TIME")] = "",
    tournament: Annotated[str, typer.Option(help="Enter this tournament", metavar="NUMBER or NAME")] = "",
    casual: Annotated[bool, typer.Option("--casual", help="Seek unrated games")] = False,
) -> None:
    """Let a player accept challenges in a club. Ctrl-C ends it.

    A broken connection is made again, and games continue. A player that learns does so after each game, before the
    next one begins.
    """

    words = seek.split()
    if len(words) not in (0, 2):
        raise ConfigError(f"{seek!r} is not a game to seek: write a game and a time, such as 'othello 5m'")
    secret = token or os.environ.get("AWELLO_TOKEN", "")
    if not secret:
        raise ConfigError("a bot needs a token: make one on the club's page, and set AWELLO_TOKEN")
    if not re.fullmatch(r"[!-~]+", secret):
        raise ConfigError("the token is not valid: copy it from the club's page without spaces or line breaks")
    policy = BotPolicy(
        variants=frozenset(map(Game, kind or Game)),  # type: ignore[arg-type]  # names too
        max_games=most,
        opponents=frozenset(name.lower() for name in only or ()),
        seek=(Position.start(words[0]).game, parse_clock(words[1])) if words else None,
        rated=not casual,
        tournament=int(tournament) if re.fullmatch(r"[0-9]{1,9}", tournament) else tournament or None,
    )
    with suppress(KeyboardInterrupt):
        asyncio.run(ClubBot(server, secret, spec, policy, lambda line: print(line, file=sys.stderr, flush=True)).run())
