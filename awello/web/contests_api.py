"""The HTTP API of the page's lab tab: contests between bots, and pictures of search trees."""

from typing import Annotated

from anyio import to_thread
from fastapi import APIRouter, Depends, Header, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, Field

from awello.errors import AwelloError
from awello.players.spec import parse_spec
from awello.web.club_service import OptionalClub
from awello.web.contests import ContestConfig, ContestDetails, ContestRunner, ContestSummary, dump_contest
from awello.web.errors import ApiError
from awello.web.messages import TreeRequest
from awello.web.page_tasks import draw_search_tree
from awello.web.request_guard import LOCAL_HOSTS, client_address_of, client_network_of
from awello.web.request_tasks import respond_with_json

MAX_TREE_PLIES = 4

router = APIRouter(prefix="/api", tags=["contests"])


class NewContestJson(BaseModel):
    """A new contest."""

    id: str
    key: str = Field(
        description="The key of the contest: send it in the header `X-Contest-Key` to stop, resume or delete it"
    )


class TreeCountsJson(BaseModel):
    """The numbers of nodes, leaves and pruned branches of a search."""

    nodes: int = Field(description="Visited nodes")
    leaves: int = Field(description="Evaluated nodes")
    pruned: int = Field(description="Branches that were not searched")


class TreePictureJson(BaseModel):
    """A picture of a search tree, and the result of the search."""

    svg: str = Field(description="The picture, without captions")
    search: str = Field(examples=["alphabeta:positional@2"])
    value: str = Field(description="The value of the root, followed by `!` if it is the result of a finished game")
    counts: TreeCountsJson
    minimax_counts: tuple[int, int] | None = Field(
        description="The numbers of nodes and leaves that minimax visits; null if nothing was pruned, or if unknown"
    )
    pv: list[str] = Field(description="The principal variation")
    mover_view: bool = Field(
        description="True if values are from the mover's view at each node (negamax), false if from the maximiser's"
    )
    lines: list[str] = Field(description="The result of the search as text in English")


def _contest_runner(request: Request) -> ContestRunner:
    contests: ContestRunner = request.app.state.contests
    return contests


def _check_owner(name: str, request: Request, x_contest_key: Annotated[str, Header(max_length=100)] = "") -> str:
    """Return the id of a contest, or raise `ApiError` if the client may not change it.

    Clients on this machine may change every contest; others need the key of the contest.
    """
    if client_address_of(request) not in LOCAL_HOSTS and not _contest_runner(request).may_change(name, x_contest_key):
        message = "only the client that started this contest can change it: send the contest's key in X-Contest-Key"
        raise ApiError(403, "contest_not_yours", message)
    return name


OwnedContest = Annotated[str, Depends(_check_owner)]


@router.get("/contests", summary="List the contests, the latest first")
def list_contests(request: Request) -> list[ContestSummary]:
    """List all contests: running, finished, stopped and failed.

    A restart of the server stops the running contests; they can be resumed.
    """
    return [contest.summary() for contest in _contest_runner(request).list()]


@router.post("/contests", summary="Start a contest", status_code=201)
def start_contest(config: ContestConfig, request: Request) -> NewContestJson:
    """Start a contest: two bots play a match, more bots play a round robin.

    On a public server, two contests from different client networks can run at the same time, each for at most ten
    minutes; on other servers, only one contest can run at a time.  The status is 409 if too many contests are running.
    """
    name, key = _contest_runner(request).start(config, client_network_of(request))
    return NewContestJson(id=name, key=key)


@router.get("/contests/{name}", summary="Show a contest", response_model=ContestDetails)
async def show_contest(
    name: str,
    request: Request,
    after: Annotated[int, Query(ge=0, description="Return only games with numbers greater than this")] = 0,
) -> Response:
    """Show the state, standings and games of a contest; while it is running, poll once per second."""
    contest = await to_thread.run_sync(_contest_runner(request).get, name)
    summary = await to_thread.run_sync(contest.summary)
    return await respond_with_json(request, dump_contest, summary, contest.folder, after)


@router.post("/contests/{name}/stop", summary="Stop a contest")
def stop_contest(name: OwnedContest, request: Request) -> ContestSummary:
    """Stop a contest immediately; the round in progress is lost, and the contest can be resumed."""
    contest = _contest_runner(request).get(name)
    contest.stop()
    return contest.summary()


@router.post("/contests/{name}/resume", summary="Resume a contest")
def resume_contest(name: OwnedContest, request: Request) -> ContestSummary:
    """Play the remaining rounds of a contest (status 409 if it is running, or if too many contests are running)."""
    contests = _contest_runner(request)
    contests.resume(name, client_network_of(request))
    return contests.get(name).summary()


@router.delete("/contests/{name}", summary="Delete a contest", status_code=204)
def delete_contest(name: OwnedContest, request: Request) -> None:
    """Delete a contest with all its games (status 409 if it is running)."""
    _contest_runner(request).delete(name)


@router.post("/tree", summary="Search the last position of a game and draw the tree", response_model=TreePictureJson)
async def draw_tree(request: TreeRequest, client: Request, club: OptionalClub) -> Response:
    """Draw the nodes that minimax, alphabeta, negamax or negamax-alphabeta visits, to a depth of at most 4 plies.

    If the tree is too large for a picture, its lower plies are left out.
    """
    spec = parse_spec(request.search)
    if spec.limit and (spec.limit.depth or 0) > MAX_TREE_PLIES:
        depth, limit = spec.limit.depth, MAX_TREE_PLIES
        message = f"a tree of {depth} plies is too large: choose at most {limit} plies"
        raise AwelloError(message, "tree_too_deep", depth=depth, limit=limit)
    record = request.to_record()
    club.check_analysis_allowed(record)
    return await respond_with_json(client, draw_search_tree, spec, record.final, MAX_TREE_PLIES)
