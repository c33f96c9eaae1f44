"""The search tree of a textbook player, for drawing."""

from dataclasses import replace

from awello.errors import SpecError, join_choices
from awello.evaluate.evaluator import list_heuristics
from awello.limits import Limit
from awello.players.player import make_player
from awello.players.spec import PlayerSpec
from awello.players.textbook import TextbookPlayer
from awello.position import Position
from awello.search.search_tree import PositionSource, SearchTree, check_algorithm, search_tree

DEFAULT_TREE_DEPTH = 3
TREE_SETTINGS = ("square_table", "thresholds", "corners")


def build_search_tree(spec: PlayerSpec, position: Position) -> SearchTree:
    """Search a position with the settings of a spec, and return the tree."""
    check_algorithm(spec.name)
    for key in spec.settings:
        if key not in TREE_SETTINGS:
            raise SpecError(f"{key} cannot be set for a search tree: choose {join_choices(TREE_SETTINGS)}")
    heuristic = spec.heuristic or list_heuristics(position.game)[0]
    spec = replace(spec, heuristic=heuristic, limit=spec.limit or Limit(depth=DEFAULT_TREE_DEPTH))
    player = make_player(spec)
    assert isinstance(player, TextbookPlayer)
    player.begin(position.game, 0)
    depth = player.limit.depth or DEFAULT_TREE_DEPTH
    player.evaluator.prepare(position, depth)
    return search_tree(spec.name, PositionSource(position, depth, player.evaluator), str(spec))
