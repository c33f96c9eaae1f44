"""`awello players`: list the players and their settings."""

from dataclasses import fields

from rich.console import Console
from rich.table import Table

from awello.cli.app import app
from awello.cli.options import Json
from awello.cli.output import print_json
from awello.players.player import load_registry


@app.command()
def players(json: Json = False) -> None:
    """List the players and their settings.

    Specs have the form name:heuristic@limit,key=value, where only the name is required. Reports 0 to 4 are listed in
    docs/sources.md.
    """
    entries = load_registry()
    settings = {name: [field.name for field in fields(entry.player_class)] for name, entry in entries.items()}  # type: ignore
    if json:
        rows = [{"name": name, "summary": entries[name].summary, "settings": settings[name]} for name in entries]
        print_json({"players": rows})
        return
    table = Table("player", "description", "settings")
    for name, entry in entries.items():
        table.add_row(name, entry.summary, ", ".join(settings[name]))
    Console().print(table)
