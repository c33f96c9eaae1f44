"""A game of Othello as NBoard sends it: one line of the Generic Game Format.

(;GM[Othello]PC[NBoard]PB[a]PW[b]RE[?]TI[15:00]TY[8]BO[8 <64 squares> *]B[F5]W[F6];)
"""

import re

from awello.errors import NotationError
from awello.formats.transcript import follow
from awello.position import format_position, parse_position
from awello.record import Record
from awello.rules.game import PASS

TAG = re.compile(r"([A-Za-z]+)\s*\[([^\]]*)\]")


def parse_game(text: str) -> Record:
    """The game of a line; what does not belong to the board and the moves is left out."""
    tags = [(name.upper(), value.strip()) for name, value in TAG.findall(text.partition(";)")[0])]
    boards = [value for name, value in tags if name == "BO"]
    if not boards:
        raise NotationError("there is no board BO[8 ...] in this game")
    size, _, squares = boards[0].partition(" ")
    letters = "".join(squares.split())
    start = parse_position(f"{letters[:-1]} {letters[-1:]}")
    if size != str(start.game.size):
        raise NotationError(f"the board is of size {start.game.size}, not {size[:12]}")
    record, error = follow((value.split("/")[0].strip() for name, value in tags if name in ("B", "W")), start)
    if error:
        raise error
    return record


def format_game(record: Record) -> str:
    """The line of a game."""
    start = record.start
    squares = format_position(start).translate(str.maketrans("X", "*"))
    names = zip(record.positions(), record.moves, strict=False)
    moves = "".join(
        f"{'BW'[position.side]}[{'PA' if move == PASS else position.format_move(move).upper()}]"
        for position, move in names
    )
    size = start.game.size
    return f"(;GM[Othello]PC[Awello]PB[Black]PW[White]RE[?]TI[15:00]TY[{size}]BO[{size} {squares}]{moves};)"
