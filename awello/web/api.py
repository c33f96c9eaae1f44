"""The API: questions about positions, players and games, each with one answer."""

from contextlib import aclosing
from dataclasses import MISSING, fields
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response
from pydantic import BaseModel

from awello import __version__
from awello.drawing import draw_svg
from awello.errors import AwelloError
from awello.formats.files import read_games
from awello.formats.recognise import recognise
from awello.formats.transcript import format_transcript
from awello.players.player import registry
from awello.position import Position, format_position
from awello.record import Record
from awello.rules.game import Game
from awello.web.door import Refusal
from awello.web.messages import ELSEWHERE, KEPT_BACK, Analyse, Choose, Line, Review, Text, Views, guest_player
from awello.web.tasks import AnalyseTask, ChooseTask, ReviewTask, Task
from awello.web.thinkers import Thinkers
from awello.web.views import view_record

ABOUT = """
A game that goes on is never kept here: each question says where it began and which moves were played.  Moves have
their usual names, `f5` or `C`, and `pass`.  Values are discs or seeds by which the mover will win, below zero if they
lose.  What goes wrong is answered with a code and a line that says what.

`/api/live` is a WebSocket for answers that grow: send `{"id": 1, "do": "analyse", ...}` (or `choose`, `review`) with
the fields of the request of the same name, and `{"id": 1, "do": "stop"}` to end it; every answer carries the id.
"""


class Problem(BaseModel):
    """What went wrong."""

    code: str
    message: str


PROBLEMS: dict[int | str, dict[str, Any]] = {
    400: {"model": Problem, "description": "It has the right shape, but no meaning: an illegal move, no such player"},
    403: {"model": Problem, "description": "It came from another site"},
    413: {"model": Problem, "description": "It is too large"},
    422: {"model": Problem, "description": "It has the wrong shape"},
    503: {"model": Problem, "description": "There is too much to think about, or thinking failed"},
}
OVERLOADED = ("busy", "closed", "crash")
ABSENT: dict[str, Any] = {"model": Problem, "description": "There is no such thing"}
BUSY: dict[str, Any] = {"model": Problem, "description": "Something else is running"}
STRANGER: dict[str, Any] = {"model": Problem, "description": "It came from somebody who may not do this"}
OFTEN: dict[str, Any] = {"model": Problem, "description": "It came too often"}

router = APIRouter(prefix="/api")
Json = dict[str, Any]


def thinkers_of(request: Request) -> Thinkers:
    """Who thinks for this server."""
    thinkers: Thinkers = request.app.state.thinkers
    return thinkers


Thinking = Annotated[Thinkers, Depends(thinkers_of)]


@router.get("/health", summary="Whether the server is well")
async def health(request: Request) -> Json:
    """The version that answers, and whether there is a club."""
    return {"ok": True, "version": __version__, "club": request.app.state.clubhouse.place is not None}


@router.get("/rules", summary="The games and their rules")
async def rules() -> list[Json]:
    """Every game: sizes of Othello, variants of Awalé."""
    return [
        {
            "name": str(game),
            "family": game.family,
            "size": game.size,
            "variant": game.variant,
            "sides": game.sides,
            "points": game.points,
        }
        for game in Game
    ]


@router.get("/players", summary="Who can play")
async def players() -> list[Json]:
    """Every program of the registry, with the settings that a spec may give."""
    return [
        {
            "name": name,
            "summary": entry.summary,
            "settings": [
                {"name": field.name, "default": None if field.default is MISSING else str(field.default)}
                for field in fields(entry.make)  # type: ignore[arg-type]
                if field.name not in KEPT_BACK
            ],
        }
        for name, entry in registry().items()
        if name not in ELSEWHERE
    ]


@router.post("/line", summary="The positions of a game")
def line(request: Views) -> Json:
    """The board after each move from `since` on, what each legal move would do, and the name of its opening, if any."""
    record = request.record()
    return {"views": view_record(record, request.since), "transcript": format_transcript(record)}


@router.post("/choose", summary="A player's move")
async def choose(request: Choose, thinkers: Thinking, client: Request) -> Json:
    """The move that a player chooses in the last position, and the seconds it took."""
    record = _going_on(request)
    guest_player(request.player)
    task = ChooseTask(record, request.player, request.clock, request.seed)
    return (await _answers(thinkers, task, client))[-1]


@router.post("/analyse", summary="What a position is worth")
async def analyse(request: Analyse, thinkers: Thinking, client: Request) -> Json:
    """The value of each legal move of the last position, and the best line."""
    return (await _answers(thinkers, AnalyseTask(_going_on(request), request.seconds), client))[-1]


@router.post("/review", summary="A game judged move by move")
async def review(request: Review, thinkers: Thinking, client: Request) -> Json:
    """What each move was worth, what it lost, and what would have been best; and how well either side played."""
    *moves, summary = await _answers(thinkers, ReviewTask(request.record(), request.seconds), client)
    return {"moves": moves[::-1], **summary}


@router.post("/read", summary="Recognise a text")
def read(request: Text) -> Json:
    """The game or position of a transcript, an OBF board, an Awalé diagram or moves, or a page that holds one.

    Of several games it is the first, and `games` says how many there are.
    """
    found = recognise(request.text, None if request.game is None else Game[request.game.upper()])
    record = found.record
    positions = record.positions()
    moves = [position.format_move(move) for position, move in zip(positions, record.moves, strict=False)]
    games = sum(isinstance(one, Record) for one in read_games(request.text.encode()))
    return {
        "kind": found.kind,
        "games": max(1, games),
        "game": str(record.start.game),
        "start": None if record.start == Position.start(record.start.game) else format_position(record.start),
        "moves": moves,
    }


@router.post(
    "/picture",
    summary="A picture of a position",
    response_class=Response,
    responses={200: {"content": {"image/svg+xml": {}}}},
)
def picture(request: Line) -> Response:
    """The last position as an SVG picture."""
    position = request.record().final
    svg = draw_svg(position.game, position.first, position.second, position.side, ())
    return Response(svg, media_type="image/svg+xml")


def _going_on(request: Line) -> Record:
    """The game so far, which must not be over."""
    record = request.record()
    if record.final.over:
        raise AwelloError("the game is over: there is nothing to think about")
    return record


async def _answers(thinkers: Thinkers, task: Task, client: Request) -> list[Json]:
    """All answers to a task but the last word, without their kinds; nothing is thought about for nobody."""
    found: list[Json] = []
    async with aclosing(thinkers.think(task)) as answers:
        async for answer in answers:
            if answer["kind"] == "error":
                raise Refusal(503 if answer["code"] in OVERLOADED else 400, answer["code"], answer["message"])
            if await client.is_disconnected():
                raise Refusal(503, "closed", "nobody waits for this any more")
            if answer["kind"] != "done":
                found.append({key: value for key, value in answer.items() if key != "kind"})
    return found
