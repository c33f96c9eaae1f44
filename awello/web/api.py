"""The API: questions about positions, players and games, each with one answer."""

from dataclasses import MISSING, fields
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response
from pydantic import BaseModel

from awello import __version__
from awello.errors import AwelloError
from awello.players.player import registry
from awello.players.spec import parse_spec
from awello.record import Record
from awello.rules.game import Game
from awello.web.clubhouse import AnyHouse
from awello.web.engine_pool import EnginePool
from awello.web.engine_tasks import AnalyseTask, ChooseTask, ReviewTask
from awello.web.guest_players import ELSEWHERE, check_spec, may_set
from awello.web.jobs import answers_to, call, call_for_json
from awello.web.messages import Analyse, Choose, Line, Review, Text, Views
from awello.web.page_tasks import draw_position, read_text, view_line

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
    403: {"model": Problem, "description": "It came from another site, or is not allowed now"},
    413: {"model": Problem, "description": "It is too large"},
    422: {"model": Problem, "description": "It has the wrong shape"},
    503: {"model": Problem, "description": "There is too much to think about, or thinking failed"},
}
ABSENT: dict[str, Any] = {"model": Problem, "description": "There is no such thing"}
BUSY: dict[str, Any] = {"model": Problem, "description": "Something else is running"}
STRANGER: dict[str, Any] = {"model": Problem, "description": "It came from somebody who may not do this"}
OFTEN: dict[str, Any] = {"model": Problem, "description": "It came too often"}

router = APIRouter(prefix="/api")
Json = dict[str, Any]


def thinkers_of(request: Request) -> EnginePool:
    """Who thinks for this server."""
    thinkers: EnginePool = request.app.state.engines
    return thinkers


Thinking = Annotated[EnginePool, Depends(thinkers_of)]


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
                if may_set(name, field.name)
            ],
        }
        for name, entry in registry().items()
        if name not in ELSEWHERE
    ]


@router.post("/line", summary="The positions of a game", response_model=Json)
async def line(request: Views, client: Request) -> Response:
    """The board after each move from `since` on, what each legal move would do, and the name of its opening, if any."""
    return await call_for_json(client, view_line, request.record(), request.since)


@router.post("/choose", summary="A player's move")
async def choose(request: Choose, thinkers: Thinking, client: Request, house: AnyHouse) -> Json:
    """The move that a player chooses in the last position, and the seconds it took."""
    record = _going_on(request)
    house.refuse_analysis(record)
    check_spec(parse_spec(request.player))
    task = ChooseTask(record, request.player, request.clock, request.seed)
    return _without_kind((await answers_to(task, thinkers, client))[-1])


@router.post("/analyse", summary="What a position is worth")
async def analyse(request: Analyse, thinkers: Thinking, client: Request, house: AnyHouse) -> Json:
    """The value of each legal move of the last position, and the best line."""
    task = AnalyseTask(_going_on(request), request.seconds)
    house.refuse_analysis(task.record)
    return _without_kind((await answers_to(task, thinkers, client))[-1])


@router.post("/review", summary="A game judged move by move")
async def review(request: Review, thinkers: Thinking, client: Request, house: AnyHouse) -> Json:
    """What each move was worth, what it lost, and what would have been best; and how well either side played."""
    task = ReviewTask(request.record(), request.seconds)
    house.refuse_analysis(task.record, whole=True)
    answers = await answers_to(task, thinkers, client)
    *moves, summary = map(_without_kind, answers)
    return {"moves": moves[::-1], **summary}


@router.post("/read", summary="Recognise a text", response_model=Json)
async def read(request: Text, client: Request) -> Response:
    """The game or position of a transcript, an OBF board, an Awalé diagram or moves, or a page that holds one.

    Of several games it is the first, and `games` says how many there are.
    """
    game = None if request.game is None else Game[request.game.upper()]
    return await call_for_json(client, read_text, request.text, game)


@router.post(
    "/picture",
    summary="A picture of a position",
    response_class=Response,
    responses={200: {"content": {"image/svg+xml": {}}}},
)
async def picture(request: Line, client: Request) -> Response:
    """The last position as an SVG picture."""
    return Response(await call(client, draw_position, request.record().final), media_type="image/svg+xml")


def _going_on(request: Line) -> Record:
    """The game so far, which must not be over."""
    record = request.record()
    if record.final.over:
        raise AwelloError("the game is over: there is nothing to think about")
    return record


def _without_kind(answer: Json) -> Json:
    return {key: value for key, value in answer.items() if key != "kind"}
