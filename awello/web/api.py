"""The API: questions about positions, players and games, each with one answer."""

from dataclasses import MISSING, fields
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import BaseModel

from awello import __version__
from awello.drawing import draw_svg
from awello.players.player import load_registry
from awello.rules.game import Game
from awello.schemas import AnalysisJson, ChoiceJson, GameJson, LineJson, RecognisedJson, ReviewJson, RulesJson
from awello.web.engine_tasks import Answer, EngineTask, ReviewTask
from awello.web.guest_players import ELSEWHERE, may_set
from awello.web.jobs import answers_to, call, call_for_json
from awello.web.messages import AnalyseRequest, ChooseRequest, LineRequest, ReviewRequest, TextRequest, ViewRequest
from awello.web.page_tasks import read_text, view_line

ABOUT = """
A game that goes on is never kept here: each question says where it began and which moves were played.  Moves have
their usual names, `f5` or `C`, and `pass`.  Values are discs or seeds by which the mover will win, below zero if they
lose.  What goes wrong is answered with a code and a line that says what.

`/api/live` is a WebSocket for answers that grow: send `{"id": 1, "type": "analyse", ...}` (or `choose`, `review`) with
the fields of the request of the same name, and `{"id": 1, "type": "stop"}` to end it; every answer carries the id.
"""


class ErrorJson(BaseModel):
    """What went wrong."""

    code: str
    message: str


PROBLEMS: dict[int | str, dict[str, Any]] = {
    400: {"model": ErrorJson, "description": "It has the right shape, but no meaning: an illegal move, no such player"},
    403: {"model": ErrorJson, "description": "It came from another site, or is not allowed now"},
    413: {"model": ErrorJson, "description": "It is too large"},
    422: {"model": ErrorJson, "description": "It has the wrong shape"},
    503: {"model": ErrorJson, "description": "There is too much to think about, or thinking failed"},
}
ABSENT: dict[str, Any] = {"model": ErrorJson, "description": "There is no such thing"}
BUSY: dict[str, Any] = {"model": ErrorJson, "description": "Something else is running"}
STRANGER: dict[str, Any] = {"model": ErrorJson, "description": "It came from somebody who may not do this"}
OFTEN: dict[str, Any] = {"model": ErrorJson, "description": "It came too often"}

router = APIRouter(prefix="/api")
Json = dict[str, Any]


@router.get("/health", summary="Whether the server is well")
async def health(request: Request) -> Json:
    """The version that answers, and whether there is a club."""
    return {"ok": True, "version": __version__, "club": request.app.state.clubhouse.place is not None}


@router.get("/rules", summary="The games and their rules")
async def rules() -> list[RulesJson]:
    """Every game: sizes of Othello, variants of Awalé."""
    return [RulesJson.of(game) for game in Game]


@router.get("/players", summary="Who can play")
async def players() -> list[Json]:
    """Every program of the registry, with the settings that a spec may give."""
    return [
        {
            "name": name,
            "summary": entry.summary,
            "settings": [
                {"name": field.name, "default": None if field.default is MISSING else str(field.default)}
                for field in fields(entry.player_class)  # type: ignore[arg-type]
                if may_set(name, field.name)
            ],
        }
        for name, entry in load_registry().items()
        if name not in ELSEWHERE
    ]


@router.post("/line", summary="The positions of a game", response_model=LineJson)
async def line(request: ViewRequest, client: Request) -> Response:
    """The board after each move from `since` on, what each legal move would do, and the name of its opening, if any."""
    return await call_for_json(client, view_line, request.record(), request.since)


@router.post("/choose", summary="A player's move", response_model=ChoiceJson)
async def choose(request: ChooseRequest, client: Request) -> Any:
    """The move that a player chooses in the last position, the seconds it took, and the position after it."""
    return (await _search(request.task(), client))[-1]


@router.post("/analyse", summary="What a position is worth", response_model=AnalysisJson)
async def analyse(request: AnalyseRequest, client: Request) -> Any:
    """The value of each legal move of the last position, and the best line."""
    return (await _search(request.task(), client))[-1]


@router.post("/review", summary="A game judged move by move", response_model=ReviewJson)
async def review(request: ReviewRequest, client: Request) -> Any:
    """What each move was worth, what it lost, and what would have been best; and how well either side played."""
    task = request.task()
    *moves, summary = await _search(task, client)
    return {"game": GameJson.of(task.record), "moves": moves[::-1], "sides": summary["sides"], "complete": True}


async def _search(task: EngineTask, client: Request) -> list[Answer]:
    client.app.state.clubhouse.refuse_analysis(task.record, whole=isinstance(task, ReviewTask))
    return await answers_to(task, client.app.state.engines, client)


@router.post("/read", summary="Recognise a text", response_model=RecognisedJson)
async def read(request: TextRequest, client: Request) -> Response:
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
async def picture(request: LineRequest, client: Request) -> Response:
    """The last position as an SVG picture."""
    final = request.record().final
    svg = await call(client, draw_svg, final.game, final.first, final.second, final.side, ())
    return Response(svg, media_type="image/svg+xml")
