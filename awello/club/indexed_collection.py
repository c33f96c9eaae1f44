"""A collection of numbered items with an index, which avoids linear searches."""

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

Item = TypeVar("Item")


class IndexedCollection(dict[int, Item]):
    """Items by number, with an index by key; change the collection only with `add` and `remove`."""

    def __init__(self, keys: Callable[[Item], Iterable[Hashable]]) -> None:
        super().__init__()
        self._keys, self._index = keys, dict[Hashable, dict[int, Item]]()

    def add(self, number: int, item: Item) -> Item:
        """Add an item and return it; an existing item with this number is kept and returned instead."""
        if number not in self:
            self[number] = item
            for key in self._keys(item):
                self._index.setdefault(key, {})[number] = item
        return self[number]

    def remove(self, number: int) -> Item | None:
        """Remove an item and return it; return None if it does not exist."""
        item = self.pop(number, None)
        for key in self._keys(item) if item is not None else ():
            self._index[key].pop(number, None)
            if not self._index[key]:
                del self._index[key]
        return item

    def with_key(self, key: Hashable) -> list[Item]:
        """Return the items with a key, in the order in which they were added."""
        return list(self._index.get(key, {}).values())
