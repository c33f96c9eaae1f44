"""Iterative deepening as Otage does it (report 4): what one depth finds out is tried first at the next.

A search of alpha-beta forgets its tree.  To know the *variations*, the best line from each move of the root, every
position gets a number when it is reached, and a move that raises alpha is *elected*: a table keeps, for each ply, the
numbers of its father and its own, and the move.  Who follows the numbers from a move of the root finds its variation:
the line that is expected, or the answers that refute it.  The moves of the root, one after the other, share the table.

The table takes as much memory as it may.  Only when a ply is full, it is cleaned: what hangs on no elected position and
on none that is being searched cannot be part of a variation any more.  Numbers grow, so each ply stays in order.

At the next depth the squares of a move's variation come first in the order of squares by which all positions under that
move are searched, and the others after them.
"""

from awello.bits import bit, flips_of, index_of, moves_of, rest_of
from awello.evaluate.heuristics import EXACT, INNER, LEAVES
from awello.evaluate.otage import OTAGE, judge
from awello.kernel import U, kernel
from awello.memory import load, store
from awello.rules.game import score
from awello.search.negamax import INFINITY

DEEPEST = 64  # plies
PASSING = 64  # how the table writes a pass

# More slots of the block: the last number given, the nodes after which the search gives up, the elected positions
# (their address, how many of a ply there is room for, how often they were cleaned), the rank of each square, the
# numbers on the way from the root, how many are elected of each ply, and a row of moves for each ply.
NUMBER, LIMIT, ELECTED, ROOM, CLEANED = range(OTAGE, OTAGE + 5)
RANKS = OTAGE + 5
WAY = RANKS + 64
FILLED = WAY + DEEPEST + 1
ROWS = FILLED + DEEPEST + 1
ROW = 64  # moves, as many as there are squares: boards that no game reaches have more than 33
WORDS = ROWS + ROW * DEEPEST
ENTRY = 2  # father; number << 8 | move
LEAST_ROOM = 128  # of a ply: what is left after cleaning is one position at most for each ply above


# ---- the table of elected positions ---------------------------------------------------------------------------------
@kernel("int64(int64, int64, int64)", inline=True)
def place_of(ply: int, index: int, block: int) -> int:
    """The address of an elected position."""
    return load(block, ELECTED) + 8 * ENTRY * (ply * load(block, ROOM) + index)


@kernel("int64(int64, int64, int64)")
def find_child(ply: int, father: int, block: int) -> int:
    """The number and the move of the last one elected among the children of a father, or -1."""
    low, high = 0, load(block, FILLED + ply)
    while low < high:
        middle = (low + high) >> 1
        if load(place_of(ply, middle, block), 0) <= father:
            low = middle + 1
        else:
            high = middle
    if low == 0 or load(place_of(ply, low - 1, block), 0) != father:
        return -1
    return load(place_of(ply, low - 1, block), 1)


@kernel("boolean(int64, int64, int64)")
def is_elected(ply: int, number: int, block: int) -> bool:
    """Whether the position of a number is elected."""
    low, high = 0, load(block, FILLED + ply)
    while low < high:
        middle = (low + high) >> 1
        if load(place_of(ply, middle, block), 1) >> 8 < number:
            low = middle + 1
        else:
            high = middle
    return low < load(block, FILLED + ply) and load(place_of(ply, low, block), 1) >> 8 == number


@kernel("void(int64)")
def clean(block: int) -> None:
    """Keep what may still become part of a variation: the last child of each father that is elected or on the way."""
    store(block, CLEANED, load(block, CLEANED) + 1)
    for ply in range(2, DEEPEST):
        kept = 0
        for index in range(load(block, FILLED + ply)):
            place = place_of(ply, index, block)
            father, child = load(place, 0), load(place, 1)
            if father != load(block, WAY + ply - 1) and not is_elected(ply - 1, father, block):
                continue
            if kept > 0 and load(place_of(ply, kept - 1, block), 0) == father:
                kept -= 1
            store(place_of(ply, kept, block), 0, father)
            store(place_of(ply, kept, block), 1, child)
            kept += 1
        store(block, FILLED + ply, kept)


@kernel("void(int64, int64, int64, int64, int64)")
def elect(ply: int, father: int, number: int, move: int, block: int) -> None:
    """Note the best move of a father so far."""
    if load(block, ELECTED) == 0:
        return
    if load(block, FILLED + ply) == load(block, ROOM):
        clean(block)
    filled = load(block, FILLED + ply)
    store(place_of(ply, filled, block), 0, father)
    store(place_of(ply, filled, block), 1, number << 8 | move)
    store(block, FILLED + ply, filled + 1)


@kernel("int64(int64, int64, int64)")
def follow(number: int, block: int, moves: int) -> int:
    """Write the variation behind a move of the root to an address; its length."""
    length = 0
    for ply in range(2, DEEPEST):
        child = find_child(ply, number, block)
        if child < 0:
            break
        store(moves, length, child & 255)
        number = child >> 8
        length += 1
    return length


# ---- the search -----------------------------------------------------------------------------------------------------
@kernel("int64(int64, int64)", inline=True)
def reach(ply: int, block: int) -> int:
    """Give a number to the position that is about to be searched."""
    number = load(block, NUMBER) + 1
    store(block, NUMBER, number)
    store(block, WAY + ply, number)
    return number


@kernel("int64(uint64, int64, int64)")
def list_moves(moves: U, ply: int, block: int) -> int:
    """Write the moves to the row of this ply by the ranks of their squares; their number."""
    row, count = ROWS + ROW * ply, 0
    while moves != U(0):
        move = index_of(moves)
        entry = load(block, RANKS + move) << 8 | move
        place = row + count
        while place > row and load(block, place - 1) > entry:
            store(block, place, load(block, place - 1))
            place -= 1
        store(block, place, entry)
        count += 1
        moves = rest_of(moves)
    return count


@kernel("int64(uint64, uint64, int64, int64, int64, int64, int64)")
def search(own: U, opp: U, alpha: int, beta: int, depth: int, ply: int, block: int) -> int:
    """Negamax with alpha-beta, fail-soft: exact inside (alpha, beta), outside it a bound on the value."""
    # Step 1. Leaves: the horizon, or the end of the game.
    moves = moves_of(own, opp)
    over = moves == U(0) and moves_of(opp, own) == U(0)
    if depth == 0 or over:
        store(block, LEAVES, load(block, LEAVES) + 1)
        return EXACT * score(0, own, opp) if over else judge(own, opp, block)
    store(block, INNER, load(block, INNER) + 1)
    father = load(block, WAY + ply)
    # Step 2. Pass: the sides swap, the depth counts it.
    if moves == U(0):
        number = reach(ply + 1, block)
        value = -search(opp, own, -beta, -alpha, depth - 1, ply + 1, block)
        if value > alpha:
            elect(ply + 1, father, number, PASSING, block)
        return value
    # Step 3. The moves by the ranks of their squares, until the opponent would never allow this position.
    count, best = list_moves(moves, ply, block), -INFINITY
    for index in range(count):
        move = load(block, ROWS + ROW * ply + index) & 255
        flips = flips_of(own, opp, move)
        number = reach(ply + 1, block)
        value = -search(opp ^ flips, own | flips | bit(move), -beta, -alpha, depth - 1, ply + 1, block)
        if load(block, INNER) + load(block, LEAVES) >= load(block, LIMIT):
            return best
        best = max(best, value)
        # Step 4. A move that raises alpha is elected.
        if value > alpha:
            elect(ply + 1, father, number, move, block)
            alpha = value
            if alpha >= beta:
                break
    return best
