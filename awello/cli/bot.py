"""`awello bot`: connect a player to a club as a bot."""

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
from awello.protocols.club_bot import BotPolicy, ClubBot
from awello.rules.game import Game


@app.command()
def bot(  # nosec B107 # the default is no token
    spec: Annotated[str, typer.Argument(help="Player, such as champion@level=6", metavar="SPEC")],
    server: Annotated[str, typer.Option(help="Address of the club, such as https://HOST", metavar="URL")],
    token: Annotated[
        str,
        typer.Option(
            help="Token of the bot; default: the environment variable AWELLO_TOKEN, which is safer", metavar="TOKEN"
        ),
    ] = "",
    variant: Annotated[
        list[str] | None,
        typer.Option(
            help="Accept only challenges in this variant (othello, othello6, othello4, abapa, tournament or romein); "
            "can be repeated; default: all",
            metavar="VARIANT",
        ),
    ] = None,
    max_games: Annotated[
        int, typer.Option(min=1, max=64, help="Maximum number of simultaneous games", metavar="N")
    ] = 4,
    opponent: Annotated[
        list[str] | None,
        typer.Option(help="Accept only challenges from this player; can be repeated; default: all", metavar="NAME"),
    ] = None,
    seek: Annotated[
        str,
        typer.Option(
            help="Games to offer when idle: variant and clock, such as 'othello 5m'; default: none",
            metavar="VARIANT TIME",
        ),
    ] = "",
    tournament: Annotated[
        str, typer.Option(help="Number or name of a tournament to enter; default: none", metavar="TOURNAMENT")
    ] = "",
    unrated: Annotated[bool, typer.Option("--unrated", help="With --seek: offer unrated games")] = False,
) -> None:
    """Connect a player to a club as a bot.

    The bot accepts challenges until you press Ctrl-C. After a lost connection, the bot reconnects and continues its
    games. If the player can learn, it learns after each game.
    """

    words = seek.split()
    if len(words) not in (0, 2):
        raise ConfigError(f"--seek {seek!r} is not a variant and a clock: write both, such as --seek 'othello 5m'")
    secret = token or os.environ.get("AWELLO_TOKEN", "")
    if not secret:
        raise ConfigError(
            "a bot needs a token: create one on the club's page and store it in the environment variable AWELLO_TOKEN"
        )
    if not re.fullmatch(r"[!-~]+", secret):
        raise ConfigError("the token is not valid: copy it from the club's page without spaces or line breaks")
    policy = BotPolicy(
        variants=frozenset(map(Game, variant or Game)),  # type: ignore[arg-type]  # also converts names
        max_games=max_games,
        opponents=frozenset(name.lower() for name in opponent or ()),
        seek=(Position.start(words[0]).game, parse_clock(words[1])) if words else None,
        rated=not unrated,
        tournament=int(tournament) if re.fullmatch(r"[0-9]{1,9}", tournament) else tournament or None,
    )
    with suppress(KeyboardInterrupt):
        asyncio.run(ClubBot(server, secret, spec, policy, lambda line: print(line, file=sys.stderr, flush=True)).run())
