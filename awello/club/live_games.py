"""The games in progress, by number and by player."""

from awello.club.groups import Groups
from awello.club.seat import Seat


class LiveGames(dict[int, Seat]):
    """Games by number; add and remove them by `add` and `remove` alone."""

    def __init__(self) -> None:
        super().__init__()
        self._players: Groups[Seat] = Groups()

    def add(self, seat: Seat) -> Seat:
        """Add a game that begins or is resumed; the one that is known already, if there is one."""
        number = seat.table.number
        if number not in self:
            self[number] = seat
            for account in seat.table.players:
                self._players.add(account, number, seat)
        return self[number]

    def remove(self, number: int) -> None:
        """Remove a game that has ended, if it is there."""
        if seat := self.pop(number, None):
            for account in seat.table.players:
                self._players.remove(account, number)

    def of(self, account: int) -> list[Seat]:
        """The games of an account."""
        return self._players.of(account)

    def count(self, account: int) -> int:
        """How many games an account plays."""
        return self._players.count(account)
