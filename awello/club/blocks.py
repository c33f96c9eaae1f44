"""Blocks: a player cannot send challenges, rematch offers or chat messages to an account that has blocked the player.

The lobby does not pair the seeks of a blocked player with those of the account that has blocked the player.  Blocked
players are not notified of the block.
"""

import time
from functools import partial
from typing import TYPE_CHECKING

from sqlalchemy import Connection, delete, insert, select

from awello.club.accounts import Account, get_account
from awello.club.game_state import ClubError
from awello.club.live_game import ClientConnection
from awello.club.offers import Message
from awello.club.schema import accounts, blocks

if TYPE_CHECKING:
    from awello.club.server import ClubServer

MAX_BLOCKS_PER_ACCOUNT = 200


class BlockList:
    """The players that each account has blocked, in memory and in the database."""

    def __init__(self, server: "ClubServer") -> None:
        self.server = server
        self._blocked: dict[int, dict[int, str]] = {}  # by account: the ids and names of the players it has blocked

    async def load(self) -> None:
        """Load all blocks at startup."""
        stored = select(blocks.c.account, accounts.c.id, accounts.c.name)
        stored = stored.join(accounts, accounts.c.id == blocks.c.blocked)
        for account, blocked, name in await self.server.store.read(lambda connection: connection.execute(stored).all()):
            self._blocked.setdefault(account, {})[blocked] = name

    async def block(self, client: ClientConnection, name: str) -> Message:
        """Block a player; blocking again has no effect."""
        account, other = client.require_account(), await self.server.store.read(partial(get_account, name=name))
        mine = self._blocked.get(account.id, {})
        if other.id == account.id:
            raise ClubError("block_self", "you cannot block yourself: give the name of another player")
        if other.id not in mine:
            if len(mine) >= MAX_BLOCKS_PER_ACCOUNT:
                message = f"you have already blocked {MAX_BLOCKS_PER_ACCOUNT} players: unblock one"
                raise ClubError("too_many_blocks", message, limit=MAX_BLOCKS_PER_ACCOUNT)
            await self.server.store.write(partial(_add, account=account.id, blocked=other.id))
            self._blocked.setdefault(account.id, {})[other.id] = other.name
            self.server.lobby.decline_all(other, account)
        return {"blocked": self.blocked_names(account)}

    async def unblock(self, client: ClientConnection, name: str) -> Message:
        """Unblock a player; unblocking again has no effect."""
        account = client.require_account()
        mine = self._blocked.get(account.id, {})
        for blocked in [blocked for blocked, known in mine.items() if known.lower() == name.lower()]:
            await self.server.store.write(partial(_remove, account=account.id, blocked=blocked))
            mine.pop(blocked, None)
        return {"blocked": self.blocked_names(account)}

    def has_blocked(self, account: Account, other: Account) -> bool:
        """Return whether `account` has blocked `other`."""
        return other.id in self._blocked.get(account.id, {})

    def require_not_blocked(self, account: Account, other: Account) -> None:
        """If `account` has blocked `other`, raise a `ClubError` that does not mention the block."""
        if self.has_blocked(account, other):
            message = (
                f"{account.name} does not accept challenges at the moment: challenge another player, or create a seek"
            )
            raise ClubError("challenges_declined", message, name=account.name)

    def blocked_names(self, account: Account | None) -> list[str]:
        """Return the sorted names of the players that an account has blocked."""
        return sorted(self._blocked.get(account.id, {}).values()) if account else []


def _add(connection: Connection, account: int, blocked: int) -> None:
    _remove(connection, account, blocked)
    connection.execute(insert(blocks).values(account=account, blocked=blocked, created=time.time()))


def _remove(connection: Connection, account: int, blocked: int) -> None:
    connection.execute(delete(blocks).where(blocks.c.account == account, blocks.c.blocked == blocked))
