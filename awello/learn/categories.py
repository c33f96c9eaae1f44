"""Learn move ordering scores for Awalé by self-play (report 1, section 3.7).

The search updates the scores while it runs (`search/budget_kernels.py`), so this module only plays games.  Random first
moves make the games differ.  The shipped file `data/travers.npz` was created with

    np.savez_compressed("travers.npz", scores=learn_scores(Heuristic("travers")))
"""

import random
from collections.abc import Callable

from awello.evaluate.evaluator import Heuristic
from awello.position import Position
from awello.rules.game import Game
from awello.search.budget_search import DEFAULT_NODES, BudgetSearch, Scores

DEFAULT_GAMES = 100
OPENING_PLIES = 4  # number of random first moves


def learn_scores(
    heuristic: Heuristic,
    games: int = DEFAULT_GAMES,
    nodes: int = DEFAULT_NODES,
    seed: int = 1,
    on_progress: Callable[[int], None] = lambda games: None,
    game: Game = Game.TOURNAMENT,
) -> Scores:
    """Play games; return the learnt scores of the move categories.  `on_progress` is called with 1 after each game."""
    searcher, rng = BudgetSearch(game, heuristic), random.Random(seed)
    for _ in range(games):
        position, ply = Position.start(game), 0
        while not position.over:
            analysis = searcher.search_budget(position, nodes)
            position = position.after(
                rng.choice(analysis.best_moves if ply >= OPENING_PLIES else position.legal_moves())
            )
            ply += 1
        on_progress(1)
    return searcher.category_scores
