"""Tournament pairings and standings, from the games played so far: round robin by the circle, Swiss by matching."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from operator import mul

from awello.club import NEEDS_EXTRA
from awello.errors import ConfigError

try:
    import networkx
except ImportError:
    raise ConfigError(NEEDS_EXTRA) from None

MAX_SIDE_IMBALANCE = 2  # how much oftener somebody may move first than second, or the other way round

Pair = tuple[int, int | None]  # who moves first, and who second; None for a bye


@dataclass(frozen=True)
class Pairing:
    """Two who were to play, or one who had a bye, and what each got for it."""

    first: int
    second: int | None
    points: tuple[float, float] = (0.0, 0.0)
    forfeit: bool = False
    """Whether somebody did not come, so that nobody had a side."""


@dataclass(frozen=True)
class Standing:
    """Where somebody stands."""

    rank: int
    player: int
    points: float
    buchholz: float
    """The points of all opponents."""
    berger: float
    """The points of those who were beaten, and half of those who were drawn with: Sonneborn and Berger's sum."""
    wins: int


# ---- round robin -----------------------------------------------------------------------------------------------------
def pair_round_robin(players: Sequence[int], twice: bool = False) -> list[list[Pair]]:
    """The rounds in which everybody meets everybody, once or twice with the sides changed; an odd number has byes.

    All but the last sit round a table and move on by a place each round: who faces whom plays.  The last one plays
    whoever has come to the head.  From round to round everybody but these two changes sides.
    """
    circle, last = (players[:-1], players[-1]) if len(players) % 2 == 0 else (players, None)
    size, rounds = len(circle), list[list[Pair]]()
    for turn in range(size):
        head = circle[turn]
        pairs: list[Pair] = [(head, last) if last is None or turn % 2 == 0 else (last, head)]
        for step in range(1, (size + 1) // 2):
            ahead, behind = circle[(turn + step) % size], circle[(turn - step) % size]
            pairs.append((ahead, behind) if step % 2 else (behind, ahead))
        rounds.append(pairs[1:] + pairs[:1] if last is None else pairs)  # a bye comes last
    turned: list[list[Pair]] = [[(a, b) if b is None else (b, a) for a, b in pairs] for pairs in rounds]
    return rounds + turned if twice else rounds


def count_rounds_without_repeats(players: int) -> int:
    """How many rounds there can be in which nobody meets anybody twice."""
    return players - 1 + players % 2 if players > 1 else 0


# ---- Swiss -----------------------------------------------------------------------------------------------------------
@dataclass
class PlayerHistory:
    """What somebody has played so far."""

    seed_rank: int = 0
    points: float = 0.0
    games: list[tuple[int | None, float]] = field(default_factory=list)  # the opponent, None for a bye, and the points
    sides: list[int] = field(default_factory=list)  # of each game: 0 who moved first

    @property
    def side_balance(self) -> int:
        """How much oftener they moved first than second."""
        return len(self.sides) - 2 * sum(self.sides)

    def count_meetings(self, other: int | None) -> int:
        """How often they had this opponent, or a bye."""
        return sum(each == other for each, _ in self.games)


def build_histories(players: Iterable[int], played: Iterable[Pairing]) -> dict[int, PlayerHistory]:
    """What each has played."""
    found = {player: PlayerHistory() for player in players}
    for pairing in played:
        for side, (player, other) in enumerate(((pairing.first, pairing.second), (pairing.second, pairing.first))):
            if player in found:
                past = found[player]
                past.points += pairing.points[side]
                past.games.append((other, pairing.points[side]))
                past.sides += [] if pairing.forfeit or other is None else [side]
    return found


def pair_swiss_round(players: Sequence[int], played: Sequence[Pairing]) -> list[Pair]:
    """Pair players, the strongest listed first, after all that was played, the oldest first.

    Of all ways the one is chosen that has, in this order of importance: the fewest who meet again or have a second bye;
    the fewest whose sides get too uneven; a bye for who has few points; opponents with equally many points (the sum of
    the squares of the differences); sides that even out; the upper half of equals against the lower half.
    """
    past = build_histories(players, played)
    order = sorted(players, key=lambda player: -past[player].points)  # stable: equals stay as they are listed
    for rank, player in enumerate(order):
        past[player].seed_rank = rank
    slots: list[int | None] = [*order, *([None] if len(order) % 2 else [])]
    equals = Counter(past[player].points for player in order)
    fewest = min(equals, default=0.0)
    penalties = {
        (a, b): _penalties(slots[a], slots[b], past, equals, fewest) for a, b in combinations(range(len(slots)), 2)
    }
    pairs: list[Pair] = []
    for a, b in find_cheapest_pairs(_combine_penalties(penalties)):
        one, other = order[a], slots[b]
        pairs.append((one, None) if other is None else _choose_sides(one, other, past, len(pairs)))
    return sorted(pairs, key=lambda pair: pair[1] is None)  # a bye comes last


def find_cheapest_pairs(costs: Mapping[tuple[int, int], int]) -> list[tuple[int, int]]:
    """Pair all numbers at the least total cost, by Edmonds' blossom algorithm; whole numbers of any size are exact."""
    graph = networkx.Graph()
    graph.add_weighted_edges_from((one, other, -cost) for (one, other), cost in costs.items())
    return sorted((min(pair), max(pair)) for pair in networkx.max_weight_matching(graph, maxcardinality=True))


def _penalties(
    one: int | None, other: int | None, past: Mapping[int, PlayerHistory], equals: Mapping[float, int], fewest: float
) -> tuple[int, ...]:
    """What is wrong with a pair, the worst first."""
    assert one is not None  # the bye comes last
    if other is None:
        mine = past[one]
        return mine.count_meetings(None), 0, int(2 * (mine.points - fewest)), 0, 0, len(past) - mine.seed_rank
    a, b = past[one], past[other]
    uneven = (
        min(a.side_balance, b.side_balance) >= MAX_SIDE_IMBALANCE
        or max(a.side_balance, b.side_balance) <= -MAX_SIDE_IMBALANCE
    )
    apart, ranks = int(2 * abs(a.points - b.points)), abs(a.seed_rank - b.seed_rank)
    again = bool(a.sides and b.sides and a.sides[-1] == b.sides[-1])
    sides = 2 * max(0, 2 * MAX_SIDE_IMBALANCE - abs(a.side_balance - b.side_balance)) + again
    halves = ranks if apart else abs(ranks - equals[a.points] // 2)
    return a.count_meetings(other), int(uneven), 0, apart**2, sides, halves


def _combine_penalties(penalties: Mapping[tuple[int, int], Sequence[int]]) -> dict[tuple[int, int], int]:
    """One number for several penalties: all of a later one together weigh less than one of an earlier one."""
    weights, players = [1], 1 + max((b for _, b in penalties), default=0)
    for level in range(5, 0, -1):
        most = max((each[level] for each in penalties.values()), default=0)
        weights.insert(0, weights[0] * (1 + most * players // 2))
    return {pair: sum(map(mul, weights, each)) for pair, each in penalties.items()}


def _choose_sides(one: int, other: int, past: Mapping[int, PlayerHistory], board: int) -> Pair:
    """Who moves first: who did so less often, or who did not when they last had different sides, or by the board."""
    a, b = past[one], past[other]
    if a.side_balance != b.side_balance:
        return (one, other) if a.side_balance < b.side_balance else (other, one)
    for mine, theirs in zip(reversed(a.sides), reversed(b.sides), strict=False):
        if mine != theirs:
            return (one, other) if mine else (other, one)
    return (one, other) if board % 2 == 0 else (other, one)


# ---- standings -------------------------------------------------------------------------------------------------------
def compute_standings(players: Sequence[int], played: Iterable[Pairing]) -> list[Standing]:
    """Who has most points; among equals, by Buchholz's sum, Sonneborn and Berger's, and wins.

    Who is equal in all shares a place, and stands in the order of the list.  A bye is a point, but no opponent.
    """
    past = build_histories(players, played)
    scores: dict[int, tuple[float, float, float, int]] = {}
    for player, mine in past.items():
        games = [(past[other].points, got) for other, got in mine.games if other is not None]
        berger = sum(points * got for points, got in games)
        scores[player] = mine.points, sum(points for points, _ in games), berger, sum(got == 1 for _, got in games)
    order = sorted(players, key=lambda player: scores[player], reverse=True)  # stable: equals keep their order
    better = Counter(scores.values())
    ranks_by_score = {score: 1 + sum(better[each] for each in better if each > score) for score in better}
    return [Standing(ranks_by_score[scores[player]], player, *scores[player]) for player in order]
