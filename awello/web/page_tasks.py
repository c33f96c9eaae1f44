"""CPU-bound functions for the page, which run in a worker process and not in the server's event loop.

Arguments and results are pickled.  Some functions return encoded JSON, which the server forwards unchanged.
"""

import json
from contextlib import suppress

from awello.errors import AwelloError, NotationError
from awello.formats.detection import detect_game
from awello.formats.registry import find_format, read_games
from awello.lab.tree_drawing import describe_tree, draw_tree_svg, format_value
from awello.players.player import Player, find_player, make_player
from awello.players.spec import PlayerSpec, parse_spec
from awello.players.textbook_tree import build_search_tree
from awello.position import Position
from awello.record import Record
from awello.rules.game import Game
from awello.schemas import DetectedGameJson, PositionsJson
from awello.search.search_tree import SearchNode
from awello.web.client_players import validate_spec

MAX_DRAWN_NODES = 3000  # in the picture of a search tree; if the tree has more, its lower plies are left out


def dump_positions(record: Record, first_ply: int) -> bytes:
    """Return the positions of a game from ply `first_ply` on, and its transcript, as JSON."""
    return PositionsJson.of(record, first_ply).model_dump_json().encode()


def detect_text(text: str, game: Game | None) -> bytes:
    """Detect the game or position in a text, and return it as JSON."""
    detected = detect_game(text, game)
    games = sum(isinstance(one, Record) for one in read_games(text.encode()))
    return DetectedGameJson.of(detected.record, format=detected.format, games=max(1, games)).model_dump_json().encode()


def find_learners(record: Record) -> list[tuple[str, int]]:
    """Return the specs and sides of the players that can learn from a game; the tags of the game contain the specs."""
    learners = []
    for side, name in enumerate(record.start.game.sides):
        with suppress(AwelloError):
            spec = validate_spec(record.tags.get(name, ""))
            if find_player(parse_spec(spec).name).player_class.learn is not Player.learn:
                learners.append((spec, side))
    return learners


def train_players(record: Record, learners: list[tuple[str, int]]) -> None:
    """Train players on a finished game."""
    for spec, side in learners:
        player = make_player(spec)
        player.begin(record.start.game, 0)
        player.end()
        player.learn(record, side)


def write_record(record: Record, format: str) -> dict[str, bytes]:
    """Write a game in a file format; return the content of each file by its extension."""
    try:
        return find_format(format).write([record])
    except NotationError as error:
        raise NotationError(str(error), "not_exportable") from None


def draw_search_tree(spec: PlayerSpec, position: Position, max_plies: int) -> bytes:
    """Search a position; return the search tree as JSON, with a picture of at most `MAX_DRAWN_NODES` nodes."""
    tree = build_search_tree(spec, position)
    plies = next(
        plies for plies in range(max_plies, -1, -1) if _count_nodes(tree.root, plies) <= MAX_DRAWN_NODES or not plies
    )
    response = {
        "svg": draw_tree_svg(tree, plies, captions=False),
        "lines": describe_tree(tree),
        "search": tree.label,
        "value": format_value(tree.value),
        "counts": {"nodes": tree.nodes, "leaves": tree.leaves, "pruned": tree.pruned},
        "minimax_counts": tree.minimax_counts if tree.pruned else None,
        "pv": tree.pv,
        "mover_view": tree.mover_view,
    }
    return json.dumps(response).encode()


def _count_nodes(node: SearchNode, plies: int) -> int:
    """Return the number of nodes of a tree down to `plies` plies below its root."""
    return 1 + (sum(_count_nodes(child, plies - 1) for child in node.children) if plies else 0)
