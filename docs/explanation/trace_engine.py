"""Print the boards and traces of the tour of the engine.

Run `python docs/explanation/trace_engine.py`.  Each search has one thread, starts with an empty transposition table and
has no time limit, so every run prints the same output.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from awello.engine import awale_kernels, awale_transposition_table, midgame, transposition_table
from awello.engine.awale_search import AwaleIterativeSearch
from awello.engine.awale_state import PAST_PLIES, SEED_VALUE
from awello.engine.bench import BENCH_GAMES, ENDGAME_PLIES
from awello.engine.endgame import CORNERS
from awello.engine.engine import Engine
from awello.engine.last_empties import NO_SCORE, solve_5
from awello.engine.othello_search import SELECTIVE_PASSES, OthelloIterativeSearch
from awello.engine.othello_state import odd_quadrants
from awello.engine.probcut import CONFIDENCE_PERCENT, NO_SELECTIVITY, margin_of, shallow_depth
from awello.engine.tablebase import DEFAULT_SEEDS
from awello.engine.thread_state import NO_MOVE
from awello.engine.transposition_table import hash_position
from awello.evaluate.patterns import DISC_VALUE, fill_indices
from awello.formats.transcript import parse_transcript
from awello.kernel import U
from awello.limits import Limit
from awello.position import Position
from awello.rules.awale import ROW_MASK, count_seeds, sow
from awello.rules.game import Game

POSITIONS = list(parse_transcript(BENCH_GAMES[2]).positions())
OTHELLO, EARLIER = POSITIONS[ENDGAME_PLIES], POSITIONS[ENDGAME_PLIES - 2]
AWALE = parse_transcript("FeCcFdEcDc", Position.start(Game.ABAPA)).final
FIRST_SELECTIVITY, SECOND_SELECTIVITY = SELECTIVE_PASSES  # of the two selective searches to the end
CUT_MOVE = "b2"  # leads to a node with a ProbCut cutoff
AWALE_DEPTH = 12
BOUNDS = {
    awale_transposition_table.BOUND_LOWER: "at least",
    awale_transposition_table.BOUND_UPPER: "at most",
    awale_transposition_table.BOUND_EXACT: "exactly",
}


def bitboard_of(squares: Iterable[int]) -> U:
    """Return the word with the bits of these squares set."""
    return U(sum(1 << square for square in squares))


# ---- Othello --------------------------------------------------------------------------------------------------------
def trace_othello_plan() -> Iterator[str]:
    """Yield the searches of the plan and the windows of the searches to the end of the game."""
    requests = []
    with Engine(hash=16) as engine:
        search = engine.search_threads.search

        def record(request: Any) -> Any:
            result = search(request)
            requests.append((request, result))
            return result

        engine.search_threads.search = record  # type: ignore[method-assign]
        engine.search_threads.begin_search()
        yield "depth confidence value  move    nodes  principal variation"
        for analysis in OthelloIterativeSearch(engine.search_threads, OTHELLO).deepen(Limit()):
            pv, depth, confidence = OTHELLO.format_moves(analysis.pv[:8]), analysis.depth, analysis.confidence
            row = f"{depth:5} {confidence:8} % {analysis.value:+5.0f} {pv[0]:>5} {analysis.nodes:8,}"
            yield f"{row}  {' '.join(pv)}"
    yield "\ndepth confidence  window   result"
    for request, result in requests:
        if request.depth == request.position.empties == OTHELLO.empties:
            confidence = CONFIDENCE_PERCENT[request.precision]
            row = f"{request.depth:5} {confidence:8} % ({request.alpha:+}, {request.beta:+})"
            yield f"{row}   {'at least' if result.value >= request.beta else 'at most'} {result.value:+}"


def trace_exact_search() -> Iterator[str]:
    """Yield the node counts of the exact search, with and without the results of the earlier searches."""
    yield "empties   table+guess   guess only   table only    neither"
    for position in (OTHELLO, EARLIER):
        both, guess, table, neither = (
            count_exact_nodes(position, keep_table, keep_guess)
            for keep_guess in (True, False)
            for keep_table in (True, False)
        )
        yield f"{position.empties:7} {both:13,} {guess:12,} {table:12,} {neither:10,}"


def count_exact_nodes(position: Position, keep_table: bool, keep_guess: bool) -> int:
    """Count the nodes of the exact search, with or without the earlier searches' table entries and guess."""
    with Engine(hash=16) as engine:
        engine.search_threads.begin_search()
        search = OthelloIterativeSearch(engine.search_threads, position)
        for depth, selectivity in search.plan(Limit()):
            if selectivity == NO_SELECTIVITY and depth == position.empties:
                break
            search.results = search.search_multipv(depth, selectivity)
        before = engine.nodes
        if not keep_table:
            engine.search_threads.clear()
        search.find_best(search.moves, depth, NO_SELECTIVITY, search.results[0] if keep_guess else None)
        return engine.nodes - before


def trace_othello_node() -> Iterator[str]:
    """Yield the steps at the first node below the root, when the second selective search reaches it."""
    with Engine(hash=16) as engine:
        engine.search_threads.begin_search()
        search = OthelloIterativeSearch(engine.search_threads, OTHELLO)
        for depth, selectivity in search.plan(Limit()):
            search.results = search.search_multipv(depth, selectivity)
            if (depth, selectivity) == (OTHELLO.empties, FIRST_SELECTIVITY):
                break
        score, move, _ = search.results[0]
        node, state = OTHELLO.after(move), engine.search_threads.workers[0].state
        yield f"after {OTHELLO.format_move(move)}:\n\n{node}\n"
        yield from trace_steps(node, -score, 1 - score, state)


def trace_steps(node: Position, alpha: int, beta: int, state: Any) -> Iterator[str]:
    """Yield the steps of `midgame.search` at a node that is searched to the end of the game."""
    own, opp, depth = U(node.own), U(node.opp), node.empties
    moves, state.selectivity = bitboard_of(node.legal_moves()), SECOND_SELECTIVITY
    fill_indices(node.own, node.opp, state.pattern_indices[depth])
    yield f"window ({alpha:+}, {beta:+}), depth {depth}, selectivity {SECOND_SELECTIVITY}"
    yield f"step 4: stable discs are counted from alpha {2 * depth - midgame.STABILITY_MIDGAME_SLACK:+}"
    key = hash_position(own, opp, state.multipliers)
    entry = transposition_table.probe_tt(transposition_table.find_bucket(key, state), key)
    yield f"step 4: table: {format_entry(node, entry)}"
    yield from trace_probcut(node, alpha, beta, state)
    bound = midgame.bound_by_children(own, opp, moves, depth, SECOND_SELECTIVITY, state)
    yield f"step 6: bound by children: {bound if bound != NO_SCORE else 'none'}"
    yield "step 7: move replies corners odd value   key"
    yield from trace_move_order(node, entry, moves, state)
    state.nodes = 0
    value = midgame.search(own, opp, moves, alpha, beta, depth, state)
    entry = transposition_table.probe_tt(transposition_table.find_bucket(key, state), key)
    yield f"step 9: {value:+} after {state.nodes:,} nodes; table: {format_entry(node, entry)}"
    yield f"after {CUT_MOVE}, window ({-beta:+}, {-alpha:+}):"
    yield from trace_probcut(node.play(CUT_MOVE), -beta, -alpha, state)


def trace_probcut(node: Position, alpha: int, beta: int, state: Any) -> Iterator[str]:
    """Yield the ProbCut searches tried at a node; limits too far from the evaluation are not tried."""
    own, opp, depth, reduced = U(node.own), U(node.opp), node.empties, shallow_depth(node.empties, True)
    fill_indices(node.own, node.opp, state.pattern_indices[depth])
    margin = margin_of(SECOND_SELECTIVITY, depth, depth, reduced, state.probcut) / DISC_VALUE
    value = midgame.evaluate(own, opp, depth, state) / DISC_VALUE
    low, high = midgame.probcut_limits(own, opp, alpha, beta, depth, reduced, state)
    tried = [f"at most {low:+}"] if low >= -midgame.MAX_ESTIMATE else []
    tried += [f"at least {high:+}"] if high <= midgame.MAX_ESTIMATE else []
    yield f"step 5: margin {margin:.1f} discs, evaluation {value:+.1f}; searches: {' and '.join(tried) or 'none'}"
    if high <= midgame.MAX_ESTIMATE:
        value = midgame.search(own, opp, bitboard_of(node.legal_moves()), high - 1, high, reduced, state)
        yield f"step 5: {reduced} plies: {value:+}, {'cut' if value >= high else 'no cut'}"


def format_entry(node: Position, entry: int) -> str:
    """Format an entry of the transposition table."""
    moves = transposition_table.entry_move(entry), transposition_table.entry_second_move(entry)
    names = " ".join(node.format_move(move) for move in moves if move != NO_MOVE)
    depth, selectivity = transposition_table.entry_depth(entry), transposition_table.entry_selectivity(entry)
    bounds = f"{transposition_table.entry_lower_bound(entry):+} to {transposition_table.entry_upper_bound(entry):+}"
    return f"{bounds}, depth {depth}, selectivity {selectivity}, moves {names or 'none'}"


def trace_move_order(node: Position, entry: int, moves: U, state: Any) -> Iterator[str]:
    """Yield the moves of a node in search order, with the terms of their keys."""
    own, opp, depth = U(node.own), U(node.opp), node.empties
    listed, odd = state.move_lists[depth], int(odd_quadrants(~(own | opp)))
    midgame.init_move_list(entry, moves, False, listed, state)
    while (square := midgame.next_move(own, opp, moves, depth, listed, state)) != NO_MOVE:
        child, replies, key = (
            node.after(square),
            int(listed.current.replies),
            int(listed.current.sort_key) >> 8,
        )
        fill_indices(child.own, child.opp, state.pattern_indices[depth - 1])
        plies, infinity = midgame.sorting_depth(depth), midgame.INFINITY
        value = midgame.shallow_search(U(child.own), U(child.opp), U(replies), plies, -infinity, infinity, state)
        value /= DISC_VALUE
        shown = " hint" if square == listed.tt_move else f"{key - midgame.SORT_KEY_OFFSET:5}" if key else "second"
        corners, is_odd = (replies & int(CORNERS)).bit_count(), "yes" if odd >> square & 1 else "no"
        terms = f"{replies.bit_count():7} {corners:7} {is_odd:>3}"
        yield f"        {node.format_move(square):>4} {terms} {value:+6.1f} {shown}"


def trace_last_squares() -> Iterator[str]:
    """Yield the position of the principal variation with five empty squares, and the results of `solve_5`."""
    with Engine(hash=16) as engine:
        *_, analysis = engine.solve(OTHELLO)
        position, state = OTHELLO, engine.search_threads.workers[0].state
        for move in analysis.pv:
            if position.empties == 5:
                break
            position = position.after(move)
        yield f"principal variation: {' '.join(OTHELLO.format_moves(analysis.pv))}\n\n{position}\n"
        own, opp, moves = U(position.own), U(position.opp), bitboard_of(position.legal_moves())
        empty = ~(own | opp)
        odd = [square for square in range(64) if int(empty & odd_quadrants(empty)) >> square & 1]
        yield f"empty squares in odd quadrants: {' '.join(position.format_move(square) for square in odd)}"
        score = round(analysis.value) * (1 if position.side == OTHELLO.side else -1)
        for alpha in (score - 1, score):
            value = solve_5(own, opp, empty, moves, alpha, state)
            yield f"window ({alpha:+}, {alpha + 1:+}): {'at least' if value > alpha else 'at most'} {value:+}"


# ---- Awalé ----------------------------------------------------------------------------------------------------------
def trace_awale_plan() -> Iterator[str]:
    """Yield the searches of each depth, then the first node below the root, when the next search reaches it."""
    with Engine(AWALE.game, hash=16) as engine:
        engine.search_threads.begin_search()
        search = AwaleIterativeSearch(engine.search_threads, AWALE)
        yield f"{AWALE}\n\ndepth   value move      nodes"
        for depth in range(1, AWALE_DEPTH):
            search.results = search.search_multipv(depth, DEFAULT_SEEDS)
            value, move, _ = search.results[0]
            yield f"{depth:5} {value / SEED_VALUE:+7.2f} {AWALE.format_move(move):>4} {engine.nodes:10,}"
        yield f"\nafter {AWALE.format_move(move)}:\n"
        yield from trace_awale_node(AWALE.after(move), engine.search_threads.workers[0].state)


def trace_awale_node(node: Position, state: Any) -> Iterator[str]:
    """Yield the table entry of a node and its moves in search order, with the terms of their priorities."""
    own, opp, row = U(node.own) & ROW_MASK, U(node.opp) & ROW_MASK, state.stack[PAST_PLIES + 1]
    entry = awale_transposition_table.probe_tt(hash_position(own, opp, state.multipliers), state)
    best, value = awale_transposition_table.entry_pit(entry), awale_transposition_table.entry_value(entry) / SEED_VALUE
    bound = BOUNDS[int(U(entry) >> awale_transposition_table.BOUND_SHIFT & awale_transposition_table.BOUND_MASK)]
    yield f"{node}\n"
    depth = awale_transposition_table.entry_depth(entry)
    yield f"step 3: table: {bound} {value:+.2f}, depth {depth}, pit {node.format_move(best)}"
    yield "step 4: move captures killer history"
    others = bitboard_of(pit for pit in node.legal_moves() if pit != best)
    count = awale_kernels.sort_moves(own, opp, others, 0, AWALE_DEPTH - 1, row, state)
    for pit in [best, *(int(awale_kernels.pit_of(move)) for move in row.moves[:count])]:
        captures = count_seeds(sow(state.game, own, opp, pit)[2])
        sowing = int(awale_kernels.sowing_index(own, pit))
        killer = "yes" if int(row.killer) == sowing else "no"
        shown = "  table" if pit == best else ""
        yield f"        {node.format_move(pit):>4} {captures:8} {killer:>6} {state.history[sowing]:7,}{shown}"


def main() -> None:
    """Print all boards and traces."""
    print(f"{OTHELLO}\n")
    for part in (trace_othello_plan, trace_exact_search, trace_othello_node, trace_last_squares, trace_awale_plan):
        print("\n".join(part()), end="\n\n")


if __name__ == "__main__":
    main()
