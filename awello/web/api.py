"""The HTTP API for positions, players, analyses and reviews."""

from dataclasses import MISSING, fields
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import BaseModel, Field

from awello import __version__
from awello.drawing import draw_svg
from awello.players.player import load_registry
from awello.rules.game import Game
from awello.schemas import AnalysisJson, ChoiceJson, DetectedGameJson, GameJson, PositionsJson, ReviewJson, RulesJson
from awello.web.client_players import TERMINAL_PLAYERS, is_allowed_setting
from awello.web.engine_tasks import EngineTask, ReviewTask, TaskResponse
from awello.web.messages import (
    AnalyseRequest,
    ChooseRequest,
    MovesRequest,
    PositionsRequest,
    ReviewRequest,
    TextRequest,
)
from awello.web.page_tasks import detect_text, dump_positions
from awello.web.request_tasks import call_in_worker, respond_with_json, run_task

ABOUT = """
The API is stateless: each request contains the start position and the moves of a game.  Moves are written in the usual
notation, such as `f5` or `C`; a pass is written as `pass`.  A value is the expected final margin of the side to move,
in discs or seeds; it is negative if that side is expected to lose.  Errors have a code, parameters and a message in
English.

`/api/engine` is a WebSocket for results that improve while the search runs.  Send `{"id": 1, "type": "analyse", ...}`
(or `choose`, `review`) with the fields of the HTTP request of the same name, and `{"id": 1, "type": "stop"}` to stop
the search.  Every response has the id of its request.
"""


class ErrorJson(BaseModel):
    """An error."""

    code: str
    message: str = Field(description="In English")
    params: dict[str, Any] = Field(description="The values in the message, by name")


ERROR_RESPONSES: dict[int | str, dict[str, Any]] = {
    400: {
        "model": ErrorJson,
        "description": "The request is invalid, for example because of an illegal move or an unknown player",
    },
    403: {"model": ErrorJson, "description": "The request comes from another site, or is not allowed"},
    413: {"model": ErrorJson, "description": "The request is too large"},
    422: {"model": ErrorJson, "description": "The request has missing, unknown or invalid fields"},
    503: {
        "model": ErrorJson,
        "description": "The server cannot carry out the request now, for example because too many searches are waiting",
    },
}
NOT_FOUND: dict[str, Any] = {"model": ErrorJson, "description": "Not found"}
CONFLICT: dict[str, Any] = {
    "model": ErrorJson,
    "description": "The contest is running, or too many contests are running",
}
UNAUTHORIZED: dict[str, Any] = {"model": ErrorJson, "description": "Not logged in, or the password or token is wrong"}
TOO_MANY_REQUESTS: dict[str, Any] = {"model": ErrorJson, "description": "Too many requests"}

router = APIRouter(prefix="/api")
Json = dict[str, Any]


@router.get("/health", summary="Health check")
async def show_health(request: Request) -> Json:
    """Return the version of the server, and whether it has a club."""
    return {"ok": True, "version": __version__, "club": request.app.state.club_service.database is not None}


@router.get("/rules", summary="List the games")
async def list_rules() -> list[RulesJson]:
    """List the sizes of Othello and the variants of Awalé, with their rules."""
    return [RulesJson.of(game) for game in Game]


@router.get("/players", summary="List the players")
async def list_players() -> list[Json]:
    """List the players that clients can choose, and the settings that clients can change for each player."""
    return [
        {
            "name": name,
            "summary": entry.summary,
            "settings": [
                {"name": field.name, "default": None if field.default is MISSING else str(field.default)}
                for field in fields(entry.player_class)  # type: ignore[arg-type]
                if is_allowed_setting(name, field.name)
            ],
        }
        for name, entry in load_registry().items()
        if name not in TERMINAL_PLAYERS
    ]


@router.post("/positions", summary="Describe the positions of a game", response_model=PositionsJson)
async def describe_positions(request: PositionsRequest, client: Request) -> Response:
    """Describe each position from ply `first_ply` on: the effects of its legal moves and the name of its opening."""
    return await respond_with_json(client, dump_positions, request.to_record(), request.first_ply)


@router.post("/choose", summary="Choose a move", response_model=ChoiceJson)
async def choose(request: ChooseRequest, client: Request) -> Any:
    """Let a player choose a move in the last position; return the move, the time used and the new position."""
    return (await _search(request.to_task(), client))[-1]


@router.post("/analyse", summary="Analyse a position", response_model=AnalysisJson)
async def analyse(request: AnalyseRequest, client: Request) -> Any:
    """Compute the value of each legal move in the last position, and the principal variation."""
    return (await _search(request.to_task(), client))[-1]


@router.post("/review", summary="Review a game", response_model=ReviewJson)
async def review(request: ReviewRequest, client: Request) -> Any:
    """Compute the value and the loss of each move, the best move in each position, and a summary for each side."""
    task = request.to_task()
    *moves, summary = await _search(task, client)
    return {"game": GameJson.of(task.record), "moves": moves[::-1], "sides": summary["sides"], "complete": True}


async def _search(task: EngineTask, client: Request) -> list[TaskResponse]:
    client.app.state.club_service.check_analysis_allowed(task.record, whole=isinstance(task, ReviewTask))
    return await run_task(task, client.app.state.engines, client)


@router.post("/detect", summary="Detect a game or position in a text", response_model=DetectedGameJson)
async def detect(request: TextRequest, client: Request) -> Response:
    """Find a game or position in a text: a transcript, a board, an Awalé diagram, or a game in GGF or OGN.

    Other text around it is ignored.  If there are several games, the first is returned, and `games` is their number.
    """
    game = None if request.game is None else Game[request.game.upper()]
    return await respond_with_json(client, detect_text, request.text, game)


@router.post(
    "/picture",
    summary="Draw a position",
    response_class=Response,
    responses={200: {"content": {"image/svg+xml": {}}}},
)
async def draw_picture(request: MovesRequest, client: Request) -> Response:
    """Draw the last position as an SVG image."""
    final = request.to_record().final
    svg = await call_in_worker(client, draw_svg, final.game, final.first, final.second, final.side, ())
    return Response(svg, media_type="image/svg+xml")
