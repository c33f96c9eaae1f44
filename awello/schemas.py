"""The JSON forms of positions, analyses, games, imports and reviews, shared by the commands, the API and the page.

Values are expected final margins from the mover's view, in discs or seeds; seeds already captured are included.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from awello.analysis import Analysis
from awello.engine.levels import OPPONENT_SPECS
from awello.evaluate.evaluator import list_heuristics
from awello.formats.openings import Opening, find_opening_at, find_opening_by_name
from awello.formats.transcript import format_transcript
from awello.kernel import U
from awello.position import Position, format_position
from awello.record import REASON_TEXTS, Record
from awello.review.review import MISTAKE_SCALES, MoveReview, ReviewSummary, summarise
from awello.rules import awale, othello
from awello.rules.game import PASS, Game

if TYPE_CHECKING:
    from awello.archive.explorer import Exploration
    from awello.archive.importer import ImportReport

GameName = Literal["othello", "othello6", "othello4", "abapa", "tournament", "romein"]
Side = Literal[0, 1]
LossReason = Literal["resigned", "time", "forfeit"]
LOSS_REASONS_BY_TEXT = {REASON_TEXTS[reason]: reason for reason in get_args(LossReason)}


def round_value(value: float) -> float:
    """Round a value to two decimals for output."""
    return round(float(value), 2) + 0.0  # + 0.0 turns -0.0 into 0.0


Value = Annotated[float, AfterValidator(round_value)]
Seconds = Annotated[float, AfterValidator(lambda seconds: round(seconds, 3))]


# ---- games and positions --------------------------------------------------------------------------------------------
class RulesJson(BaseModel):
    """A set of rules: Othello on a board of a given size, or a variant of Awalé."""

    name: GameName
    family: Literal["othello", "awale"]
    size: int = Field(description="The number of rows of the board")
    variant: str | None = Field(description="The variant of Awalé; null for Othello")
    sides: tuple[str, str]
    unit: str = Field(description="`discs` or `seeds`")
    max_score: int = Field(description="The largest score: the number of squares or seeds")
    inaccuracy: float = Field(description="The smallest loss that a review marks as an inaccuracy")
    start: str = Field(description="The start position")
    has_draw_offers: bool
    heuristics: list[str] = Field(description="The heuristics that textbook players can use")
    opponents: list[str] = Field(description="The specs of the opponents for human players, weakest first")

    @classmethod
    def of(cls, game: Game) -> "RulesJson":
        """Describe the rules of a game."""
        fields = {
            "start": format_position(Position.start(game)),
            "heuristics": list_heuristics(game),
            "opponents": OPPONENT_SPECS[game.family],
        }
        return cls.model_validate(game.describe() | vars(MISTAKE_SCALES[game.family]) | fields)


class PositionJson(BaseModel):
    """A position with the effects of its legal moves."""

    position: str = Field(description="An OBF board or an Awalé diagram")
    side: Side = Field(description="The side to move: 0 for Black or South, 1 for White or North")
    board: dict[str, Any] = Field(description="Othello: `size` and `cells`; Awalé: `pits` and `captured`")
    moves: dict[str, dict[str, Any]] = Field(
        description="The effects of each legal move: `flips` (Othello), or `sown` and `captured` (Awalé)"
    )
    illegal_pits: dict[str, str] = Field(
        description="The pits that the mover may not choose, with the reason: `empty` or `feed`"
    )
    counts: tuple[int, int] = Field(description="The discs or captured seeds of each side")
    over: bool
    score: tuple[int, int] | None = Field(description="The final score; null if the game is not over")
    winner: Side | None
    end_reason: str = Field(description="Why the game ended; empty if it is not over or the Othello board is full")
    opening: Opening | None

    @classmethod
    def of(cls, position: Position) -> "PositionJson":
        """Describe a position."""
        over, score = position.over, position.score()
        return cls.model_validate(
            {
                "position": format_position(position),
                "side": position.side,
                **BOARD_FUNCTIONS[position.game.family](position),
                "counts": position.counts(),
                "over": over,
                "score": score if over else None,
                "winner": int(score[1] > score[0]) if over and score[0] != score[1] else None,
                "end_reason": position.end_reason,
                "opening": find_opening_at(position),
            }
        )


class PositionsJson(BaseModel):
    """The positions of a game."""

    positions: list[PositionJson]
    transcript: str

    @classmethod
    def of(cls, record: Record, first_ply: int = 0) -> "PositionsJson":
        """Describe the positions of a game from ply `first_ply` on."""
        positions = [PositionJson.of(position) for position in islice(record.positions(), first_ply, None)]
        return cls(positions=positions, transcript=format_transcript(record))


def _describe_othello_board(position: Position) -> dict[str, Any]:
    """Describe the board, and the discs flipped by each legal move."""
    size, moves = position.game.size, {}
    for move in position.legal_moves():
        word = position.after(move).opp & position.opp if move != PASS else 0
        flips = [othello.format_square(at, size) for at in othello.squares_of(size) if word >> at & 1]
        moves[position.format_move(move)] = {"flips": flips}
    return {"board": {"size": size, "cells": format_position(position).split()[0]}, "moves": moves, "illegal_pits": {}}


def _describe_awale_board(position: Position) -> dict[str, Any]:
    """Describe the pits, the effects of each legal move, and why the mover's other pits cannot be played."""
    words, row = (position.first, position.second), awale.pits_of(position.own)
    board = {"pits": [pit for word in words for pit in awale.pits_of(word)], "captured": [word >> 48 for word in words]}
    legal = position.legal_moves()
    moves = {position.format_move(move): _describe_sowing(position, move, row[move]) for move in legal}
    illegal = [] if position.over else [pit for pit in range(6) if pit not in legal]
    reasons = {position.format_move(pit): "feed" if row[pit] else "empty" for pit in illegal}
    return {"board": board, "moves": moves, "illegal_pits": reasons}


def _describe_sowing(position: Position, move: int, seeds: int) -> dict[str, Any]:
    """Return the pit where each seed lands, and the captured pits with their numbers of seeds, in order of capture."""
    names = awale.PIT_NAMES[position.side] + awale.PIT_NAMES[1 - position.side]
    path = [(move + step) % 12 for step in range(1, 12)]  # the origin is skipped
    rows = U(position.own & int(awale.ROW_MASK)), U(position.opp & int(awale.ROW_MASK))
    *_, prize = awale.sow(int(position.game), *rows, move)
    captured = [[names[6 + at], count] for at, count in enumerate(awale.pits_of(int(prize))) if count]
    return {"sown": [names[path[seed % 11]] for seed in range(seeds)], "captured": captured[::-1]}


BOARD_FUNCTIONS = {"othello": _describe_othello_board, "awale": _describe_awale_board}


# ---- analyses -------------------------------------------------------------------------------------------------------
class CandidateJson(BaseModel):
    """A legal move with its value."""

    move: str
    value: float
    exact: bool


class AnalysisJson(BaseModel):
    """The result of a search."""

    position: str
    value: float
    exact: bool = Field(description="Whether the value is proven to be the result of best play")
    best: str | None = Field(description="The best move; null if the game is over")
    depth: int
    confidence: int = Field(description="The probability, in percent, that ProbCut has not changed the value")
    nodes: int
    seconds: Seconds
    moves: list[CandidateJson] = Field(description="Best first")
    pv: list[str] = Field(description="The principal variation")

    @classmethod
    def of(cls, position: Position, analysis: Analysis) -> "AnalysisJson":
        """Describe the analysis of a position."""
        moves = [
            {
                "move": position.format_move(move),
                "value": to_margin(position, value),
                "exact": move in analysis.exact_moves,
            }
            for move, value in sorted(analysis.candidates, key=lambda candidate: -candidate[1])
        ]
        fields = {
            "position": format_position(position),
            "value": to_margin(position, analysis.value),
            "best": None if position.over else position.format_move(analysis.move),
            "moves": moves,
            "pv": position.format_moves(analysis.pv),
        }
        return cls.model_validate(vars(analysis) | fields)


class ChoiceJson(BaseModel):
    """A player's move."""

    move: str
    seconds: Seconds
    value: float | None = Field(description="Null if the player does not evaluate positions in discs or seeds")
    exact: bool = False
    depth: int | None = None
    nodes: int | None = None
    pv: list[str]
    after: PositionJson = Field(description="The position after the move")

    @classmethod
    def of(
        cls, position: Position, move: int, analysis: Analysis | None, seconds: float, value: float | None
    ) -> "ChoiceJson":
        """Describe a chosen move; `value` is the margin that the player expects, or None."""
        line = analysis.pv if analysis and analysis.pv[:1] == (move,) else (move,)
        fields = {"move": position.format_move(move), "seconds": seconds, "value": value}
        more = {"pv": position.format_moves(line), "after": PositionJson.of(position.after(move))}
        return cls.model_validate((vars(analysis) if analysis else {}) | fields | more)


def to_margin(position: Position, value: float) -> float:
    """Convert a value of the engine to a final margin by adding the mover's lead in captured seeds."""
    return round_value(position.lead + value)


# ---- played games ---------------------------------------------------------------------------------------------------
class LossJson(BaseModel):
    """A loss by resignation, on time or by forfeit."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    loser: Side = Field(description="The side that lost; 0 moved first")
    reason: LossReason


class GameJson(BaseModel):
    """A played game; the first entry of each pair belongs to the side that moved first."""

    number: int | None = Field(description="The number of the game in the archive; null if it is not archived")
    game: GameName
    start: str | None = Field(description="The start position; null for the standard one")
    moves: list[str]
    seconds: list[float | None] = Field(description="The time of each move, in seconds; empty if no times are known")
    values: list[float | None] = Field(description="The value of each move for the mover; empty if no values are known")
    players: tuple[str | None, str | None]
    tags: dict[str, str] = Field(description="The tags of the game, except for the names of the players")
    loss: LossJson | None = Field(description="A loss by resignation, on time or by forfeit, else null")
    score: tuple[int, int] | None = Field(description="The final score; null unless the game was played to the end")
    outcome: str = Field(description="The result in words", examples=["Black wins 40-24"])

    @classmethod
    def of(cls, record: Record, number: int | None = None, **more: Any) -> "GameJson":
        """Describe a record."""
        start, tags = record.start, dict(record.tags)
        loss = {"loser": record.loser, "reason": LOSS_REASONS_BY_TEXT.get(record.reason, "forfeit")}
        fields = {
            "number": number,
            "game": str(start.game),
            "start": None if start == Position.start(start.game) else format_position(start),
            "moves": start.format_moves(record.moves),
            "players": [tags.pop(side, None) for side in start.game.sides],
            "tags": tags,
            "loss": None if record.loser is None else loss,
            "score": record.final.score() if record.final.over else None,
            "outcome": record.describe(),
        }
        return cls.model_validate(vars(record) | fields | more)


class DetectedGameJson(GameJson):
    """A game or position detected in a text."""

    format: str = Field(description="The format of the text", examples=["transcript"])
    games: int = Field(description="The number of games in the text, of which this is the first")


class GameRowJson(BaseModel):
    """A game in a list; the first entry of each pair belongs to the side that moved first."""

    number: int
    game: GameName
    players: tuple[str | None, str | None]
    score: tuple[int, int] | None = Field(description="The final score; null unless the game was played to the end")
    winner: Side | None
    loser: Side | None = Field(description="The side that lost by resignation, on time or by forfeit, else null")
    reason: str = Field(description="Why `loser` lost, else empty")
    date: str | None = Field(examples=["1996-05-07"])
    event: str | None
    opening: Opening | None

    @classmethod
    def of(cls, row: Any, record: Record) -> "GameRowJson":
        """Describe a game, given its row in the archive and its record."""
        decided = row.loser is None and row.score is not None
        fields = {
            "number": row.id,
            "game": str(record.start.game),
            "players": (row.first_name, row.second_name),
            "score": record.final.score() if decided else None,
            "winner": row.winner if row.winner in (0, 1) else None,
            "event": row.event_name,
            "opening": find_opening_by_name(row.opening),
        }
        return cls.model_validate(row._asdict() | fields)


class GameListJson(BaseModel):
    """Games of the archive, the most recently added first."""

    total: int = Field(description="The number of games that match the filters")
    games: list[GameRowJson]


class MoveStatisticsJson(BaseModel):
    """Statistics of a move in a position; results are from the mover's view."""

    move: str = Field(examples=["d6"])
    games: int
    wins: int
    draws: int
    losses: int
    mean_margin: float | None = Field(
        description="The mover's mean margin in games played to the end; null if no game was"
    )
    value: int | None = Field(
        description="The mover's margin by minimax over the games through the position; null if unknown"
    )
    opening: Opening | None = Field(description="The opening reached by the move")


class ExplorationJson(BaseModel):
    """Statistics of a position in the archive."""

    games: int = Field(description="The number of games that reached the position or a symmetric one")
    value: int | None = Field(description="The value of the best move; null for Awalé, or if there are too many games")
    opening: Opening | None
    moves: list[MoveStatisticsJson] = Field(description="Most frequent first; symmetric moves are counted as one")

    @classmethod
    def of(cls, exploration: "Exploration") -> "ExplorationJson":
        """Describe the statistics of a position."""
        moves = [vars(each) | {"move": exploration.position.format_move(each.move)} for each in exploration.moves]
        return cls.model_validate(
            vars(exploration) | {"opening": find_opening_at(exploration.position), "moves": moves}
        )


class ImportJson(BaseModel):
    """The result of importing a file."""

    name: str
    format: str = Field(
        description="The file format; `names` for WTHOR's players and events, `unknown` for other files without games"
    )
    games: int
    new: int = Field(description="The number of games that no earlier import of the same file has added")
    duplicates: int = Field(description="The number of games with the same moves as an older game of the archive")
    unfinished: int
    error_count: int = Field(description="The number of errors in the file")
    errors: list[str] = Field(description="The messages of the errors in the file; the API returns only the first ones")

    @classmethod
    def of(cls, report: "ImportReport", max_errors: int | None = None) -> "ImportJson":
        """Describe the import of a file, with at most `max_errors` error messages."""
        errors = [" ".join(str(error).split()) for error in report.errors]
        fields = {
            "name": report.source.name,
            "format": report.source.format,
            "new": report.games - report.imported_before,
        }
        return cls.model_validate(vars(report) | fields | {"error_count": len(errors), "errors": errors[:max_errors]})


# ---- reviews --------------------------------------------------------------------------------------------------------
class MoveReviewJson(BaseModel):
    """A played move compared with the best one."""

    ply: int = Field(description="The number of the move in the game, counted from 1, passes included")
    side: Side
    move: str
    value: Value
    best: str
    best_value: Value
    loss: Value
    exact: bool
    pv: list[str] = Field(description="The principal variation of the position before the move")
    mark: str = Field(description="?! for an inaccuracy, ? for a mistake, ?? for a blunder; otherwise empty")

    @classmethod
    def of(cls, move_review: MoveReview) -> "MoveReviewJson":
        """Describe the review of a move."""
        position, played, best = move_review.position, move_review.move, move_review.best_move
        names = {"move": position.format_move(played), "best": position.format_move(best)}
        more = {"side": position.side, "pv": position.format_moves(move_review.pv), "mark": move_review.mark}
        return cls.model_validate(vars(move_review) | names | more)


def summarise_side(reviews: Sequence[MoveReview], side: int) -> ReviewSummary:
    """Summarise the moves of a side; round the mean loss and the accuracy."""
    summary = summarise(reviews, side)
    return replace(summary, mean_loss=round_value(summary.mean_loss), accuracy=round_value(summary.accuracy))


class ReviewJson(BaseModel):
    """A review of a game."""

    game: GameJson
    moves: list[MoveReviewJson] = Field(description="In playing order")
    sides: tuple[ReviewSummary, ReviewSummary]
    complete: bool = Field(description="False if the review, which starts with the last move, did not reach the first")

    @classmethod
    def of(cls, record: Record, reviews: Sequence[MoveReview]) -> "ReviewJson":
        """Describe the review of a game, given the reviews of its moves in playing order."""
        moves = [MoveReviewJson.of(move_review) for move_review in reviews]
        sides = summarise_side(reviews, 0), summarise_side(reviews, 1)
        return cls(game=GameJson.of(record), moves=moves, sides=sides, complete=len(moves) == len(record.moves))


# ---- contests -------------------------------------------------------------------------------------------------------
class RoundsJson(BaseModel):
    """Numbers of rounds won, drawn and lost."""

    wins: int
    draws: int
    losses: int


class BotStandingJson(BaseModel):
    """The results of a bot in a contest, created by `BotStanding.to_json`."""

    bot: str
    points: int
    rounds: RoundsJson
    games: int
    mean_score: float
    elo: float
    elo_margin: float
    forfeits: dict[str, int] = Field(description="The number of forfeited games by reason")
    messages: dict[str, str] = Field(description="The first error message for each reason")
    moves: int
    mean_ms: float
    max_ms: float
    memory_mib: float
    learning_seconds: float
    mean_cpus: float = Field(description="The mean number of busy CPUs during moves")
