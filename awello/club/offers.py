"""Offers of games (seeks and challenges) and their terms."""

from collections.abc import Hashable
from dataclasses import asdict, dataclass, field
from typing import Any

from awello.club.accounts import Account
from awello.club.game_state import ClubError
from awello.club.rating import Rating
from awello.limits import Clock
from awello.rules.game import Game

MIN_CLOCK_SECONDS, MAX_CLOCK_SECONDS, MAX_INCREMENT_SECONDS = 5.0, 4 * 3600.0, 60.0  # of a time control

Message = dict[str, Any]


@dataclass(frozen=True)
class GameTerms:
    """The terms of a game: its rules, its time control and whether it is rated."""

    game: Game
    control: Clock
    rated: bool = True
    side: int | None = None
    """The side of the offering player; None for a random side."""
    tournament: int | None = None
    """The number of the tournament to which the game belongs."""

    def validate(self) -> None:
        """Raise `ClubError` if the time control is not allowed."""
        seconds, increment = self.control.seconds, self.control.increment
        valid = MIN_CLOCK_SECONDS <= seconds <= MAX_CLOCK_SECONDS and 0 <= increment <= MAX_INCREMENT_SECONDS
        if not valid:
            least, hours, most = round(MIN_CLOCK_SECONDS), round(MAX_CLOCK_SECONDS / 3600), round(MAX_INCREMENT_SECONDS)
            message = (
                f"the time per player must be {least} seconds to {hours} hours, and the increment at most {most} "
                "seconds: choose another time control"
            )
            raise ClubError("invalid_time_control", message, min_seconds=least, max_hours=hours, max_increment=most)

    @property
    def pairing_key(self) -> tuple[Game, Clock, bool]:
        """The terms that two seeks must have in common to be paired."""
        return self.game, self.control, self.rated

    def matches(self, other: "GameTerms") -> bool:
        """Return whether two seeks with these terms can be paired."""
        return self.pairing_key == other.pairing_key and (self.side is None or self.side != other.side)

    def to_json(self) -> Message:
        """Return the terms in the form that clients receive."""
        return {"variant": str(self.game), "control": asdict(self.control), "rated": self.rated}


@dataclass(frozen=True)
class Offer:
    """A seek, which has no recipient, or a challenge."""

    number: int
    account: Account
    terms: GameTerms
    recipient: Account | None = None
    rating: Rating = field(default_factory=Rating)
    """The offering player's rating in the rating pool of the game."""

    @property
    def index_keys(self) -> tuple[Hashable, ...]:
        """The keys of the offer in an index: the offering player, the recipient and the pairing key."""
        return ("by", self.account.id), ("to", self.recipient and self.recipient.id), self.terms.pairing_key

    def to_json(self) -> Message:
        """Return the offer in the form that clients receive."""
        who = {"from": self.account.name, "bot": self.account.bot}
        return {"number": self.number, **who, **self.rating.to_json(), **self.terms.to_json(), "side": self.terms.side}
