"""Chat between the two players of a game: off by default, delivered immediately, never stored."""

from typing import TYPE_CHECKING
from unicodedata import bidirectional, category

from awello.club.accounts import Account
from awello.club.game_state import ClubError
from awello.club.live_game import ClientConnection
from awello.club.offers import Message

if TYPE_CHECKING:
    from awello.club.server import ClubServer

MAX_LINE_CHARS = 200
LINE_BURST, SECONDS_PER_LINE = 5, 2.0  # rate limit of an account
MAX_TRACKED_ACCOUNTS = 1000  # for the rate limit
CONTROL_CATEGORIES = {"Cc", "Cs", "Zl", "Zp"}  # not allowed in a line
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
    """Delivers chat lines and limits their rate."""

    def __init__(self, server: "ClubServer") -> None:
        self.server = server
        self._free_at: dict[int, float] = {}  # by account: when its rate limit is fully replenished

    async def set_enabled(self, client: ClientConnection, enabled: bool) -> Message:
        """Turn chat on or off for a connection."""
        client.require_account()
        client.chat_enabled = enabled
        return {}

    async def say(self, client: ClientConnection, number: int, text: str) -> Message:
        """Send a line to the opponent, and to the other connections of the sender."""
        account, line = client.require_account(), _check_line(text)
        live_game = self.server.live_games.get(number) or self.server.ended.get(number)
        if live_game is None:
            raise ClubError(
                "chat_unavailable",
                f"game {number} has no chat: it is not in progress and has not just ended",
                game=number,
            )
        other = live_game.opponent(account.number)
        if not client.chat_enabled:
            raise ClubError("chat_off", "your chat is off: turn it on first")
        listening = [] if self.server.blocks.has_blocked(other, account) else self._listeners(other)
        if not listening:
            raise ClubError(
                "opponent_chat_off",
                f"{other.name} has turned chat off: the message was not delivered",
                name=other.name,
            )
        self._count_line(account)
        for each in [*listening, *(mine for mine in self._listeners(account) if mine is not client)]:
            each.send({"type": "chat", "game": number, "by": account.name, "text": line})
        return {}

    def _listeners(self, account: Account) -> list[ClientConnection]:
        return [client for client in self.server.online.get(account.number, ()) if client.chat_enabled]

    def _count_line(self, account: Account) -> None:
        """Count a line; raises `ClubError` above the rate limit."""
        now = self.server.now()
        free = max(now, self._free_at.get(account.number, now))
        if free - now > (LINE_BURST - 1) * SECONDS_PER_LINE:
            raise ClubError(
                "chat_rate_limit",
                f"too many messages: send at most one every {SECONDS_PER_LINE:.0f} seconds",
                seconds=round(SECONDS_PER_LINE),
            )
        if len(self._free_at) >= MAX_TRACKED_ACCOUNTS:
            self._free_at = {number: time for number, time in self._free_at.items() if time > now}
        self._free_at[account.number] = free + SECONDS_PER_LINE


def _check_line(text: str) -> str:
    """The line to deliver; raises `ClubError` if it is empty, too long or contains control characters."""
    line = text.strip()
    if not 0 < len(line) <= MAX_LINE_CHARS:
        raise ClubError(
            "chat_length",
            f"a message has 1 to {MAX_LINE_CHARS} characters, not {len(line)}",
            max=MAX_LINE_CHARS,
            length=len(line),
        )
    if any(category(letter) in CONTROL_CATEGORIES or bidirectional(letter) in BIDI_CONTROLS for letter in line):
        raise ClubError("chat_characters", "a message cannot contain control characters: remove them")
    return line
