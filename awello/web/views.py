"""A position as the page sees it: the board, and what each legal move would do to it.

The page knows no rules.  Whatever it draws or animates comes from here.
"""

from dataclasses import asdict
from itertools import islice
from typing import Any

from awello.formats.openings import opening_at
from awello.kernel import U
from awello.position import Position, format_position
from awello.record import Record
from awello.rules import awale, othello
from awello.rules.game import PASS


def view_record(record: Record, since: int = 0) -> list[dict[str, Any]]:
    """The views of a game's positions, from a ply on."""
    return [view(position) for position in islice(record.positions(), since, None)]


def view(position: Position) -> dict[str, Any]:
    """All that the page needs to know of a position."""
    over = position.over
    score = position.score()
    return {
        "position": format_position(position),
        "side": position.side,
        "board": _othello_board(position) if position.game.family == "othello" else _awale_board(position),
        "moves": {position.format_move(move): _effect(position, move) for move in position.legal_moves()},
        "refused": _refused(position),
        "holdings": position.holdings(),
        "over": over,
        "score": score if over else None,
        "winner": int(score[1] > score[0]) if over and score[0] != score[1] else None,
        "ending": position.end,
        "opening": asdict(opening) if (opening := opening_at(position)) else None,
    }


def _othello_board(position: Position) -> dict[str, Any]:
    return {"size": position.game.size, "cells": format_position(position).split()[0]}


def _awale_board(position: Position) -> dict[str, Any]:
    words = position.first, position.second
    return {"pits": [seeds for word in words for seeds in awale.pits_of(word)], "taken": [word >> 48 for word in words]}


def _effect(position: Position, move: int) -> dict[str, Any]:
    """What a legal move does to the board."""
    if position.game.family == "othello":
        return {"flips": _flips(position, move)}
    return _sowing(position, move)


def _flips(position: Position, move: int) -> list[str]:
    """The discs that a move turns."""
    word = position.after(move).opp & position.opp if move != PASS else 0
    size = position.game.size
    return [othello.format_square(square, size) for square in othello.squares_of(size) if word >> square & 1]


def _sowing(position: Position, pit: int) -> dict[str, Any]:
    """Where each seed goes, in order, and the pits that are captured, the last one sown first."""
    names = awale.PITS[position.side] + awale.PITS[1 - position.side]
    path = [(pit + step) % 12 for step in range(1, 12)]  # the origin is skipped
    seeds = awale.pits_of(position.own)[pit]
    *_, prize = awale.sow(int(position.game), U(position.own & int(awale.ROW)), U(position.opp & int(awale.ROW)), pit)
    captured = [[names[6 + at], taken] for at, taken in enumerate(awale.pits_of(int(prize))) if taken]
    return {"sown": [names[path[seed % 11]] for seed in range(seeds)], "captured": captured[::-1]}


def _refused(position: Position) -> dict[str, str]:
    """Why the mover's other pits cannot be played."""
    if position.game.family == "othello" or position.over:
        return {}
    legal, row = position.legal_moves(), awale.pits_of(position.own)
    return {position.format_move(pit): "feed" if row[pit] else "empty" for pit in range(6) if pit not in legal}
