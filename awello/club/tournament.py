"""A tournament as it is stored: what is played, who entered, who plays whom, and how they stand."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from awello.club.accounts import Account
from awello.club.offers import GameTerms, Message
from awello.club.pairing import Pair, Pairing, Standing, round_robin, standings, swiss_round

SWISS, ROBIN, DOUBLE = SYSTEMS = ("swiss", "round-robin", "double-round-robin")
OPEN, PLAYING, ENDED, CANCELLED = "open", "playing", "ended", "cancelled"


@dataclass(frozen=True)
class Fixture(Pairing):
    """A pairing of a round, before, while and after it is played."""

    round: int = 0
    board: int = 0
    game: int | None = None
    """The number of the game; there is none until both are here."""
    decided: bool = False

    @property
    def players(self) -> tuple[int, ...]:
        """Who is to play."""
        return (self.first,) if self.second is None else (self.first, self.second)

    def stayed_away(self, account: int) -> bool:
        """Whether it was lost by not coming."""
        return self.forfeit and account in self.players and not self.points[self.players.index(account)]


@dataclass(frozen=True)
class ClubTournament:
    """A tournament that is open, or played, or over."""

    number: int
    name: str
    system: str
    terms: GameTerms
    rounds: int
    starts: float
    grace: float
    state: str
    round: int
    people: tuple[Account, ...] = ()
    """Who entered: the strongest first when it has begun, before in the order in which they came."""
    fixtures: tuple[Fixture, ...] = ()
    """Of all rounds, in order."""

    # ---- how it stands -----------------------------------------------------------------------------------------------
    @cached_property
    def current(self) -> list[Fixture]:
        """The pairings of the round that is played."""
        return [fixture for fixture in self.fixtures if fixture.round == self.round]

    @property
    def round_over(self) -> bool:
        """Whether nothing of this round is left to be played."""
        return all(fixture.decided for fixture in self.current)

    @cached_property
    def standings(self) -> list[Standing]:
        """Who leads, by all that has been decided."""
        decided = [fixture for fixture in self.fixtures if fixture.decided]
        return standings(list(self.accounts), decided)

    def next_pairs(self, here: Iterable[int]) -> list[Pair]:
        """Who plays whom in the next round; empty after the last round."""
        players = list(self.accounts)
        if self.round >= self.rounds:
            return []
        if self.system != SWISS:
            return round_robin(players, self.system == DOUBLE)[self.round]
        # players who missed their last pairing and are still away are left out: their opponents would win by waiting
        last = {player: fixture for fixture in self.fixtures for player in fixture.players}
        lost = {player for player, fixture in last.items() if fixture.stayed_away(player)} - set(here)
        left = [player for player in players if player not in lost]
        return swiss_round(left, self.fixtures) if len(left) > 1 else []

    # ---- for those who are told --------------------------------------------------------------------------------------
    @cached_property
    def accounts(self) -> dict[int, Account]:
        """Who entered, by number."""
        return {person.number: person for person in self.people}

    def view(self) -> Message:
        """What it is, in short."""
        told = {"tournament": self.number, "name": self.name, "system": self.system, **self.terms.view()}
        told |= {"rounds": self.rounds, "starts": self.starts, "grace": self.grace}
        return told | {"state": self.state, "round": self.round, "entrants": len(self.people)}

    @cached_property
    def table(self) -> list[Message]:
        """The standings, with names."""
        rows = [asdict(standing) for standing in self.standings]
        people = [self.accounts[row.pop("player")] for row in rows]
        return [{"name": one.name, "program": one.program, **row} for one, row in zip(people, rows, strict=True)]

    def pairing(self, fixture: Fixture) -> Message:
        """Who plays whom, in which game, and what came of it."""
        second = None if fixture.second is None else self.accounts[fixture.second].name
        points = list(fixture.points[: len(fixture.players)]) if fixture.decided else None
        told: Message = {"round": fixture.round, "board": fixture.board, "first": self.accounts[fixture.first].name}
        return told | {"second": second, "game": fixture.game, "points": points, "forfeit": fixture.forfeit}

    def whole(self) -> Message:
        """Everything."""
        pairings = [self.pairing(fixture) for fixture in self.fixtures]
        return {**self.view(), "standings": self.table, "pairings": pairings}

    def own(self, account: int) -> Fixture | None:
        """Somebody's pairing in this round."""
        return next((fixture for fixture in self.current if account in fixture.players), None)

    def news(self, account: int) -> Message:
        """What somebody who entered is told."""
        mine = self.own(account)
        pairing: Any = None if mine is None else self.pairing(mine)
        return {"type": "tournament", **self.view(), "pairing": pairing, "standings": self.table}
