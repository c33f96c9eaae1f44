"""Print the results of all kernels for some random games; compiled and uncompiled runs must print the same lines."""

import random

import numpy as np
from conftest import random_record

from awello import Game, Position, Record, parse_position, parse_transcript
from awello.archive.opening_tree import OpeningTree
from awello.archive.position_index import build_entries
from awello.archive.position_keys import END_OF_GAME, compute_position_key
from awello.engine.awale_search import AwaleWorker
from awello.engine.awale_state import INFINITY
from awello.engine.awale_transposition_table import ENTRY_BYTES
from awello.engine.bench import BENCH_GAMES
from awello.engine.engine import Engine
from awello.engine.retrograde import LAYER_OFFSETS
from awello.engine.tablebase import Tablebase, solve_layer
from awello.engine.threads import SearchRequest, SearchThreads
from awello.engine.transposition_table import TranspositionTable
from awello.evaluate.evaluator import Evaluator, Heuristic, list_heuristics
from awello.evaluate.otage_memory import OtageMemory
from awello.evaluate.perceptron_weights import new_perceptron
from awello.evaluate.weights import load_awale_network_weights
from awello.kernel import U
from awello.learn.awale_games import MAX_GAME_PLIES, PlayedPosition, play_game
from awello.learn.perceptron import PerceptronSelfPlay
from awello.limits import Limit
from awello.record import restore_passes
from awello.rules import awale, othello
from awello.rules import game as kernels
from awello.search.budget_search import ORDERINGS, BudgetSearch
from awello.search.iterative_deepening import HINT_KINDS, IterativeDeepening, OtageOptions
from awello.search.montecarlo import MonteCarloTree, PerceptronTree, PpafTree
from awello.search.textbook_search import ALGORITHMS, AlphaBetaEvaluator, analyse

ENDGAME = BENCH_GAMES[0][: 2 * 53]  # seven squares are empty after these moves


def print_rules(game_id: int, own: U, opp: U, games: int, rng: random.Random) -> None:
    """Play random games; for each position, print the results of the functions that implement the rules."""
    for _ in range(games):
        pair = own, opp
        while True:
            moves = int(kernels.legal_moves(game_id, *pair))
            over = bool(kernels.is_over(game_id, *pair))
            print(game_id, *map(int, pair), moves, over, int(kernels.score(game_id, *pair)))
            if game_id < awale.ABAPA:
                print(*map(int, othello.canonical(*pair)))
            for move in (-1, 2, END_OF_GAME):
                key, canonical_move = compute_position_key(game_id, *pair, move)
                print(int(key), int(canonical_move))
            if over:
                break
            choices = [move for move in range(64) if moves >> move & 1]
            pair = kernels.play(game_id, *pair, rng.choice(choices)) if choices else (pair[1], pair[0])


def print_searches() -> None:
    """Print the results of all textbook searches with all heuristics for an Othello position and an Awalé position."""
    for position in (
        parse_transcript("f5f6e6f4e3c5c4e7c6e2").final,
        parse_position("1-0-5-2-13-2-1-1-0-2-14-3-2-2-N", Game.ROMEIN),
    ):
        for name in list_heuristics(position.game):
            for algorithm in ALGORITHMS:
                heuristic = Heuristic(name, corners=3)
                evaluator = Evaluator(position.game, heuristic)
                if algorithm == "alphabeta_tt":
                    evaluator = AlphaBetaEvaluator(position.game, heuristic, 64, True, True)
                found = analyse(position, algorithm, 2, evaluator)
                print(name, algorithm, found.candidates if algorithm == "minimax" else found.value, found.nodes)
            for ordering in ORDERINGS:
                searcher = BudgetSearch(position.game, Heuristic(name), ordering)
                for found in (searcher.search_depth(position, 3), searcher.search_budget(position, 80)):
                    checksum = np.abs(searcher.category_scores) @ np.arange(len(searcher.category_scores))
                    print(name, ordering, found.candidates, found.nodes, found.depth, checksum)


def print_otage() -> None:
    """Print the results of Otage's search with a refutation table so small that the search must remove entries."""
    memory = OtageMemory()
    memory.learn_patterns(parse_transcript(BENCH_GAMES[0]))
    for hints in HINT_KINDS:
        search = IterativeDeepening(memory, OtageOptions(hints, ply_capacity=0))
        for found in search.deepen(parse_transcript("f5f6e6f4e3c5c4e7c6e2").final, 3):
            print(found.candidates, found.variations, found.leaves, found.nodes, found.searches, found.cleanups)


def print_engine() -> None:
    """Print the results of the champion's search in a midgame and an endgame position."""
    with Engine(hash=1) as engine:
        for text, limit in (("f5f6e6f4e3c5c4e7c6e2", Limit(depth=3)), (ENDGAME, Limit())):
            position = parse_transcript(text).final
            for found in engine.analyse(position, limit, multipv=2):
                print(found.depth, found.candidates, found.nodes, found.pv)


def print_awale() -> None:
    """Print Awalé tablebases as bytes, the results of a search with them, and the positions of a self-play game."""
    for game_id in range(awale.ABAPA, awale.ROMEIN + 1):
        table = np.zeros(int(LAYER_OFFSETS[4]), np.uint8)
        for layer in range(1, 4):
            solve_layer(Game(game_id), table, layer, 1, lambda passes: None)
        print(game_id, table.tobytes().hex())
        position = parse_position("1-0-5-2-13-2-1-1-0-2-14-3-2-2-N", Game(game_id))
        for weights in (None, load_awale_network_weights()):
            worker = AwaleWorker(
                0, Tablebase(Game(game_id), 3, table), TranspositionTable(1, bucket_bytes=ENTRY_BYTES), weights
            )
            threads = SearchThreads([worker], worker.tt)
            threads.begin_search()
            for depth in (2, 4):
                found = threads.search(SearchRequest(position, U(63), -INFINITY, INFINITY, depth, 3))
                print(found, threads.nodes, threads.probe_best_move(position.after(found.move)))
        played, row = PlayedPosition.new_array(MAX_GAME_PLIES), U(0x010201)
        count = play_game(row, row, played, np.array([7], np.uint64), 1, 1, 64, 0.5, worker.state)
        print(played[:count].tolist())


def print_random_games() -> None:
    """Print the results of Monte Carlo tree searches, with plain and with learning playouts."""
    for game in (Game.OTHELLO6, Game.ABAPA):
        for tree in (MonteCarloTree(1 << 10), PpafTree(1 << 10)):
            found = tree.analyse(Position.start(game), 600.0, 12, 1)
            print(game, found.candidates, found.nodes, found.pv)


def print_archive() -> None:
    """Print the position index entries of a game with passes, and the move values that a game tree gives for a game."""
    record = Record(Position.start(), restore_passes(Position.start(), parse_transcript(ENDGAME).moves))
    entries, margins = build_entries(Game.OTHELLO, [record], [1])
    print(margins, *entries)
    games = [random_record(Game.OTHELLO4, seed) for seed in range(8)]
    tree = OpeningTree(games)
    print(len(tree), [tree.move_values(position) for position in games[0].positions()])


def print_perceptrons() -> None:
    """Print the results of a tree search with a perceptron, and the examples from a game of self-play."""
    for game in (Game.OTHELLO4, Game.ABAPA):
        perceptron = new_perceptron(game, 2, np.random.default_rng(1))
        found = PerceptronTree(1 << 10, perceptron=perceptron).analyse(Position.start(game), 600.0, 12, 1)
        print(game, [(move, round(value, 5)) for move, value in found.candidates], found.nodes, found.pv)
        examples = PerceptronSelfPlay(game, perceptron, 3).play(np.random.default_rng(2))
        for words, policy, value in zip(examples.words, examples.policies, examples.values, strict=True):
            print(*words.tolist(), policy.round(5).tolist(), round(float(value), 5))


def main() -> None:
    """Print all results."""
    rng = random.Random(8)
    for game_id in range(3):
        print_rules(game_id, U(othello.BLACK_START), U(othello.WHITE_START), 4, rng)
    for game_id in range(3, 6):
        print_rules(game_id, U(awale.START_ROW), U(awale.START_ROW), 4, rng)
        print(int(kernels.perft(game_id, U(awale.START_ROW), U(awale.START_ROW), 3)))
    print(int(kernels.perft(0, U(othello.BLACK_START), U(othello.WHITE_START), 4)))
    print_searches()
    print_otage()
    print_engine()
    print_awale()
    print_random_games()
    print_perceptrons()
    print_archive()


if __name__ == "__main__":
    main()
