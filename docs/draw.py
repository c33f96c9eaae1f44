"""Draws the pictures of the docs again: `make pictures`."""

from pathlib import Path

from awello import Game, Position, parse_transcript
from awello.lab.trees import draw_tree_svg
from awello.search.tree import parse_lists, search_tree

HERE = Path(__file__).parent
GAMES = {
    "othello.svg": (Game.OTHELLO, "f5f6e6f4e3c5c4e7c6e2"),
    "awale.svg": (Game.ABAPA, "FfBeBcDaAb"),
}


def main() -> None:
    """Write each picture beside this file."""
    for name, (game, moves) in GAMES.items():
        record = parse_transcript(moves, Position.start(game))
        (HERE / name).write_text(record.final._repr_svg_(), "utf-8")
    lesson = parse_lists("[[[7, 9, 3], [-3, 1, -7], [4, -8, 14]]]")
    (HERE / "tree.svg").write_text(draw_tree_svg(search_tree("alphabeta", lesson)), "utf-8")


if __name__ == "__main__":
    main()
