"""A game at a table: whose turn it is, what the clocks say, how it ends.

Nothing here looks at a clock or a network: every act is told the moment at which it came, in seconds, and gives the
table as it is afterwards.  An act that is not allowed raises `Refused` and changes nothing.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeVar

from awello.club.lag import MOST_LAG, LagQuota, new_quota, resumed_quota
from awello.errors import AwelloError
from awello.limits import Clock
from awello.position import Position
from awello.rules.game import PASS, Game

RESIGNED, TIME, AGREED, ABORTED = "resigned", "ran out of time", "a draw was agreed", "was not begun"
BEHIND, LIMIT = "was behind at the move limit", "the move limit was reached"
LEFT, DRAWN = "left the game", "a draw was claimed"
FIRST_MOVE = 30.0  # seconds in which each side must make its first move
MOST_PLIES = 2000  # after which a game of Awalé ends: positions need not repeat for far longer than that
OFFER_PAUSE = 10  # plies between two draw offers of one side

Value = TypeVar("Value")


class ClubError(AwelloError):
    """What a player asked for is not allowed now; `code` says why to programs, `params` are numbers to show."""

    def __init__(self, code: str, message: str, **params: int) -> None:
        super().__init__(message, code, **params)


@dataclass(frozen=True)
class GameState:
    """A game that is played, or that has ended; of two entries the first is that of whoever moves first."""

    number: int
    game: Game
    players: tuple[int, int]
    """The numbers of the accounts."""
    control: Clock
    rated: bool
    since: float
    """When the mover's clock began to run."""
    clocks: tuple[float, float]
    """The seconds left, as they were then."""
    position: Position
    moves: tuple[int, ...] = ()
    seconds: tuple[float, ...] = ()
    """The time of each move."""
    offer: int | None = None
    """The side that offers a draw."""
    loser: int | None = None
    reason: str = ""
    """How it ended, if the board did not decide."""
    tournament: int | None = None
    """The tournament that it belongs to."""
    lag_quotas: tuple[LagQuota, LagQuota] = field(default=(LagQuota(), LagQuota()), compare=False)
    """The lag compensation each side can still get.  Not stored: see `resume`."""
    offered_at: tuple[int, int] = field(default=(-OFFER_PAUSE, -OFFER_PAUSE), compare=False)
    """The ply at which each side last offered a draw.  Not stored."""
    aborted_by: int | None = field(default=None, compare=False)
    """The side that aborted the game, or did not make its first move in time.  Not stored."""

    # ---- what it is like ---------------------------------------------------------------------------------------------
    @cached_property
    def over(self) -> bool:
        """Whether the game has ended."""
        return bool(self.reason) or self.position.over

    @property
    def winner(self) -> int | None:
        """The side that won a game that is over; None for a draw."""
        if self.loser is not None:
            return 1 - self.loser
        first, second = self.position.score()
        return None if self.reason or first == second else int(second > first)

    @property
    def mover(self) -> int:
        """The side whose turn it is."""
        return self.position.side

    def left(self, now: float) -> tuple[float, float]:
        """What the clocks say at a moment."""
        first, second = self.clocks
        gone = 0.0 if self.over else max(0.0, now - self.since)
        return (first - gone, second) if self.mover == 0 else (first, second - gone)

    @cached_property
    def deadline(self) -> float:
        """When the mover's time will have run out, with all the lag compensation it can get."""
        return self.since + self.time_to_move + self.lag_quotas[self.mover].compensation(MOST_LAG, MOST_LAG)

    @property
    def awaits_first_move(self) -> bool:
        """Whether the mover has yet to make the first move, without which there is no game; tournaments have clocks."""
        return not self.over and len(self.moves) < 2 and self.tournament is None

    @property
    def time_to_move(self) -> float:
        """The seconds the mover has for this move."""
        left = self.clocks[self.mover]
        return min(left, FIRST_MOVE) if self.awaits_first_move else left

    def side_of(self, account: int) -> int:
        """The side of an account; refused if it does not play here."""
        if account not in self.players:
            raise ClubError("guest", f"you do not play game {self.number}: you can only watch it")
        return self.players.index(account)

    # ---- what players do ---------------------------------------------------------------------------------------------
    def play(self, account: int, ply: int, move: str, now: float, lag: float = 0.0) -> "GameState":
        """A move; passes that follow are played at once, because they leave no choice.

        The ply tells a move from one that was sent again.  What the network took is given back, within a quota.
        """
        side = self._acting(account)
        if ply != len(self.moves):
            raise ClubError("ply", f"game {self.number} is at ply {len(self.moves)}, not {ply}: look at it again")
        if side != self.mover:
            raise ClubError("turn", f"it is not your turn in game {self.number}: wait for the other's move")
        elapsed = now - self.since
        given_back = self.lag_quotas[side].compensation(lag, elapsed)
        spent = max(0.0, elapsed - given_back)
        if spent > self.time_to_move:
            return self.flag(now)
        chosen = self.position.parse_move(move)
        position, moves, seconds = self.position.after(chosen), [*self.moves, chosen], [*self.seconds, spent]
        while position.legal_moves() == (PASS,):
            position = position.after(PASS)
            moves.append(PASS)
            seconds.append(0.0)
        quota = self.lag_quotas[side].after(given_back, self.control)
        after = replace(
            self,
            since=now,
            clocks=_with(self.clocks, side, self.clocks[side] + self.control.increment - spent),
            lag_quotas=_with(self.lag_quotas, side, quota),
            position=position,
            moves=tuple(moves),
            seconds=tuple(seconds),
            offer=self.offer if self.offer == side else None,  # moving on declines the other's offer
        )
        return after.end_at_limit() if len(moves) >= MOST_PLIES else after

    def end_at_limit(self) -> "GameState":
        """End a game that has lasted too long: as if the position had come again, the side with more seeds wins."""
        if self.over:
            return self
        here = self.position
        first, second = replace(here, past=here.past | {(here.own, here.opp, here.side)}).score()
        loser = None if first == second else int(first > second)
        return replace(self, loser=loser, reason=LIMIT if loser is None else BEHIND, offer=None)

    def resign(self, account: int) -> "GameState":
        """Give the game up."""
        return replace(self, loser=self._acting(account), reason=RESIGNED)

    def offer_draw(self, account: int) -> "GameState":
        """Offer a draw, or accept the other's offer; in Othello the board decides, as its rules say."""
        side = self._acting(account)
        if not self.game.adapter.has_draw_offers:
            raise ClubError("rules", f"a draw cannot be agreed in {self.game.adapter.title}: play on, or resign")
        if self.offer == 1 - side:
            return replace(self, reason=AGREED, offer=None)
        if self.offer == side:
            return self
        ply, again = len(self.moves), self.offered_at[side] + OFFER_PAUSE
        if ply < again:
            raise ClubError(
                "offered", f"you offered a draw at ply {self.offered_at[side]}: offer again from ply {again}"
            )
        return replace(self, offer=side, offered_at=_with(self.offered_at, side, ply))

    def decline_draw(self, account: int) -> "GameState":
        """Decline the other's offer, or take one's own back."""
        self._acting(account)
        return self if self.offer is None else replace(self, offer=None)

    def abort(self, account: int) -> "GameState":
        """Leave a game in which one has not moved yet; it counts for nothing."""
        side = self._acting(account)
        if self.tournament is not None:
            raise ClubError("tournament", f"game {self.number} belongs to a tournament: play on, or resign")
        if len(self.moves) > side:
            raise ClubError("begun", f"game {self.number} has begun: play on, or resign")
        return replace(self, reason=ABORTED, aborted_by=side)

    def claim(self, account: int, draw: bool = False) -> "GameState":
        """Win a game whose other player has left, or have it drawn; whether they have is for the caller to know."""
        side = self._acting(account)
        if len(self.moves) < 2:
            raise ClubError("early", f"game {self.number} has not begun on both sides: wait, or abort it")
        if not draw:
            return replace(self, loser=1 - side, reason=LEFT, offer=None)
        if not self.game.adapter.has_draw_offers:
            raise ClubError("rules", f"a draw cannot be claimed in {self.game.adapter.title}: claim the win")
        return replace(self, reason=DRAWN, offer=None)

    # ---- what time does ----------------------------------------------------------------------------------------------
    def flag(self, now: float) -> "GameState":
        """The mover loses if their time has run out; without a first move in time, the game is aborted."""
        if self.over or now - self.since <= self.time_to_move:
            return self
        if self.awaits_first_move:
            return replace(self, reason=ABORTED, aborted_by=self.mover)
        return replace(self, clocks=_with(self.clocks, self.mover, 0.0), loser=self.mover, reason=TIME)

    def resume(self, stopped: float, now: float) -> "GameState":
        """The table after the server stood still: what passed before it stopped counts, what passed since does not."""
        if self.over:
            return self
        quotas = resumed_quota(self.clocks[0]), resumed_quota(self.clocks[1])
        return replace(self, since=now - max(0.0, stopped - self.since), lag_quotas=quotas)

    def _acting(self, account: int) -> int:
        """The side of an account that may still act."""
        side = self.side_of(account)
        if self.over:
            raise ClubError("over", f"game {self.number} is over: {self.reason or 'the board has decided'}")
        return side


def new_game_state(
    number: int,
    game: Game,
    players: tuple[int, int],
    control: Clock,
    rated: bool,
    now: float,
    tournament: int | None = None,
) -> GameState:
    """A game that begins: whoever moves first has the clock running."""
    clocks, quotas = (control.seconds, control.seconds), (new_quota(control), new_quota(control))
    start = Position.start(game)
    return GameState(
        number, game, players, control, rated, now, clocks, start, tournament=tournament, lag_quotas=quotas
    )


def _with(pair: tuple[Value, Value], side: int, value: Value) -> tuple[Value, Value]:
    """A pair with another value for one side."""
    return (value, pair[1]) if side == 0 else (pair[0], value)
