"""`awello bot`: a player as a bot in a club."""

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
def bot(  # nosec B107 # the default is no token
    spec: Annotated[str, typer.Argument(help="Player, such as champion@level=6", metavar="SPEC")],
    server: Annotated[str, typer.Option(help="Address of the club, such as https://HOST", metavar="URL")],
    token: Annotated[str, typer.Option(help="Token of the bot; safer in AWELLO_TOKEN", metavar="TOKEN")] = "",
    game: Annotated[list[str] | None, typer.Option(help="Accept this game only; repeatable", metavar="GAME")] = None,
    max_games: Annotated[int, typer.Option(min=1, max=64, help="Maximum simultaneous games", metavar="N")] = 4,
    opponent: Annotated[
        list[str] | None, typer.Option(help="Accept this player only; repeatable", metavar="NAME")
    ] = None,
    seek: Annotated[str, typer.Option(help="Seek games when idle, such as 'othello 5m'", metavar="GAME TIME")] = "",
    tournament: Annotated[str, typer.Option(help="Enter this tournament", metavar="NUMBER or NAME")] = "",
    casual: Annotated[bool, typer.Option("--casual", help="Seek unrated games")] = False,
) -> None:
    """Let a player accept challenges in a club until Ctrl-C.

    It reconnects if the connection breaks, and its games continue. A player that learns does so after each game.
    """

    words = seek.split()
    if len(words) not in (0, 2):
        raise ConfigError(f"{seek!r} is not a game and a clock: write, for example, 'othello 5m'")
    secret = token or os.environ.get("AWELLO_TOKEN", "")
    if not secret:
        raise ConfigError("a bot needs a token: create one on the club's page and set AWELLO_TOKEN")
    if not re.fullmatch(r"[!-~]+", secret):
        raise ConfigError("the token is not valid: copy it from the club's page without spaces or line breaks")
    policy = BotPolicy(
        variants=frozenset(map(Game, game or Game)),  # type: ignore[arg-type]  # also converts names
        max_games=max_games,
        opponents=frozenset(name.lower() for name in opponent or ()),
        seek=(Position.start(words[0]).game, parse_clock(words[1])) if words else None,
        rated=not casual,
        tournament=int(tournament) if re.fullmatch(r"[0-9]{1,9}", tournament) else tournament or None,
    )
    with suppress(KeyboardInterrupt):
        asyncio.run(ClubBot(server, secret, spec, policy, lambda line: print(line, file=sys.stderr, flush=True)).run())
