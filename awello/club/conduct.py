"""Who may play rated games with whom, by the rules of `fair_play` and by what happens in the club."""

import math
from typing import TYPE_CHECKING

from awello.club.accounts import Account
from awello.club.fair_play import FREE_EXITS, NETWORK, OWNER, EarlyExits, early_leaver, same_person
from awello.club.offers import Terms
from awello.club.table import Refused, Table

if TYPE_CHECKING:
    from awello.club.hall import Hall


class Conduct:
    """What accounts have done lately, and what follows from it."""

    def __init__(self, hall: "Hall") -> None:
        self.hall, self.early_exits = hall, EarlyExits()

    def check(self, account: Account, terms: Terms) -> None:
        """Refuse a rated game to an account that has left too many early."""
        wait = self.early_exits.wait(account.number, self.hall.now())
        if terms.rated and wait:
            often = f"{account.name} has left more than {FREE_EXITS} rated games early within an hour"
            until = f"rated games are possible again in {math.ceil(wait / 60)} min, unrated ones now"
            raise Refused("wait", f"{often}: {until}", minutes=math.ceil(wait / 60))

    def why_unrated(self, one: Account, other: Account) -> str | None:
        """Why a game of two accounts must not count: they belong to one person, or play from one network."""
        if same_person(one, other):
            return OWNER
        return NETWORK if self._networks(one) & self._networks(other) else None

    def _networks(self, account: Account) -> set[str]:
        here = self.hall.present.get(account.number, ())
        return {guest.network for guest in here if guest.network is not None}

    def note_end(self, table: Table) -> None:
        """Count a rated game that was left early against the account that left it, and warn it."""
        side = early_leaver(table)
        if side is None:
            return
        account, now = table.players[side], self.hall.now()
        self.early_exits.note(account, now)
        left, wait = self.early_exits.count(account, now), self.early_exits.wait(account, now)
        warning = {"type": "warning", "left": left, "free": FREE_EXITS, "minutes": math.ceil(wait / 60)}
        self.hall.tell_account(account, warning)
