"""Numbered things that are also found by keys, so that nothing has to look through all of them."""

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

Item = TypeVar("Item")


class IndexedCollection(dict[int, Item]):
    """Things by number, with an index of their keys; add and remove them by `add` and `remove` alone."""

    def __init__(self, keys: Callable[[Item], Iterable[Hashable]]) -> None:
        super().__init__()
        self._keys, self._index = keys, dict[Hashable, dict[int, Item]]()

    def add(self, number: int, item: Item) -> Item:
        """Add a item; returns the one that has this number already, if there is one."""
        if number not in self:
            self[number] = item
            for key in self._keys(item):
                self._index.setdefault(key, {})[number] = item
        return self[number]

    def remove(self, number: int) -> Item | None:
        """Remove and return a item, if it is there; a key without things takes no memory."""
        item = self.pop(number, None)
        for key in self._keys(item) if item is not None else ():
            self._index[key].pop(number, None)
            if not self._index[key]:
                del self._index[key]
        return item

    def with_key(self, key: Hashable) -> list[Item]:
        """The things of a key, in the order in which they were added."""
        return list(self._index.get(key, {}).values())
