"""`awello run`: a session described in a YAML file."""

from pathlib import Path
from typing import Annotated

import typer

from awello.cli.app import Json, app
from awello.cli.match import play_and_report
from awello.cli.play import play_here


@app.command("run")
def run_config(
    config: Annotated[Path, typer.Argument(metavar="CONFIG.yaml", help="See examples/run.yaml for every key")],
    json: Json = False,
    records: Annotated[bool, typer.Option("--records", help="With --json: the games too, as transcripts")] = False,
) -> None:
    """Play what a YAML file describes: one game with the board shown, or a match with its recap."""
    from awello.arena.config import load_config
    from awello.arena.match import Match, load_openings
    from awello.players.player import make_player
    from awello.position import Position

    wanted = load_config(config)
    game, (first, second) = wanted.chosen_game(), wanted.specs()
    if wanted.display and wanted.games == 1 and not json:
        play_here([make_player(first), make_player(second)], Position.start(game), wanted.seed)
        return
    lines = load_openings(wanted.openings, game) if wanted.openings else ()
    match = Match(game, str(first), str(second), wanted.games, wanted.seed, lines, wanted.chosen_clock())
    play_and_report(match, wanted.jobs, json, records)
