"""Chat between the two players of a game: off until a connection turns it on, delivered at once, and not stored."""

from typing import TYPE_CHECKING
from unicodedata import bidirectional, category

from awello.club.accounts import Account
from awello.club.game_state import ClubError
from awello.club.live_game import ClientConnection
from awello.club.offers import Message

if TYPE_CHECKING:
    from awello.club.server import ClubServer

MAX_LINE_CHARS = 200  # characters of a line
LINE_BURST, SECONDS_PER_LINE = 5, 2.0  # lines of one account at once; seconds for each in the long run
MAX_TRACKED_ACCOUNTS = 1000  # accounts that are remembered to have spoken
CONTROL_CATEGORIES = {"Cc", "Cs", "Zl", "Zp"}  # categories of characters that are no text of one line
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
}  # those that would turn what follows round


class Chat:
    """Who has something to say to whom."""

    def __init__(self, server: "ClubServer") -> None:
        self.server = server
        self._free_at: dict[int, float] = {}  # the time at which an account will have paid for all that it said

    async def set_enabled(self, client: ClientConnection, enabled: bool) -> Message:
        """Turn it on or off for a connection."""
        client.require_account()
        client.chat_enabled = enabled
        return {}

    async def say(self, client: ClientConnection, number: int, text: str) -> Message:
        """Tell the other player of a game something, and oneself elsewhere."""
        account, line = client.require_account(), _check_line(text)
        live_game = self.server.live_games.get(number) or self.server.ended.get(number)
        if live_game is None:
            raise ClubError(
                "chat_unavailable",
                f"game {number} is not in progress and has not just ended: it has no chat",
                game=number,
            )
        other = live_game.opponent(account.number)
        if not client.chat_enabled:
            raise ClubError("chat_off", "your chat is off: turn it on first")
        listening = [] if self.server.blocks.has_blocked(other, account) else self._listeners(other)
        if not listening:
            raise ClubError(
                "opponent_chat_off",
                f"{other.name} has chat turned off: the message was not delivered",
                name=other.name,
            )
        self._count_line(account)
        for each in [*listening, *(mine for mine in self._listeners(account) if mine is not client)]:
            each.send({"type": "chat", "game": number, "by": account.name, "text": line})
        return {}

    def _listeners(self, account: Account) -> list[ClientConnection]:
        return [client for client in self.server.online.get(account.number, ()) if client.chat_enabled]

    def _count_line(self, account: Account) -> None:
        """Count a line; refused if there were too many."""
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
    """A text as it is told; refused if it is not one line."""
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
