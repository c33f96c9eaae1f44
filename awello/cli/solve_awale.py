"""`awello solve awale`: what positions are worth, by the table of solved endgames or, beyond it, by search."""

import sys
from contextlib import suppress
from pathlib import Path

from awello.analysis import Analysis
from awello.cli.app import print_json
from awello.engine.engine import Engine
from awello.engine.tablebase import seeds_on_board
from awello.errors import AwelloError, ConfigError
from awello.limits import Limit
from awello.position import Position, format_position, parse_position
from awello.rules.game import PASS, Game
from awello.schemas import AnalysisJson

HEADER = f"{'#':>3} {'seeds':>5} {'score':>6} best exact  position"

OUTCOMES = {1: "win", 0: "draw", -1: "loss"}


def solve_awale(what: str, game: Game, seconds: float, wld: bool, threads: int, hash: int, json: bool) -> None:
    """Print value and best move of each position: seeds still to be won, the mover's less the opponent's."""

    positions = read_positions(what, game)
    if not json:
        print(HEADER)
    with Engine(game, threads, hash) as engine:
        for number, position in enumerate(positions, 1):
            found = None
            if not position.over:
                *_, found = engine.analyse(position, Limit(seconds=seconds))
            show(number, position, found, wld, json)


def read_positions(what: str, game: Game) -> list[Position]:
    """The positions that people name: a diagram, a file of them, standard input, or the start."""

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


def show(number: int, position: Position, found: Analysis | None, wld: bool, json: bool) -> None:
    """Print one position with its value and best move, as a row or as JSON; nothing is left of a finished game."""

    value, exact = (found.value, found.exact) if found else (float(position.margin - position.lead), True)
    best = position.format_move(found.move) if found else None
    margin = position.lead + value
    outcome = OUTCOMES[(margin > 0) - (margin < 0)]
    text = format_position(position)
    if json:
        told = found or Analysis(PASS, value, exact, depth=0, nodes=0, leaves=0, seconds=0.0)
        score = outcome if wld else int(value) if exact else value
        print_json(AnalysisJson.of(position, told).model_dump() | {"score": score})
    else:
        score = outcome if wld else f"{value:+.0f}" if exact else f"{value:+.2f}"
        proof, seeds = "yes" if exact else "no", seeds_on_board(position)
        print(f"{number:>3} {seeds:>5} {score:>6} {best or '-':<4} {proof:<5}  {text}")


def is_there(name: str) -> bool:
    """Whether there is a file of this name; text that cannot be a name is none."""
    with suppress(OSError, ValueError):
        return bool(name) and Path(name).exists()
    return False
