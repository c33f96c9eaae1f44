"""The state of a tournament as stored: terms, entrants, fixtures and standings."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from awello.club.accounts import Account
from awello.club.offers import GameTerms, Message
from awello.club.pairing import Pair, Pairing, Standing, compute_standings, pair_round_robin, pair_swiss_round

SWISS, ROUND_ROBIN, DOUBLE_ROUND_ROBIN = SYSTEMS = ("swiss", "round-robin", "double-round-robin")
OPEN, PLAYING, ENDED, CANCELLED = "open", "playing", "ended", "cancelled"


@dataclass(frozen=True)
class Fixture(Pairing):
    """A pairing of a round, decided or not."""

    round: int = 0
    board: int = 0
    game: int | None = None
    """The number of the game; None until both players are online."""
    decided: bool = False

    @property
    def players(self) -> tuple[int, ...]:
        """The players of the fixture."""
        return (self.first,) if self.second is None else (self.first, self.second)

    def was_missed_by(self, account: int) -> bool:
        """Whether a player was missing and forfeited."""
        return self.forfeit and account in self.players and not self.points[self.players.index(account)]


@dataclass(frozen=True)
class ClubTournament:
    """A tournament that is open, in progress, ended or cancelled."""

    number: int
    name: str
    system: str
    terms: GameTerms
    rounds: int
    starts: float
    grace: float
    state: str
    round: int
    entrants: tuple[Account, ...] = ()
    """In order of entry before the start, then strongest first."""
    fixtures: tuple[Fixture, ...] = ()
    """The fixtures of all rounds, in order."""

    # ---- state -------------------------------------------------------------------------------------------------------
    @cached_property
    def current_fixtures(self) -> list[Fixture]:
        """The fixtures of the current round."""
        return [fixture for fixture in self.fixtures if fixture.round == self.round]

    @property
    def is_round_over(self) -> bool:
        """Whether all fixtures of the current round are decided."""
        return all(fixture.decided for fixture in self.current_fixtures)

    @cached_property
    def standings(self) -> list[Standing]:
        """The standings after all decided fixtures."""
        decided = [fixture for fixture in self.fixtures if fixture.decided]
        return compute_standings(list(self.entrants_by_number), decided)

    def pair_next_round(self, online: Iterable[int]) -> list[Pair]:
        """The pairings of the next round; empty after the last one."""
        players = list(self.entrants_by_number)
        if self.round >= self.rounds:
            return []
        if self.system != SWISS:
            return pair_round_robin(players, self.system == DOUBLE_ROUND_ROBIN)[self.round]
        # leave out players who missed their last fixture and are still offline: their opponents would win by forfeit
        last = {player: fixture for fixture in self.fixtures for player in fixture.players}
        lost = {player for player, fixture in last.items() if fixture.was_missed_by(player)} - set(online)
        left = [player for player in players if player not in lost]
        return pair_swiss_round(left, self.fixtures) if len(left) > 1 else []

    # ---- for clients -------------------------------------------------------------------------------------------------
    @cached_property
    def entrants_by_number(self) -> dict[int, Account]:
        """The entrants by account number."""
        return {person.number: person for person in self.entrants}

    def to_json(self) -> Message:
        """A summary."""
        json = {"tournament": self.number, "name": self.name, "system": self.system, **self.terms.to_json()}
        json |= {"rounds": self.rounds, "starts": self.starts, "grace": self.grace}
        return json | {"state": self.state, "round": self.round, "entrants": len(self.entrants)}

    @cached_property
    def standings_json(self) -> list[Message]:
        """The standings with names."""
        rows = [asdict(standing) for standing in self.standings]
        people = [self.entrants_by_number[row.pop("player")] for row in rows]
        return [{"name": one.name, "bot": one.bot, **row} for one, row in zip(people, rows, strict=True)]

    def fixture_json(self, fixture: Fixture) -> Message:
        """A fixture with names."""
        second = None if fixture.second is None else self.entrants_by_number[fixture.second].name
        points = list(fixture.points[: len(fixture.players)]) if fixture.decided else None
        json: Message = {
            "round": fixture.round,
            "board": fixture.board,
            "first": self.entrants_by_number[fixture.first].name,
        }
        return json | {"second": second, "game": fixture.game, "points": points, "forfeit": fixture.forfeit}

    def details_json(self) -> Message:
        """The tournament with standings and pairings."""
        pairings = [self.fixture_json(fixture) for fixture in self.fixtures]
        return {**self.to_json(), "standings": self.standings_json, "pairings": pairings}

    def find_fixture(self, account: int) -> Fixture | None:
        """The fixture of a player in the current round."""
        return next((fixture for fixture in self.current_fixtures if account in fixture.players), None)

    def event_for(self, account: int) -> Message:
        """The event that informs an entrant of the state of the tournament."""
        mine = self.find_fixture(account)
        pairing: Any = None if mine is None else self.fixture_json(mine)
        return {"type": "tournament", **self.to_json(), "pairing": pairing, "standings": self.standings_json}
