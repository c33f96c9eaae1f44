"""Construct Othello boards that collide in a hash table, as an attacker could.

There are three kinds.  An old version of the hash multiplied two factors, each a word XORed with a constant.  On
weak boards, a word equals its constant, so that its factor is 0 and the other word has no effect.  Two boards with
exchanged factors have the same old hash.  Other pairs of boards, found by lattice reduction, have the same hash with
the fixed multipliers of `engine.transposition_table`.
"""

import random
from collections.abc import Iterator
from operator import mul

from awello import Game, Position
from awello.engine.transposition_table import FIXED_MULTIPLIERS
from awello.kernel import U
from awello.rules.othello import apply_symmetry

WORD_MASK = (1 << 64) - 1
OWN_FACTOR, OPP_FACTOR = 0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F  # the old hash XORed the words with these
HASH_MODULUS = 1 << 128
MULTIPLIERS = FIXED_MULTIPLIERS[1] << 64 | FIXED_MULTIPLIERS[0], FIXED_MULTIPLIERS[3] << 64 | FIXED_MULTIPLIERS[2]

EXTREME_HASH_BOARDS = (  # boards whose hash with the fixed multipliers is 0 or all ones
    (0x6983820390018, 0x126C45FC6B8A1),
    (0x2B1BA90B441B, 0x2400400109184),
    (0x4885808658D4, 0x1262840080321),
    (0x661A594A840A0, 0x110180B57B144),
    (0x298080210013E, 0x100020DC1A641),
    (0x3500800DD926, 0x182D200A202C1),
)

Pair = tuple[Position, Position]
Vector = list[int]


def compute_product_hash(own: int, opp: int) -> int:
    """Return the old hash, which multiplied both words."""
    product = (own ^ OWN_FACTOR) * (opp ^ OPP_FACTOR)
    mixed = (product & WORD_MASK ^ product >> 64) * 0xBF58476D1CE4E5B9 & WORD_MASK
    return mixed ^ mixed >> 29


def compute_fixed_hash(own: int, opp: int) -> int:
    """Return the hash of `engine.transposition_table` with its fixed multipliers."""
    return (own * MULTIPLIERS[0] + opp * MULTIPLIERS[1]) % HASH_MODULUS >> 64


# ---- weak boards ----------------------------------------------------------------------------------------------------
def make_weak_boards(empties: int, rng: random.Random) -> Iterator[Position]:
    """Yield boards in which one word is a constant of the old hash, its complement, or a symmetric image of either."""
    for constant in (OWN_FACTOR, OPP_FACTOR):
        for word in (constant, ~constant & WORD_MASK):
            for symmetry in range(8):
                first = int(apply_symmetry(U(word), symmetry))
                second = clear_random_bits(~first & WORD_MASK, empties, rng)
                yield Position(Game.OTHELLO, first, second)
                yield Position(Game.OTHELLO, second, first)


def clear_random_bits(word: int, count: int, rng: random.Random) -> int:
    """Clear `count` of the set bits of a word, chosen at random."""
    squares = [square for square in range(64) if word >> square & 1]
    return word & ~sum(1 << square for square in rng.sample(squares, min(count, len(squares))))


# ---- collisions of the old hash: x * y = y * x ----------------------------------------------------------------------
def make_product_collision(empties: int, rng: random.Random) -> Pair:
    """Make two boards that have the same old hash, because their factors are exchanged."""
    words, free = [0, 0, 0, 0], []
    for square in range(64):
        own, opp = OWN_FACTOR >> square & 1, OPP_FACTOR >> square & 1
        if own == opp:
            free.append(square)
    holes = set(rng.sample(free, empties))
    for square in range(64):
        own, opp, other = OWN_FACTOR >> square & 1, OPP_FACTOR >> square & 1, rng.randrange(2)
        x, y = (own, opp) if square in holes else (other, other ^ (own == opp))
        for word, value in enumerate((x ^ own, y ^ opp, y ^ own, x ^ opp)):
            words[word] |= value << square
    return Position(Game.OTHELLO, words[0], words[1]), Position(Game.OTHELLO, words[2], words[3])


# ---- collisions of the current hash ---------------------------------------------------------------------------------
def reduce_lattice(basis: list[Vector]) -> list[Vector]:
    """Find short vectors of a three-dimensional lattice by reducing pairs until none gets shorter (Semaev 2001)."""
    while True:
        basis.sort(key=squared_length)
        before = squared_length(basis[2])
        for one in range(3):
            for other in range(3):
                if one != other:
                    dot, size = inner_product(basis[one], basis[other]), squared_length(basis[other])
                    times = (2 * dot + size) // (2 * size)
                    basis[one] = [a - times * b for a, b in zip(basis[one], basis[other], strict=True)]
        if max(map(squared_length, basis)) >= before:
            return basis


def inner_product(one: Vector, other: Vector) -> int:
    """Return the inner product of two vectors."""
    return sum(a * b for a, b in zip(one, other, strict=True))


def squared_length(vector: Vector) -> int:
    """Return the squared length of a vector."""
    return inner_product(vector, vector)


SHORT_VECTORS = reduce_lattice([[1, 0, MULTIPLIERS[0]], [0, 1, MULTIPLIERS[1]], [0, 0, HASH_MODULUS]])


def to_signed_digits(first: int, second: int, rng: random.Random) -> list[tuple[int, int]] | None:
    """Write two numbers in binary with 64 digits -1, 0 or 1; where both digits are not 0, their signs differ."""
    digits = []
    for _ in range(64):
        sign = rng.choice((-1, 1))
        pair = sign * (first & 1), (-sign if first & 1 else sign) * (second & 1)
        first, second = (first - pair[0]) // 2, (second - pair[1]) // 2
        digits.append(pair)
    return digits if first == second == 0 else None


def make_fixed_hash_collision(empties: int, rng: random.Random) -> Pair:
    """Make two boards with the same number of empty squares and the same hash under the fixed multipliers."""
    while True:
        times = [rng.randint(-3, 3) for _ in SHORT_VECTORS]
        first, second, _ = (sum(map(mul, times, part)) for part in zip(*SHORT_VECTORS, strict=True))
        digits = to_signed_digits(first, second, rng) if first or second else None
        found = _fill(digits, empties, rng) if digits else None
        if found and compute_fixed_hash(found[0].own, found[0].opp) == compute_fixed_hash(found[1].own, found[1].opp):
            return found


def _fill(digits: list[tuple[int, int]], empties: int, rng: random.Random) -> Pair | None:
    """Make two boards whose words differ by these digits; on the squares with digits 0, both boards are equal."""
    words = [
        sum(1 << square for square in range(64) if digits[square][word] == sign) for sign in (-1, 1) for word in (0, 1)
    ]
    alike = [square for square in range(64) if digits[square] == (0, 0)]
    holes = [empties - 64 + len(alike) + (words[first] | words[first + 1]).bit_count() for first in (0, 2)]
    if holes[0] != holes[1] or not 0 <= holes[0] <= len(alike):
        return None
    for square in rng.sample(alike, len(alike) - holes[0]):
        colour = rng.randrange(2)
        words[colour] |= 1 << square
        words[2 + colour] |= 1 << square
    return Position(Game.OTHELLO, words[0], words[1]), Position(Game.OTHELLO, words[2], words[3])


# ---- positions to search --------------------------------------------------------------------------------------------
def find_predecessor(position: Position, rng: random.Random) -> Position | None:
    """Return a position from which a move leads to `position`, or None; searching it stores `position` in the table."""
    squares = [square for square in range(64) if position.opp >> square & 1]
    for square in rng.sample(squares, len(squares)):
        for step in (-9, -8, -7, -1, 1, 7, 8, 9):
            turned = square + step
            if 0 <= turned < 64 and position.opp >> turned & 1:
                disc, word = 1 << square, 1 << turned
                found = Position(position.game, position.opp & ~disc & ~word, position.own | word, 1 - position.side)
                if square in found.legal_moves() and found.after(square) == position:
                    return found
    return None


def make_colliding_positions(rng: random.Random) -> list[Position]:
    """Return positions, to be searched one after the other, whose successors are constructed to collide."""
    empties = rng.choice((6, 8, 10, 12))
    kind = rng.randrange(4)
    if kind == 0:
        boards = rng.sample(list(make_weak_boards(empties, rng)), 4)
    elif kind == 1:
        word = rng.choice((OWN_FACTOR, ~OWN_FACTOR & WORD_MASK))
        boards = [Position(Game.OTHELLO, word, clear_random_bits(~word & WORD_MASK, empties, rng)) for _ in range(4)]
    else:
        boards = list(make_product_collision(empties, rng) if kind == 2 else make_fixed_hash_collision(12, rng))
    found = (find_predecessor(board, rng) for board in boards)
    return [position for position in found if position is not None and not position.over]
