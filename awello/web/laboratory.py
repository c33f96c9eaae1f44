"""The laboratory's part of the API: contests between bots, and the tree that a search looks at."""

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field

from awello.errors import AwelloError
from awello.lab.trees import describe_tree, draw_tree_svg
from awello.players.tree import search_position
from awello.web.contests import Contests, Plan, State
from awello.web.messages import GameName, Tree, guest_player

MOST_PLIES = 4  # of a tree

router = APIRouter(prefix="/api", tags=["laboratory"])


class Summary(BaseModel):
    """A contest in a list."""

    id: str
    begun: datetime
    game: GameName
    players: list[str]
    rounds: int = Field(description="Of each pair")
    opening_plies: int
    seed: int
    move_time: float
    state: State
    message: str = Field(description="Why it failed, if it did")
    played: int = Field(description="Rounds of all pairs that are finished")
    wanted: int = Field(description="Rounds of all pairs")
    seconds_left: float | None = Field(description="A guess, while it runs")


class Rounds(BaseModel):
    """Rounds by their outcome."""

    won: int
    drawn: int
    lost: int


class Standing(BaseModel):
    """What a bot has achieved."""

    bot: str
    points: int
    rounds: Rounds
    games: int
    mean_score: float
    elo: float
    elo_margin: float
    forfeits: dict[str, int] = Field(description="Games forfeited, by reason")
    messages: dict[str, str] = Field(description="What was said the first time, by reason")
    mean_ms: float
    worst_ms: float


class Pair(Rounds):
    """Rounds of two bots, from the view of the first."""

    first: str
    second: str


class PlayedGame(BaseModel):
    """A game of a contest; of two entries the first is that of whoever moved first."""

    number: int
    pair: int
    round: int
    first: str
    second: str
    score: tuple[int, int]
    moves: str = Field(description="The transcript")
    forfeits: tuple[tuple[str, str] | None, tuple[str, str] | None] = Field(description="Reason and message")


class View(Summary):
    """All that is known of a contest."""

    standings: list[Standing] = Field(description="The best first")
    pairs: list[Pair]
    games: list[PlayedGame] = Field(description="In the order of play, those after `since`")


class Begun(BaseModel):
    """A new contest."""

    id: str


class Picture(BaseModel):
    """A searched tree."""

    svg: str
    lines: list[str] = Field(description="What was searched and found, in a few lines")


def _contests(request: Request) -> Contests:
    contests: Contests = request.app.state.contests
    return contests


@router.get("/contests", summary="List the contests, the latest first", response_model=list[Summary])
def list_contests(request: Request) -> Any:
    """Contests that are running, finished, stopped or failed; they outlive the server."""
    return [contest.summary() for contest in _contests(request).list()]


@router.post("/contests", summary="Begin a contest", status_code=201)
def start_contest(plan: Plan, request: Request) -> Begun:
    """Every bot meets every other; one contest runs at a time (409)."""
    return Begun(id=_contests(request).start(plan))


@router.get("/contests/{name}", summary="Standings and games of a contest", response_model=View)
def show_contest(
    name: str,
    request: Request,
    since: Annotated[int, Query(ge=0, description="The number of the last game that is known")] = 0,
) -> Any:
    """All that is known of a contest; ask once a second while it runs."""
    return _contests(request).get(name).view(since)


@router.post("/contests/{name}/stop", summary="Stop a contest", response_model=Summary)
def stop_contest(name: str, request: Request) -> Any:
    """End its bots at once; the round that is being played is lost, and the contest can be resumed."""
    contests = _contests(request)
    contests.stop(name)
    return contests.get(name).summary()


@router.post("/contests/{name}/resume", summary="Resume a contest", response_model=Summary)
def resume_contest(name: str, request: Request) -> Any:
    """Play the rounds that are missing; one contest runs at a time (409)."""
    contests = _contests(request)
    contests.resume(name)
    return contests.get(name).summary()


@router.delete("/contests/{name}", summary="Delete a contest", status_code=204)
def delete_contest(name: str, request: Request) -> None:
    """Forget a contest that is not running (409), with all its games."""
    _contests(request).delete(name)


@router.post("/tree", summary="Search the last position and draw the tree")
def draw(asked: Tree) -> Picture:
    """What minimax, alphabeta, negamax or negamax-alphabeta looks at, to a depth of at most 4 plies."""
    spec = guest_player(asked.search).spec
    if spec.limit and (spec.limit.depth or 0) > MOST_PLIES:
        raise AwelloError(f"a tree of {spec.limit.depth} plies is too large here: choose at most {MOST_PLIES}")
    tree = search_position(spec, asked.record().final)
    return Picture(svg=draw_tree_svg(tree), lines=describe_tree(tree))
