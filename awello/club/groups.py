"""An index: numbered things grouped by a key, so that nothing has to look through all of them."""

from collections.abc import Hashable
from typing import Generic, TypeVar

Thing = TypeVar("Thing")


class Groups(Generic[Thing]):
    """Things by key and number; a key without things takes no memory."""

    def __init__(self) -> None:
        self._groups: dict[Hashable, dict[int, Thing]] = {}

    def add(self, key: Hashable, number: int, thing: Thing) -> None:
        """Put a thing into the group of a key."""
        self._groups.setdefault(key, {})[number] = thing

    def remove(self, key: Hashable, number: int) -> None:
        """Take it out again."""
        group = self._groups[key]
        del group[number]
        if not group:
            del self._groups[key]

    def of(self, key: Hashable) -> list[Thing]:
        """The things of a key, in the order in which they were added."""
        return list(self._groups.get(key, {}).values())

    def count(self, key: Hashable) -> int:
        """How many there are."""
        return len(self._groups.get(key, {}))
