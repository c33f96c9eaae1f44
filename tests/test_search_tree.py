"""Search trees: their values and counts, which equal those of the kernels, and their drawings."""

import json
import os
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from conftest import awello, fresh_awello

from awello import Game, Position, parse_position
from awello.errors import ConfigError, NotationError
from awello.evaluate.evaluator import Evaluator, Heuristic, list_heuristics
from awello.evaluate.heuristics import EXACT_SCALE
from awello.kernel import U
from awello.lab.tree_drawing import draw_tree, draw_tree_svg, format_node, format_value
from awello.search import negamax
from awello.search.negamax import INFINITY, NO_CUTOFFS
from awello.search.search_tree import MAX_TREE_NODES, PositionSource, SearchNode, SearchTree, parse_lists, search_tree
from awello.search.textbook_search import TEXTBOOK_ALGORITHMS

EXAMPLE_TREE = "[[[7, 9, 3], [-3, 1, -7], [4, -8, 14]]]"
PLAIN, PRUNING = ("minimax", "negamax"), ("alphabeta", "negamax-alphabeta")
MAX_SAMPLE_NODES = 2_500  # few enough nodes for a quick search in plain Python


def search_example(algorithm: str) -> SearchTree:
    return search_tree(algorithm, parse_lists(EXAMPLE_TREE))


def run_tree(*words: str) -> Any:
    done = awello("tree", *words, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_cutoff_stops_the_search_after_leaf_4(monkeypatch: pytest.MonkeyPatch) -> None:
    evaluated: list[float] = []
    evaluate = SearchTree.evaluate

    def record(tree: SearchTree, node: SearchNode) -> float:
        value = evaluate(tree, node)
        evaluated.append(tree.to_view(node, value))
        return value

    monkeypatch.setattr(SearchTree, "evaluate", record)
    tree = search_example("alphabeta")
    assert evaluated == [7, 9, 3, -3, 1, -7, 4]
    assert [node.pruned_value for node in tree.root.walk() if node.pruned] == [-8, 14]
    assert (tree.value, tree.nodes, tree.leaves, tree.pruned, tree.pv) == (1, 12, 7, 2, ["1", "2", "2"])


@pytest.mark.parametrize("algorithm", PLAIN)
def test_plain_minimax_visits_everything(algorithm: str) -> None:
    tree = search_example(algorithm)
    assert (tree.value, tree.nodes, tree.leaves, tree.pruned) == (1, 14, 9, 0)
    assert search_example("alphabeta").minimax_counts == (14, 9)


def test_negamax_shows_values_from_the_movers_view() -> None:
    pairs = zip(search_example("alphabeta").root.walk(), search_example("negamax-alphabeta").root.walk(), strict=True)
    for one, other in pairs:
        sign = 1 if one.maximising else -1
        assert one.maximising == other.maximising
        assert one.pruned == other.pruned
        assert (one.value or 0) == sign * (other.value or 0)
        assert (one.pruned_value or 0) == sign * (other.pruned_value or 0)
        assert other.window == (one.window if one.maximising else (-one.window[1], -one.window[0]))


def test_values_after_pruning_are_bounds() -> None:
    root = search_example("alphabeta").root
    bounds = {format_node(node): node.bound for node in root.walk() if node.children}
    assert bounds == {"1": None, "9": None, "≥4": "lower"}
    late = search_tree("alphabeta", parse_lists("[[5, 6], [3, 9], [7, 2]]")).root
    assert [format_node(child) for child in late.children] == ["5", "≤3", "2"], "nothing is pruned below the last child"


def kernel_result(algorithm: str, position: Position, depth: int, evaluator: Evaluator) -> tuple[int, int, int]:
    """Return the value and the numbers of nodes and leaves of the kernel, called at the root with a full window."""
    evaluator.prepare(position, depth)
    evaluator.state.cutoff_margin = NO_CUTOFFS if algorithm in PLAIN else 0
    words, window = (U(position.own), U(position.opp)), (-INFINITY, INFINITY)
    value = negamax.search(int(position.game), *words, *window, depth, evaluator.heuristic_id, evaluator.state)
    return int(value), evaluator.nodes, evaluator.leaves


def sample_positions(game: Game, number: int) -> Iterator[tuple[Position, int, Evaluator]]:
    """Yield positions of random games, each with a heuristic and a depth at which its tree stays small."""
    rng = random.Random(int(game))
    for _ in range(number):
        position = Position.start(game)
        for _ in range(rng.randrange(60 if game.family == "awale" else game.max_score - 4)):
            position = position.play(rng.choice(position.legal_moves())) if not position.over else position
        position = replace(position, past=frozenset())
        evaluator = Evaluator(game, Heuristic(rng.choice(list_heuristics(game)), rng.choice("12")))
        depth = rng.randint(1, 4)
        while kernel_result("minimax", position, depth, evaluator)[1] > MAX_SAMPLE_NODES:
            depth -= 1
        yield position, depth, evaluator


def test_values_and_counts_equal_those_of_the_kernels(game: Game) -> None:
    for position, depth, evaluator in sample_positions(game, 8):
        trees = [search_tree(name, PositionSource(position, depth, evaluator)) for name in TEXTBOOK_ALGORITHMS]
        for tree in trees:
            expected = kernel_result(tree.algorithm, position, depth, evaluator)
            assert (tree.value, tree.nodes, tree.leaves) == expected, (tree.algorithm, position, depth)
            visited = [node for node in tree.root.walk() if not node.pruned]
            assert tree.nodes == len(visited)
            assert tree.leaves == sum(node.leaf for node in visited)
            assert tree.pruned == sum(node.pruned for node in tree.root.walk())
            assert tree.pv == trees[0].pv


def test_the_sample_has_depth_passes_and_finished_games() -> None:
    depths, names, exact = set(), set(), 0
    for game in Game:
        for position, depth, evaluator in sample_positions(game, 8):
            nodes = list(search_tree("minimax", PositionSource(position, depth, evaluator)).root.walk())
            depths.add(depth)
            names |= {node.name for node in nodes}
            exact += sum(node.exact for node in nodes)
    assert depths == {1, 2, 3, 4}
    assert "pass" in names
    assert exact


def test_alphabeta_values_and_bounds_are_correct() -> None:
    bounds: Counter[str | None] = Counter()
    for game in (Game.OTHELLO4, Game.OTHELLO6, Game.ABAPA):
        for position, depth, evaluator in sample_positions(game, 8):
            for node in search_tree("alphabeta", PositionSource(position, depth, evaluator)).root.walk():
                if node.children:
                    truth, value = search_tree("minimax", node.source).value, node.value or 0
                    assert {None: truth == value, "lower": truth >= value, "upper": truth <= value}[node.bound]
                    bounds[node.bound] += 1
    assert min(bounds[bound] for bound in (None, "lower", "upper")) > 10


def test_repetition_does_not_end_the_game_as_in_the_kernels() -> None:
    start = Position.start(Game.ABAPA)
    after = start.after(0)
    repeating = replace(start, past=frozenset({(after.own, after.opp, after.side)}))
    evaluator = Evaluator(Game.ABAPA, Heuristic("diffscore"))
    assert not repeating.after(0).legal_moves()
    assert search_tree("minimax", PositionSource(repeating, 2, evaluator)).nodes == 43


def test_a_finished_game_is_one_leaf() -> None:
    position = parse_position("XXX" + "-" * 61 + " O")
    tree = search_tree("minimax", PositionSource(position, 3, Evaluator(Game.OTHELLO, Heuristic("positional"))))
    assert (tree.value, tree.nodes, tree.leaves, tree.pv) == (-64 * EXACT_SCALE, 1, 1, [])
    assert "-64!" in draw_tree(tree).plain
    assert "-64!" in texts_of(draw_tree_svg(tree))


def test_values_are_formatted() -> None:
    values = (12 * EXACT_SCALE, -3 * EXACT_SCALE, 7, -8, 2.5, 0.0, float("inf"), 1_000_000)
    assert [format_value(value) for value in values] == ["+12!", "-3!", "7", "-8", "2.5", "0", "∞", "1000000"]


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("[[7, 9", "'[[7, 9' is not a tree (it is incomplete)"),
        ("", "'' is not a tree (it is incomplete)"),
        ("[1, 2] 3", "'3'"),
        ("[]", "the tree is an empty list"),
        ("[[1, 2], [3, []]]", "part 2.2 is an empty list"),
        ('[[1, "two"]]', 'part 1.2, "two",'),
        ("[1, true]", "part 2, true,"),
        ("[1, null]", "part 2, null,"),
        ('[{"a": 1}]', 'part 1, {"a": 1},'),
        ("[1, NaN]", "part 2, NaN,"),
        ("[1, -1e400]", "part 2, -Infinity,"),
        ("[1, 1000001]", "part 2, 1000001,"),
        ("7", "7 is not a tree"),
        ("[" * 13 + "1" + "]" * 13, "12 levels"),
        ("[" * 5000, "too deep"),
        ("[" + "9" * 5000 + "]", "too long a number"),
    ],
)
def test_errors_name_the_invalid_part_of_a_list(text: str, part: str) -> None:
    with pytest.raises(NotationError) as error:
        parse_lists(text)
    assert part in str(error.value)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 140


def test_twelve_levels_are_accepted() -> None:
    assert search_tree("negamax", parse_lists("[" * 12 + "1" + "]" * 12)).value == 1


def test_a_tree_too_large_to_draw_is_rejected() -> None:
    evaluator = Evaluator(Game.OTHELLO, Heuristic("positional"))
    with pytest.raises(ConfigError, match=r"20,000 nodes.*lower the depth"):
        search_tree("minimax", PositionSource(Position.start(), 7, evaluator))
    largest = search_tree("minimax", parse_lists(json.dumps([1] * (MAX_TREE_NODES - 1))))
    assert largest.nodes == MAX_TREE_NODES
    with pytest.raises(ConfigError, match="20,000"):
        search_tree("minimax", parse_lists(json.dumps([1] * MAX_TREE_NODES)))


def test_the_example_as_text() -> None:
    assert draw_tree(search_example("alphabeta")).plain.splitlines() == [
        "alphabeta: value 1 for MAX",
        "nodes visited: 12, leaves evaluated: 7, branches pruned: 2 (plain minimax: 14 nodes, 9 leaves)",
        "principal variation: 1 2 2; values from the point of view of MAX",
        "* principal variation; pruned: never visited; ≥ ≤: only a bound is known",
        "MAX 1 *",
        "└─ MIN 1 *",
        "   ├─ MAX 9",
        "   │  ├─ 7",
        "   │  ├─ 9",
        "   │  └─ 3",
        "   ├─ MAX 1 *",
        "   │  ├─ -3",
        "   │  ├─ 1 *",
        "   │  └─ -7",
        "   └─ MAX ≥4",
        "      ├─ 4",
        "      ├─ -8 pruned",
        "      └─ 14 pruned",
    ]


def test_text_states_the_view_and_shows_windows_and_plies() -> None:
    assert "view of the side to move at each node" in draw_tree(search_example("negamax")).plain
    assert "MAX ≥4 (-∞, 1)" in draw_tree(search_example("alphabeta"), windows=True).plain
    assert draw_tree(search_example("alphabeta"), plies=2).plain.splitlines()[-3:] == [
        "   ├─ MAX 9 …",
        "   ├─ MAX 1 * …",
        "   └─ MAX ≥4 …",
    ]


def texts_of(svg: str) -> Counter[str]:
    """Count how often each text occurs in an SVG picture, which must be well-formed."""
    return Counter(text.text or "" for text in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text"))


@pytest.mark.parametrize("algorithm", TEXTBOOK_ALGORITHMS)
def test_the_picture_shows_every_value_and_every_move(algorithm: str, game: Game) -> None:
    evaluator = Evaluator(game, Heuristic("mobility" if game.family == "othello" else "diffscore"))
    tree = search_tree(algorithm, PositionSource(Position.start(game), 3, evaluator))
    expected = Counter(format_node(node) for node in tree.root.walk() if not node.pruned)
    expected += Counter(node.name for node in tree.root.walk() if node.name)
    assert expected <= texts_of(draw_tree_svg(tree))


def test_parents_are_centred_above_their_children_and_leaves_are_evenly_spaced() -> None:
    picture = ElementTree.fromstring(draw_tree_svg(search_example("minimax")))
    words = [text for text in picture.iter() if text.get("text-anchor") == "middle"]
    places = [(text.text, float(text.get("x", "")), float(text.get("y", ""))) for text in words]
    levels = sorted({y for _, _, y in places})
    rows = [sorted((x, text) for text, x, y in places if y == level) for level in levels]
    assert [[text for _, text in row] for row in rows] == [["1"], ["1"], ["9", "1", "14"], EXAMPLE_LEAVES]
    leaves = [x for x, _ in rows[3]]
    assert len({round(right - left, 3) for left, right in pairwise(leaves)}) == 1
    assert [x for x, _ in rows[2]] == [leaves[1], leaves[4], leaves[7]]


EXAMPLE_LEAVES = ["7", "9", "3", "-3", "1", "-7", "4", "-8", "14"]


def test_pruned_branches_are_dashed_and_the_principal_variation_is_thick() -> None:
    picture = draw_tree_svg(search_example("alphabeta"))
    assert picture.count("stroke-dasharray") == 2 + 1, "including the legend"
    assert picture.count('stroke-width="4"/>') == 3 + 1
    assert "stroke-dasharray" not in draw_tree_svg(search_example("minimax"))


def test_a_picture_escapes_special_characters() -> None:
    tree = search_tree("minimax", parse_lists("[1, 2]"), "<&\x01>")
    assert "<&?>: value 2 for MAX" in texts_of(draw_tree_svg(tree))


def test_the_command_draws_a_position(tmp_path: Path) -> None:
    file = tmp_path / "tree.svg"
    done = awello("tree", "othello", "--search", "alphabeta:positional@2", "--svg", str(file))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("alphabeta:positional@2: value 0 for Black\n")
    assert "d3: MIN 0 *" in done.stdout
    assert "\x1b" not in done.stdout, "no colour without a terminal"
    assert texts_of(file.read_text("utf-8"))["d3"] >= 1
    assert list(tmp_path.iterdir()) == [file]


def test_the_command_colours_the_example_without_wrapping_lines() -> None:
    shown = fresh_awello("tree", "--leaves", EXAMPLE_TREE, FORCE_COLOR="1", TERM="xterm").stdout
    assert "\x1b[1;32mMAX 1 *\x1b[0m\n" in shown
    assert "\x1b[2m14 pruned\x1b[0m\n" in shown
    assert "branches pruned: 2 (plain minimax: 14 nodes, 9 leaves)\n" in shown


def test_the_command_accepts_positions_and_settings() -> None:
    assert run_tree("awale", "--variant", "romein")["search"] == "alphabeta:diffscore@3"
    pass_first = "-OXXXXXX" + "-" * 56 + " O"
    found = run_tree("othello", "--position", pass_first, "--search", "negamax:absolute@9,corners=2")
    assert found["search"] == "negamax:absolute@9,corners=2"
    assert (found["pv"], found["value"], found["tree"]["exact"]) == (["pass", "a1"], -64, True)
    one, two = (run_tree("othello", "--size", "6", "--search", f"minimax@3,square_table={table}") for table in "12")
    assert one["nodes"] == two["nodes"]
    assert one["value"] != two["value"]


def test_json_contains_the_whole_tree() -> None:
    found = run_tree("othello", "--search", "alphabeta@3")
    assert list(found) == ["search", "value", "nodes", "leaves", "pruned", "pv", "tree"]
    nodes = list(walk(found["tree"]))
    assert found["nodes"] == sum(not node["pruned"] for node in nodes)
    assert found["leaves"] == sum(node["leaf"] for node in nodes)
    assert found["pruned"] == sum(node["pruned"] for node in nodes)
    assert found["pv"] == [node["move"] for node in nodes if node["principal"]][1:]
    assert found["value"] == found["tree"]["value"] == next(n["value"] for n in reversed(nodes) if n["principal"])
    source = PositionSource(Position.start(), 3, Evaluator(Game.OTHELLO, Heuristic("positional")))
    assert found == json.loads(json.dumps(search_tree("alphabeta", source, "alphabeta:positional@3").to_json()))


def test_json_of_the_example() -> None:
    found = run_tree("--leaves", EXAMPLE_TREE, "--search", "alphabeta")
    nodes = list(walk(found["tree"]))
    assert [node["value"] for node in nodes if node["leaf"]] == [7, 9, 3, -3, 1, -7, 4]
    assert [node["pruned_value"] for node in nodes if node["pruned"]] == [-8, 14]
    assert (found["value"], found["pruned"], found["pv"]) == (1, 2, ["1", "2", "2"])
    assert [node["window"] for node in nodes if node["bound"] == "lower"] == [[None, 1]]


def walk(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for child in node["children"]:
        yield from walk(child)


INVALID_COMMANDS = [
    ((), "GAME is missing: write othello or awale, or give a tree with --leaves"),
    (("othello", "--leaves", EXAMPLE_TREE), "--leaves gives a whole tree"),
    (("--leaves", "[[1, 2"), "'[[1, 2' is not a tree (it is incomplete): write nested lists such as [["),
    (("othello", "--svg", "tree.png"), "cannot draw to 'tree.png': choose a file name that ends in .svg"),
    (("--leaves", "[[1, []]]"), "part 1.2 is an empty list"),
    (("--leaves", '["one"]'), 'part 1, "one", is neither a number nor a list'),
    (
        ("--leaves", EXAMPLE_TREE, "--search", "alphabeta@3"),
        "must be only the name of an algorithm: write --search alphabeta",
    ),
    (
        ("--leaves", EXAMPLE_TREE, "--search", "negamax:mixed"),
        "must be only the name of an algorithm: write --search negamax",
    ),
    (("--leaves", EXAMPLE_TREE, "--search", "uct"), "'uct' is not a textbook search: choose minimax, alphabeta"),
    (("othello", "--search", "random"), "'random' is not a textbook search"),
    (("othello", "--search", "alphabeta@0"), "needs a depth from 1"),
    (
        ("othello", "--search", "alphabeta,tt_entries=9"),
        "tt_entries cannot be set for a search tree: choose square_table, thresholds or corners",
    ),
    (("othello", "--search", "alphabeta:mixed,thresholds=soon"), "thresholds 'soon'"),
    (("othello", "--search", "minimax@12"), "more than 20,000 nodes"),
    (
        ("--leaves", EXAMPLE_TREE, "--svg", "no/such/folder/tree.svg"),
        "cannot write 'no/such/folder/tree.svg': there is no folder 'no/such/folder'; create it first",
    ),
    (("--leaves", EXAMPLE_TREE, "--svg", "docs"), "cannot draw to 'docs'"),
]


@pytest.mark.parametrize(
    ("words", "part"), INVALID_COMMANDS, ids=[" ".join(words)[:40] for words, _ in INVALID_COMMANDS]
)
def test_invalid_input_gives_a_one_line_error(words: tuple[str, ...], part: str) -> None:
    done = awello("tree", *words)
    errors = [line for line in done.stderr.splitlines() if "compiling" not in line]
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(errors) == 1
    assert part in errors[0]


def test_a_picture_is_written_atomically(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from awello.cli.output import write_file

    file = tmp_path / "tree.svg"
    file.write_text("old")

    def fail(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(ConfigError, match="No space left on device"):
        write_file(file, "new")
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


def test_a_picture_does_not_replace_a_symbolic_link(tmp_path: Path) -> None:
    from awello.cli.output import write_file

    link = tmp_path / "stdout"
    link.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ConfigError, match="not a regular file"):
        write_file(link, "new")
    assert list(tmp_path.iterdir()) == [link]
