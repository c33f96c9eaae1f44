"""`awello solve awale`: what positions of few seeds are worth, from the table of solved endgames."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from awello.cli.app import print_json
from awello.cli.solve import is_there

if TYPE_CHECKING:
    from awello.engine.tablebase import Tablebase
    from awello.position import Position
    from awello.rules.game import Game

HEADER = f"{'#':>3} {'seeds':>5} {'score':>5} best  position"


def solve_awale(what: str, game: "Game", json: bool) -> None:
    """Print value and best move of each position: seeds still to be won, the mover's less the opponent's."""
    from awello.engine.tablebase import need, seeds_on_board
    from awello.errors import ConfigError

    positions, base = read_positions(what, game), need(game)
    for number, position in enumerate(positions, 1):
        if not base.covers(position):
            raise ConfigError(
                f"position {number} has {seeds_on_board(position)} seeds, and the table for {game} knows up to "
                f"{base.seeds}: build a larger one with 'awello tablebase build --seeds N --variant {game}'"
            )
    if not json:
        print(HEADER)
    for number, position in enumerate(positions, 1):
        show(number, position, base, json)


def read_positions(what: str, game: "Game") -> "list[Position]":
    """The positions that people name: a diagram, a file of them, standard input, or the start."""
    from awello.errors import AwelloError, ConfigError
    from awello.position import Position, parse_position

    if what == "start":
        return [Position.start(game)]
    if what.count("-") > 1 and not is_there(what):
        return [parse_position(what, game)]
    name = "standard input" if what == "-" else what
    try:
        text = (sys.stdin.buffer.read() if what == "-" else Path(what).read_bytes()).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ConfigError(f"{name} is not text: give one diagram a line") from None
    positions = []
    for number, line in enumerate(text.splitlines(), 1):
        if content := line.split("%")[0].strip():
            try:
                positions.append(parse_position(content, game))
            except AwelloError as error:
                raise ConfigError(f"{name}, line {number}: {error}") from None
    if not positions:
        raise ConfigError(f"{name} holds no position: write one diagram a line")
    return positions


def show(number: int, position: "Position", base: "Tablebase", json: bool) -> None:
    """Print one position with its value and best move, as a row or as JSON."""
    from awello.engine.tablebase import seeds_on_board
    from awello.position import format_position

    score = base.value(position)
    best = None if position.over else position.format_move(base.choose(position))
    text = format_position(position)
    if json:
        print_json({"position": text, "score": score, "best": best, "exact": True})
    else:
        print(f"{number:>3} {seeds_on_board(position):>5} {score:>+5d} {best or '-':<4}  {text}")
