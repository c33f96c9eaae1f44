"""A game at a table: whose turn it is, what the clocks say, how it ends.

Nothing here looks at a clock or a network: every act is told the moment at which it came, in seconds, and gives the
table as it is afterwards.  An act that is not allowed raises `Refused` and changes nothing.
"""

from dataclasses import dataclass, replace

from awello.errors import AwelloError
from awello.limits import Clock
from awello.position import Position
from awello.record import Record
from awello.rules.game import PASS, Game

MOST_LAG = 0.5  # seconds of a move that the network may have taken, and that the mover gets back
RESIGNED, TIME, AGREED, ABORTED = "resigned", "ran out of time", "a draw was agreed", "was not begun"


class Refused(AwelloError):
    """What a player asked for is not allowed now; `code` says why to programs."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True)
class Table:
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

    # ---- what it is like ---------------------------------------------------------------------------------------------
    @property
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

    @property
    def deadline(self) -> float:
        """When the mover's time will have run out, whatever the network takes."""
        return self.since + self.clocks[self.mover] + MOST_LAG

    def side_of(self, account: int) -> int:
        """The side of an account; refused if it does not play here."""
        if account not in self.players:
            raise Refused("guest", f"you do not play game {self.number}: you can only watch it")
        return self.players.index(account)

    def record(self, names: tuple[str, str], **tags: str) -> Record:
        """The game as the archive keeps it."""
        sides = dict(zip(self.game.sides, names, strict=True))
        start = Position.start(self.game)
        return Record(start, self.moves, self.seconds, (), sides | tags, self.loser, self.reason)

    # ---- what players do ---------------------------------------------------------------------------------------------
    def play(self, account: int, ply: int, move: str, now: float, lag: float = 0.0) -> "Table":
        """A move; passes that follow are played at once, because they leave no choice.

        The ply tells a move from one that was sent again.  What the network took is given back, up to `MOST_LAG`.
        """
        side = self._acting(account)
        if ply != len(self.moves):
            raise Refused("ply", f"game {self.number} is at ply {len(self.moves)}, not {ply}: look at it again")
        if side != self.mover:
            raise Refused("turn", f"it is not your turn in game {self.number}: wait for the other's move")
        spent = max(0.0, now - self.since - min(max(0.0, lag), MOST_LAG))
        if spent > self.clocks[side]:
            return self.flag(now)
        chosen = self.position.parse_move(move)
        position, moves, seconds = self.position.after(chosen), [*self.moves, chosen], [*self.seconds, spent]
        while not position.over and position.legal_moves() == (PASS,):
            position = position.after(PASS)
            moves.append(PASS)
            seconds.append(0.0)
        left = list(self.clocks)
        left[side] += self.control.increment - spent
        return replace(
            self,
            since=now,
            clocks=(left[0], left[1]),
            position=position,
            moves=tuple(moves),
            seconds=tuple(seconds),
            offer=self.offer if self.offer == side else None,  # moving on declines the other's offer
        )

    def resign(self, account: int) -> "Table":
        """Give the game up."""
        return replace(self, loser=self._acting(account), reason=RESIGNED)

    def offer_draw(self, account: int) -> "Table":
        """Offer a draw, or accept the other's offer; in Othello the board decides, as its rules say."""
        side = self._acting(account)
        if self.game.family == "othello":
            raise Refused("rules", "a draw cannot be agreed in Othello: play on, or resign")
        if self.offer == 1 - side:
            return replace(self, reason=AGREED, offer=None)
        return replace(self, offer=side)

    def decline_draw(self, account: int) -> "Table":
        """Decline the other's offer, or take one's own back."""
        self._acting(account)
        return replace(self, offer=None)

    def abort(self, account: int) -> "Table":
        """Leave a game in which one has not moved yet; it counts for nothing."""
        side = self._acting(account)
        if self.tournament is not None:
            raise Refused("tournament", f"game {self.number} belongs to a tournament: play on, or resign")
        if len(self.moves) > side:
            raise Refused("begun", f"game {self.number} has begun: play on, or resign")
        return replace(self, reason=ABORTED)

    # ---- what time does ----------------------------------------------------------------------------------------------
    def flag(self, now: float) -> "Table":
        """The table after a look at the clock: the mover has lost if their time has run out."""
        if self.over or now - self.since <= self.clocks[self.mover]:
            return self
        clocks = list(self.clocks)
        clocks[self.mover] = 0.0
        return replace(self, clocks=(clocks[0], clocks[1]), loser=self.mover, reason=TIME)

    def resume(self, stopped: float, now: float) -> "Table":
        """The table after the server stood still: what passed before it stopped counts, what passed since does not."""
        return self if self.over else replace(self, since=now - max(0.0, stopped - self.since))

    def _acting(self, account: int) -> int:
        """The side of an account that may still act."""
        side = self.side_of(account)
        if self.over:
            raise Refused("over", f"game {self.number} is over: {self.reason or 'the board has decided'}")
        return side


def new_table(
    number: int,
    game: Game,
    players: tuple[int, int],
    control: Clock,
    rated: bool,
    now: float,
    tournament: int | None = None,
) -> Table:
    """A game that begins: whoever moves first has the clock running."""
    clocks = control.seconds, control.seconds
    return Table(number, game, players, control, rated, now, clocks, Position.start(game), tournament=tournament)
