"""The champion: the engine as a player, with its opening book and a file of moves that lost games."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from awello.analysis import Analysis
from awello.errors import SpecError
from awello.evaluate.evaluator import Heuristic
from awello.limits import Clock, Limit
from awello.players.player import Choice, Player, register
from awello.position import Position
from awello.rules.game import Game

if TYPE_CHECKING:
    from awello.engine.avoided_moves import AvoidedMoves
    from awello.engine.engine import Engine

MIN_GAIN = 1.0  # discs or seeds by which an alternative must be better than the losing move


@register(
    "champion",
    "the strongest player: learnt evaluation, deep search, exact endgames; @level=0 to @level=30, or another limit",
)
@dataclass
class ChampionPlayer(Player):
    """Plays the engine's move.  Without a limit, the clock determines the search time."""

    heuristic: str | None = None
    """Heuristic that replaces the learnt evaluation; for Awalé only `diffscore`."""
    limit: Limit | None = None
    threads: Annotated[int, Field(ge=1, le=64)] = 1
    hash: Annotated[int, Field(ge=1, le=1 << 16)] = 32
    """Size of the transposition table in MiB."""
    ponder: bool = False
    """Whether to search on the opponent's time."""
    book: bool = True
    """Whether to play from the opening book; only Awalé has one."""
    weights: str = ""
    """File of learnt weights; default: the shipped weights."""
    avoided_moves: str = ""
    """File of moves that lost games: these moves are avoided, and new ones are added."""
    max_loss: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    """Maximum cost of a deliberate mistake, in discs or seeds."""
    mistake_percent: Annotated[int, Field(ge=0, le=100)] = 0
    """Percentage of moves that are deliberate mistakes."""

    def __post_init__(self) -> None:
        self.engine: Engine | None = None
        self.avoided: AvoidedMoves | None = None
        self.played: list[tuple[Position, Analysis]] = []

    def begin(self, game: Game, seed: int) -> None:
        from awello.engine.avoided_moves import AvoidedMoves
        from awello.engine.book import load_shipped_book
        from awello.engine.engine import Engine
        from awello.engine.levels import find_level

        if self.limit is not None and self.limit.depth == 0:
            raise SpecError(f"player {self.spec.typed} needs a depth of at least 1, such as champion@8")
        if self.limit is not None and self.limit.level is not None:
            find_level(self.limit.level)
        self.end()
        if self.engine is None or self.engine.game != game:
            heuristic = Heuristic(self.heuristic) if self.heuristic else None
            weights = Path(self.weights) if self.weights else None
            self.engine = Engine(game, self.threads, self.hash, heuristic, weights)
        if self.avoided_moves and self.avoided is None:
            self.avoided = AvoidedMoves(Path(self.avoided_moves))
        self.engine.clear()
        self.opening_book = load_shipped_book(game)
        super().begin(game, seed)

    def choose(self, position: Position, clock: Clock) -> Choice:
        if self.engine is None:
            raise RuntimeError("call begin() before choose()")
        if self.max_loss and self.rng.randrange(100) < self.mistake_percent:
            analysis = self._choose_mistake(self.engine, position, clock)
        else:
            analysis = self._find_in_book(position) or self._search(self.engine, position, clock)
        self.played.append((position, analysis))
        if self.ponder:
            self.engine.ponder(position.after(analysis.move))
        return Choice(analysis.move, analysis)

    def _find_in_book(self, position: Position) -> Analysis | None:
        """Find a book move.  The book is off if a level or heuristic is set, or if the position has avoided moves."""
        level = self.limit is not None and self.limit.level is not None
        if not self.book or level or self.heuristic or self._find_avoided_moves(position):
            return None
        if found := self.opening_book.choose(position):
            return Analysis(*found, False, 0, 0, 0, 0.0, (found,), found[:1])
        return None

    def _search(self, engine: "Engine", position: Position, clock: Clock) -> Analysis:
        avoided = self._find_avoided_moves(position)
        analysis = engine.choose(position, clock, self.limit, avoided)
        best = max(avoided, key=lambda move: avoided[move], default=analysis.move)
        if best in avoided and (analysis.move in avoided or avoided[best] > analysis.value):
            return replace(analysis, move=best, value=avoided[best], candidates=((best, avoided[best]),), pv=(best,))
        return analysis

    def _choose_mistake(self, engine: "Engine", position: Position, clock: Clock) -> Analysis:
        """Choose a random move that loses more than 0 and at most `max_loss`; without one, choose the best move."""
        analysis = engine.choose(position, clock, self.limit, multipv=len(position.legal_moves()))
        weaker = [found for found in analysis.candidates if 0 < analysis.value - found[1] <= self.max_loss]
        if not weaker:
            return analysis
        move, value = self.rng.choice(weaker)
        return replace(analysis, move=move, value=value, exact=move in analysis.exact_moves, pv=(move,))

    def _find_avoided_moves(self, position: Position) -> dict[int, float]:
        return self.avoided.moves_at(position) if self.avoided else {}

    def end(self) -> None:
        played, self.played = self.played, []
        if self.engine is not None:
            self.engine.close()
            if self.avoided is not None and played:
                self._note_losing_move(self.engine, self.avoided, played)
                self.engine.close()

    def _note_losing_move(
        self, engine: "Engine", avoided: "AvoidedMoves", played: list[tuple[Position, Analysis]]
    ) -> None:
        """After a lost game, record the last move for which a search finds a better alternative."""
        final = played[-1][0].lead + played[-1][1].value
        if final >= 0:
            return
        for position, analysis in reversed(played):
            value = final - position.lead
            if len(position.legal_moves()) > 1 and not analysis.exact:
                other = engine.choose(position, Clock(), self.limit, [*avoided.moves_at(position), analysis.move])
                if other.move != analysis.move and other.value >= value + MIN_GAIN:
                    avoided.add(position, analysis.move, value)
                    return
