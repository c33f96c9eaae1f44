"""`awello perft`: count the leaves of the tree of all moves, the classic check of rules and speed."""

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from awello.cli.app import GameName, Json, PositionText, Size, Variant, app, print_json, progress, start_position

if TYPE_CHECKING:
    from awello.kernel import U
    from awello.position import Position

PIECE = 8  # plies that one kernel call counts: short enough to be interrupted
SHOWN = 4  # plies whose branches the progress bar counts


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

    chosen = find_game(game, size, variant)
    leaves, seconds = count(start_position(chosen, position), depth)
    if json:
        rules = {"variant": chosen.variant} if chosen.variant else {"size": chosen.size}
        print_json({"game": game, **rules, "depth": depth, "leaves": leaves, "seconds": seconds})
    else:
        print(f"{game} perft {depth}: {leaves:,} leaves in {seconds:.3f} s, {leaves / seconds / 1e6:.1f} M leaves/s")


def count(start: "Position", depth: int) -> tuple[int, float]:
    """The leaves below a position and the seconds it took, piece by piece so that Ctrl-C is heard."""
    from awello.kernel import U
    from awello.rules.game import perft

    game, upper, leaves = int(start.game), max(0, depth - PIECE), 0
    branches = list(_descend(game, U(start.own), U(start.opp), min(upper, SHOWN)))
    with progress("perft", len(branches)) as step:
        begun = time.perf_counter()
        for branch in branches:
            for own, opp in _descend(game, *branch, upper - min(upper, SHOWN)):
                leaves += perft(game, own, opp, depth - upper)
            step()
        return leaves, time.perf_counter() - begun


def _descend(game: int, own: "U", opp: "U", plies: int) -> "Iterator[tuple[U, U]]":
    """The positions so many plies below."""
    if plies == 0:
        yield own, opp
    else:
        for child in _children(game, own, opp):
            yield from _descend(game, *child, plies - 1)


def _children(game: int, own: "U", opp: "U") -> "list[tuple[U, U]]":
    """The positions after each move; a pass swaps the sides, a finished game stays the one leaf it is."""
    from awello.rules.game import is_over, legal_moves, play

    moves = int(legal_moves(game, own, opp))
    if not moves:
        return [(own, opp) if is_over(game, own, opp) else (opp, own)]
    return [play(game, own, opp, move) for move in range(64) if moves >> move & 1]
