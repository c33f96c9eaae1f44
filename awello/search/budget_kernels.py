"""Alpha-beta on a budget of nodes, with moves tried in an order that it learns (report 1, section 3.4).

A fixed depth costs much where there are many moves and little where there are few.  Here a position is given a budget
instead: it takes one node for itself and divides the rest among its children, each of which gets `delta` times its
even share, because alpha-beta will skip some of them.  A position whose budget is below 1 is a leaf.  So lines with few
choices are looked at further.

Moves fall into the *kinds* of `ppaf`, and each kind has a score, the higher the earlier it is tried.  When the move at
index `i` raises the value of a position, its kind gains `i` and each kind tried before it loses 1; when it causes a
cut, the same once more.  The scores last from one search to the next.

Leaves lie at different depths, so whether the opponent is to move at a leaf is told to the heuristic there.  Nodes and
leaves are counted as in `negamax`.
"""

from typing import Annotated

from awello.bits import clear_lowest_bit, index_of, popcount
from awello.evaluate.heuristics import HeuristicState, evaluate
from awello.kernel import U, kernel
from awello.layout import Layout, record_at
from awello.rules.game import is_over, legal_moves, play
from awello.search.negamax import INFINITY
from awello.search.ppaf import CATEGORY_COUNT, category_of

MAX_MOVES = 64  # as many as there are squares: boards that no game reaches have more than 33
MAX_DEPTH = 128  # plies, for lines without a choice, on which a budget hardly shrinks
ORDER_NONE, ORDER_FROZEN, ORDER_LIVE = range(3)  # orders: moves as they come; by scores; by scores that learn
DELTA_SCALE = 1000  # parts of `delta` that the search tells apart


class BudgetPly(Layout):
    """The moves of the position at one ply, packed by `pack_move`."""

    moves: Annotated[list[int], MAX_MOVES]


class BudgetState(Layout):
    """The memory of a search on a budget; the scores last from one search to the next."""

    evaluation: HeuristicState
    delta: int  # in thousandths; 0 where the budget is a depth
    ordering: int  # ORDER_NONE, ORDER_FROZEN or ORDER_LIVE
    node_limit: int  # nodes after which the search gives up
    deepest_ply: int  # of those reached
    category_scores: Annotated[list[int], CATEGORY_COUNT]  # by kind of move
    root_moves: Annotated[list[int], MAX_MOVES]  # in the order in which they were tried
    root_values: Annotated[list[int], MAX_MOVES]  # of these moves
    plies: Annotated[list[BudgetPly], MAX_DEPTH]


budget_state_at = record_at(BudgetState)


@kernel("float64(float64, int64, BudgetState)", inline=True)
def divide_budget(budget: float, children: int, state: BudgetState) -> float:
    """What each child gets of a budget."""
    rest = budget - 1.0
    return rest if state.delta == 0 else min(rest * state.delta / (float(DELTA_SCALE) * children), rest)


# ---- the order of moves ---------------------------------------------------------------------------------------------
# A move, its kind and the score of the kind are one number: the larger, the earlier the move is tried.  A record of
# three fields took a tenth more time, because the next move is found by comparing all that are left.
@kernel("int64(int64, int64, int64)", inline=True)
def pack_move(score: int, move: int, category: int) -> int:
    """A move as a number: the score counts first, then among equals the lower move; the kind does not matter."""
    return score << 24 | (MAX_MOVES - 1 - move) << 16 | category


@kernel("int64(int64)", inline=True)
def unpack_move(packed: int) -> int:
    """The move of a packed one."""
    return MAX_MOVES - 1 - (packed >> 16 & 0xFF)


@kernel("uint64(int64)", inline=True)
def unpack_category(packed: int) -> U:
    """The kind of a packed move, as an index."""
    return U(packed & 0xFFFF)


@kernel("void(int64, uint64, uint64, uint64, BudgetPly, BudgetState)")
def list_moves(game: int, own: U, opp: U, moves: U, ply: BudgetPly, state: BudgetState) -> None:
    """List the moves of a ply, with kinds and scores if there is an order."""
    count = 0
    while moves != U(0):
        move, category, score = index_of(moves), 0, 0
        if state.ordering != ORDER_NONE:
            category = category_of(game, own, opp, move)
            score = state.category_scores[U(category)]
        ply.moves[U(count)] = pack_move(score, move, category)
        count += 1
        moves = clear_lowest_bit(moves)


@kernel("int64(int64, int64, BudgetPly, BudgetState)", inline=True)
def pick_move(index: int, count: int, ply: BudgetPly, state: BudgetState) -> int:
    """The next move to try, exchanged with the one at this index: the largest from here on."""
    first = ply.moves[U(index)]
    largest, chosen = first, index
    if state.ordering != ORDER_NONE:
        for other in range(index + 1, count):
            if ply.moves[U(other)] > largest:
                largest, chosen = ply.moves[U(other)], other
        ply.moves[U(chosen)] = first
        ply.moves[U(index)] = largest
    return unpack_move(largest)


@kernel("void(BudgetPly, int64, BudgetState)")
def reward_move(ply: BudgetPly, index: int, state: BudgetState) -> None:
    """The move at this index was better than those before it: so should its kind have been."""
    for earlier in range(index):
        state.category_scores[unpack_category(ply.moves[U(earlier)])] -= 1
    state.category_scores[unpack_category(ply.moves[U(index)])] += index


# ---- the search -----------------------------------------------------------------------------------------------------
@kernel("boolean(BudgetState)", inline=True)
def reached_node_limit(state: BudgetState) -> bool:
    """Whether the search has visited as many nodes as it may; its values then mean nothing."""
    return bool(state.evaluation.inner_nodes + state.evaluation.leaves >= state.node_limit)


@kernel("int64(int64, uint64, uint64, int64, int64, float64, int64, int64, BudgetState)")
def search(
    game: int, own: U, opp: U, alpha: int, beta: int, budget: float, depth: int, heuristic: int, state: BudgetState
) -> int:
    """Negamax with alpha-beta, fail-soft: exact inside (alpha, beta), outside it a bound on the value."""
    # Step 1. Leaves: the budget is spent, or the game is over.  The root player moves at even depths.
    moves = legal_moves(game, own, opp)
    over = moves == U(0) and is_over(game, own, opp)
    if budget < 1.0 or depth >= MAX_DEPTH or over:
        state.deepest_ply = max(depth, state.deepest_ply)
        state.evaluation.opponent_at_leaf = depth & 1 == 1
        return evaluate(game, heuristic, own, opp, over, state.evaluation)
    state.evaluation.inner_nodes += 1
    # Step 2. Pass: the sides swap, an only child gets all that is left.
    if moves == U(0):
        return -search(game, opp, own, -beta, -alpha, budget - 1.0, depth + 1, heuristic, state)
    # Step 3. The moves in order, each on its share, until the opponent would never allow this position.
    children, ply = popcount(moves), state.plies[U(depth)]
    budget = divide_budget(budget, children, state)
    list_moves(game, own, opp, moves, ply, state)
    best = -INFINITY
    for index in range(children):
        next_own, next_opp = play(game, own, opp, pick_move(index, children, ply, state))
        value = -search(game, next_own, next_opp, -beta, -alpha, budget, depth + 1, heuristic, state)
        if reached_node_limit(state):
            return best
        # Step 4. A better move than those before it: the order learns, twice if it is good enough to stop.
        if value > best:
            best = value
            if state.ordering == ORDER_LIVE:
                reward_move(ply, index, state)
            if best >= beta:
                if state.ordering == ORDER_LIVE:
                    reward_move(ply, index, state)
                break
            alpha = max(alpha, best)
    return best


@kernel("int64(int64, uint64, uint64, uint64, int64, float64, int64, int64)")
def search_root(
    game: int, own: U, opp: U, moves: U, max_value: int, budget: float, heuristic: int, address: int
) -> int:
    """Search each move of the root on its share, those of equal value exactly; how many were tried.

    The state is given by its address, which Python passes faster than a record.
    """
    state = budget_state_at(address)
    children, ply, best = popcount(moves), state.plies[U(0)], -max_value
    budget = divide_budget(budget, children, state)
    list_moves(game, own, opp, moves, ply, state)
    for index in range(children):
        move = pick_move(index, children, ply, state)
        next_own, next_opp = play(game, own, opp, move)
        value = -search(game, next_own, next_opp, -max_value, 1 - best, budget, 1, heuristic, state)
        state.root_moves[U(index)], state.root_values[U(index)] = move, value
        if reached_node_limit(state):
            return index + 1
        if value > best:
            best = value
            if state.ordering == ORDER_LIVE:
                reward_move(ply, index, state)
    return children
