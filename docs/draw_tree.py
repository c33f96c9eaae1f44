"""Draw the search tree of the docs: `make pictures`."""

from pathlib import Path

from awello.lab.tree_drawing import draw_tree_svg
from awello.search.search_tree import parse_lists, search_tree


def main() -> None:
    """Write `tree.svg` beside this file."""
    example = parse_lists("[[[7, 9, 3], [-3, 1, -7], [4, -8, 14]]]")
    (Path(__file__).parent / "tree.svg").write_text(draw_tree_svg(search_tree("alphabeta", example)), "utf-8")


if __name__ == "__main__":
    main()
