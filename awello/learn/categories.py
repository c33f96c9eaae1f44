"""Learn which kinds of moves to try first in Awalé, by games against oneself (report 1, section 3.7).

The search learns while it searches: see `search/budget_kernels.py`.  So it only has to play; a few random moves at the
start make the games differ.  What is shipped as `data/travers.npz` was made by

    np.savez_compressed("travers.npz", scores=learn_scores(Heuristic("travers")))
"""

import random
from collections.abc import Callable

from awello.evaluate.settings import Heuristic
from awello.position import Position
from awello.rules.game import Game
from awello.search.budget_search import DEFAULT_NODES, BudgetSearch, Scores

GAMES = 100
RANDOM = 4  # moves at the start of a game


def learn_scores(
    heuristic: Heuristic,
    games: int = GAMES,
    nodes: int = DEFAULT_NODES,
    seed: int = 1,
    report: Callable[[int], None] = lambda games: None,
    game: Game = Game.TOURNAMENT,
) -> Scores:
    """The scores of the kinds of moves after so many games, reported one by one."""
    searcher, chance = BudgetSearch(game, heuristic), random.Random(seed)
    for _ in range(games):
        position, ply = Position.start(game), 0
        while not position.over:
            found = searcher.search_budget(position, nodes)
            position = position.after(chance.choice(found.best_moves if ply >= RANDOM else position.legal_moves()))
            ply += 1
        report(1)
    return searcher.category_scores
