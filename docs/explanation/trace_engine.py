"""Print all figures of the tour of the engine: `python docs/explanation/trace_engine.py`.

Each search has one thread, an empty table and no time limit, so every run prints the same figures.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from awello.engine import awale_kernels, awale_transposition_table, midgame, transposition_table
from awello.engine.awale_search import AwaleIterativeSearch
from awello.engine.awale_state import PAST_PLIES, SEED_VALUE
from awello.engine.bench import ENDGAME_PLIES, GAMES
from awello.engine.endgame import CORNERS
from awello.engine.engine import Engine
from awello.engine.last_empties import NO_SCORE, solve_5
from awello.engine.othello_search import OthelloIterativeSearch
from awello.engine.othello_state import odd_quadrants
from awello.engine.probcut import CONFIDENCE_PERCENT, NO_SELECTIVITY, margin_of, shallow_depth
from awello.engine.tablebase import DEFAULT_SEEDS
from awello.engine.thread_state import NO_MOVE
from awello.engine.transposition_table import hash_of
from awello.evaluate.patterns import DISC_VALUE, fill_row
from awello.formats.transcript import parse_transcript
from awello.kernel import U
from awello.limits import Limit
from awello.position import Position
from awello.rules.awale import ROW, seeds_in, sow
from awello.rules.game import Game

POSITIONS = list(parse_transcript(GAMES[2]).positions())
OTHELLO, EARLIER = POSITIONS[ENDGAME_PLIES], POSITIONS[ENDGAME_PLIES - 2]
AWALE = parse_transcript("FeCcFdEcDc", Position.start(Game.ABAPA)).final
FIRST_PASS, SECOND_PASS = 1, 2  # selectivities of the quick passes
CUT_MOVE = "b2"  # to a child with a successful probable cut
AWALE_DEPTH = 12
BOUNDS = {
    awale_transposition_table.BOUND_LOWER: "at least",
    awale_transposition_table.BOUND_UPPER: "at most",
    awale_transposition_table.BOUND_EXACT: "exactly",
}


def word_of(squares: Iterable[int]) -> U:
    """The word with the bits of these squares."""
    return U(sum(1 << square for square in squares))


# ---- Othello --------------------------------------------------------------------------------------------------------
def othello_plan() -> Iterator[str]:
    """Print the searches of the plan, and the windows of those to the end of the game."""
    requests = []
    with Engine(hash=16) as engine:
        search = engine.search_threads.search

        def record(request: Any) -> Any:
            result = search(request)
            requests.append((request, result))
            return result

        engine.search_threads.search = record  # type: ignore[method-assign]
        engine.search_threads.start()
        yield "depth confidence value  move    nodes  expected play"
        for analysis in OthelloIterativeSearch(engine.search_threads, OTHELLO).deepen(Limit()):
            pv, depth, confidence = OTHELLO.format_moves(analysis.pv[:8]), analysis.depth, analysis.confidence
            row = f"{depth:5} {confidence:8} % {analysis.value:+5.0f} {pv[0]:>5} {analysis.nodes:8,}"
            yield f"{row}  {' '.join(pv)}"
    yield "\ndepth confidence  window   answer"
    for request, result in requests:
        if request.depth == request.position.empties == OTHELLO.empties:
            confidence = CONFIDENCE_PERCENT[request.selectivity]
            row = f"{request.depth:5} {confidence:8} % ({request.alpha:+}, {request.beta:+})"
            yield f"{row}   {'at least' if result.value >= request.beta else 'at most'} {result.value:+}"


def exact_pass() -> Iterator[str]:
    """Print the nodes of the exact pass, with and without the results of the searches before it."""
    yield "empties  table, guess  guess alone  table alone    neither"
    for position in (OTHELLO, EARLIER):
        both, guess, tables, neither = (
            exact_nodes(position, keep_table, keep_guess)
            for keep_guess in (True, False)
            for keep_table in (True, False)
        )
        yield f"{position.empties:7} {both:13,} {guess:12,} {tables:12,} {neither:10,}"


def exact_nodes(position: Position, keep_table: bool, keep_guess: bool) -> int:
    """Count the nodes of the exact pass."""
    with Engine(hash=16) as engine:
        engine.search_threads.start()
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


def othello_node() -> Iterator[str]:
    """Print the first node below the root, as the second quick pass finds it."""
    with Engine(hash=16) as engine:
        engine.search_threads.start()
        search = OthelloIterativeSearch(engine.search_threads, OTHELLO)
        for depth, selectivity in search.plan(Limit()):
            search.results = search.search_multipv(depth, selectivity)
            if (depth, selectivity) == (OTHELLO.empties, FIRST_PASS):
                break
        score, move, _ = search.results[0]
        node, state = OTHELLO.after(move), engine.search_threads.workers[0].state
        yield f"after {OTHELLO.format_move(move)}:\n\n{node}\n"
        yield from othello_steps(node, -score, 1 - score, state)


def othello_steps(node: Position, alpha: int, beta: int, state: Any) -> Iterator[str]:
    """Print the steps of `midgame.search` at a node that is searched to the end of the game."""
    own, opp, depth = U(node.own), U(node.opp), node.empties
    moves, state.selectivity = word_of(node.legal_moves()), SECOND_PASS
    fill_row(node.own, node.opp, state.pattern_rows[depth])
    yield f"window ({alpha:+}, {beta:+}), depth {depth}, selectivity {SECOND_PASS}"
    yield f"step 4: stable discs would be counted from alpha {2 * depth - midgame.STABILITY_MIDGAME_SLACK:+}"
    key = hash_of(own, opp, state.multipliers)
    data = transposition_table.probe_tt(transposition_table.bucket_of(key, state), key)
    yield f"step 4: table: {entry_text(node, data)}"
    yield from probcut_steps(node, alpha, beta, state)
    bound = midgame.bound_by_children(own, opp, moves, depth, SECOND_PASS, state)
    yield f"step 6: bound by children: {bound if bound != NO_SCORE else 'none'}"
    yield "step 7: move replies corners odd value   key"
    yield from othello_order(node, data, moves, state)
    state.nodes = 0
    found = midgame.search(own, opp, moves, alpha, beta, depth, state)
    data = transposition_table.probe_tt(transposition_table.bucket_of(key, state), key)
    yield f"step 9: {found:+} after {state.nodes:,} nodes; table: {entry_text(node, data)}"
    yield f"after {CUT_MOVE}, window ({-beta:+}, {-alpha:+}):"
    yield from probcut_steps(node.play(CUT_MOVE), -beta, -alpha, state)


def probcut_steps(node: Position, alpha: int, beta: int, state: Any) -> Iterator[str]:
    """Print the probable cuts of a node; limits too far from the evaluation are not tried."""
    own, opp, depth, less = U(node.own), U(node.opp), node.empties, shallow_depth(node.empties, True)
    fill_row(node.own, node.opp, state.pattern_rows[depth])
    margin = margin_of(SECOND_PASS, depth, depth, less, state.probcut) / DISC_VALUE
    value = midgame.evaluate(own, opp, depth, state) / DISC_VALUE
    low, high = midgame.probcut_limits(own, opp, alpha, beta, depth, less, state)
    tried = [f"at most {low:+}"] if low >= -midgame.MAX_ESTIMATE else []
    tried += [f"at least {high:+}"] if high <= midgame.MAX_ESTIMATE else []
    yield f"step 5: margin {margin:.1f} discs, evaluation {value:+.1f}; tried: {' and '.join(tried) or 'none'}"
    if high <= midgame.MAX_ESTIMATE:
        found = midgame.search(own, opp, word_of(node.legal_moves()), high - 1, high, less, state)
        yield f"step 5: {less} plies: {found:+}, {'cut' if found >= high else 'no cut'}"


def entry_text(node: Position, data: int) -> str:
    """Format an entry of the transposition table."""
    moves = transposition_table.move_of(data), transposition_table.second_move_of(data)
    names = " ".join(node.format_move(move) for move in moves if move != NO_MOVE)
    sure = f"depth {transposition_table.depth_of(data)}, selectivity {transposition_table.selectivity_of(data)}"
    bounds = f"{transposition_table.lower_bound_of(data):+} to {transposition_table.upper_bound_of(data):+}"
    return f"{bounds}, {sure}, moves {names or 'none'}"


def othello_order(node: Position, data: int, moves: U, state: Any) -> Iterator[str]:
    """Print the moves of a node in search order, and the terms of their keys."""
    own, opp, depth = U(node.own), U(node.opp), node.empties
    listed, odd = state.move_lists[depth], int(odd_quadrants(~(own | opp)))
    midgame.start_list(data, moves, False, listed, state)
    while (square := midgame.next_move(own, opp, moves, depth, listed, state)) != NO_MOVE:
        child, replies, key = (
            node.after(square),
            int(listed.current.replies),
            int(listed.current.sort_key) >> 8,
        )
        fill_row(child.own, child.opp, state.pattern_rows[depth - 1])
        plies, widest = midgame.sorting_depth(depth), midgame.INFINITY
        value = midgame.shallow_search(U(child.own), U(child.opp), U(replies), plies, -widest, widest, state)
        value /= DISC_VALUE
        shown = " hint" if square == listed.tt_move else f"{key - midgame.KEY_OFFSET:5}" if key else "second"
        corners, is_odd = (replies & int(CORNERS)).bit_count(), "yes" if odd >> square & 1 else "no"
        terms = f"{replies.bit_count():7} {corners:7} {is_odd:>3}"
        yield f"        {node.format_move(square):>4} {terms} {value:+6.1f} {shown}"


def othello_end() -> Iterator[str]:
    """Print the position of the principal variation with five empty squares, and the bounds of `solve_5`."""
    with Engine(hash=16) as engine:
        *_, analysis = engine.solve(OTHELLO)
        position, state = OTHELLO, engine.search_threads.workers[0].state
        for move in analysis.pv:
            if position.empties == 5:
                break
            position = position.after(move)
        yield f"expected play: {' '.join(OTHELLO.format_moves(analysis.pv))}\n\n{position}\n"
        own, opp, moves = U(position.own), U(position.opp), word_of(position.legal_moves())
        empty = ~(own | opp)
        odd = [square for square in range(64) if int(empty & odd_quadrants(empty)) >> square & 1]
        yield f"empty squares in odd quarters: {' '.join(position.format_move(square) for square in odd)}"
        score = round(analysis.value) * (1 if position.side == OTHELLO.side else -1)
        for alpha in (score - 1, score):
            value = solve_5(own, opp, empty, moves, alpha, state)
            yield f"more than {alpha:+}? {'at least' if value > alpha else 'at most'} {value:+}"


# ---- Awalé ----------------------------------------------------------------------------------------------------------
def awale_plan() -> Iterator[str]:
    """Print searches of each depth, then the first node below the root, as the next search finds it."""
    with Engine(AWALE.game, hash=16) as engine:
        engine.search_threads.start()
        search = AwaleIterativeSearch(engine.search_threads, AWALE)
        yield f"{AWALE}\n\ndepth   value move      nodes"
        for depth in range(1, AWALE_DEPTH):
            search.results = search.search_multipv(depth, DEFAULT_SEEDS)
            value, move, _ = search.results[0]
            yield f"{depth:5} {value / SEED_VALUE:+7.2f} {AWALE.format_move(move):>4} {engine.nodes:10,}"
        yield f"\nafter {AWALE.format_move(move)}:\n"
        yield from awale_node(AWALE.after(move), engine.search_threads.workers[0].state)


def awale_node(node: Position, state: Any) -> Iterator[str]:
    """Print the table entry of a node, and its moves in search order with the terms of their priorities."""
    own, opp, row = U(node.own) & ROW, U(node.opp) & ROW, state.stack[PAST_PLIES + 1]
    entry = awale_transposition_table.probe_tt(hash_of(own, opp, state.multipliers), state)
    best, value = awale_transposition_table.entry_pit(entry), awale_transposition_table.entry_value(entry) / SEED_VALUE
    bound = BOUNDS[int(U(entry) >> awale_transposition_table.BOUND_SHIFT & awale_transposition_table.BOUND_MASK)]
    yield f"{node}\n"
    depth = awale_transposition_table.entry_depth(entry)
    yield f"step 3: table: {bound} {value:+.2f}, depth {depth}, pit {node.format_move(best)}"
    yield "step 4: move captures killer history"
    others = word_of(pit for pit in node.legal_moves() if pit != best)
    count = awale_kernels.sort_moves(own, opp, others, 0, AWALE_DEPTH - 1, row, state)
    for pit in [best, *(int(awale_kernels.pit_of(move)) for move in row.moves[:count])]:
        captures = seeds_in(sow(state.game, own, opp, pit)[2])
        sowing = int(awale_kernels.sowing_index(own, pit))
        killer = "yes" if int(row.killer) == sowing else "no"
        shown = "  table" if pit == best else ""
        yield f"        {node.format_move(pit):>4} {captures:8} {killer:>6} {state.history[sowing]:7,}{shown}"


def main() -> None:
    """Print everything."""
    print(f"{OTHELLO}\n")
    for part in (othello_plan, exact_pass, othello_node, othello_end, awale_plan):
        print("\n".join(part()), end="\n\n")


if __name__ == "__main__":
    main()
