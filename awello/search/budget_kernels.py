"""Alpha-beta with a node budget and learnt move ordering (report 1, section 3.4).

The cost of a search to a fixed depth grows with the number of moves.  Here each position gets a node budget instead.
One node is for the position itself, and the rest is divided among its children.  The equal share of each child is
multiplied by `share_factor` (delta in report 1), because alpha-beta will skip some children.  A position with a budget
below 1 is a leaf.  As a result, variations with few alternatives are searched deeper.

Moves are grouped into the *categories* of `ppaf`.  Each category has a score, and moves whose category has a higher
score are tried earlier.  When the move at index `i` is better than all moves before it, the score of its category rises
by `i`, and the score of the category of each earlier move falls by 1.  If the move also causes a cutoff, the scores
change by the same amounts again.  Scores are kept between searches.

Leaves are at different depths, so the search sets `opponent_at_leaf` before it evaluates each leaf.  Nodes and leaves
are counted as in `negamax`.
"""

from typing import Annotated

from awello.bits import bit_scan, clear_lowest_bit, popcount
from awello.evaluate.heuristics import HeuristicState, evaluate
from awello.kernel import U, kernel
from awello.layout import Layout, record_at
from awello.rules.game import is_over, legal_moves, play
from awello.search.negamax import INFINITY
from awello.search.ppaf import CATEGORY_COUNT, category_of

MAX_MOVES = 64  # one per square: positions of a game have at most 33 moves, but edited boards can have more
MAX_DEPTH = 128  # plies; reached only by forced variations, in which the budget hardly decreases
ORDER_NONE, ORDER_FROZEN, ORDER_LIVE = range(3)  # move ordering: none, by fixed scores, by updated scores
SHARE_SCALE = 1000  # `share_factor` is stored in units of 1/1000


class BudgetPly(Layout):
    """The moves of the position at one ply, packed by `pack_move`."""

    moves: Annotated[list[int], MAX_MOVES]


class BudgetState(Layout):
    """The state of a search with a budget.  The scores are kept between searches."""

    evaluation: HeuristicState
    share_factor: int  # in thousandths; 0 for a search to a depth: the budget is then the depth
    learnt_ordering: int  # ORDER_NONE, ORDER_FROZEN or ORDER_LIVE
    node_limit: int  # the search stops after this many nodes
    deepest_ply: int  # the deepest ply reached
    category_scores: Annotated[list[int], CATEGORY_COUNT]  # by category of move
    root_moves: Annotated[list[int], MAX_MOVES]  # in the order in which they were searched
    root_values: Annotated[list[int], MAX_MOVES]  # the values of `root_moves`, in the same order
    plies: Annotated[list[BudgetPly], MAX_DEPTH]


budget_state_at = record_at(BudgetState)


@kernel("float64(float64, int64, BudgetState)", inline=True)
def divide_budget(budget: float, children: int, state: BudgetState) -> float:
    """Return the budget of each child of a position with this budget."""
    rest = budget - 1.0
    return rest if state.share_factor == 0 else min(rest * state.share_factor / (float(SHARE_SCALE) * children), rest)


# ---- move ordering --------------------------------------------------------------------------------------------------
# A move, its category and the category's score are packed into one integer; larger integers are tried first.  A record
# of three fields was 10 % slower, because selecting the next move compares all remaining ones.
@kernel("int64(int64, int64, int64)", inline=True)
def pack_move(score: int, move: int, category: int) -> int:
    """Pack a move into an integer: larger for a higher score and, among equal scores, for a lower move number."""
    return score << 24 | (MAX_MOVES - 1 - move) << 16 | category


@kernel("int64(int64)", inline=True)
def unpack_move(packed: int) -> int:
    """Return the move that a packed integer contains."""
    return MAX_MOVES - 1 - (packed >> 16 & 0xFF)


@kernel("uint64(int64)", inline=True)
def unpack_category(packed: int) -> U:
    """Return the category that a packed integer contains, as an unsigned index."""
    return U(packed & 0xFFFF)


@kernel("void(int64, uint64, uint64, uint64, BudgetPly, BudgetState)")
def list_moves(game: int, own: U, opp: U, moves: U, ply: BudgetPly, state: BudgetState) -> None:
    """Write the packed moves to the ply, with categories and scores if move ordering is on."""
    count = 0
    while moves != U(0):
        move, category, score = bit_scan(moves), 0, 0
        if state.learnt_ordering != ORDER_NONE:
            category = category_of(game, own, opp, move)
            score = state.category_scores[U(category)]
        ply.moves[U(count)] = pack_move(score, move, category)
        count += 1
        moves = clear_lowest_bit(moves)


@kernel("int64(int64, int64, BudgetPly, BudgetState)", inline=True)
def pick_move(index: int, count: int, ply: BudgetPly, state: BudgetState) -> int:
    """Return the move at this index; if move ordering is on, first swap it with the best of the remaining moves."""
    first = ply.moves[U(index)]
    largest, chosen = first, index
    if state.learnt_ordering != ORDER_NONE:
        for other in range(index + 1, count):
            if ply.moves[U(other)] > largest:
                largest, chosen = ply.moves[U(other)], other
        ply.moves[U(chosen)] = first
        ply.moves[U(index)] = largest
    return unpack_move(largest)


@kernel("void(BudgetPly, int64, BudgetState)")
def reward_move(ply: BudgetPly, index: int, state: BudgetState) -> None:
    """Reward the category of the move at this index, and penalise those of the moves tried before it."""
    for earlier in range(index):
        state.category_scores[unpack_category(ply.moves[U(earlier)])] -= 1
    state.category_scores[unpack_category(ply.moves[U(index)])] += index


# ---- the search -----------------------------------------------------------------------------------------------------
@kernel("boolean(BudgetState)", inline=True)
def reached_node_limit(state: BudgetState) -> bool:
    """Return whether the search has reached its node limit; its values are then meaningless."""
    return bool(state.evaluation.inner_nodes + state.evaluation.leaves >= state.node_limit)


@kernel("int64(int64, uint64, uint64, int64, int64, float64, int64, int64, BudgetState)")
def search(
    game: int, own: U, opp: U, alpha: int, beta: int, budget: float, depth: int, heuristic_id: int, state: BudgetState
) -> int:
    """Search a position; return its value for the mover, fail-soft: exact inside (alpha, beta), a bound outside."""
    # Step 1. Leaves: the budget is used up, or the game is over.  The player at the root moves at even depths.
    moves = legal_moves(game, own, opp)
    over = moves == U(0) and is_over(game, own, opp)
    if budget < 1.0 or depth >= MAX_DEPTH or over:
        state.deepest_ply = max(depth, state.deepest_ply)
        state.evaluation.opponent_at_leaf = depth & 1 == 1
        return evaluate(game, heuristic_id, own, opp, over, state.evaluation)
    state.evaluation.inner_nodes += 1
    # Step 2. Pass: the sides swap, and the only child gets the budget minus one node.
    if moves == U(0):
        return -search(game, opp, own, -beta, -alpha, budget - 1.0, depth + 1, heuristic_id, state)
    # Step 3. Search the moves in order, each with its share; stop as soon as the opponent would avoid this position.
    children, ply = popcount(moves), state.plies[U(depth)]
    budget = divide_budget(budget, children, state)
    list_moves(game, own, opp, moves, ply, state)
    best = -INFINITY
    for index in range(children):
        next_own, next_opp = play(game, own, opp, pick_move(index, children, ply, state))
        value = -search(game, next_own, next_opp, -beta, -alpha, budget, depth + 1, heuristic_id, state)
        if reached_node_limit(state):
            return best
        # Step 4. A move that is better than all moves before it updates the scores, twice if it causes a cutoff.
        if value > best:
            best = value
            if state.learnt_ordering == ORDER_LIVE:
                reward_move(ply, index, state)
            if best >= beta:
                if state.learnt_ordering == ORDER_LIVE:
                    reward_move(ply, index, state)
                break
            alpha = max(alpha, best)
    return best


@kernel("int64(int64, uint64, uint64, uint64, int64, float64, int64, int64)")
def search_root(
    game: int, own: U, opp: U, moves: U, max_value: int, budget: float, heuristic_id: int, address: int
) -> int:
    """Search the root moves; return how many were searched.

    The values of the best moves are exact; the other values are upper bounds.  The state is passed by its address,
    because Python passes a number faster than a record.
    """
    state = budget_state_at(address)
    children, ply, best = popcount(moves), state.plies[U(0)], -max_value
    budget = divide_budget(budget, children, state)
    list_moves(game, own, opp, moves, ply, state)
    for index in range(children):
        move = pick_move(index, children, ply, state)
        next_own, next_opp = play(game, own, opp, move)
        value = -search(game, next_own, next_opp, -max_value, 1 - best, budget, 1, heuristic_id, state)
        state.root_moves[U(index)], state.root_values[U(index)] = move, value
        if reached_node_limit(state):
            return index + 1
        if value > best:
            best = value
            if state.learnt_ordering == ORDER_LIVE:
                reward_move(ply, index, state)
    return children
