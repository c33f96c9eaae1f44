"""Numbered things that are also found by keys, so that nothing has to look through all of them."""

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

Thing = TypeVar("Thing")


class IndexedCollection(dict[int, Thing]):
    """Things by number, with an index of their keys; add and remove them by `add` and `take` alone."""

    def __init__(self, keys: Callable[[Thing], Iterable[Hashable]]) -> None:
        super().__init__()
        self._keys, self._index = keys, dict[Hashable, dict[int, Thing]]()

    def add(self, number: int, thing: Thing) -> Thing:
        """Add a thing; returns the one that has this number already, if there is one."""
        if number not in self:
            self[number] = thing
            for key in self._keys(thing):
                self._index.setdefault(key, {})[number] = thing
        return self[number]

    def take(self, number: int) -> Thing | None:
        """Remove and return a thing, if it is there; a key without things takes no memory."""
        thing = self.pop(number, None)
        for key in self._keys(thing) if thing is not None else ():
            self._index[key].pop(number, None)
            if not self._index[key]:
                del self._index[key]
        return thing

    def of(self, key: Hashable) -> list[Thing]:
        """The things of a key, in the order in which they were added."""
        return list(self._index.get(key, {}).values())
