"""A tournament with its terms, entrants and pairings as stored, and the standings that follow from them."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from awello.club.accounts import Account
from awello.club.offers import GameTerms, Message
from awello.club.pairing import Pairing, PlayerPair, Standing, compute_standings, pair_round_robin, pair_swiss_round

SWISS, ROUND_ROBIN, DOUBLE_ROUND_ROBIN = SYSTEMS = ("swiss", "round-robin", "double-round-robin")
OPEN, PLAYING, ENDED, CANCELLED = "open", "playing", "ended", "cancelled"


@dataclass(frozen=True)
class TournamentPairing(Pairing):
    """A pairing in a round of a tournament, decided or not."""

    round: int = 0
    board: int = 0
    game: int | None = None
    """The number of the game; None until both players are online."""
    decided: bool = False

    @property
    def players(self) -> tuple[int, ...]:
        """The account ids of the players: two, or one if the player has a bye."""
        return (self.first,) if self.second is None else (self.first, self.second)

    def was_missed_by(self, account: int) -> bool:
        """Return whether a player forfeited this pairing by being absent."""
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
    """The players, in order of entry until the tournament starts, then by rating at the start, highest first."""
    pairings: tuple[TournamentPairing, ...] = ()
    """The pairings of all rounds so far, by round and board."""

    # ---- state -------------------------------------------------------------------------------------------------------
    @cached_property
    def current_pairings(self) -> list[TournamentPairing]:
        """The pairings of the current round."""
        return [pairing for pairing in self.pairings if pairing.round == self.round]

    @property
    def is_round_over(self) -> bool:
        """Whether all pairings of the current round are decided."""
        return all(pairing.decided for pairing in self.current_pairings)

    @cached_property
    def standings(self) -> list[Standing]:
        """The standings after all decided pairings."""
        decided = [pairing for pairing in self.pairings if pairing.decided]
        return compute_standings(list(self.entrants_by_id), decided)

    def pair_next_round(self, online: Iterable[int]) -> list[PlayerPair]:
        """Pair the next round; return an empty list after the last round, or if fewer than two players are left."""
        players = list(self.entrants_by_id)
        if self.round >= self.rounds:
            return []
        if self.system != SWISS:
            return pair_round_robin(players, self.system == DOUBLE_ROUND_ROBIN)[self.round]
        # leave out players who missed their last pairing and are still offline: their opponents would win by forfeit
        last = {player: pairing for pairing in self.pairings for player in pairing.players}
        lost = {player for player, pairing in last.items() if pairing.was_missed_by(player)} - set(online)
        left = [player for player in players if player not in lost]
        return pair_swiss_round(left, self.pairings) if len(left) > 1 else []

    # ---- for clients -------------------------------------------------------------------------------------------------
    @cached_property
    def entrants_by_id(self) -> dict[int, Account]:
        """The entrants by account id."""
        return {person.id: person for person in self.entrants}

    def to_json(self) -> Message:
        """Return a summary in the form that clients receive."""
        json = {"tournament": self.number, "name": self.name, "system": self.system, **self.terms.to_json()}
        json |= {"rounds": self.rounds, "starts": self.starts, "grace": self.grace}
        return json | {"state": self.state, "round": self.round, "entrants": len(self.entrants)}

    @cached_property
    def standings_json(self) -> list[Message]:
        """The standings with the names of the players."""
        rows = [asdict(standing) for standing in self.standings]
        people = [self.entrants_by_id[row.pop("player")] for row in rows]
        return [{"name": one.name, "bot": one.bot, **row} for one, row in zip(people, rows, strict=True)]

    def pairing_json(self, pairing: TournamentPairing) -> Message:
        """Return a pairing with the names of its players."""
        second = None if pairing.second is None else self.entrants_by_id[pairing.second].name
        points = list(pairing.points[: len(pairing.players)]) if pairing.decided else None
        json: Message = {
            "round": pairing.round,
            "board": pairing.board,
            "first": self.entrants_by_id[pairing.first].name,
        }
        return json | {"second": second, "game": pairing.game, "points": points, "forfeit": pairing.forfeit}

    def details_json(self) -> Message:
        """Return the summary with standings and pairings."""
        pairings = [self.pairing_json(pairing) for pairing in self.pairings]
        return {**self.to_json(), "standings": self.standings_json, "pairings": pairings}

    def find_pairing(self, account: int) -> TournamentPairing | None:
        """Return a player's pairing in the current round; None if there is none."""
        return next((pairing for pairing in self.current_pairings if account in pairing.players), None)

    def event_for(self, account: int) -> Message:
        """Return the event that informs an entrant of the state of the tournament."""
        mine = self.find_pairing(account)
        pairing: Any = None if mine is None else self.pairing_json(mine)
        return {"type": "tournament", **self.to_json(), "pairing": pairing, "standings": self.standings_json}
