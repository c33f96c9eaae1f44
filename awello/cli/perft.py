"""`awello perft`: count the leaves of the tree of all moves, the classic check of rules and speed."""

import time
from collections.abc import Iterator
from typing import Annotated

import typer

from awello.cli.app import GameName, Json, PositionText, Size, Variant, app, print_json, progress
from awello.cli.positions import start_position
from awello.kernel import U
from awello.position import Position
from awello.rules.game import find_game, is_over, legal_moves, play
from awello.rules.game import perft as count_leaves

DEEPEST = 120  # plies: no game of Othello is longer, and deeper counts never end
PIECE = 6  # plies that one kernel call counts: short enough to be interrupted
SHOWN = 4  # plies whose branches the progress bar counts


@app.command()
def perft(
    game: GameName,
    depth: Annotated[int, typer.Argument(min=0, max=DEEPEST, help="Plies, passes included")],
    position: PositionText = None,
    size: Size = None,
    variant: Variant = None,
    json: Json = False,
) -> None:
    """Count the leaves of all move sequences of DEPTH plies. A pass is a ply; a finished game is one leaf.

    Each depth is shown when it is complete, up to DEPTH; with --json only the last one. Ctrl-C keeps what is known.
    """
    chosen = find_game(game, size, variant)
    start, done = start_position(chosen, position), dict[str, float]()
    try:
        for plies in range(min(1, depth), depth + 1):
            leaves, seconds = count(start, plies)
            done = {"depth": plies, "leaves": leaves, "seconds": seconds}
            if not json:
                rate = leaves / seconds / 1e6
                print(f"{game} perft {plies}: {leaves:,} leaves in {seconds:.3f} s, {rate:.1f} M leaves/s", flush=True)
    finally:
        if json and done:
            print_json({**chosen.options, **done})


def count(start: Position, depth: int) -> tuple[int, float]:
    """The leaves below a position and the seconds it took, piece by piece so that Ctrl-C is heard."""
    game, upper, leaves = int(start.game), max(0, depth - PIECE), 0
    branches = list(_descend(game, U(start.own), U(start.opp), min(upper, SHOWN)))
    with progress(f"perft {depth}", len(branches)) as step:
        begun = time.perf_counter()
        for branch in branches:
            for own, opp in _descend(game, *branch, upper - min(upper, SHOWN)):
                leaves += count_leaves(game, own, opp, depth - upper)
            step()
        return leaves, time.perf_counter() - begun


def _descend(game: int, own: U, opp: U, plies: int) -> Iterator[tuple[U, U]]:
    """The positions so many plies below."""
    if plies == 0:
        yield own, opp
    else:
        for child in _children(game, own, opp):
            yield from _descend(game, *child, plies - 1)


def _children(game: int, own: U, opp: U) -> list[tuple[U, U]]:
    """The positions after each move; a pass swaps the sides, a finished game stays the one leaf it is."""
    moves = int(legal_moves(game, own, opp))
    if not moves:
        return [(own, opp) if is_over(game, own, opp) else (opp, own)]
    return [play(game, own, opp, move) for move in range(64) if moves >> move & 1]
