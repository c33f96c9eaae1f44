"""The opening tree, compared with a simple implementation based on `Position`."""

import random
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import pytest
from conftest import random_record

from awello import PASS, Game, Position, Record
from awello.archive import explorer
from awello.archive.archive import Archive, GameFilter
from awello.archive.explorer import explore
from awello.archive.opening_tree import Advice, OpeningTree
from awello.archive.opening_tree_kernels import compute_node_key
from awello.errors import ConfigError
from awello.kernel import U
from awello.rules.othello import apply_symmetry

BOARDS = [Game.OTHELLO, Game.OTHELLO6, Game.OTHELLO4]


class ReferenceOpeningTree:
    """A simple tree of games, evaluated by recursion over positions."""

    def __init__(self, records: Sequence[Record]) -> None:
        decided = [record for record in records if record.final.over]
        self.known = {(each.game, each.canonical()) for record in decided for each in record.positions()}
        self.value = cache(self._value)

    def move_values(self, position: Position) -> dict[int, int]:
        after = {move: position.after(move) for move in position.legal_moves()}
        return {move: -self.value(to) for move, to in after.items() if (to.game, to.canonical()) in self.known}

    def _value(self, position: Position) -> int:
        if position.over:
            first, second = position.score()
            return second - first if position.side else first - second
        return max(self.move_values(position).values())


def transform_record(record: Record, symmetry: int) -> Record:
    """Return the same game on a rotated or mirrored board, with a transformed start position."""
    start = record.start
    own, opp = (int(apply_symmetry(U(word), symmetry)) for word in (start.own, start.opp))
    squares = [
        move if move == PASS else int(apply_symmetry(U(1 << move), symmetry)).bit_length() - 1 for move in record.moves
    ]
    return Record(Position(start.game, own, opp, start.side), tuple(squares))


def branch_off(record: Record, count: int, rng: random.Random) -> Iterator[Record]:
    """Yield `count` random games, each of which shares its first moves with the given game."""
    for _ in range(count):
        moves = list(record.moves[: rng.randrange(len(record.moves))])
        position = Record(record.start, tuple(moves)).final
        while legal := position.legal_moves():
            moves.append(rng.choice(legal))
            position = position.after(moves[-1])
        yield Record(record.start, tuple(moves))


def make_games(game: Game, seed: int, count: int = 9) -> list[Record]:
    """Return games with common positions: some are transformed, one is unfinished, and one is resigned."""
    rng = random.Random(seed)
    found = list(branch_off(random_record(game, seed), count, rng))
    found += [transform_record(record, rng.randrange(8)) for record in found[::3]] + [random_record(game, seed + 1)]
    unfinished = random_record(game, seed + 2)
    return [
        *found,
        Record(unfinished.start, unfinished.moves[:-3]),
        Record(unfinished.start, unfinished.moves[:2], loser=0),
    ]


def check_values(tree: OpeningTree, records: Sequence[Record]) -> None:
    """Compare the values of all positions of the games, and of the moves from them, with the reference tree."""
    plain = ReferenceOpeningTree(records)
    assert len(tree) == len(plain.known) and tree.games == sum(record.final.over for record in records)
    for record in records:
        for position in record.positions():
            assert tree.move_values(position) == plain.move_values(position)
            known = (position.game, position.canonical()) in plain.known
            assert tree.value(position) == (plain.value(position) if known else None)


@pytest.mark.parametrize("game", BOARDS)
@pytest.mark.parametrize("seed", range(3))
def test_values_are_those_of_a_plain_tree(game: Game, seed: int) -> None:
    records = make_games(game, seed)
    check_values(OpeningTree(records), records)


def test_symmetric_positions_have_the_same_key() -> None:
    for position in random_record(Game.OTHELLO, 3).positions():
        boards = [[apply_symmetry(U(word), each) for word in (position.own, position.opp)] for each in range(8)]
        assert len({compute_node_key(0, U(own), U(opp)) for own, opp in boards}) == 1


def test_small_boards_have_passes_and_transpositions() -> None:
    """Games on 4x4 contain passes, and positions that are reached by different sequences of moves."""
    records = [random_record(Game.OTHELLO4, seed) for seed in range(80)]
    assert any(PASS in record.moves for record in records)
    ways = {
        (position.canonical(), tuple(record.moves[:ply]))
        for record in records
        for ply, position in enumerate(record.positions())
    }
    assert len(ways) > len({canonical for canonical, _ in ways})
    check_values(OpeningTree(records), records)


def test_a_transposition_is_known() -> None:
    """A move that was not played in a position still has a value if it leads to a position of another game."""
    records = [random_record(Game.OTHELLO4, seed) for seed in range(40)]
    played = {
        (position.canonical(), position.after(move).canonical())
        for record in records
        for position, move in zip(record.positions(), record.moves, strict=False)
    }
    tree = OpeningTree(records)
    joined = [
        position
        for record in records
        for position in record.positions()
        for move in tree.move_values(position)
        if (position.canonical(), position.after(move).canonical()) not in played
    ]
    assert joined and all(tree.value(position) == max(tree.move_values(position).values()) for position in joined)


def test_games_can_be_added() -> None:
    records = [*make_games(Game.OTHELLO6, 5), *make_games(Game.OTHELLO4, 6), *make_games(Game.OTHELLO, 7)]
    random.Random(1).shuffle(records)
    tree = OpeningTree()
    assert len(tree) == 0 and tree.value(Position.start()) is None and tree.advise(Position.start()) is None
    for at in range(0, len(records), 40):
        tree.add(iter(records[at : at + 40]))
        check_values(tree, records[: at + 40])
    count, games = len(tree), tree.games
    tree.add([transform_record(record, 3) for record in records])
    assert len(tree) == count and tree.games == 2 * games, "mirrored copies of the games add no nodes"


def test_board_sizes_are_different_nodes() -> None:
    """The start positions of all board sizes consist of the same two words."""
    tree = OpeningTree([random_record(Game.OTHELLO4, 1)])
    assert tree.value(Position.start(Game.OTHELLO4)) is not None
    assert tree.value(Position.start()) is tree.value(Position.start(Game.OTHELLO6)) is None
    assert tree.move_values(Position.start()) == {}


def test_awale_is_refused() -> None:
    with pytest.raises(ConfigError, match="Awalé"):
        OpeningTree([random_record(Game.ABAPA, 1)])
    assert OpeningTree().value(Position.start(Game.ABAPA)) is None


# ---- advice ---------------------------------------------------------------------------------------------------------
def list_continuations(position: Position) -> dict[int, list[Record]]:
    """Return all games that are possible from a position, grouped by their first move."""
    if position.over:
        return {}

    def lines(here: Position) -> Iterator[tuple[int, ...]]:
        if here.over:
            yield ()
        for move in here.legal_moves():
            yield from ((move, *rest) for rest in lines(here.after(move)))

    return {
        move: [Record(position, (move, *rest)) for rest in lines(position.after(move))]
        for move in position.legal_moves()
    }


def find_late_position(good: int, bad: int) -> tuple[Position, list[tuple[int, list[Record]]]]:
    """Find a late position with `good` winning moves and `bad` other moves.

    Return the position, and a list of its moves with the possible games after each move, the worst move first.
    """
    for seed in range(3000):
        record = random_record(Game.OTHELLO4, seed)
        for position in list(record.positions())[5:]:
            ways = list_continuations(position)
            if len(ways) == good + bad and PASS not in ways:
                truth = OpeningTree([line for lines in ways.values() for line in lines]).move_values(position)
                if sum(value > 0 for value in truth.values()) == good and len(set(truth.values())) == len(truth):
                    return position, sorted(ways.items(), key=lambda way: truth[way[0]])
    raise AssertionError("no position has these numbers of moves")


def build_tree(*ways: tuple[int, list[Record]]) -> OpeningTree:
    return OpeningTree(line for _, lines in ways for line in lines)


def test_a_known_move_that_wins_is_played() -> None:
    position, (worst, better, best) = find_late_position(2, 1)
    assert OpeningTree().advise(position) is None
    for known in ([better], [worst, better]):
        tree = build_tree(*known)
        assert tree.advise(position) == Advice(better[0], tree.move_values(position)[better[0]])
    tree = build_tree(worst, better, best)
    assert tree.advise(position) == Advice(best[0], tree.move_values(position)[best[0]])


def test_losing_moves_are_excluded_while_others_are_unknown() -> None:
    position, (worst, better, best) = find_late_position(0, 3)
    tree = build_tree(worst, better)
    advice, value = tree.advise(position), tree.move_values(position)[better[0]]
    assert advice == Advice(None, value, tuple(sorted((worst[0], better[0])))) and value <= 0
    tree.add(best[1])
    assert tree.advise(position) == Advice(best[0], tree.move_values(position)[best[0]]), (
        "if no move wins, the best one is advised"
    )


def test_a_draw_is_not_a_win() -> None:
    for seed in range(200):
        record = random_record(Game.OTHELLO4, seed)
        first, second = record.final.score()
        position = next((each for each in reversed(list(record.positions())) if len(each.legal_moves()) > 1), None)
        if first == second and position is not None:
            advice = OpeningTree([record]).advise(position)
            assert advice is not None and advice.move is None and advice.value == 0 and len(advice.excluded_moves) >= 1
            return
    raise AssertionError("no game is drawn")


def test_ties_passes_and_the_end() -> None:
    start = Position.start(Game.OTHELLO6)
    records = [random_record(Game.OTHELLO6, seed) for seed in range(60)]
    tree = OpeningTree(records)
    advice = tree.advise(start)
    assert len(tree.move_values(start)) == 4, "the four first moves are symmetric, so all of them are known"
    assert advice is not None and advice.move == start.legal_moves()[0] and advice.excluded_moves == ()
    passing = next(each for record in records for each in record.positions() if each.legal_moves() == (PASS,))
    value = tree.value(passing)
    assert value is not None and tree.advise(passing) == Advice(PASS, value)
    assert tree.value(passing.after(PASS)) == -value
    final = records[0].final
    assert tree.advise(final) == Advice(None, tree.value(final) or 0)


# ---- the archive ----------------------------------------------------------------------------------------------------
def test_the_tree_of_some_games(tmp_path: Path) -> None:
    archive = Archive(tmp_path / "archive.sqlite")
    games = make_games(Game.OTHELLO6, 3)
    for at, record in enumerate(games):
        archive.add(Record(record.start, record.moves, tags={"Black": "Ann" if at % 2 else "Bob"}, loser=record.loser))
    archive.add(random_record(Game.ABAPA, 1))
    check_values(OpeningTree.of(archive, GameFilter()), games)
    check_values(OpeningTree.of(archive, GameFilter(player="ann")), games[1::2])
    position = list(games[0].positions())[6]
    mine = [game for game in games if position.canonical() in {each.canonical() for each in game.positions()}]
    check_values(OpeningTree.of(archive, GameFilter(position=position)), mine)
    assert len(OpeningTree.of(archive, GameFilter(player="nobody"))) == 0
    with pytest.raises(ConfigError, match="Awalé"):
        OpeningTree.of(archive, GameFilter(games=(Game.ABAPA,)))


def test_the_explorer_gives_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = Archive(tmp_path / "archive.sqlite")
    games = make_games(Game.OTHELLO4, 4, 30)
    for at, record in enumerate(games):
        archive.add(Record(record.start, record.moves, tags={"Black": "Ann" if at % 2 else "Bob"}, loser=record.loser))
    for game_filter, mine in ((None, games), (GameFilter(player="ann"), games[1::2])):
        for position in games[1].positions():
            through = [each for each in mine if position.canonical() in {here.canonical() for here in each.positions()}]
            found, plain = explore(archive, position, game_filter), ReferenceOpeningTree(through)
            assert found.value == plain.value(position)
            values = {branch.move: branch.value for branch in found.moves}
            assert values == {move: plain.move_values(position).get(move) for move in values}
    count = explore(archive, games[0].start).games
    for most, known in ((count, True), (count - 1, False)):
        monkeypatch.setattr(explorer, "MAX_VALUED_GAMES", most)
        found = explore(archive, games[0].start)
        assert {value is not None for value in (found.value, *(branch.value for branch in found.moves))} == {known}
