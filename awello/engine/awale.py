"""The champion's search for Awalé: principal variation search on the two words, with a table of positions met.

A value counts the seeds still to be won, the mover's less the opponent's, in UNITs of a seed, as the table of solved
endgames does: kernels see the rows without the seeds taken, and play goes on where a majority would end it.  Positions
of few seeds are looked up in that table.  At the horizon captures are played out and what is left is judged by a small
learnt network (`evaluate.pits`); without it nothing more is expected (DiffScore).  A position that came before since
the last capture ends the game, as the rules of the variant say.  In deep searches quiet moves that come late in the
order are first searched a ply less deep, and fully only if they look good.

Whoever uses an estimate counts a *guess*.  A value that needed none is proved, whatever the depth: the table keeps it
as SOLVED.  Everything but numbers lies in a block behind one address; its parts are named here.

The table verifies the 40 upper bits of a hash whose lower bits choose the place, so one lookup in 2^40 finds what
belongs to another position (see `engine.table` for positions that are constructed).  An empty entry says that its
depth is 0, less than any search asks for.  The positions on the way to a node are kept whole.
"""

from awello.bits import index_of, rest_of, signed
from awello.engine.block import LIMIT, MULTIPLIERS, NODES, STOP
from awello.engine.retrograde import OFFSET, VALUE, rank
from awello.engine.table import hash_of
from awello.evaluate.pits import worth
from awello.kernel import U, kernel
from awello.memory import load, load8, load_word, prefetch, store
from awello.rules.awale import ABAPA, BYTE, is_stopped, legal_moves, seeds_in, sow
from awello.search.knowing import LOWER, SAME, UPPER

UNIT = 16
INFINITY = 1 << 11
SOLVED = 127
DEEPEST = 100
NONE = 7  # no pit

# The block begins like Othello's; then what is counted and told, and where the tables are.
GUESSES, BEST, GAME, TABLE, MASK, BASE, BASE_SEEDS, WEIGHTS, LATE, NEXT = range(MULTIPLIERS + 4, MULTIPLIERS + 14)
HISTORY = 24  # for each pit and number of seeds, how often it refuted
# A row for each ply: the moves in order, both rows of the position, the quiet moves before it, what last refuted there.
ROWS = HISTORY + 6 * 64
OWN, OPP, QUIET, KILLER, ROW_WORDS = range(6, 11)
CYCLE = 12  # quiet moves before a position can come again: each pit has been played
PAST = 256  # rows before that of the root, for positions of the game before it
ROOT = ROWS + ROW_WORDS * PAST
WORDS = ROOT + ROW_WORDS * (DEEPEST + 1)

# An entry of the table: 40 bits of the hash, value + INFINITY (12 bits), bound (2), depth (7), move (3).
KEY = U(0xFFFFFFFFFF000000)
CAPTURE, FAVOUR = 1 << 24, 1 << 22  # in the order of moves: more than any other, for the killer
EARLY = 2  # moves that are never searched less deep


@kernel("int64(uint64, int64)", inline=True)
def place_of(key: U, block: int) -> int:
    """The address of a hash's entry."""
    return load(block, TABLE) + ((signed(key) & load(block, MASK)) << 3)


@kernel("int64(uint64, uint64, int64, int64)", inline=True)
def probe(own: U, opp: U, seeds: int, base: int) -> int:
    """The value of a solved endgame of so many seeds."""
    return int(VALUE[load8(base, U(OFFSET[U(seeds)] + rank(own, opp)))])


@kernel("int64(int64, uint64, uint64)", inline=True)
def left_over(game: int, own: U, opp: U) -> int:
    """What the mover who has no move gets more of the seeds in play than the opponent."""
    return 0 if is_stopped(game, own, opp) else seeds_in(own) - seeds_in(opp)


@kernel("int64(int64, uint64, uint64)", inline=True)
def shared_out(game: int, own: U, opp: U) -> int:
    """What the mover gets more of the seeds in play than the opponent, when a position has come again."""
    return seeds_in(own) - seeds_in(opp) if game == ABAPA else 0


@kernel("int64(uint64, uint64, int64, int64)", inline=True)
def estimate(own: U, opp: U, seeds: int, weights: int) -> int:
    """What the mover may still expect, by the learnt weights; not more than there is."""
    most = UNIT * seeds
    return max(-most, min(most, worth(own, opp, seeds, weights)))


@kernel("int64(uint64, uint64, int64, int64)", inline=True)
def last_ply(own: U, opp: U, beta: int, block: int) -> int:
    """The value when only one more move counts, and of it only what it captures (DiffScore)."""
    nodes, game, seeds = load(block, NODES) + 1, load(block, GAME), seeds_in(own + opp)
    moves = legal_moves(game, own, opp)
    most = 0
    if moves == U(0):
        most = left_over(game, own, opp)
    elif seeds <= load(block, BASE_SEEDS):
        most = probe(own, opp, seeds, load(block, BASE))
    else:
        store(block, GUESSES, load(block, GUESSES) + 1)
        while moves != U(0) and UNIT * most < beta:
            _, _, prize = sow(game, own, opp, index_of(moves))
            most = max(most, seeds_in(prize))
            moves = rest_of(moves)
            nodes += 1
    store(block, NODES, nodes)
    return UNIT * most


@kernel("int64(uint64, uint64, int64, int64, int64)")
def play_captures(own: U, opp: U, alpha: int, beta: int, block: int) -> int:
    """The value at the horizon: the estimate, or what is better, a capture and what follows it."""
    game, seeds = load(block, GAME), seeds_in(own + opp)
    store(block, NODES, load(block, NODES) + 1)
    if seeds <= load(block, BASE_SEEDS):
        return UNIT * probe(own, opp, seeds, load(block, BASE))
    moves = legal_moves(game, own, opp)
    if moves == U(0):
        return UNIT * left_over(game, own, opp)
    store(block, GUESSES, load(block, GUESSES) + 1)
    best = estimate(own, opp, seeds, load(block, WEIGHTS))
    while moves != U(0) and best < beta:
        pit = index_of(moves)
        row, other, prize = sow(game, own, opp, pit)
        moves = rest_of(moves)
        if prize != U(0):
            win, floor = UNIT * seeds_in(prize), max(alpha, best)
            best = max(best, win - play_captures(row, other, win - beta, win - floor, block))
    return best


@kernel("int64(uint64, int64)", inline=True)
def sowing_of(own: U, pit: int) -> int:
    """The number of a pit with its seeds, for the history of refutations."""
    return signed(own >> U(8 * pit) & BYTE) + (pit << 6)


@kernel("int64(int64, uint64, uint64, uint64, int64, int64, int64, int64)", inline=True)
def sort_moves(game: int, own: U, opp: U, moves: U, depth: int, row: int, first: int, block: int) -> int:
    """Write the moves into a row from `first` on, captures before others, the killer, then by history; their number."""
    count = first
    while moves != U(0):
        pit = index_of(moves)
        child, other, prize = sow(game, own, opp, pit)
        if depth > 2:
            prefetch(place_of(hash_of(child, other, block), block))
        sowing = sowing_of(own, pit)
        worth = seeds_in(prize) * CAPTURE + load(block, HISTORY + sowing)
        if load(block, row + KILLER) == sowing:
            worth += FAVOUR
        key = worth << 3 | pit
        place = row + count
        while place > row + first and load(block, place - 1) < key:
            store(block, place, load(block, place - 1))
            place -= 1
        store(block, place, key)
        count += 1
        moves = rest_of(moves)
    return count


@kernel("boolean(uint64, uint64, int64, int64)", inline=True)
def is_repeated(own: U, opp: U, row: int, block: int) -> bool:
    """Whether the position of this row came before since the last capture; notes it."""
    quiet = load(block, row + QUIET)
    store(block, row + OWN, signed(own))
    store(block, row + OPP, signed(opp))
    back = CYCLE
    while back <= quiet:
        before = row - ROW_WORDS * back
        if load_word(block, before + OWN) == own and load_word(block, before + OPP) == opp:
            return True
        back += 2
    return False


@kernel("void(int64, boolean, int64)", inline=True)
def enter_row(row: int, captured: bool, block: int) -> None:
    """Say where the position after a move of this row has its own row, and how many quiet moves lead there."""
    below = row + ROW_WORDS
    store(block, NEXT, below)
    store(block, below + QUIET, 0 if captured else load(block, row + QUIET) + 1)


@kernel("int64(uint64, uint64, int64, int64, int64, int64)")
def search(own: U, opp: U, alpha: int, beta: int, depth: int, block: int) -> int:
    """The value for the mover within a depth, fail-soft: exact inside (alpha, beta), outside it a bound."""
    # Step 1. The horizon.  Count; whoever has visited enough stops.
    row, learnt = load(block, NEXT), load(block, WEIGHTS) != 0
    if depth <= 1 and not learnt:
        return last_ply(own, opp, beta if depth == 1 else -INFINITY, block)
    if depth == 0:
        return play_captures(own, opp, alpha, beta, block)
    nodes = load(block, NODES) + 1
    store(block, NODES, nodes)
    if nodes >= load(block, LIMIT):
        store(block, STOP, -1)
    # Step 2. Few seeds: the table of endgames knows.  No move: the game is over.
    game, seeds = load(block, GAME), seeds_in(own + opp)
    if seeds <= load(block, BASE_SEEDS):
        return UNIT * probe(own, opp, seeds, load(block, BASE))
    moves = legal_moves(game, own, opp)
    if moves == U(0):
        return UNIT * left_over(game, own, opp)
    # Step 3. A position that came before ends the game.
    if is_repeated(own, opp, row, block):
        store(block, GUESSES, load(block, GUESSES) + 1)  # it holds for this way here alone
        return UNIT * shared_out(game, own, opp)
    # Step 4. What the table remembers: a value, or at least a first move.
    key = hash_of(own, opp, block)
    place = place_of(key, block)
    entry = load_word(place, 0)
    count, index = 0, 0
    if (entry ^ key) & KEY == U(0):
        value = signed(entry >> U(12) & U(4095)) - INFINITY
        bound, known = signed(entry >> U(10) & U(3)), signed(entry >> U(3) & U(127))
        if known >= depth and (bound == SAME or (value >= beta if bound == LOWER else value <= alpha)):
            if known != SOLVED:
                store(block, GUESSES, load(block, GUESSES) + 1)
            return value
        first = moves & U(1) << (entry & U(7))
        if first != U(0):
            store(block, row, index_of(first))
            moves, count = moves ^ first, 1
    best, best_pit, floor, guesses = -INFINITY, 0, alpha, load(block, GUESSES)
    late = load(block, LATE)
    while True:
        # Step 5. The remembered move comes first; the others are sorted only if it does not suffice.
        if index == count:
            if moves == U(0):
                break
            count = sort_moves(game, own, opp, moves, depth, row, count, block)
            moves = U(0)
        pit = load(block, row + index) & 7
        next_own, next_opp, prize = sow(game, own, opp, pit)
        win = UNIT * seeds_in(prize)
        if depth == 2 and not learnt:
            value = win - last_ply(next_own, next_opp, win - alpha, block)
        elif depth == 1:
            value = win - play_captures(next_own, next_opp, win - beta, win - alpha, block)
        else:
            # Step 6. A full window for the first move; for the others the proof that they are no better, for late ones
            # first a ply less deep.
            enter_row(row, prize != U(0), block)
            if index == 0:
                value = win - search(next_own, next_opp, win - beta, win - alpha, depth - 1, block)
            else:
                value = alpha + 1
                if depth >= late and index >= EARLY and prize == U(0):
                    value = win - search(next_own, next_opp, win - alpha - 1, win - alpha, depth - 2, block)
                    store(block, NEXT, row + ROW_WORDS)
                if value > alpha:
                    value = win - search(next_own, next_opp, win - alpha - 1, win - alpha, depth - 1, block)
                    store(block, NEXT, row + ROW_WORDS)
                if alpha < value < beta:
                    value = win - search(next_own, next_opp, win - beta, win - alpha, depth - 1, block)
        if load(block, STOP) != 0:
            return 0
        index += 1
        if value > best:
            best, best_pit = value, pit
            alpha = max(alpha, value)
        # Step 7. A refutation: remember what refutes.
        if best >= beta:
            sowing = sowing_of(own, pit)
            used = min(load(block, HISTORY + sowing) + depth * depth, FAVOUR)
            store(block, HISTORY + sowing, used)
            if prize == U(0):
                store(block, row + KILLER, sowing)
            break
    # Step 8. Remember.
    bound = LOWER if best >= beta else UPPER if best <= floor else SAME
    sure = SOLVED if load(block, GUESSES) == guesses else depth
    store(place, 0, signed(key & KEY) | (best + INFINITY) << 12 | bound << 10 | sure << 3 | best_pit)
    return best


@kernel("int64(uint64, uint64, uint64, int64, int64, int64, int64)")
def search_root(own: U, opp: U, moves: U, alpha: int, beta: int, depth: int, block: int) -> int:
    """The value of the best of these moves, which is left in the block; the one that is there is tried first.

    If it is stopped, the block holds a move that is proved to be better than the first, or still the first.
    """
    game, row = load(block, GAME), ROOT
    store(block, row + OWN, signed(own))
    store(block, row + OPP, signed(opp))
    best, floor, first = -INFINITY, alpha, load(block, BEST)
    if moves >> U(first) & U(1) != U(0):
        moves ^= U(1) << U(first)
        store(block, row, first)
        count = sort_moves(game, own, opp, moves, depth, row, 1, block)
    else:
        count = sort_moves(game, own, opp, moves, depth, row, 0, block)
    for index in range(count):
        pit = load(block, row + index) & 7
        next_own, next_opp, prize = sow(game, own, opp, pit)
        win = UNIT * seeds_in(prize)
        enter_row(row, prize != U(0), block)
        if index == 0:
            value = win - search(next_own, next_opp, win - beta, win - alpha, depth - 1, block)
        else:
            value = win - search(next_own, next_opp, win - alpha - 1, win - alpha, depth - 1, block)
            store(block, NEXT, row + ROW_WORDS)
            if alpha < value < beta:
                value = win - search(next_own, next_opp, win - beta, win - alpha, depth - 1, block)
        if load(block, STOP) != 0:
            return 0
        if value > best:
            best = value
            if index == 0 or value > floor:
                store(block, BEST, pit)
            alpha = max(alpha, value)
        if best >= beta:
            break
    return best
