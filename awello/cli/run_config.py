"""`awello run`: play a game or match described in a YAML file."""

from pathlib import Path
from typing import Annotated

import typer

from awello.arena.config import load_config
from awello.arena.match import Match, first_side
from awello.arena.openings import load_openings
from awello.cli.app import app
from awello.cli.match import Records, play_and_report
from awello.cli.options import Json, resolve_jobs
from awello.cli.play import play_in_terminal
from awello.errors import AwelloError, ConfigError
from awello.players.player import make_player
from awello.position import Position


@app.command("run")
def run_config(
    config: Annotated[
        Path, typer.Argument(metavar="FILE", help="YAML file; examples/run.yaml contains all possible keys")
    ],
    json: Json = False,
    records: Records = False,
) -> None:
    """Play a game or match described in a YAML file.

    Shows the board after each move or, with `display: false` or --json, only a summary at the end.
    """
    settings = load_config(config)
    try:
        game, (first, second), clock = settings.parse_game(), settings.parse_specs(), settings.parse_time_control()
        lines = load_openings(settings.openings, game) if settings.openings else ()
    except AwelloError as error:
        raise ConfigError(f"{config}: {error}") from None
    match = Match(game, str(first), str(second), settings.games, settings.seed, lines, clock)
    if not settings.display or json:
        play_and_report(match, resolve_jobs(settings.jobs, settings.cluster), settings.out, json, records)
        return
    for number in range(settings.games):
        order = (second, first) if first_side(number) else (first, second)
        players = [make_player(spec) for spec in order]
        play_in_terminal(players, Position.start(game), settings.seed + number, match.opening(number), clock)
