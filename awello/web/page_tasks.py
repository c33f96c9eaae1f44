"""Work for the page that takes the processor for a while: done by a process beside the server, never by its event loop.

Each function takes and gives what can be pickled; answers are JSON already, so that the server only passes them on.
"""

import json
from contextlib import suppress

from awello.errors import AwelloError
from awello.formats.files import find_format, read_games
from awello.formats.recognise import recognise
from awello.lab.tree_drawing import describe_tree, draw_tree_svg
from awello.players.player import Player, find_player, make_player
from awello.players.spec import PlayerSpec, parse_spec
from awello.players.tree import search_position
from awello.position import Position
from awello.record import Record
from awello.rules.game import Game
from awello.schemas import LineJson, RecognisedJson
from awello.search.search_tree import SearchNode
from awello.web.guest_players import check_spec

MOST_NODES = 3000  # of a tree that are drawn; lower plies are left out


def view_line(record: Record, since: int) -> bytes:
    """The positions of a game from a ply on, and its transcript."""
    return LineJson.of(record, since).model_dump_json().encode()


def read_text(text: str, game: Game | None) -> bytes:
    """The game or position that a text holds."""
    found = recognise(text, game)
    games = sum(isinstance(one, Record) for one in read_games(text.encode()))
    return RecognisedJson.of(found.record, kind=found.kind, games=max(1, games)).model_dump_json().encode()


def find_learners(record: Record) -> list[tuple[str, int]]:
    """The specs and sides of those players of a game that learn; the tags name players by their specs, or people."""
    found = []
    for side, name in enumerate(record.start.game.sides):
        with suppress(AwelloError):
            spec = check_spec(record.tags.get(name, ""))
            if find_player(parse_spec(spec).name).make.learn is not Player.learn:
                found.append((spec, side))
    return found


def teach_players(record: Record, learners: list[tuple[str, int]]) -> None:
    """Let players learn from a finished game."""
    for spec, side in learners:
        player = make_player(spec)
        player.begin(record.start.game, 0)
        player.end()
        player.learn(record, side)


def write_record(record: Record, format: str) -> dict[str, bytes]:
    """A game as files, by the ends of their names."""
    return find_format(format).write([record])


def draw_search(spec: PlayerSpec, position: Position, most_plies: int) -> bytes:
    """The tree of a search: as many of its plies as a picture of a reasonable size can show."""
    tree = search_position(spec, position)
    plies = next(plies for plies in range(most_plies, -1, -1) if _count(tree.root, plies) <= MOST_NODES or not plies)
    return json.dumps({"svg": draw_tree_svg(tree, plies), "lines": describe_tree(tree)}).encode()


def _count(node: SearchNode, plies: int) -> int:
    """The nodes of a tree down to a ply."""
    return 1 + (sum(_count(child, plies - 1) for child in node.children) if plies else 0)
