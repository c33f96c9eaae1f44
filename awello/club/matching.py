"""Everybody into pairs at the least cost: Edmonds' algorithm of blossoms.

Everybody has a price, and no pair may cost less than its two prices together.  A pair that costs exactly as much is
tight.  If all can be paired by tight pairs only, then no other way is cheaper.  So the algorithm pairs by tight pairs,
as many as it can, by paths that go in turn over pairs to be made and pairs to be broken; when no such path is left, it
changes prices until another pair is tight.  An odd ring of tight pairs, on which a path could go round either way, is
made one thing, a blossom, with a price of its own, which is opened again when its price has come down to zero.

Edmonds, "Maximum matching and a polyhedron with 0,1-vertices", 1965; Galil, "Efficient algorithms for finding maximum
matching in graphs", 1986.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

UNSEEN, OUTER, INNER = 0, 1, 2  # where a path that began with somebody unpaired has come: after an even or an odd step

Edge = tuple[int, int]


@dataclass(eq=False)
class Blossom:
    """One player, or an odd ring of blossoms that are treated as one."""

    members: list[int]
    ring: Sequence["Blossom"] = ()
    links: Sequence[Edge] = ()
    """Of the ring: the pair that joins each of its parts to the next one."""
    price: int = 0
    mate: Edge | None = None
    """Who in it is paired with whom outside."""
    mark: int = UNSEEN
    entry: Edge | None = None
    """The pair by which a path came in: from whom outside to whom inside."""


def cheapest_pairs(costs: Sequence[Sequence[int]]) -> list[int]:
    """The partner of everybody so that the sum of the costs is the least; an even number, costs the same both ways."""
    matching = _Matching(costs)
    while free := [blossom for blossom in matching.surface() if blossom.mate is None]:
        matching.join_two(free)
    while rings := [blossom for blossom in matching.surface() if blossom.ring]:
        for blossom in rings:
            matching.open(blossom)
    mates = [blossom.mate for blossom in matching.home]
    return [mate[1] for mate in mates if mate]


class _Matching:
    def __init__(self, costs: Sequence[Sequence[int]]) -> None:
        number, most = len(costs), max((abs(cost) for row in costs for cost in row), default=0)
        small = most * 8 * (number + 1) < 1 << 62  # prices add up along a path; what is larger needs Python's numbers
        # twice the costs, and the same price for all at first, keep every half of a difference a whole number
        self.costs = 2 * np.array(costs, np.int64 if small else object).reshape(number, number)
        least = min((cost for who, row in enumerate(costs) for cost in row[:who]), default=0)
        self.prices: Any = np.full(number, least, self.costs.dtype)
        self.home = [Blossom([who]) for who in range(number)]  # the outermost blossom of everybody
        self.marks = np.zeros(number, np.int8)
        self.places = np.arange(number)  # one of the members of the outermost blossom, to tell two apart

    def surface(self) -> list[Blossom]:
        """The outermost blossoms, in the order of their first members."""
        return list(dict.fromkeys(self.home))

    def join_two(self, free: list[Blossom]) -> None:
        """Grow paths from all who are unpaired, until two of them meet, and pair along these."""
        for blossom in self.surface():
            self._mark(blossom, UNSEEN, None)
        for blossom in free:
            self._mark(blossom, OUTER, None)
        while True:
            change, event = self._next_event()
            self._change_prices(change)
            if isinstance(event, Blossom):
                self._open_inner(event)
                continue
            here, there = (self.home[who] for who in event)
            if there.mark == UNSEEN:
                self._grow(event, there)
            elif (met := self._meeting(here, there)) is not None:
                self._shrink(event, met)
            else:
                self._pair_along(event)
                self._pair_along(event[::-1])
                return

    def _next_event(self) -> tuple[Any, Edge | Blossom]:
        """How far prices can change, and what then happens: a pair becomes tight, or a blossom opens."""
        outer = np.flatnonzero(self.marks == OUTER)
        slack = self.costs[outer] - self.prices[outer][:, None] - self.prices
        both = (self.marks == OUTER) & (self.places[outer][:, None] != self.places)
        usable = both | (self.marks == UNSEEN)
        room = np.where(both, slack // 2, slack)
        best = int(np.argmin(np.where(usable, room, room.max() + 1)))
        row, there = divmod(best, len(self.home))
        change, event = room[row, there], (int(outer[row]), there)
        inner = [blossom for blossom in self.surface() if blossom.mark == INNER and blossom.ring]
        cheapest = min(inner, key=lambda blossom: blossom.price, default=None)
        return (cheapest.price, cheapest) if cheapest and cheapest.price < change else (change, event)

    def _change_prices(self, change: Any) -> None:
        self.prices[self.marks == OUTER] += change
        self.prices[self.marks == INNER] -= change
        for blossom in self.surface():
            blossom.price += change if blossom.mark == OUTER else -change if blossom.mark == INNER else 0

    def _mark(self, blossom: Blossom, mark: int, entry: Edge | None) -> None:
        blossom.mark, blossom.entry = mark, entry
        self.marks[blossom.members] = mark

    def _grow(self, edge: Edge, there: Blossom) -> None:
        """A path goes on to somebody, and to who they are paired with."""
        self._mark(there, INNER, edge)
        assert there.mate
        self._mark(self.home[there.mate[1]], OUTER, there.mate)

    def _way_back(self, blossom: Blossom) -> list[Blossom]:
        """The blossoms from here to where the path began."""
        way = [blossom]
        while entry := way[-1].entry:
            way.append(self.home[entry[0]])
        return way

    def _meeting(self, one: Blossom, other: Blossom) -> Blossom | None:
        """Where two paths come from the same blossom; None if they began with two who are unpaired."""
        mine = self._way_back(one)
        return next((blossom for blossom in self._way_back(other) if blossom in mine), None)

    def _shrink(self, edge: Edge, base: Blossom) -> None:
        """Make one blossom of a ring: from the base to one end of a pair, and from the other end back."""
        down, up = self._way_back(self.home[edge[0]]), self._way_back(self.home[edge[1]])
        down, up = down[: down.index(base) + 1][::-1], up[: up.index(base)]
        links = [part.entry for part in down[1:] if part.entry] + [edge]
        links += [part.entry[::-1] for part in up if part.entry]
        ring = [*down, *up]
        made = Blossom([who for part in ring for who in part.members], ring, links, 0, base.mate)
        self._settle(made)
        self._mark(made, OUTER, base.entry)

    def _settle(self, blossom: Blossom) -> None:
        """A blossom is now an outermost one."""
        for who in blossom.members:
            self.home[who] = blossom
        self.places[blossom.members] = blossom.members[0]

    def open(self, blossom: Blossom) -> None:
        """Make the parts of a ring outermost: one has the mate of the whole, the others are paired round the ring."""
        assert blossom.mate
        for part in blossom.ring:
            self._settle(part)
            self._mark(part, UNSEEN, None)
        base = blossom.ring.index(self.home[blossom.mate[0]])
        ring, links = ([*each[base:], *each[:base]] for each in (blossom.ring, blossom.links))
        ring[0].mate = blossom.mate
        for (one, other), link in list(zip(pairwise(ring), links, strict=False))[1::2]:
            one.mate, other.mate = link, link[::-1]

    def _open_inner(self, blossom: Blossom) -> None:
        """Open a blossom on a path: the path now goes through its parts, the way round that has an even length."""
        assert blossom.mate and blossom.entry
        entry, links = blossom.entry, [*blossom.links, *(link[::-1] for link in blossom.links)]
        last = blossom.mate
        self.open(blossom)
        while True:
            here = self.home[entry[1]]
            self._mark(here, INNER, entry)
            assert here.mate
            if here.mate == last:
                return
            there = self.home[here.mate[1]]
            self._mark(there, OUTER, here.mate)
            entry = next(e for e in links if self.home[e[0]] is there and self.home[e[1]] is not here)

    def _pair_along(self, edge: Edge) -> None:
        """Pair somebody with whom their path met, and change pairs back to where it began."""
        while True:
            here = self.home[edge[0]]
            here.mate = edge
            if here.entry is None:
                return
            inner = self.home[here.entry[0]]
            assert inner.entry
            inner.mate, edge = inner.entry[::-1], inner.entry
