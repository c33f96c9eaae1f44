"""`awello perft`: count the leaves of the tree of all moves, the classic check of rules and speed."""

import time
from typing import TYPE_CHECKING, Annotated

import typer

from awello.cli.app import GameName, Json, PositionText, Size, Variant, app, print_json, progress, start_position

if TYPE_CHECKING:
    from awello.kernel import U
    from awello.position import Position

PIECE = 8  # plies that one kernel call counts: short enough to be interrupted


@app.command()
def perft(
    game: GameName,
    depth: Annotated[int, typer.Argument(min=0, help="Plies, passes included")],
    position: PositionText = None,
    size: Size = None,
    variant: Variant = None,
    json: Json = False,
) -> None:
    """Count the leaves of all move sequences of DEPTH plies. A pass is a ply; a finished game is one leaf."""
    from awello.rules.game import find_game

    start = start_position(find_game(game, size, variant), position)
    leaves, seconds = count(start, depth)
    if json:
        print_json({"game": game, "depth": depth, "leaves": leaves, "seconds": seconds})
    else:
        print(f"{game} perft {depth}: {leaves:,} leaves in {seconds:.3f} s, {leaves / seconds / 1e6:.1f} M leaves/s")


def count(start: "Position", depth: int) -> tuple[int, float]:
    """The leaves below a position and the seconds it took, piece by piece so that Ctrl-C is heard."""
    from awello.kernel import U
    from awello.rules.game import perft

    game, upper, leaves = int(start.game), max(0, depth - PIECE), 0
    pieces = [(U(start.own), U(start.opp))]
    for _ in range(upper):
        pieces = [child for piece in pieces for child in _children(game, *piece)]
    with progress("perft", len(pieces)) as step:
        begun = time.perf_counter()
        for own, opp in pieces:
            leaves += perft(game, own, opp, depth - upper)
            step()
        return leaves, time.perf_counter() - begun


def _children(game: int, own: "U", opp: "U") -> "list[tuple[U, U]]":
    """The positions after each move; a pass swaps the sides, a finished game stays the one leaf it is."""
    from awello.rules.game import is_over, legal_moves, play

    moves = int(legal_moves(game, own, opp))
    if not moves:
        return [(own, opp) if is_over(game, own, opp) else (opp, own)]
    return [play(game, own, opp, move) for move in range(64) if moves >> move & 1]
