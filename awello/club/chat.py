"""Chat between the two players of a game: off until a connection turns it on, delivered at once, and not stored."""

from typing import TYPE_CHECKING
from unicodedata import bidirectional, category

from awello.club.accounts import Account
from awello.club.game_state import ClubError
from awello.club.live_game import ClientConnection
from awello.club.offers import Message

if TYPE_CHECKING:
    from awello.club.server import ClubServer

LONGEST = 200  # characters of a line
BURST, PAUSE = 5, 2.0  # lines of one account at once; seconds for each in the long run
MOST_WAITING = 1000  # accounts that are remembered to have spoken
CONTROLS = {"Cc", "Cs", "Zl", "Zp"}  # categories of characters that are no text of one line
TURNING = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}  # those that would turn what follows round


class Chat:
    """Who has something to say to whom."""

    def __init__(self, hall: "ClubServer") -> None:
        self.hall = hall
        self._free: dict[int, float] = {}  # the moment at which an account will have paid for all that it said

    async def turn(self, guest: ClientConnection, tell: bool) -> Message:
        """Turn it on or off for a connection."""
        guest.member  # noqa: B018  (refused for who only watches)
        guest.chats = tell
        return {}

    async def say(self, guest: ClientConnection, number: int, text: str) -> Message:
        """Tell the other player of a game something, and oneself elsewhere."""
        account, words = guest.member, _line(text)
        seat = self.hall.seats.get(number) or self.hall.ended.get(number)
        if seat is None:
            raise ClubError("gone", f"game {number} is not played, and has not just ended: nobody is at that table")
        other = seat.opponent(account.number)
        if not guest.chats:
            raise ClubError("off", "you have turned chat off here: turn it on to speak")
        listening = [] if self.hall.blocks.has_blocked(other, account) else self._listeners(other)
        if not listening:
            raise ClubError("quiet", f"{other.name} has chat turned off: nothing was said")
        self._take(account)
        for each in [*listening, *(mine for mine in self._listeners(account) if mine is not guest)]:
            each.send({"type": "said", "game": number, "by": account.name, "text": words})
        return {}

    def _listeners(self, account: Account) -> list[ClientConnection]:
        return [guest for guest in self.hall.present.get(account.number, ()) if guest.chats]

    def _take(self, account: Account) -> None:
        """Count a line; refused if there were too many."""
        now = self.hall.now()
        free = max(now, self._free.get(account.number, now))
        if free - now > (BURST - 1) * PAUSE:
            raise ClubError("often", f"you say too much at once: one line every {PAUSE:.0f} seconds")
        if len(self._free) >= MOST_WAITING:
            self._free = {number: moment for number, moment in self._free.items() if moment > now}
        self._free[account.number] = free + PAUSE


def _line(text: str) -> str:
    """A text as it is told; refused if it is not one line."""
    words = text.strip()
    if not 0 < len(words) <= LONGEST:
        raise ClubError("text", f"a line has 1 to {LONGEST} characters, not {len(words)}")
    if any(category(letter) in CONTROLS or bidirectional(letter) in TURNING for letter in words):
        raise ClubError("text", "a line has no control characters: leave them out")
    return words
