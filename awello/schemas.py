"""The JSON forms of positions, analyses, games and reports: one form for the commands, the API and the page.

Values are margins in discs or seeds from the mover's view: what the game will end with, captured seeds included.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from awello.analysis import Analysis
from awello.engine.levels import OPPONENTS
from awello.evaluate.settings import heuristics_for
from awello.formats.openings import Opening, opening_at, opening_called
from awello.formats.transcript import format_transcript
from awello.kernel import U
from awello.position import Position, format_position
from awello.record import Record
from awello.review.review import SCALES, MoveReview, ReviewSummary, summarise
from awello.rules import awale, othello
from awello.rules.game import PASS, Game

if TYPE_CHECKING:
    from awello.archive.explorer import Exploration
    from awello.archive.importer import ImportReport

GameName = Literal["othello", "othello6", "othello4", "abapa", "tournament", "romein"]
Side = Literal[0, 1]
REASONS = {"resigned": "resigned", "time": "ran out of time", "forfeit": "forfeited"}  # codes, and words of a record


def round_value(value: float) -> float:
    """A value as it is told."""
    return round(float(value), 2) + 0.0  # + 0.0: there is no minus zero


Value = Annotated[float, AfterValidator(round_value)]
Seconds = Annotated[float, AfterValidator(lambda seconds: round(seconds, 3))]


# ---- games and positions --------------------------------------------------------------------------------------------
class RulesJson(BaseModel):
    """A game: a size of Othello or a variant of Awalé."""

    name: GameName
    family: Literal["othello", "awale"]
    size: int = Field(description="Rows of the board")
    variant: str | None
    sides: tuple[str, str]
    unit: str = Field(description="What is counted: discs or seeds")
    points: int = Field(description="Squares of the board, or seeds")
    inaccuracy: float = Field(description="The least loss that a review marks")
    start: str = Field(description="The position the game begins with")
    has_draw_offers: bool
    heuristics: list[str] = Field(description="For textbook searches")
    opponents: list[str] = Field(description="Player specs of rising strength")

    @classmethod
    def of(cls, game: Game) -> "RulesJson":
        """The rules of a game."""
        known = {
            "start": format_position(Position.start(game)),
            "heuristics": heuristics_for(game),
            "opponents": OPPONENTS[game.family],
        }
        return cls.model_validate(game.describe() | vars(SCALES[game.family]) | known)


class PositionJson(BaseModel):
    """A position, and what each legal move does to the board."""

    position: str = Field(description="An OBF board or an Awalé diagram")
    side: Side = Field(description="The side to move; 0 moves first")
    board: dict[str, Any] = Field(description="`size` and `cells`, or `pits` and `taken`")
    moves: dict[str, dict[str, Any]] = Field(description="`flips`, or `sown` and `captured`, by legal move")
    refused: dict[str, str] = Field(description="Why the mover's other pits cannot be played: `empty` or `feed`")
    holdings: tuple[int, int] = Field(description="Discs on the board, or seeds captured")
    over: bool
    score: tuple[int, int] | None = Field(description="The final score, if the game is over")
    winner: Side | None
    ending: str = Field(description="Why the game ended, if that needs a word")
    opening: Opening | None

    @classmethod
    def of(cls, position: Position) -> "PositionJson":
        """The form of a position."""
        over, score = position.over, position.score()
        return cls.model_validate(
            {
                "position": format_position(position),
                "side": position.side,
                **BOARDS[position.game.family](position),
                "holdings": position.holdings(),
                "over": over,
                "score": score if over else None,
                "winner": int(score[1] > score[0]) if over and score[0] != score[1] else None,
                "ending": position.end,
                "opening": opening_at(position),
            }
        )


class LineJson(BaseModel):
    """The positions of a game."""

    views: list[PositionJson]
    transcript: str

    @classmethod
    def of(cls, record: Record, since: int = 0) -> "LineJson":
        """The positions of a game from a ply on."""
        views = [PositionJson.of(position) for position in islice(record.positions(), since, None)]
        return cls(views=views, transcript=format_transcript(record))


def _othello_board(position: Position) -> dict[str, Any]:
    """The board, and the discs that each legal move flips."""
    size, moves = position.game.size, {}
    for move in position.legal_moves():
        word = position.after(move).opp & position.opp if move != PASS else 0
        flips = [othello.format_square(at, size) for at in othello.squares_of(size) if word >> at & 1]
        moves[position.format_move(move)] = {"flips": flips}
    return {"board": {"size": size, "cells": format_position(position).split()[0]}, "moves": moves, "refused": {}}


def _awale_board(position: Position) -> dict[str, Any]:
    """The pits, what each legal move sows and captures, and why the mover's other pits cannot be played."""
    words, row = (position.first, position.second), awale.pits_of(position.own)
    board = {"pits": [pit for word in words for pit in awale.pits_of(word)], "taken": [word >> 48 for word in words]}
    legal = position.legal_moves()
    moves = {position.format_move(move): _sowing(position, move, row[move]) for move in legal}
    refused = [] if position.over else [pit for pit in range(6) if pit not in legal]
    reasons = {position.format_move(pit): "feed" if row[pit] else "empty" for pit in refused}
    return {"board": board, "moves": moves, "refused": reasons}


def _sowing(position: Position, move: int, seeds: int) -> dict[str, Any]:
    """Where each seed goes, and the captured pits, the last sown first."""
    names = awale.PITS[position.side] + awale.PITS[1 - position.side]
    path = [(move + step) % 12 for step in range(1, 12)]  # the origin is skipped
    rows = U(position.own & int(awale.ROW)), U(position.opp & int(awale.ROW))
    *_, prize = awale.sow(int(position.game), *rows, move)
    captured = [[names[6 + at], taken] for at, taken in enumerate(awale.pits_of(int(prize))) if taken]
    return {"sown": [names[path[seed % 11]] for seed in range(seeds)], "captured": captured[::-1]}


BOARDS = {"othello": _othello_board, "awale": _awale_board}


# ---- analyses -------------------------------------------------------------------------------------------------------
class CandidateJson(BaseModel):
    """A move and its value."""

    move: str
    value: float
    exact: bool


class AnalysisJson(BaseModel):
    """What a search found out about a position."""

    position: str
    value: float
    exact: bool = Field(description="Whether the value is the final result under best play")
    best: str | None = Field(description="The best move; null if the game is over")
    depth: int
    confidence: int = Field(description="How sure the search is, in percent")
    nodes: int
    seconds: Seconds
    moves: list[CandidateJson] = Field(description="The best first")
    pv: list[str] = Field(description="Best play on both sides")

    @classmethod
    def of(cls, position: Position, found: Analysis) -> "AnalysisJson":
        """The form of an analysis."""
        moves = [
            {"move": position.format_move(move), "value": margin(position, value), "exact": move in found.exact_moves}
            for move, value in sorted(found.candidates, key=lambda candidate: -candidate[1])
        ]
        told = {
            "position": format_position(position),
            "value": margin(position, found.value),
            "best": None if position.over else position.format_move(found.move),
            "moves": moves,
            "pv": position.format_moves(found.pv),
        }
        return cls.model_validate(vars(found) | told)


class ChoiceJson(BaseModel):
    """A player's move."""

    move: str
    seconds: Seconds
    value: float | None = Field(description="Null if the player does not estimate margins")
    exact: bool = False
    depth: int | None = None
    nodes: int | None = None
    pv: list[str]
    after: PositionJson = Field(description="The position after the move")

    @classmethod
    def of(
        cls, position: Position, move: int, found: Analysis | None, seconds: float, value: float | None
    ) -> "ChoiceJson":
        """The form of a chosen move; the value is the player's, as a margin."""
        line = found.pv if found and found.pv[:1] == (move,) else (move,)
        told = {"move": position.format_move(move), "seconds": seconds, "value": value}
        more = {"pv": position.format_moves(line), "after": PositionJson.of(position.after(move))}
        return cls.model_validate((vars(found) if found else {}) | told | more)


def margin(position: Position, value: float) -> float:
    """By how much the mover will win, from what is still to be won: captured seeds count too."""
    return round_value(position.lead + value)


# ---- played games ---------------------------------------------------------------------------------------------------
class LossJson(BaseModel):
    """How a side lost although the board had not decided."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    loser: Side = Field(description="0 moved first")
    reason: Literal["resigned", "time", "forfeit"]


class GameJson(BaseModel):
    """A played game; of two entries the first belongs to the side that moved first."""

    number: int | None = Field(description="In the archive, if it is there")
    game: GameName
    start: str | None = Field(description="Null for the usual start")
    moves: list[str]
    seconds: list[float | None] = Field(description="The time of each move; empty if unknown")
    values: list[float | None] = Field(description="The mover's estimate after each move; empty if unknown")
    players: tuple[str | None, str | None]
    tags: dict[str, str] = Field(description="What else is known of it")
    result: LossJson | None = Field(description="Null if the board decided, or nothing is decided")
    score: tuple[int, int] | None = Field(description="On the board, if the game was played to its end")
    outcome: str = Field(description="How it ended, in a line", examples=["Black wins 40-24"])

    @classmethod
    def of(cls, record: Record, number: int | None = None, **more: Any) -> "GameJson":
        """The form of a record."""
        start, tags = record.start, dict(record.tags)
        codes = {words: code for code, words in REASONS.items()}
        lost = {"loser": record.loser, "reason": codes.get(record.reason, "forfeit")}
        told = {
            "number": number,
            "game": str(start.game),
            "start": None if start == Position.start(start.game) else format_position(start),
            "moves": start.format_moves(record.moves),
            "players": [tags.pop(side, None) for side in start.game.sides],
            "tags": tags,
            "result": None if record.loser is None else lost,
            "score": record.final.score() if record.final.over else None,
            "outcome": record.describe(),
        }
        return cls.model_validate(vars(record) | told | more)


class RecognisedJson(GameJson):
    """A game or position that was found in a text."""

    kind: str = Field(description="What the text is", examples=["transcript"])
    games: int = Field(description="How many games the text holds; this is the first")


class GameRowJson(BaseModel):
    """A game in a list; of two entries the first belongs to the side that moved first."""

    number: int
    game: GameName
    players: tuple[str | None, str | None]
    score: tuple[int, int] | None = Field(description="If the board decided")
    winner: Side | None
    loser: Side | None = Field(description="Who lost although the board had not decided")
    reason: str = Field(description="How they lost")
    date: str | None = Field(examples=["1996-05-07"])
    event: str | None
    opening: Opening | None

    @classmethod
    def of(cls, row: Any, record: Record) -> "GameRowJson":
        """The form of a row of the archive and its record."""
        decided = row.loser is None and row.score is not None
        told = {
            "number": row.id,
            "game": str(record.start.game),
            "players": (row.first_name, row.second_name),
            "score": record.final.score() if decided else None,
            "winner": row.winner if row.winner in (0, 1) else None,
            "event": row.event_name,
            "opening": opening_called(row.opening),
        }
        return cls.model_validate(row._asdict() | told)


class GameListJson(BaseModel):
    """Games of the archive, the latest first."""

    games: int = Field(description="How many there are in all")
    rows: list[GameRowJson]


class MoveStatisticsJson(BaseModel):
    """A move that was played in a position; results are the mover's."""

    move: str = Field(examples=["d6"])
    games: int
    wins: int
    draws: int
    losses: int
    score: float | None = Field(description="The mean margin in the games that the board decided")
    value: int | None = Field(description="The margin by minimax over the games through this position")
    opening: Opening | None = Field(description="The name of the position after the move")


class ExplorationJson(BaseModel):
    """A position in the games of the archive."""

    games: int = Field(description="That came through it, or through one that is symmetric to it")
    value: int | None = Field(description="The best of the moves' values; null where too many games came through")
    opening: Opening | None
    branches: list[MoveStatisticsJson] = Field(description="The most frequent first; of moves that are symmetric, one")

    @classmethod
    def of(cls, found: "Exploration") -> "ExplorationJson":
        """The form of an exploration."""
        branches = [vars(branch) | {"move": found.position.format_move(branch.move)} for branch in found.branches]
        return cls.model_validate(vars(found) | {"opening": opening_at(found.position), "branches": branches})


class ImportJson(BaseModel):
    """What a file held and what became of it."""

    name: str
    format: str = Field(description="`names` for WTHOR's players and events, `unknown` for what holds no games")
    games: int
    new: int = Field(description="Those that no earlier import of the same file brought")
    repeated: int = Field(description="Those with the moves of another game that is older in the archive")
    unfinished: int
    damaged: int = Field(description="How many places could not be read")
    damage: list[str] = Field(description="The first of them; a command tells all")

    @classmethod
    def of(cls, report: "ImportReport", most: int | None = None) -> "ImportJson":
        """The form of a report, with so many damaged places at most."""
        damage = [" ".join(str(error).split()) for error in report.damage]
        told = {"name": report.source.name, "format": report.source.format, "new": report.games - report.before}
        return cls.model_validate(vars(report) | told | {"damaged": len(damage), "damage": damage[:most]})


# ---- reviews --------------------------------------------------------------------------------------------------------
class MoveReviewJson(BaseModel):
    """A played move beside the best one."""

    ply: int = Field(description="The number of the move, passes included, from 1")
    side: Side
    move: str
    value: Value
    best: str
    best_value: Value
    loss: Value
    exact: bool
    pv: list[str] = Field(description="Best play from the position before the move")
    mark: str = Field(description="?! for an inaccuracy, ? for a mistake, ?? for a blunder")

    @classmethod
    def of(cls, judgement: MoveReview) -> "MoveReviewJson":
        """The form of a judgement."""
        position, played, best = judgement.position, judgement.move, judgement.best_move
        names = {"move": position.format_move(played), "best": position.format_move(best)}
        more = {"side": position.side, "pv": position.format_moves(judgement.pv), "mark": judgement.mark}
        return cls.model_validate(vars(judgement) | names | more)


def summarise_side(judgements: Sequence[MoveReview], side: int) -> ReviewSummary:
    """How well a side played, rounded as values are."""
    found = summarise(judgements, side)
    return replace(found, mean_loss=round_value(found.mean_loss), accuracy=round_value(found.accuracy))


class ReviewJson(BaseModel):
    """A game judged move by move."""

    game: GameJson
    moves: list[MoveReviewJson] = Field(description="In the order of play")
    sides: tuple[ReviewSummary, ReviewSummary]
    complete: bool = Field(description="False if the review ended early; then the last moves were judged")

    @classmethod
    def of(cls, record: Record, judgements: Sequence[MoveReview]) -> "ReviewJson":
        """The form of a review, from judgements in the order of play."""
        moves = [MoveReviewJson.of(judgement) for judgement in judgements]
        sides = summarise_side(judgements, 0), summarise_side(judgements, 1)
        return cls(game=GameJson.of(record), moves=moves, sides=sides, complete=len(moves) == len(record.moves))


# ---- contests -------------------------------------------------------------------------------------------------------
class RoundsJson(BaseModel):
    """Rounds by their outcome."""

    won: int
    drawn: int
    lost: int


class StandingJson(BaseModel):
    """What a bot has achieved; `Standing.as_json` writes it."""

    bot: str
    points: int
    rounds: RoundsJson
    games: int
    mean_score: float
    elo: float
    elo_margin: float
    forfeits: dict[str, int] = Field(description="Games forfeited, by reason")
    messages: dict[str, str] = Field(description="What was said the first time, by reason")
    moves: int
    mean_ms: float
    worst_ms: float
    memory_mib: float
    learning_s: float
    processors: float
