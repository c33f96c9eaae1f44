"""Chat between the two players of a game: off by default, delivered immediately, never stored."""

from typing import TYPE_CHECKING
from unicodedata import bidirectional, category

from awello.club.accounts import Account
from awello.club.game_state import ClubError
from awello.club.live_game import ClientConnection
from awello.club.offers import Message

if TYPE_CHECKING:
    from awello.club.server import ClubServer

MAX_MESSAGE_CHARS = 200
MESSAGE_BURST, SECONDS_PER_MESSAGE = 5, 2.0  # the rate limit of each account
MAX_TRACKED_ACCOUNTS = 1000  # for the rate limit
CONTROL_CATEGORIES = {"Cc", "Cs", "Zl", "Zp"}  # not allowed in a message
BIDI_CONTROLS = {
    "LRE",
    "RLE",
    "LRO",
    "RLO",
    "PDF",
    "LRI",
    "RLI",
    "FSI",
    "PDI",
}  # bidirectional controls, which would reorder the text that follows


class Chat:
    """Delivers chat messages and limits their rate."""

    def __init__(self, server: "ClubServer") -> None:
        self.server = server
        self._free_at: dict[int, float] = {}  # by account: when its rate limit is fully replenished

    async def set_enabled(self, client: ClientConnection, enabled: bool) -> Message:
        """Turn chat on or off for a connection."""
        client.require_account()
        client.chat_enabled = enabled
        return {}

    async def send(self, client: ClientConnection, number: int, text: str) -> Message:
        """Send a message to the players' connections with chat on, except the sending connection."""
        account, text = client.require_account(), _clean_text(text)
        live_game = self.server.live_games.get(number) or self.server.ended_games.get(number)
        if live_game is None:
            raise ClubError(
                "chat_unavailable",
                f"you cannot chat in game {number}: chat is available only during a game and shortly after it",
                game=number,
            )
        other = live_game.opponent(account.id)
        if not client.chat_enabled:
            raise ClubError("chat_off", "your chat is off: turn it on first")
        listening = [] if self.server.blocks.has_blocked(other, account) else self._chat_connections(other)
        if not listening:
            raise ClubError(
                "opponent_chat_off",
                f"{other.name} is offline or has chat off: the message was not delivered",
                name=other.name,
            )
        self._count_message(account)
        for each in [*listening, *(mine for mine in self._chat_connections(account) if mine is not client)]:
            each.send({"type": "chat", "game": number, "by": account.name, "text": text})
        return {}

    def _chat_connections(self, account: Account) -> list[ClientConnection]:
        return [client for client in self.server.online.get(account.id, ()) if client.chat_enabled]

    def _count_message(self, account: Account) -> None:
        """Count a message; raise `ClubError` if it exceeds the rate limit."""
        now = self.server.now()
        free = max(now, self._free_at.get(account.id, now))
        if free - now > (MESSAGE_BURST - 1) * SECONDS_PER_MESSAGE:
            raise ClubError(
                "chat_rate_limit",
                f"too many messages: send at most one every {SECONDS_PER_MESSAGE:.0f} seconds",
                seconds=round(SECONDS_PER_MESSAGE),
            )
        if len(self._free_at) >= MAX_TRACKED_ACCOUNTS:
            self._free_at = {account_id: time for account_id, time in self._free_at.items() if time > now}
        self._free_at[account.id] = free + SECONDS_PER_MESSAGE


def _clean_text(text: str) -> str:
    """Return the text to deliver; raise `ClubError` if it is empty, is too long or contains control characters."""
    text = text.strip()
    if not 0 < len(text) <= MAX_MESSAGE_CHARS:
        raise ClubError(
            "chat_length",
            f"the message has {len(text)} characters: send a message of 1 to {MAX_MESSAGE_CHARS} characters",
            max=MAX_MESSAGE_CHARS,
            length=len(text),
        )
    if any(category(letter) in CONTROL_CATEGORIES or bidirectional(letter) in BIDI_CONTROLS for letter in text):
        raise ClubError("chat_characters", "a message cannot contain control characters: remove them")
    return text
