"""Random limits and positions for the stress test: positions of random games, artificial and invalid positions."""

import math
import random
from dataclasses import replace
from typing import Any

from stress_unreachable import make_unreachable_position

from awello import Game, Position, format_position, parse_position
from awello.engine.tablebase import count_board_seeds, split_captures_evenly
from awello.limits import Limit
from awello.rules.awale import TOTAL_SEEDS
from awello.rules.othello import BOARD_MASKS

DAMAGING_CHARACTERS = "XO-xo.* 0123456789-SN;\n\t\0é٣sſ"


def make_random_position(game: Game, rng: random.Random) -> Position:
    """Return a position of a random game, or an artificial or unreachable one; the game is rarely over in it."""
    for _ in range(5):
        remaining = rng.choice((rng.randint(1, 13), rng.randint(1, 13), rng.randrange(game.max_score + 1)))
        position = (make_played_position if rng.random() < 0.6 else make_artificial_position)(game, remaining, rng)
        if rng.random() < 0.1:
            position = make_unreachable_position(game, rng)
        if not position.over or rng.random() < 0.1:
            break
    return position


def make_played_position(game: Game, remaining: int, rng: random.Random) -> Position:
    """Play a random game until `remaining` empty squares or seeds on the board are left; occasionally stop earlier."""

    def count_remaining(position: Position) -> int:
        return position.empties if game.family == "othello" else count_board_seeds(position)

    position = Position.start(game)
    while not position.over and count_remaining(position) > remaining and rng.random() > 0.002:
        position = position.after(rng.choice(position.legal_moves()))
    return position


def make_artificial_position(game: Game, remaining: int, rng: random.Random) -> Position:
    """Place discs or seeds at random, leaving `remaining` empty squares (Othello) or seeds on the board (Awalé)."""
    seeds, side = [0] * 14, rng.randrange(2)
    if game.family == "othello":
        squares, share = [square for square in range(64) if BOARD_MASKS[game.size] >> square & 1], rng.random()
        discs = sum(1 << square for square in rng.sample(squares, game.max_score - remaining))
        own = sum(1 << square for square in squares if discs >> square & 1 and rng.random() < share)
        return Position(game, own, discs ^ own, side)
    pits = rng.sample(range(12), rng.randint(1, 12))
    for number in range(TOTAL_SEEDS):
        seeds[rng.choice(pits) if number < remaining else rng.choice((12, 13))] += 1
    position = parse_position("-".join(map(str, seeds)) + "-" + "SN"[side], game)
    return split_captures_evenly(position) if rng.random() < 0.7 else position


def make_invalid_position(game: Game, rng: random.Random) -> Position:
    """Return an invalid position of a game."""
    position, word = make_random_position(game, rng), 1 << rng.randrange(64)
    changes: list[dict[str, Any]] = [{"side": rng.choice((-1, 2, 10**20))}]
    changes += [{"own": value} for value in (-1, -word, 1 << 64 | word, 10**40)]
    if game.family == "othello":
        changes += [{"own": position.own | word, "opp": position.opp | word}]
        changes += [{"opp": position.opp | 1}, {"own": position.own | 1 << 63}] if game.size < 8 else []
    else:
        changes += [{"own": position.own + word}, {"own": position.own | 0xC8C8}, {"opp": 1 << 63 | word}]
        changes += [{"past": frozenset({(-1, word, 0)})}, {"past": frozenset({(0, word << 64, 1)})}]
    return replace(position, **rng.choice(changes))


def make_damaged_text(game: Game, rng: random.Random) -> str:
    """Return the text of a position with some characters removed, changed or added."""
    text = list(format_position(make_random_position(game, rng)))
    for _ in range(rng.randint(1, 4)):
        start = rng.randrange(len(text) + 1)
        text[start : start + rng.choice((0, 1, 1, 40))] = rng.choices(DAMAGING_CHARACTERS, k=rng.choice((0, 1, 1, 9)))
    return "".join(text)


def make_random_limit(rng: random.Random) -> Limit:
    """Return a random limit with up to three of depth, time, nodes and level."""
    limits: dict[str, Any] = {
        "depth": rng.choice((1, 2, rng.randint(1, 12), rng.randint(1, 60), 10**9 - 1)),
        "seconds": rng.choice((0.0, 0.001, 0.01, rng.uniform(0, 0.05), 1e300, math.inf)),
        "nodes": rng.choice((0, 1, rng.randrange(10**3), rng.randrange(10**6), 10**18 - 1)),
        "level": rng.randint(0, 30),
    }
    return Limit(**{name: limits[name] for name in rng.sample(sorted(limits), rng.choice((0, 1, 1, 1, 2, 3)))})
