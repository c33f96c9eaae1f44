"""`awello tree`: see an algorithm think."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from awello.cli.app import Json, PositionText, Size, Variant, app, print_json
from awello.cli.positions import start_position
from awello.errors import ConfigError, SpecError
from awello.folders import write_atomically
from awello.lab.tree_drawing import draw_tree, draw_tree_svg
from awello.players.spec import PlayerSpec, parse_spec
from awello.players.tree import build_search_tree
from awello.rules.game import find_game
from awello.search.search_tree import SearchTree, parse_lists, search_tree


@app.command()
def tree(
    game: Annotated[str | None, typer.Argument(metavar="GAME", help="othello or awale; not with --leaves")] = None,
    position: PositionText = None,
    leaves: Annotated[str | None, typer.Option(help="Nested lists: [[3,5],[2,9]]; MAX begins", metavar="T")] = None,
    search: Annotated[
        str, typer.Option(help="minimax, alphabeta, negamax or negamax-alphabeta; alphabeta:mixed@3", metavar="S")
    ] = "alphabeta",
    svg: Annotated[Path | None, typer.Option(help="Draw the tree to this file too", metavar="FILE")] = None,
    plies: Annotated[int | None, typer.Option(min=0, help="Show the tree only so deep", metavar="N")] = None,
    windows: Annotated[bool, typer.Option("--windows", help="Show each node's window (alpha, beta)")] = False,
    size: Size = None,
    variant: Variant = None,
    json: Json = False,
) -> None:
    """Search a position, or a tree of your own, and draw what was searched: values, best line and cuts."""
    spec = parse_spec(search)
    if leaves is not None:
        if any(given is not None for given in (game, position, size, variant)):
            raise ConfigError("--leaves is a tree of its own: leave GAME, --position, --size and --variant out")
        found = search_lists(spec, leaves)
    elif game is None:
        raise ConfigError("no GAME: name othello or awale, or give a tree with --leaves '[[3,5],[2,9]]'")
    else:
        found = build_search_tree(spec, start_position(find_game(game, size, variant), position))
    report(found, svg, plies, windows, json)


def search_lists(spec: PlayerSpec, text: str) -> SearchTree:
    """Search nested lists; only the name of a spec has a meaning there."""
    if spec.heuristic or spec.limit or spec.options:
        raise SpecError(f"{spec} says too much for --leaves: write {spec.name} alone")
    return search_tree(spec.name, parse_lists(text))


def report(tree: SearchTree, svg: Path | None, plies: int | None, windows: bool, json: bool) -> None:
    """Write the picture if asked for, then the tree as text or JSON."""
    if svg:
        write_whole(svg, draw_tree_svg(tree, plies))
    if json:
        print_json(tree.as_json())
    else:
        Console(highlight=False).print(draw_tree(tree, plies, windows), soft_wrap=True)


def write_whole(path: Path, text: str) -> None:
    """Write a file completely or not at all."""
    try:
        if path.is_symlink() or (path.exists() and not path.is_file()):
            raise ConfigError(f"cannot write {str(path)!r}: it is no plain file")
        write_atomically(path, text)
    except OSError as error:
        raise ConfigError(f"cannot write {str(path)!r}: {error.strerror}") from None
