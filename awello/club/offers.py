"""What is offered in the hall: a game on some terms, to everybody or to one."""

from collections.abc import Hashable
from dataclasses import asdict, dataclass, field
from typing import Any

from awello.club.accounts import Account
from awello.club.game_state import ClubError
from awello.club.rating import Rating
from awello.limits import Clock
from awello.rules.game import Game

SHORTEST, LONGEST, MOST_INCREMENT = 5.0, 4 * 3600.0, 60.0  # seconds of a time control

Message = dict[str, Any]


@dataclass(frozen=True)
class GameTerms:
    """What is played, and for what."""

    game: Game
    control: Clock
    rated: bool = True
    side: int | None = None
    """The side that whoever asks wants to have; None leaves it to chance."""
    tournament: int | None = None
    """The tournament that asks for it."""

    def check(self) -> None:
        """Refuse terms that are none."""
        fitting = SHORTEST <= self.control.seconds <= LONGEST and 0 <= self.control.increment <= MOST_INCREMENT
        if not fitting:
            limits = f"{SHORTEST:.0f} seconds to {LONGEST / 3600:.0f} hours and up to {MOST_INCREMENT:.0f} a move more"
            raise ClubError("control", f"a game takes {limits}: choose another time")

    @property
    def pool(self) -> tuple[Game, Clock, bool]:
        """What two players must both ask for to be paired."""
        return self.game, self.control, self.rated

    def fits(self, other: "GameTerms") -> bool:
        """Whether two who ask for these can play each other."""
        return self.pool == other.pool and (self.side is None or self.side != other.side)

    def view(self) -> Message:
        """For those who are told."""
        return {"kind": str(self.game), "control": asdict(self.control), "rated": self.rated}


@dataclass(frozen=True)
class Offer:
    """A game that somebody offers to everybody, or to one."""

    number: int
    account: Account
    terms: GameTerms
    to: Account | None = None
    rating: Rating = field(default_factory=Rating)
    """What whoever offers it is worth in such games."""

    @property
    def keys(self) -> tuple[Hashable, ...]:
        """What it is found by: who made it, whom it is made to, and what is to be played."""
        return ("by", self.account.number), ("to", self.to and self.to.number), self.terms.pool

    def view(self) -> Message:
        """For those who are told."""
        who = {"from": self.account.name, "program": self.account.program}
        return {"number": self.number, **who, **self.rating.view(), **self.terms.view(), "side": self.terms.side}
