"""Draws the pictures of the docs again: `make pictures`."""

from pathlib import Path

from awello import Game, Position, parse_transcript

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


if __name__ == "__main__":
    main()
