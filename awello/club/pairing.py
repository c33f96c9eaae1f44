"""Tournament pairings and standings: round robin by the circle method, Swiss by minimum-cost matching."""

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

# The Swiss pairing avoids a larger difference between the numbers of games in which a player moves first and second.
MAX_SIDE_IMBALANCE = 2

PlayerPair = tuple[int, int | None]  # account ids of the first and second player; the second is None for a bye


@dataclass(frozen=True)
class Pairing:
    """A pairing of two players, or a bye if `second` is None, with the points that each player gets."""

    first: int
    second: int | None
    points: tuple[float, float] = (0.0, 0.0)
    forfeit: bool = False
    """Whether a player was absent, so that no game was played; the pairing then leaves the side balances unchanged."""


@dataclass(frozen=True)
class Standing:
    """A row of the standings."""

    rank: int
    player: int
    points: float
    buchholz: float
    """The sum of the opponents' points."""
    sonneborn_berger: float
    """The points of defeated opponents, plus half the points of opponents with whom the player drew."""
    wins: int


# ---- round robin -----------------------------------------------------------------------------------------------------
def pair_round_robin(players: Sequence[int], twice: bool = False) -> list[list[PlayerPair]]:
    """Return the rounds of a round robin; with `twice`, they are followed by the same rounds with sides swapped.

    Circle method: all players except the last form a circle, which turns by one position per round.  Players who face
    each other are paired, and the last player meets the player at the head.  If the number of players is odd, all of
    them form the circle, and the player at the head has a bye.  Without `twice`, a player's side alternates from
    round to round, with at most one exception, just before or after the player's round at the head.
    """
    circle, last = (players[:-1], players[-1]) if len(players) % 2 == 0 else (players, None)
    size, rounds = len(circle), list[list[PlayerPair]]()
    for turn in range(size):
        head = circle[turn]
        pairings: list[PlayerPair] = [(head, last) if last is None or turn % 2 == 0 else (last, head)]
        for step in range(1, (size + 1) // 2):
            ahead, behind = circle[(turn + step) % size], circle[(turn - step) % size]
            pairings.append((ahead, behind) if step % 2 else (behind, ahead))
        rounds.append(pairings[1:] + pairings[:1] if last is None else pairings)  # a bye comes last
    turned: list[list[PlayerPair]] = [[(a, b) if b is None else (b, a) for a, b in pairings] for pairings in rounds]
    return rounds + turned if twice else rounds


def count_rounds_without_repeats(players: int) -> int:
    """Return the largest number of rounds in which no pairing is repeated."""
    return players - 1 + players % 2 if players > 1 else 0


# ---- Swiss -----------------------------------------------------------------------------------------------------------
@dataclass
class PlayerHistory:
    """A player's points, games and sides so far."""

    seed_rank: int = 0
    points: float = 0.0
    games: list[tuple[int | None, float]] = field(default_factory=list)  # the opponent (None for a bye) and the points
    sides: list[int] = field(default_factory=list)  # for each game: 0 if the player moved first, else 1

    @property
    def side_balance(self) -> int:
        """The number of games in which the player moved first, minus those in which the player moved second."""
        return len(self.sides) - 2 * sum(self.sides)

    def count_meetings(self, other: int | None) -> int:
        """Count the player's pairings with an opponent or, if `other` is None, the player's byes."""
        return sum(each == other for each, _ in self.games)


def build_histories(players: Iterable[int], played: Iterable[Pairing]) -> dict[int, PlayerHistory]:
    """Build the history of each player from the pairings played."""
    found = {player: PlayerHistory() for player in players}
    for pairing in played:
        for side, (player, other) in enumerate(((pairing.first, pairing.second), (pairing.second, pairing.first))):
            if player in found:
                past = found[player]
                past.points += pairing.points[side]
                past.games.append((other, pairing.points[side]))
                past.sides += [] if pairing.forfeit or other is None else [side]
    return found


def pair_swiss_round(players: Sequence[int], played: Sequence[Pairing]) -> list[PlayerPair]:
    """Pair the next round.

    `players` are ordered by strength, strongest first; `played` contains the past pairings, oldest first.

    The pairing minimises these penalties, the most important first: repeated pairings and second byes; games that
    raise the absolute value of a side balance above `MAX_SIDE_IMBALANCE`; the points of the player with the bye; the
    squared differences in points between opponents; opponents who are due for the same side; the deviation from
    pairing the upper half of each score group against its lower half.
    """
    past = build_histories(players, played)
    order = sorted(players, key=lambda player: -past[player].points)  # stable: equal points keep the order
    for rank, player in enumerate(order):
        past[player].seed_rank = rank
    slots: list[int | None] = [*order, *([None] if len(order) % 2 else [])]
    equals = Counter(past[player].points for player in order)
    fewest = min(equals, default=0.0)
    penalties = {
        (a, b): _penalties(slots[a], slots[b], past, equals, fewest) for a, b in combinations(range(len(slots)), 2)
    }
    pairings: list[PlayerPair] = []
    for a, b in find_cheapest_matching(_combine_penalties(penalties)):
        one, other = order[a], slots[b]
        pairings.append((one, None) if other is None else _choose_sides(one, other, past, len(pairings)))
    return sorted(pairings, key=lambda pair: pair[1] is None)  # a bye comes last


def find_cheapest_matching(costs: Mapping[tuple[int, int], int]) -> list[tuple[int, int]]:
    """Find the perfect matching of lowest total cost (Edmonds' blossom algorithm); costs can be large integers."""
    graph = networkx.Graph()
    graph.add_weighted_edges_from((one, other, -cost) for (one, other), cost in costs.items())
    return sorted((min(pair), max(pair)) for pair in networkx.max_weight_matching(graph, maxcardinality=True))


def _penalties(
    one: int | None, other: int | None, past: Mapping[int, PlayerHistory], equals: Mapping[float, int], fewest: float
) -> tuple[int, ...]:
    """Return the penalties of a pair, most important first."""
    assert one is not None  # the bye is the last slot, so it is never the first of a pair
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
    """Combine the penalties of each pair into one number, in which each penalty outweighs all less important ones."""
    weights, players = [1], 1 + max((b for _, b in penalties), default=0)
    for level in range(5, 0, -1):
        most = max((each[level] for each in penalties.values()), default=0)
        weights.insert(0, weights[0] * (1 + most * players // 2))
    return {pair: sum(map(mul, weights, each)) for pair, each in penalties.items()}


def _choose_sides(one: int, other: int, past: Mapping[int, PlayerHistory], board: int) -> PlayerPair:
    """Choose who moves first: the player with the lower side balance.

    If the balances are equal, the players' sides in past games are compared, from the latest game back, until they
    differ: the player who moved second in that game now moves first.  If their sides never differ, the choice
    alternates from board to board.
    """
    a, b = past[one], past[other]
    if a.side_balance != b.side_balance:
        return (one, other) if a.side_balance < b.side_balance else (other, one)
    for mine, theirs in zip(reversed(a.sides), reversed(b.sides), strict=False):
        if mine != theirs:
            return (one, other) if mine else (other, one)
    return (one, other) if board % 2 == 0 else (other, one)


# ---- standings -------------------------------------------------------------------------------------------------------
def compute_standings(players: Sequence[int], played: Iterable[Pairing]) -> list[Standing]:
    """Compute the standings, ordered by points, then by Buchholz, Sonneborn-Berger and wins.

    Players who are equal in all of these share a rank and keep the order of `players`.  A bye gives a point, but counts
    neither as an opponent nor among the wins.
    """
    past = build_histories(players, played)
    scores: dict[int, tuple[float, float, float, int]] = {}
    for player, mine in past.items():
        games = [(past[other].points, got) for other, got in mine.games if other is not None]
        sonneborn_berger = sum(points * got for points, got in games)
        scores[player] = (
            mine.points,
            sum(points for points, _ in games),
            sonneborn_berger,
            sum(got == 1 for _, got in games),
        )
    order = sorted(players, key=lambda player: scores[player], reverse=True)  # stable: equal players keep the order
    better = Counter(scores.values())
    ranks_by_score = {score: 1 + sum(better[each] for each in better if each > score) for score in better}
    return [Standing(ranks_by_score[scores[player]], player, *scores[player]) for player in order]
