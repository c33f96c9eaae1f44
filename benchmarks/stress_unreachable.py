"""Run every search on positions that cannot occur in a game.

NUMBA_DISABLE_JIT=1 python benchmarks/stress_unreachable.py [--positions 10] [--seed 1]

Without compilation, `awello.memory` checks every memory access, and NumPy checks array indices.  All moves that the
searches return must be legal.  The searches run on fixed positions and on `--positions` random ones of each game.
"""

import argparse
import random
from collections.abc import Iterator

import numpy as np

from awello import PASS, Game, Position
from awello.analysis import Analysis
from awello.engine.engine import Engine
from awello.engine.othello_search import build_edge_table
from awello.engine.stability import stable_discs
from awello.evaluate.evaluator import Heuristic, list_heuristics
from awello.evaluate.otage_memory import OtageMemory
from awello.evaluate.perceptron_weights import Perceptron, new_perceptron
from awello.kernel import U
from awello.limits import Limit
from awello.position import parse_position
from awello.rules.awale import TOTAL_SEEDS
from awello.rules.othello import BOARD_MASKS, canonical
from awello.search.budget_search import BudgetSearch
from awello.search.iterative_deepening import IterativeDeepening
from awello.search.montecarlo import MonteCarloTree, PerceptronTree, PpafTree
from awello.search.textbook_search import AlphaBetaEvaluator, analyse

MANY_MOVES_BOARD = (
    "--X------OXO--OX-OXX-XXX-O----O--XXO--O--OXXXX-X-O-OXO-O-------- X"  # 35 legal moves; no game reaches more than 33
)
LIGHT_SQUARES = 0xAA55AA55AA55AA55  # the squares of one colour of a chessboard
UNREACHABLE_AWALE_DIAGRAMS = (
    "48-0-0-0-0-0-0-0-0-0-0-0-0-0-S",
    "0-0-0-0-0-48-0-0-0-0-0-0-0-0-S",
    "0-0-0-0-0-0-0-0-0-0-0-48-0-0-S",
    "47-0-0-0-0-0-0-0-0-0-0-1-0-0-N",
    "0-0-44-0-0-0-1-1-1-1-0-0-0-0-S",
    "24-0-0-0-0-0-0-0-0-0-0-24-0-0-S",
    "1-0-0-0-0-0-0-0-0-0-0-0-24-23-S",
    "0-0-0-0-0-1-1-0-0-0-0-0-0-46-N",
    "1-1-1-1-1-1-0-0-0-0-0-0-21-21-N",
    "12-12-0-0-0-0-0-0-0-0-12-12-0-0-S",
)


# ---- positions ------------------------------------------------------------------------------------------------------
def list_extreme_positions(game: Game) -> Iterator[Position]:
    """Yield extreme positions: no disc, one disc, full boards, all seeds in one pit, and so on."""
    if game.family == "awale":
        yield from (parse_position(text, game) for text in UNREACHABLE_AWALE_DIAGRAMS)
        return
    board, corner = BOARD_MASKS[game.size], BOARD_MASKS[game.size] & -BOARD_MASKS[game.size]
    light, ring = board & LIGHT_SQUARES, board & ~BOARD_MASKS.get(game.size - 2, 0x0000001818000000)
    pairs = [(0, 0), (corner, 0), (0, corner), (board, 0), (board ^ corner, 0), (corner, board ^ corner)]
    pairs += [
        (light, board ^ light),
        (light & ring, board ^ ring),
        (ring ^ corner, board ^ ring),
        (ring, light & ~ring),
    ]
    for own, opp in pairs:
        yield Position(game, own, opp)
        yield Position(game, opp, own, 1)
    if game == Game.OTHELLO:
        yield parse_position(MANY_MOVES_BOARD)


def make_unreachable_position(game: Game, rng: random.Random) -> Position:
    """Make a random position: regular areas of each colour with some empty squares, or most seeds in one pit."""
    side = rng.randrange(2)
    if game.family == "awale":
        seeds, pile = [0] * 14, rng.randrange(12)
        for number in range(TOTAL_SEEDS):
            seeds[pile if number < rng.choice((32, 40, 47)) else rng.randrange(14)] += 1
        return parse_position("-".join(map(str, seeds)) + "-" + "SN"[side], game)
    board = BOARD_MASKS[game.size]
    masks = [rng.choice((LIGHT_SQUARES, 0x0F0F0F0F0F0F0F0F, 0xFFFFFFFF, 0x00FF00FF00FF00FF)) for _ in range(2)]
    holes = sum(1 << square for square in rng.sample(range(64), rng.choice((1, 3, 6, 12, 40)))) & masks[0]
    return Position(game, board & masks[1] & ~holes, board & ~masks[1] & ~holes, side)


# ---- searches -------------------------------------------------------------------------------------------------------
class SearchRunner:
    """Runs every search of a game on given positions."""

    def __init__(self, game: Game) -> None:
        self.game, self.perceptron = game, new_perceptron(game, 1, np.random.default_rng(1))
        self.engines = [Engine(game, hash=1)]
        if game.family == "othello":
            self.engines.append(Engine(game, hash=1, heuristic=Heuristic("tactical")))

    def run(self, position: Position) -> int:
        """Run every search on a position; return the number of analyses."""
        position.check()
        analyses = [] if position.over else list(self.analyse(position))
        for analysis in analyses:
            end = position
            for move in analysis.pv or (analysis.move,):
                assert move in end.legal_moves(), f"{position!r}: {analysis}"
                end = end.after(move)
        if self.game.family == "othello":
            words = U(position.own), U(position.opp)
            assert canonical(*words) == canonical(*canonical(*words))
            stable = int(stable_discs(*words, build_edge_table()))
            assert not stable & ~position.own
        return len(analyses)

    def analyse(self, position: Position) -> Iterator[Analysis]:
        """Yield the analyses of each search."""
        empties = self.game.max_score - (position.own | position.opp).bit_count()
        for engine in self.engines:
            yield from engine.analyse(position, Limit(depth=2), multipv=64)
            if self.game.family == "othello" and empties <= 6:
                yield from engine.solve(position)
        if position.legal_moves() == (PASS,):
            return
        for name in list_heuristics(self.game):
            evaluator = AlphaBetaEvaluator(self.game, Heuristic(name, corners=3), 64, True, True)
            yield analyse(position, "alphabeta_tt", 2, evaluator)
            yield BudgetSearch(self.game, Heuristic(name)).search_depth(position, 2)
        for tree in (MonteCarloTree(1 << 9), PpafTree(1 << 9), self.make_perceptron_tree()):
            yield tree.analyse(position, 600.0, 3, 1)
        if self.game == Game.OTHELLO:
            yield IterativeDeepening(OtageMemory()).analyse(position, Limit(depth=2))

    def make_perceptron_tree(self) -> MonteCarloTree:
        """Return a tree search with an untrained perceptron."""
        perceptron: Perceptron = self.perceptron
        return PerceptronTree(1 << 9, perceptron=perceptron)


def main() -> None:
    """Run every search on unreachable positions of every game; print the number of analyses."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--positions", type=int, default=10, help="random positions per game; default: 10")
    parser.add_argument("--seed", type=int, default=1, help="random seed; default: 1")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    for game in Game:
        searches = SearchRunner(game)
        positions = [
            *list_extreme_positions(game),
            *(make_unreachable_position(game, rng) for _ in range(options.positions)),
        ]
        count = sum(map(searches.run, positions))
        print(f"{game}: {len(positions)} positions, {count:,d} analyses")


if __name__ == "__main__":
    main()
