"""Print all figures of the tour of the engine: `python docs/explanation/trace_engine.py`.

Each search has one thread, an empty table and no limit of time, so every run prints the same figures.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from awello.engine import awale, awale_transposition_table, midgame, transposition_table
from awello.engine.awale_search import AwaleIterativeSearch
from awello.engine.awale_state import PAST
from awello.engine.awale_state import UNIT as SEED
from awello.engine.bench import ENDGAME, GAMES
from awello.engine.endgame import CORNERS
from awello.engine.engine import Engine
from awello.engine.last_empties import NONE, last5
from awello.engine.othello_search import OthelloIterativeSearch
from awello.engine.othello_state import odd_quarters
from awello.engine.probcut import PERCENT, SURE, margin_of, shallow_depth
from awello.engine.state import NO_MOVE
from awello.engine.tablebase import SMALL
from awello.engine.transposition_table import hash_of
from awello.evaluate.patterns import UNIT, fill_row
from awello.formats.transcript import parse_transcript
from awello.kernel import U
from awello.limits import Limit
from awello.position import Position
from awello.rules.awale import ROW, seeds_in, sow
from awello.rules.game import Game

POSITIONS = list(parse_transcript(GAMES[2]).positions())
OTHELLO, EARLIER = POSITIONS[ENDGAME], POSITIONS[ENDGAME - 2]
AWALE = parse_transcript("FeCcFdEcDc", Position.start(Game.ABAPA)).final
FIRST_PASS, SECOND_PASS = 1, 2  # certainties of the quick passes
CUT_MOVE = "b2"  # leads to a child where a probable cut succeeds
AWALE_DEPTH = 12
BOUNDS = {
    awale_transposition_table.LOWER: "at least",
    awale_transposition_table.UPPER: "at most",
    awale_transposition_table.EXACT: "exactly",
}


def word_of(squares: Iterable[int]) -> U:
    """A word with the bits of these squares."""
    return U(sum(1 << square for square in squares))


# ---- Othello --------------------------------------------------------------------------------------------------------
def othello_plan() -> Iterator[str]:
    """The searches that follow one another, and the questions of those to the end of the game."""
    questions = []
    with Engine(hash=16) as engine:
        ask = engine.team.ask

        def listen(question: Any) -> Any:
            found = ask(question)
            questions.append((question, found))
            return found

        engine.team.ask = listen  # type: ignore[method-assign]
        engine.team.begin()
        yield "depth certainty value  move    nodes  expected play"
        for answer in OthelloIterativeSearch(engine.team, OTHELLO).deepen(Limit()):
            line = OTHELLO.format_moves(answer.pv[:8])
            row = f"{answer.depth:5} {answer.confidence:7} % {answer.value:+5.0f} {line[0]:>5} {answer.nodes:8,}"
            yield f"{row}  {' '.join(line)}"
    yield "\ndepth certainty  window   answer"
    for question, found in questions:
        if question.depth == question.position.empties == OTHELLO.empties:
            row = f"{question.depth:5} {PERCENT[question.certainty]:7} % ({question.alpha:+}, {question.beta:+})"
            yield f"{row}   {'at least' if found.value >= question.beta else 'at most'} {found.value:+}"


def exact_pass() -> Iterator[str]:
    """The nodes of the exact pass, with and without what the searches before it leave behind."""
    yield "empties  table, guess  guess alone  table alone    neither"
    for position in (OTHELLO, EARLIER):
        both, guess, tables, neither = (
            exact_nodes(position, keep_table, keep_guess)
            for keep_guess in (True, False)
            for keep_table in (True, False)
        )
        yield f"{position.empties:7} {both:13,} {guess:12,} {tables:12,} {neither:10,}"


def exact_nodes(position: Position, keep_table: bool, keep_guess: bool) -> int:
    """The nodes of the exact pass after all searches before it."""
    with Engine(hash=16) as engine:
        engine.team.begin()
        thinking = OthelloIterativeSearch(engine.team, position)
        for depth, certainty in thinking.plan(Limit()):
            if certainty == SURE and depth == position.empties:
                break
            thinking.found = thinking.search_moves(depth, certainty)
        before = engine.nodes
        if not keep_table:
            engine.team.forget()
        thinking.find(thinking.moves, depth, SURE, thinking.found[0] if keep_guess else None)
        return engine.nodes - before


def othello_node() -> Iterator[str]:
    """The first node below the root, when the second quick pass comes to it."""
    with Engine(hash=16) as engine:
        engine.team.begin()
        thinking = OthelloIterativeSearch(engine.team, OTHELLO)
        for depth, certainty in thinking.plan(Limit()):
            thinking.found = thinking.search_moves(depth, certainty)
            if (depth, certainty) == (OTHELLO.empties, FIRST_PASS):
                break
        score, move, _ = thinking.found[0]
        node, state = OTHELLO.after(move), engine.team.workers[0].state
        yield f"after {OTHELLO.format_move(move)}:\n\n{node}\n"
        yield from othello_steps(node, -score, 1 - score, state)


def othello_steps(node: Position, alpha: int, beta: int, state: Any) -> Iterator[str]:
    """The steps of `midgame.search` at a node that is searched to the end of the game."""
    own, opp, depth = U(node.own), U(node.opp), node.empties
    moves, state.certainty = word_of(node.legal_moves()), SECOND_PASS
    fill_row(node.own, node.opp, state.pattern_rows[depth])
    yield f"window ({alpha:+}, {beta:+}), depth {depth}, certainty {SECOND_PASS}"
    yield f"step 4: stable discs would be counted from alpha {2 * depth - midgame.STABILITY_MIDGAME_SLACK:+}"
    key = hash_of(own, opp, state.multipliers)
    data = transposition_table.recall(transposition_table.bucket_of(key, state), key)
    yield f"step 4: table: {entry_text(node, data)}"
    yield from probcut_steps(node, alpha, beta, state)
    bound = midgame.bound_by_children(own, opp, moves, depth, SECOND_PASS, state)
    yield f"step 6: bound by children: {bound if bound != NONE else 'none'}"
    yield "step 7: move answers corners odd value   key"
    yield from othello_order(node, data, moves, state)
    state.nodes = 0
    found = midgame.search(own, opp, moves, alpha, beta, depth, state)
    data = transposition_table.recall(transposition_table.bucket_of(key, state), key)
    yield f"step 9: {found:+} after {state.nodes:,} nodes; table: {entry_text(node, data)}"
    yield f"after {CUT_MOVE}, window ({-beta:+}, {-alpha:+}):"
    yield from probcut_steps(node.play(CUT_MOVE), -beta, -alpha, state)


def probcut_steps(node: Position, alpha: int, beta: int, state: Any) -> Iterator[str]:
    """The probable cuts of a node: a limit that the evaluation is too far from is moved beyond all values."""
    own, opp, depth, less = U(node.own), U(node.opp), node.empties, shallow_depth(node.empties, True)
    fill_row(node.own, node.opp, state.pattern_rows[depth])
    margin = margin_of(SECOND_PASS, depth, depth, less, state.probcut) / UNIT
    value = midgame.value_of(own, opp, depth, state) / UNIT
    low, high = midgame.probcut_limits(own, opp, alpha, beta, depth, less, state)
    tried = [f"at most {low:+}"] if low >= -midgame.MOST else []
    tried += [f"at least {high:+}"] if high <= midgame.MOST else []
    yield f"step 5: margin {margin:.1f} discs, evaluation {value:+.1f}; tried: {' and '.join(tried) or 'none'}"
    if high <= midgame.MOST:
        found = midgame.search(own, opp, word_of(node.legal_moves()), high - 1, high, less, state)
        yield f"step 5: {less} plies: {found:+}, {'cut' if found >= high else 'no cut'}"


def entry_text(node: Position, data: int) -> str:
    """What the transposition table knows of a position."""
    moves = transposition_table.move_of(data), transposition_table.second_of(data)
    names = " ".join(node.format_move(move) for move in moves if move != NO_MOVE)
    sure = f"depth {transposition_table.depth_of(data)}, certainty {transposition_table.certainty_of(data)}"
    bounds = f"{transposition_table.lower_of(data):+} to {transposition_table.upper_of(data):+}"
    return f"{bounds}, {sure}, moves {names or 'none'}"


def othello_order(node: Position, data: int, moves: U, state: Any) -> Iterator[str]:
    """The moves of a node in the order in which they are tried, and the terms of their keys."""
    own, opp, depth = U(node.own), U(node.opp), node.empties
    listed, odd = state.move_lists[depth], int(odd_quarters(~(own | opp)))
    midgame.start_list(data, moves, False, listed, state)
    while (square := midgame.next_move(own, opp, moves, depth, listed, state)) != NO_MOVE:
        child, answers, key = node.after(square), int(listed.current.answers), int(listed.current.order) >> 8
        fill_row(child.own, child.opp, state.pattern_rows[depth - 1])
        plies, widest = midgame.sorting_depth(depth), midgame.INFINITY
        value = midgame.shallow(U(child.own), U(child.opp), U(answers), plies, -widest, widest, state) / UNIT
        shown = " hint" if square == listed.hint else f"{key - midgame.KEY_OFFSET:5}" if key else "second"
        corners, is_odd = (answers & int(CORNERS)).bit_count(), "yes" if odd >> square & 1 else "no"
        terms = f"{answers.bit_count():7} {corners:7} {is_odd:>3}"
        yield f"        {node.format_move(square):>4} {terms} {value:+6.1f} {shown}"


def othello_end() -> Iterator[str]:
    """The position of the best line with five empty squares, and what `last5` answers there."""
    with Engine(hash=16) as engine:
        *_, answer = engine.solve(OTHELLO)
        position, state = OTHELLO, engine.team.workers[0].state
        for move in answer.pv:
            if position.empties == 5:
                break
            position = position.after(move)
        yield f"expected play: {' '.join(OTHELLO.format_moves(answer.pv))}\n\n{position}\n"
        own, opp, moves = U(position.own), U(position.opp), word_of(position.legal_moves())
        empty = ~(own | opp)
        odd = [square for square in range(64) if int(empty & odd_quarters(empty)) >> square & 1]
        yield f"empty squares in odd quarters: {' '.join(position.format_move(square) for square in odd)}"
        score = round(answer.value) * (1 if position.side == OTHELLO.side else -1)
        for alpha in (score - 1, score):
            value = last5(own, opp, empty, moves, alpha, state)
            yield f"more than {alpha:+}? {'at least' if value > alpha else 'at most'} {value:+}"


# ---- Awalé ----------------------------------------------------------------------------------------------------------
def awale_plan() -> Iterator[str]:
    """Searches of each depth; then the first node below the root, as the next search finds it."""
    with Engine(AWALE.game, hash=16) as engine:
        engine.team.begin()
        thinking = AwaleIterativeSearch(engine.team, AWALE)
        yield f"{AWALE}\n\ndepth   value move      nodes"
        for depth in range(1, AWALE_DEPTH):
            thinking.found = thinking.search_moves(depth, SMALL)
            value, move, _ = thinking.found[0]
            yield f"{depth:5} {value / SEED:+7.2f} {AWALE.format_move(move):>4} {engine.nodes:10,}"
        yield f"\nafter {AWALE.format_move(move)}:\n"
        yield from awale_node(AWALE.after(move), engine.team.workers[0].state)


def awale_node(node: Position, state: Any) -> Iterator[str]:
    """What the table knows of a node, and the order of its moves with the terms of their promises."""
    own, opp, row = U(node.own) & ROW, U(node.opp) & ROW, state.rows[PAST + 1]
    entry = awale_transposition_table.recall(hash_of(own, opp, state.multipliers), state)
    best, value = awale_transposition_table.entry_pit(entry), awale_transposition_table.entry_value(entry) / SEED
    bound = BOUNDS[int(U(entry) >> awale_transposition_table.BOUND_SHIFT & awale_transposition_table.BOUND_BITS)]
    yield f"{node}\n"
    depth = awale_transposition_table.entry_depth(entry)
    yield f"step 3: table: {bound} {value:+.2f}, depth {depth}, pit {node.format_move(best)}"
    yield "step 4: move captures killer history"
    others = word_of(pit for pit in node.legal_moves() if pit != best)
    count = awale.sort_moves(own, opp, others, 0, AWALE_DEPTH - 1, row, state)
    for pit in [best, *(int(awale.pit_of(move)) for move in row.moves[:count])]:
        captures = seeds_in(sow(state.game, own, opp, pit)[2])
        sowing = int(awale.sowing_of(own, pit))
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
