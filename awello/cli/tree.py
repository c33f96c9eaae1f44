"""`awello tree`: draw the tree of a search."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from awello.cli.app import app
from awello.cli.input import parse_start_position
from awello.cli.options import Json, PositionOption, Size, Variant
from awello.cli.output import print_json, write_file
from awello.errors import ConfigError, SpecError
from awello.lab.tree_drawing import draw_tree, draw_tree_svg
from awello.players.spec import PlayerSpec, parse_spec
from awello.players.textbook_tree import build_search_tree
from awello.rules.game import find_game
from awello.search.search_tree import SearchTree, parse_lists, search_tree


@app.command()
def tree(
    game: Annotated[str | None, typer.Argument(metavar="GAME", help="othello or awale; omit with --leaves")] = None,
    position: PositionOption = None,
    leaves: Annotated[
        str | None,
        typer.Option(help="Tree to search, as nested lists such as [[3,5],[2,9]]; MAX moves first", metavar="TREE"),
    ] = None,
    search: Annotated[
        str, typer.Option(help="Spec of minimax, alphabeta, negamax or negamax-alphabeta", metavar="SPEC")
    ] = "alphabeta",
    svg: Annotated[
        Path | None, typer.Option(help="Also draw the tree to an .svg file; default: none", metavar="FILE")
    ] = None,
    max_depth: Annotated[
        int | None, typer.Option(min=0, help="Show only N plies of the tree; default: all", metavar="N")
    ] = None,
    windows: Annotated[bool, typer.Option("--windows", help="Show the window (alpha, beta) of each node")] = False,
    size: Size = None,
    variant: Variant = None,
    json: Json = False,
) -> None:
    """Search a position or a given tree, and draw the tree.

    The drawing shows values, the principal variation and cutoffs.
    """
    spec = parse_spec(search)
    if svg and svg.suffix.lower() != ".svg":
        raise ConfigError(f"cannot draw to {str(svg)!r}: choose a file name that ends in .svg")
    if leaves is not None:
        if any(option is not None for option in (game, position, size, variant)):
            raise ConfigError("--leaves gives a whole tree: omit GAME, --position, --size and --variant")
        searched = search_lists(spec, leaves)
    elif game is None:
        raise ConfigError("GAME is missing: write othello or awale, or give a tree with --leaves '[[3,5],[2,9]]'")
    else:
        searched = build_search_tree(spec, parse_start_position(find_game(game, size, variant), position))
    print_tree(searched, svg, max_depth, windows, json)


def search_lists(spec: PlayerSpec, text: str) -> SearchTree:
    """Parse a tree of nested lists, and search it with the algorithm that the spec names."""
    if spec.heuristic or spec.limit or spec.settings:
        raise SpecError(f"with --leaves, --search must be only the name of an algorithm: write --search {spec.name}")
    return search_tree(spec.name, parse_lists(text))


def print_tree(tree: SearchTree, svg: Path | None, max_depth: int | None, windows: bool, json: bool) -> None:
    """Write the SVG file if requested, then print the tree as text or JSON."""
    if svg:
        write_file(svg, draw_tree_svg(tree, max_depth))
    if json:
        print_json(tree.to_json())
    else:
        Console(highlight=False).print(draw_tree(tree, max_depth, windows), soft_wrap=True)
