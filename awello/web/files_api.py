"""Games in files: into the archive, out of it, and the game on the board.

Files come in only where the server listens to its own machine alone.  Where others can come, they may fill neither the
archive nor its disk; the owner has `awello games import`.
"""

from collections.abc import Sequence
from dataclasses import replace
from io import BytesIO
from itertools import accumulate, pairwise
from typing import Annotated, Any, Literal
from zipfile import ZIP_DEFLATED, ZipFile

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, Field, StringConstraints

from awello.archive.archive import Archive
from awello.archive.files import NAMES_SUFFIXES, read_source, write_games
from awello.archive.importer import ImportReport, import_games
from awello.errors import AwelloError, NotationError
from awello.formats.files import find_format
from awello.formats.wthor import WthorNames, parse_names
from awello.schemas import ImportJson
from awello.web.archive_api import GameFilterRequest, PlayedGameRequest, Service
from awello.web.errors import ApiError
from awello.web.jobs import call_in_worker
from awello.web.page_tasks import write_record
from awello.web.request_guard import FILES_PATH, LOCAL_HOSTS, address_of, network_of_client

MAX_IMPORTED_FILES = 20  # that are sent at once
MAX_EXPORTED_GAMES = 5000  # that are written to one file
MAX_REPORTED_DAMAGE = 10  # damaged places that are told
MAX_TAGS = 60
IMPORT_DISABLED = "this server is open to others, so it imports no files: use 'awello games import'"

router = APIRouter(prefix="/api", tags=["archive"])
FileName = Annotated[str, StringConstraints(min_length=1, max_length=200)]
FormatName = Annotated[
    Literal["transcripts", "ggf", "ogn", "logbook", "wthor"], Field(description="WTHOR's files come in a .zip")
]
FILE_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {"content": {"application/octet-stream": {}, "application/zip": {}}}
}
FILE_BODY = {
    "required": True,
    "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
}


# ---- what is said ---------------------------------------------------------------------------------------------------
class ImportResultJson(BaseModel):
    """What became of files."""

    files: list[ImportJson]


class ExportGamesRequest(GameFilterRequest):
    """Which games of the archive to write to a file."""

    format: FormatName


class ExportGameRequest(PlayedGameRequest):
    """A game to write to a file."""

    format: FormatName
    tags: dict[Annotated[str, StringConstraints(max_length=60)], Annotated[str, StringConstraints(max_length=2000)]] = (
        Field(default={}, max_length=MAX_TAGS, description="What else is known of it")
    )


# ---- in -------------------------------------------------------------------------------------------------------------
@router.post(
    FILES_PATH.removeprefix("/api"),
    summary="Bring files into the archive",
    response_model=ImportResultJson,
    openapi_extra={"requestBody": FILE_BODY},
)
async def import_files(
    request: Request,
    service: Service,
    name: Annotated[list[FileName], Query(min_length=1, max_length=MAX_IMPORTED_FILES, description="Of each file")],
    size: Annotated[
        list[Annotated[int, Field(ge=0)]],
        Query(default_factory=list, max_length=MAX_IMPORTED_FILES, description="Bytes of each, if there are several"),
    ],
) -> Any:
    """Keep the games of a file, or of several that are sent one behind the other.

    WTHOR's `.jou` and `.trn` come with their `.wtb`. A game is kept once; what is damaged is told, the rest is kept.
    """
    if service.public:
        async for _ in request.stream():  # hear it out, else a browser does not hear the answer
            pass
        raise ApiError(403, "import_disabled", IMPORT_DISABLED)
    files = _split(await request.body(), name, size)
    async with service.importing:
        reports = await service.run(lambda archive: _import(archive, files))
    return {"files": [ImportJson.of(report, MAX_REPORTED_DAMAGE) for report in reports]}


def _split(body: bytes, names: Sequence[str], sizes: Sequence[int]) -> list[tuple[str, bytes]]:
    """The files that were sent one behind the other."""
    sizes = sizes or [len(body)]
    if len(sizes) != len(names) or sum(sizes) != len(body):
        counts = {"files": len(names), "sizes": len(sizes), "total": sum(sizes), "received": len(body)}
        message = "{files} names, {sizes} sizes, {total} of {received} bytes: give the size of each file"
        raise AwelloError(message.format(**counts), "wrong_file_sizes", **counts)
    parts = [body[start:end] for start, end in pairwise(accumulate(sizes, initial=0))]
    return [("".join(filter(str.isprintable, name)), part) for name, part in zip(names, parts, strict=True)]


def _import(archive: Archive, files: Sequence[tuple[str, bytes]]) -> list[ImportReport]:
    names = [_parse_names(name, content) for name, content in files if name.lower().endswith(NAMES_SUFFIXES)]
    return import_games(archive, [read_source(name, content, names) for name, content in files], lambda _: None)


def _parse_names(name: str, content: bytes) -> WthorNames:
    try:
        return parse_names(content)
    except NotationError as error:
        raise NotationError(f"{name}: {error}") from None


# ---- out ------------------------------------------------------------------------------------------------------------
@router.get("/games/file", summary="Games of the archive as a file", response_class=Response, responses=FILE_RESPONSES)
async def export_games(query: Annotated[ExportGamesRequest, Query()], service: Service, client: Request) -> Response:
    """The games that a list with the same filters has, in the order in which they came."""
    game_filter = query.to_filter()
    if address_of(client) not in LOCAL_HOSTS and not service.downloads.take(network_of_client(client)):
        raise ApiError(429, "download_rate_limit", "too many downloads: wait a minute and try again")

    def write(archive: Archive) -> dict[str, bytes]:
        found, _ = archive.find_latest(game_filter, 0)
        if not found:
            raise AwelloError("no games match: change the filters", "no_games_found")
        if found > MAX_EXPORTED_GAMES:
            message = f"{found} games are too many for one file, at most {MAX_EXPORTED_GAMES}"
            advice = "add filters, or use 'awello games export'"
            raise ApiError(400, "too_many_games", f"{message}: {advice}", games=found, limit=MAX_EXPORTED_GAMES)
        return write_games(archive, archive.numbers(game_filter), find_format(query.format))

    async with service.exporting:  # so that other questions to the archive need not wait
        return file_response(await service.run(write))


@router.post("/file", summary="A game as a file", response_class=Response, responses=FILE_RESPONSES)
async def export_game(request: ExportGameRequest, client: Request) -> Response:
    """The game on the board, whether it is over or not."""
    played = request.to_record()
    record = replace(played, tags={**request.tags, **played.tags})
    return file_response(await call_in_worker(client, write_record, record, request.format))


def file_response(contents: dict[str, bytes], name: str = "awello") -> Response:
    """A file to keep, by the ends of the names of what is in it; several are packed into one."""
    if len(contents) == 1:
        ((suffix, content),) = contents.items()
        return _attachment(f"{name}{suffix}", content, "application/octet-stream")
    box = BytesIO()
    with ZipFile(box, "w", ZIP_DEFLATED) as archive:
        for suffix, content in contents.items():
            archive.writestr(f"{name}{suffix}", content)
    return _attachment(f"{name}.zip", box.getvalue(), "application/zip")


def _attachment(name: str, content: bytes, kind: str) -> Response:
    return Response(content, headers={"content-disposition": f'attachment; filename="{name}"'}, media_type=kind)
