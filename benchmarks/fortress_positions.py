"""Random positions and limits for the siege: from play, made up, and such that are none at all."""

import math
import random
from dataclasses import replace
from typing import Any

from fortress_odd import odd_position

from awello import Game, Position, format_position, parse_position
from awello.engine.tablebase import seeds_on_board, split_captures_evenly
from awello.limits import Limit
from awello.rules.awale import SEEDS
from awello.rules.othello import BOARD

LETTERS = "XO-xo.* 0123456789-SN;\n\t\0é٣sſ"


def random_position(game: Game, chance: random.Random) -> Position:
    """A position of play at any stage, or one that nobody ever reached; seldom one in which the game is over."""
    for _ in range(5):
        few = chance.choice((chance.randint(1, 13), chance.randint(1, 13), chance.randrange(game.points + 1)))
        position = (played_position if chance.random() < 0.6 else made_up_position)(game, few, chance)
        if chance.random() < 0.1:
            position = odd_position(game, chance)
        if not position.over or chance.random() < 0.1:
            break
    return position


def played_position(game: Game, few: int, chance: random.Random) -> Position:
    """The position of a random game when few squares are empty, or few seeds in play."""

    def in_play(position: Position) -> int:
        return position.empties if game.family == "othello" else seeds_on_board(position)

    position = Position.start(game)
    while not position.over and in_play(position) > few and chance.random() > 0.002:
        position = position.after(chance.choice(position.legal_moves()))
    return position


def made_up_position(game: Game, few: int, chance: random.Random) -> Position:
    """Discs or seeds thrown on the board."""
    seeds, side = [0] * 14, chance.randrange(2)
    if game.family == "othello":
        squares, share = [square for square in range(64) if BOARD[game.size] >> square & 1], chance.random()
        discs = sum(1 << square for square in chance.sample(squares, game.points - few))
        own = sum(1 << square for square in squares if discs >> square & 1 and chance.random() < share)
        return Position(game, own, discs ^ own, side)
    pits = chance.sample(range(12), chance.randint(1, 12))
    for number in range(SEEDS):
        seeds[chance.choice(pits) if number < few else chance.choice((12, 13))] += 1
    position = parse_position("-".join(map(str, seeds)) + "-" + "SN"[side], game)
    return split_captures_evenly(position) if chance.random() < 0.7 else position


def no_position(game: Game, chance: random.Random) -> Position:
    """Words that are no position of a game."""
    position, word = random_position(game, chance), 1 << chance.randrange(64)
    changes: list[dict[str, Any]] = [{"side": chance.choice((-1, 2, 10**20))}]
    changes += [{"own": wrong} for wrong in (-1, -word, 1 << 64 | word, 10**40)]
    if game.family == "othello":
        changes += [{"own": position.own | word, "opp": position.opp | word}]
        changes += [{"opp": position.opp | 1}, {"own": position.own | 1 << 63}] if game.size < 8 else []
    else:
        changes += [{"own": position.own + word}, {"own": position.own | 0xC8C8}, {"opp": 1 << 63 | word}]
        changes += [{"past": frozenset({(-1, word, 0)})}, {"past": frozenset({(0, word << 64, 1)})}]
    return replace(position, **chance.choice(changes))


def damaged_text(game: Game, chance: random.Random) -> str:
    """A position as text, some letters of which are lost, changed or added."""
    text = list(format_position(random_position(game, chance)))
    for _ in range(chance.randint(1, 4)):
        place = chance.randrange(len(text) + 1)
        text[place : place + chance.choice((0, 1, 1, 40))] = chance.choices(LETTERS, k=chance.choice((0, 1, 1, 9)))
    return "".join(text)


def random_limit(chance: random.Random) -> Limit:
    """Depths, times, nodes and levels, alone and together; sometimes none."""
    limits: dict[str, Any] = {
        "depth": chance.choice((1, 2, chance.randint(1, 12), chance.randint(1, 60), 10**9 - 1)),
        "seconds": chance.choice((0.0, 0.001, 0.01, chance.uniform(0, 0.05), 1e300, math.inf)),
        "nodes": chance.choice((0, 1, chance.randrange(10**3), chance.randrange(10**6), 10**18 - 1)),
        "level": chance.randint(0, 30),
    }
    return Limit(**{name: limits[name] for name in chance.sample(sorted(limits), chance.choice((0, 1, 1, 1, 2, 3)))})
