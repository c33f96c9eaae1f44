"""The state of a club game: moves, clocks, draw offers and result.

States are immutable; their methods neither read the system clock nor send messages.  An action that depends on the time
receives the time as an argument, in seconds since 1970.  Every action returns the next state, or raises `ClubError` if
it is not allowed; `play` raises another `AwelloError` if the move is invalid or illegal.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeVar

from awello.club.lag import MAX_LAG_COMPENSATION, LagQuota
from awello.errors import AwelloError
from awello.limits import Clock
from awello.position import Position
from awello.rules.game import PASS, Game

# The codes of the reasons why games end, in messages and in the database; for their texts, see `record.REASON_TEXTS`.
RESIGNED, TIMED_OUT, DRAW_AGREED, ABORTED = "resigned", "time", "draw_agreed", "aborted"
BEHIND_AT_LIMIT, DRAW_AT_LIMIT = "behind_at_limit", "draw_at_limit"
LEFT_GAME, DRAW_CLAIMED = "left", "draw_claimed"
FIRST_MOVE_SECONDS = 30.0  # for the first move of each side
MAX_PLIES = 2000  # limit for Awalé, where a game can last for thousands of moves without a repeated position
DRAW_OFFER_INTERVAL = 10  # minimum number of plies between two draw offers of the same side

Value = TypeVar("Value")


class ClubError(AwelloError):
    """A refused request: `code` identifies the message, and `params` holds the values in it."""

    def __init__(self, code: str, message: str, **params: str | int | float) -> None:
        super().__init__(message, code, **params)


@dataclass(frozen=True)
class GameState:
    """The state of a live or ended game; in each pair, the first entry belongs to the side that moves first."""

    number: int
    game: Game
    players: tuple[int, int]
    """The account ids."""
    control: Clock
    rated: bool
    turn_started: float
    """When the mover's clock was started, in seconds since 1970."""
    clocks: tuple[float, float]
    """The seconds left on both clocks at `turn_started`."""
    position: Position
    moves: tuple[int, ...] = ()
    seconds: tuple[float, ...] = ()
    """The seconds used for each move."""
    draw_offer: int | None = None
    """The side whose draw offer is open, else None."""
    loser: int | None = None
    reason: str = ""
    """The code of the reason why the game ended; empty if it is in progress or was played to the end."""
    tournament: int | None = None
    """The number of the tournament to which the game belongs."""
    lag_quotas: tuple[LagQuota, LagQuota] = field(default=(LagQuota(), LagQuota()), compare=False)
    """The lag compensation still available to each side.  Not stored; see `resume`."""
    draw_offered_at: tuple[int, int] = field(default=(-DRAW_OFFER_INTERVAL, -DRAW_OFFER_INTERVAL), compare=False)
    """The number of moves that had been played when each side last offered a draw.  Not stored."""
    aborted_by: int | None = field(default=None, compare=False)
    """The side that aborted the game or missed its first move.  Not stored."""

    # ---- state -------------------------------------------------------------------------------------------------------
    @cached_property
    def over(self) -> bool:
        """Whether the game has ended."""
        return bool(self.reason) or self.position.over

    @property
    def winner(self) -> int | None:
        """The winning side of an ended game; None for a draw or an aborted game."""
        if self.loser is not None:
            return 1 - self.loser
        first, second = self.position.score()
        return None if self.reason or first == second else int(second > first)

    @property
    def mover(self) -> int:
        """The side to move."""
        return self.position.side

    def clocks_at(self, now: float) -> tuple[float, float]:
        """Return the seconds left on both clocks at a given time."""
        first, second = self.clocks
        gone = 0.0 if self.over else max(0.0, now - self.turn_started)
        return (first - gone, second) if self.mover == 0 else (first, second - gone)

    @cached_property
    def deadline(self) -> float:
        """When the mover's time runs out, including the largest possible lag compensation."""
        return (
            self.turn_started
            + self.time_to_move
            + self.lag_quotas[self.mover].compensation(MAX_LAG_COMPENSATION, MAX_LAG_COMPENSATION)
        )

    @property
    def awaits_first_move(self) -> bool:
        """Whether the game is aborted if the mover's first move is not played in time; always False in a tournament."""
        return not self.over and len(self.moves) < 2 and self.tournament is None

    @property
    def time_to_move(self) -> float:
        """The seconds that the mover has for this move."""
        left = self.clocks[self.mover]
        return min(left, FIRST_MOVE_SECONDS) if self.awaits_first_move else left

    def side_of(self, account: int) -> int:
        """Return the side of an account; raise `ClubError` if the account is not a player of this game."""
        if account not in self.players:
            raise ClubError(
                "not_your_game",
                f"you are not a player of game {self.number}: you can only watch it",
                game=self.number,
            )
        return self.players.index(account)

    # ---- actions of the players --------------------------------------------------------------------------------------
    def play(self, account: int, ply: int, move: str, now: float, lag: float = 0.0) -> "GameState":
        """Play a move, and any forced passes that follow.

        `ply` must be the number of moves already played, so that a move that is sent twice is not played twice.  The
        network delay `lag` is compensated within the side's quota.  If the mover's time has run out, the move is not
        played and the game ends.
        """
        side = self._require_player(account)
        if ply != len(self.moves):
            raise ClubError(
                "wrong_ply",
                f"game {self.number} is at ply {len(self.moves)}, not {ply}: request the current state of the game",
                game=self.number,
                ply=len(self.moves),
                given=ply,
            )
        if side != self.mover:
            raise ClubError(
                "not_your_turn",
                f"it is not your turn in game {self.number}: wait for the opponent's move",
                game=self.number,
            )
        elapsed = now - self.turn_started
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
        quota = self.lag_quotas[side].after_move(given_back, self.control)
        after = replace(
            self,
            turn_started=now,
            clocks=_with(self.clocks, side, self.clocks[side] + self.control.increment - spent),
            lag_quotas=_with(self.lag_quotas, side, quota),
            position=position,
            moves=tuple(moves),
            seconds=tuple(seconds),
            draw_offer=self.draw_offer if self.draw_offer == side else None,  # a move declines the opponent's offer
        )
        return after.end_at_limit() if len(moves) >= MAX_PLIES else after

    def end_at_limit(self) -> "GameState":
        """End a game at the move limit and score it as after a repetition."""
        if self.over:
            return self
        position = self.position
        first, second = replace(position, past=position.past | {(position.own, position.opp, position.side)}).score()
        loser = None if first == second else int(first > second)
        return replace(self, loser=loser, reason=DRAW_AT_LIMIT if loser is None else BEHIND_AT_LIMIT, draw_offer=None)

    def resign(self, account: int) -> "GameState":
        """Resign the game."""
        return replace(self, loser=self._require_player(account), reason=RESIGNED)

    def offer_draw(self, account: int) -> "GameState":
        """Offer a draw or accept the opponent's offer; not possible in Othello."""
        side = self._require_player(account)
        if not self.game.adapter.has_draw_offers:
            raise ClubError(
                "no_draw_offers",
                f"{self.game.adapter.title} has no draw by agreement: play on, or resign",
                variant=str(self.game),
            )
        if self.draw_offer == 1 - side:
            return replace(self, reason=DRAW_AGREED, draw_offer=None)
        if self.draw_offer == side:
            return self
        ply, again = len(self.moves), self.draw_offered_at[side] + DRAW_OFFER_INTERVAL
        if ply < again:
            raise ClubError(
                "draw_already_offered",
                f"you have already offered a draw: you can offer one again after move {again}",
                ply=self.draw_offered_at[side],
                next_ply=again,
            )
        return replace(self, draw_offer=side, draw_offered_at=_with(self.draw_offered_at, side, ply))

    def decline_draw(self, account: int) -> "GameState":
        """Decline the opponent's draw offer, or withdraw the account's own offer."""
        self._require_player(account)
        return self if self.draw_offer is None else replace(self, draw_offer=None)

    def abort(self, account: int) -> "GameState":
        """Abort the game before the account's first move; the game is then not rated."""
        side = self._require_player(account)
        if self.tournament is not None:
            raise ClubError(
                "tournament_game",
                f"game {self.number} belongs to a tournament and cannot be aborted: play on, or resign",
                game=self.number,
            )
        if len(self.moves) > side:
            message = f"you have already moved in game {self.number} and can no longer abort it: play on, or resign"
            raise ClubError("game_started", message, game=self.number)
        return replace(self, reason=ABORTED, aborted_by=side)

    def claim(self, account: int, draw: bool = False) -> "GameState":
        """Claim the win, or a draw if `draw` is set; the caller must check that the grace period is over."""
        side = self._require_player(account)
        if len(self.moves) < 2:
            raise ClubError(
                "claim_before_start",
                f"a claim in game {self.number} is possible only after both players have moved: wait until then",
                game=self.number,
            )
        if not draw:
            return replace(self, loser=1 - side, reason=LEFT_GAME, draw_offer=None)
        if not self.game.adapter.has_draw_offers:
            raise ClubError(
                "no_draw_claims",
                f"{self.game.adapter.title} has no draw claims: claim the win",
                variant=str(self.game),
            )
        return replace(self, reason=DRAW_CLAIMED, draw_offer=None)

    # ---- time --------------------------------------------------------------------------------------------------------
    def flag(self, now: float) -> "GameState":
        """If the mover's time has run out, end the game: abort it if `awaits_first_move`, else the mover loses."""
        if self.over or now - self.turn_started <= self.time_to_move:
            return self
        if self.awaits_first_move:
            return replace(self, reason=ABORTED, aborted_by=self.mover)
        return replace(self, clocks=_with(self.clocks, self.mover, 0.0), loser=self.mover, reason=TIMED_OUT)

    def resume(self, stopped: float, now: float) -> "GameState":
        """Return the state after a restart; the mover is charged for the time until `stopped`, not for the downtime."""
        if self.over:
            return self
        quotas = LagQuota.resumed(self.clocks[0]), LagQuota.resumed(self.clocks[1])
        return replace(self, turn_started=now - max(0.0, stopped - self.turn_started), lag_quotas=quotas)

    def _require_player(self, account: int) -> int:
        """Return the side of an account; raise `ClubError` if it is not a player of this game or the game is over."""
        side = self.side_of(account)
        if self.over:
            raise ClubError("game_over", f"game {self.number} is over", game=self.number)
        return side


def create_game_state(
    number: int,
    game: Game,
    players: tuple[int, int],
    control: Clock,
    rated: bool,
    now: float,
    tournament: int | None = None,
) -> GameState:
    """Create the state of a new game, in which the clock of the side that moves first is running."""
    clocks, quotas = (control.seconds, control.seconds), (LagQuota.initial(control), LagQuota.initial(control))
    start = Position.start(game)
    return GameState(
        number, game, players, control, rated, now, clocks, start, tournament=tournament, lag_quotas=quotas
    )


def _with(pair: tuple[Value, Value], side: int, value: Value) -> tuple[Value, Value]:
    """Return the pair with the value of one side replaced."""
    return (value, pair[1]) if side == 0 else (pair[0], value)
