"""`awello play`: a game in the terminal, with people, programs or both."""

import random
from typing import TYPE_CHECKING, Annotated

import typer

from awello.cli.app import GameName, PositionText, Size, Variant, app, start_position

if TYPE_CHECKING:
    from awello.players.player import Choice, Player
    from awello.position import Position


@app.command()
def play(
    game: GameName,
    first: Annotated[str, typer.Option(help="Who plays Black or South", metavar="SPEC")] = "human",
    second: Annotated[str, typer.Option(help="Who plays White or North", metavar="SPEC")] = "greedy",
    size: Size = None,
    variant: Variant = None,
    position: PositionText = None,
    seed: Annotated[int | None, typer.Option(help="The same seed gives the same game", metavar="S")] = None,
) -> None:
    """Play a game in the terminal. Type help when it is your turn."""
    from awello.players.player import make_player
    from awello.rules.game import find_game

    start = start_position(find_game(game, size, variant), position)
    play_here([make_player(first), make_player(second)], start, random.getrandbits(32) if seed is None else seed)


def play_here(players: "list[Player]", start: "Position", seed: int) -> None:
    """Play a game with the board and every move shown."""
    from rich.console import Console

    from awello.arena.game import play_game
    from awello.formats.transcript import format_transcript
    from awello.players.human import Human

    console = Console(highlight=False)
    seats = [isinstance(player, Human) for player in players]

    def show(before: "Position", choice: "Choice", after: "Position") -> None:
        if not any(seats):
            console.print(before)
        if not seats[before.side] or choice.move < 0:
            console.print(f"{before.mover} ({players[before.side]}) plays {before.format_move(choice.move)}.\n")

    for place, player in enumerate(players):
        player.begin(start.game, seed + place)
    try:
        record = play_game(players, start, watch=show)
    except (EOFError, KeyboardInterrupt):
        console.print("\nThe game is left unfinished.")
        return
    console.print(record.final)
    console.print(f"[bold]{record.describe()}[/bold]\n{format_transcript(record)}")
