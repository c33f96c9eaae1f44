"""Alpha-beta that uses what it knows: a memory kept from move to move, moves sorted beforehand, mirror images.

The memory is a table of positions met, bounded in size: a player fills it during a game and never sees the other
player's.  A value searched to the same depth is taken over; from any other depth the best move is tried first.
Sorting tries first the moves that the heuristic likes best.  A child that is a mirror image of one already
searched has the same value and is skipped.  None of this changes the value of a position, only the number of nodes:
`awello lab complexity` measures how much each saves.
"""

from awello.bits import index_of, rest_of, signed
from awello.evaluate.heuristics import BLOCK, CUT_MARGIN, INNER, estimate, evaluate
from awello.kernel import U, kernel
from awello.memory import load, load_word, store
from awello.rules.game import is_over, legal_moves, play
from awello.rules.othello import canonical
from awello.search.negamax import INFINITY
from awello.search.negamax import search as search_plainly

# More slots of the block: the memory's address and mask, two switches, then a row for each depth.
MEMORY, MASK, SORT, MIRROR = range(BLOCK, BLOCK + 4)
ROWS = BLOCK + 8
ROW = 192  # 64 moves, then the images of 64 children: boards that no game reaches have more than 33
DEEPEST = 64
WORDS = ROWS + ROW * (DEEPEST + 1)
IMAGES = 64

# An entry of the memory: both words, then what is known of the position: value, depth, bound and move + 1.
ENTRY = 3  # words
LOWER, UPPER, SAME = 1, 2, 3
WORST = -(1 << 30)


@kernel("int64(uint64, uint64, int64)")
def place_of(own: U, opp: U, block: int) -> int:
    """The address of the entry where a position is remembered."""
    mixed = own * U(0x9E3779B97F4A7C15) ^ (opp + U(0x7F4A7C15)) * U(0xC2B2AE3D27D4EB4F)
    mixed = (mixed ^ mixed >> U(32)) * U(0xBF58476D1CE4E5B9)
    index = signed(mixed >> U(29)) & load(block, MASK)
    return load(block, MEMORY) + 8 * ENTRY * index


@kernel("boolean(int64, uint64, uint64)", inline=True)
def is_held(place: int, own: U, opp: U) -> bool:
    """Whether an entry belongs to a position."""
    return bool(load_word(place, 0) == own and load_word(place, 1) == opp)


@kernel("void(int64, uint64, uint64, int64)", inline=True)
def hold(place: int, own: U, opp: U, data: int) -> None:
    """Write an entry, over whatever was there."""
    store(place, 0, signed(own))
    store(place, 1, signed(opp))
    store(place, 2, data)


@kernel("int64(uint64, uint64, int64)")
def recall(own: U, opp: U, block: int) -> int:
    """What is remembered of a position, or 0."""
    if load(block, MEMORY) == 0:
        return 0
    place = place_of(own, opp, block)
    return load(place, 2) if is_held(place, own, opp) else 0


@kernel("void(uint64, uint64, int64, int64, int64, int64, int64)")
def remember(own: U, opp: U, value: int, depth: int, bound: int, move: int, block: int) -> None:
    """Write down what a search found, over whatever was there."""
    if load(block, MEMORY) != 0:
        hold(place_of(own, opp, block), own, opp, value << 24 | depth << 16 | bound << 8 | (move + 1))


@kernel("int64(int64, uint64, uint64, uint64, int64, int64, int64, int64)")
def list_moves(game: int, own: U, opp: U, moves: U, first: int, depth: int, heuristic: int, block: int) -> int:
    """Write the moves to the row of this depth, `first` before all, the others sorted if asked for; their number."""
    row, count = ROWS + ROW * depth, 0
    sort = load(block, SORT) != 0
    while moves != U(0):
        move = index_of(moves)
        key = 0
        if move == first:
            key = -WORST
        elif sort:
            next_own, next_opp = play(game, own, opp, move)
            key = -estimate(game, heuristic, next_own, next_opp, block)
        place = row + count
        while place > row and load(block, place - 1) >> 8 < key:
            store(block, place, load(block, place - 1))
            place -= 1
        store(block, place, key << 8 | move)
        count += 1
        moves = rest_of(moves)
    return count


@kernel("boolean(uint64, uint64, int64, int64, int64)")
def is_mirrored(own: U, opp: U, searched: int, depth: int, block: int) -> bool:
    """Whether a child is the mirror image of one of those searched before; notes its own image."""
    image_own, image_opp = canonical(own, opp)
    images = ROWS + ROW * depth + IMAGES
    for index in range(searched):
        place = images + 2 * index
        if load_word(block, place) == image_own and load_word(block, place + 1) == image_opp:
            return True
    store(block, images + 2 * searched, signed(image_own))
    store(block, images + 2 * searched + 1, signed(image_opp))
    return False


@kernel("int64(int64, uint64, uint64, int64, int64, int64, int64, int64)")
def search(game: int, own: U, opp: U, alpha: int, beta: int, depth: int, heuristic: int, block: int) -> int:
    """Negamax with alpha-beta, fail-soft: exact inside (alpha, beta), outside it a bound on the value."""
    # Step 1. The last ply: nothing is worth knowing there.  The end of the game.
    if depth <= 1:
        return search_plainly(game, own, opp, alpha, beta, depth, heuristic, block)
    moves = legal_moves(game, own, opp)
    if moves == U(0) and is_over(game, own, opp):
        return evaluate(game, heuristic, own, opp, True, block)
    store(block, INNER, load(block, INNER) + 1)
    # Step 2. Pass: the sides swap, the depth counts it.
    if moves == U(0):
        return -search(game, opp, own, -beta, -alpha, depth - 1, heuristic, block)
    # Step 3. What the memory knows: a value of the same depth, or at least a first move.
    known = recall(own, opp, block)
    if known != 0 and (known >> 16 & 255) == depth:
        value, bound = known >> 24, known >> 8 & 3
        if bound == SAME or (bound == LOWER and value >= beta) or (bound == UPPER and value <= alpha):
            return value
    # Step 4. Each move in order, but for mirror images, until the opponent would never allow this position.
    count = list_moves(game, own, opp, moves, (known & 255) - 1, depth, heuristic, block)
    best, best_move, floor, searched = -INFINITY, -1, alpha, 0
    mirror = load(block, MIRROR) != 0
    for index in range(count):
        move = load(block, ROWS + ROW * depth + index) & 255
        next_own, next_opp = play(game, own, opp, move)
        if mirror and is_mirrored(next_own, next_opp, searched, depth, block):
            continue
        searched += 1
        value = -search(game, next_own, next_opp, -beta, -alpha, depth - 1, heuristic, block)
        if value > best:
            best, best_move = value, move
            alpha = max(alpha, best)
        if alpha >= beta + load(block, CUT_MARGIN):
            break
    # Step 5. Remember.
    bound = LOWER if best >= beta else UPPER if best <= floor else SAME
    remember(own, opp, best, depth, bound, best_move, block)
    return best
