"""`awello perft`: count the leaves of the game tree, the standard test of move generation."""

import time
from collections.abc import Iterator
from typing import Annotated

import typer

from awello.cli.app import app
from awello.cli.input import parse_start_position
from awello.cli.options import FamilyArgument, Json, PositionOption, Size, Variant
from awello.cli.output import print_json
from awello.cli.progress import show_step_progress
from awello.kernel import U
from awello.position import Position
from awello.rules.game import find_game, is_over, legal_moves, play
from awello.rules.game import perft as count_leaves

MAX_DEPTH = 120  # plies; no game of Othello is longer, including passes
KERNEL_DEPTH = 6  # plies per kernel call, which Ctrl-C cannot interrupt
PROGRESS_DEPTH = 4  # plies; the progress bar counts the positions at this depth


@app.command()
def perft(
    game: FamilyArgument,
    depth: Annotated[
        int, typer.Argument(min=0, max=MAX_DEPTH, help="Depth in plies, counting passes", metavar="DEPTH")
    ],
    position: PositionOption = None,
    size: Size = None,
    variant: Variant = None,
    json: Json = False,
) -> None:
    """Count the leaves of the game tree at a depth.

    A pass counts as a ply, and a game that ends earlier counts as one leaf. Prints the result for each depth up to
    DEPTH as soon as it is known; with --json, only the result for the last completed depth. Ctrl-C stops the count.
    """
    chosen = find_game(game, size, variant)
    start, done = parse_start_position(chosen, position), dict[str, float]()
    try:
        for plies in range(min(1, depth), depth + 1):
            leaves, seconds = count_interruptibly(start, plies)
            done = {"depth": plies, "leaves": leaves, "seconds": seconds}
            if not json:
                rate = leaves / seconds / 1e6
                print(f"{game} perft {plies}: {leaves:,} leaves in {seconds:.3f} s, {rate:.1f} M leaves/s", flush=True)
    finally:
        if json and done:
            print_json({**chosen.options, **done})


def count_interruptibly(start: Position, depth: int) -> tuple[int, float]:
    """Count the leaves below a position; return their number and the time in seconds.

    The kernel calls are short, so that Ctrl-C works.
    """
    game, upper, leaves = int(start.game), max(0, depth - KERNEL_DEPTH), 0
    branches = list(_generate_descendants(game, U(start.own), U(start.opp), min(upper, PROGRESS_DEPTH)))
    with show_step_progress(f"perft {depth}", len(branches)) as step:
        started = time.perf_counter()
        for branch in branches:
            for own, opp in _generate_descendants(game, *branch, upper - min(upper, PROGRESS_DEPTH)):
                leaves += count_leaves(game, own, opp, depth - upper)
            step()
        return leaves, time.perf_counter() - started


def _generate_descendants(game: int, own: U, opp: U, plies: int) -> Iterator[tuple[U, U]]:
    """Yield the positions reached after a number of plies."""
    if plies == 0:
        yield own, opp
    else:
        for child in _list_children(game, own, opp):
            yield from _generate_descendants(game, *child, plies - 1)


def _list_children(game: int, own: U, opp: U) -> list[tuple[U, U]]:
    """Return the position after each move or after a pass; if the game is over, return the position itself."""
    moves = int(legal_moves(game, own, opp))
    if not moves:
        return [(own, opp) if is_over(game, own, opp) else (opp, own)]
    return [play(game, own, opp, move) for move in range(64) if moves >> move & 1]
