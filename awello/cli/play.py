"""`awello play`: play a game in the terminal, against the computer or another person."""

import random
from collections.abc import Sequence
from typing import Annotated

import typer
from rich.console import Console

from awello.arena.game import learn_from_game, play_game
from awello.cli.app import app
from awello.cli.input import parse_start_position
from awello.cli.options import ClockOption, FamilyArgument, PositionOption, Size, Variant
from awello.cli.output import describe_learning
from awello.formats.transcript import format_transcript
from awello.limits import Clock, parse_clock
from awello.players.human import HumanPlayer
from awello.players.player import Choice, Player, make_player
from awello.position import Position
from awello.rules.game import find_game


@app.command()
def play(
    game: FamilyArgument,
    first: Annotated[str, typer.Option(help="Player for Black or South", metavar="SPEC")] = "human",
    second: Annotated[str, typer.Option(help="Player for White or North", metavar="SPEC")] = "greedy",
    size: Size = None,
    variant: Variant = None,
    position: PositionOption = None,
    clock: ClockOption = None,
    seed: Annotated[
        int | None, typer.Option(help="Random seed; default: a new seed for each run", metavar="SEED")
    ] = None,
) -> None:
    """Play a game in the terminal.

    When it is your turn, type a move, or 'help' for a list of commands.
    """

    start = parse_start_position(find_game(game, size, variant), position)
    chosen_seed = random.getrandbits(32) if seed is None else seed
    time_control = None if clock is None else parse_clock(clock)
    play_in_terminal([make_player(first), make_player(second)], start, chosen_seed, clock=time_control)


def play_in_terminal(
    players: list[Player], start: Position, seed: int, opening: Sequence[int] = (), clock: Clock | None = None
) -> None:
    """Play a game, printing the board and every move."""

    console = Console(highlight=False, markup=False, soft_wrap=True)
    is_human = [isinstance(player, HumanPlayer) for player in players]

    def show(before: Position, choice: Choice, after: Position) -> None:
        if not any(is_human):
            console.print(before)
        if choice.move < 0:
            console.print(f"{before.side_name} has no move and passes.\n")
        elif not is_human[before.side]:
            console.print(f"{before.side_name} ({players[before.side]}) plays {before.format_move(choice.move)}.\n")

    for side, player in enumerate(players):
        player.begin(start.game, seed + side)
    if any(is_human):
        names = " and ".join(start.game.sides[side] for side in (0, 1) if is_human[side])
        rules = start.game.variant or f"{start.game.size}x{start.game.size}"
        console.print(
            f"{start.game.adapter.title}, {rules}: you are {names}. Type a move, or 'help' for a list of commands.\n"
        )
    try:
        record = play_game(players, start, opening, clock, show)
    except (EOFError, KeyboardInterrupt):
        console.print("\nThe game is unfinished.")
        return
    console.print(record.final)
    console.print(record.describe(), style="bold")
    console.print(f"moves: {format_transcript(record)}")
    for player, counts in zip(players, learn_from_game(players, record), strict=True):
        if counts:
            console.print(*describe_learning({str(player): {"games": 1, **counts}}))
