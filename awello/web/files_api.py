"""The HTTP API for files: import into the archive, export from the archive, and export of the game on the board.

A public server refuses imports, so that clients cannot fill the archive or the disk; the owner of the server can use
`awello games import`.
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
from awello.formats.registry import find_format
from awello.formats.wthor import WthorNames, parse_names
from awello.schemas import ImportJson
from awello.web.archive_api import GameFilterRequest, PlayedGameRequest, Service
from awello.web.errors import ApiError
from awello.web.page_tasks import write_record
from awello.web.request_guard import IMPORT_PATH, LOCAL_HOSTS, client_address_of, client_network_of
from awello.web.request_tasks import call_in_worker

MAX_IMPORTED_FILES = 20  # in one request
MAX_EXPORTED_GAMES = 5000  # in one file
MAX_REPORTED_ERRORS = 10  # errors reported per file
MAX_TAGS = 60
IMPORT_DISABLED = "a public server does not import files: its owner can use 'awello games import'"

router = APIRouter(prefix="/api", tags=["archive"])
FileName = Annotated[str, StringConstraints(min_length=1, max_length=200)]
FormatName = Annotated[
    Literal["transcripts", "ggf", "ogn", "logbook", "wthor"],
    Field(description="The file format; `wthor` returns several files in a .zip"),
]
FILE_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {"content": {"application/octet-stream": {}, "application/zip": {}}}
}
FILE_BODY = {
    "required": True,
    "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
}


# ---- requests and responses -----------------------------------------------------------------------------------------
class ImportResultJson(BaseModel):
    """The results of an import, per file."""

    files: list[ImportJson]


class ExportGamesRequest(GameFilterRequest):
    """Filters for the games to export, and the file format."""

    format: FormatName


class ExportGameRequest(PlayedGameRequest):
    """A game to export."""

    format: FormatName
    tags: dict[Annotated[str, StringConstraints(max_length=60)], Annotated[str, StringConstraints(max_length=2000)]] = (
        Field(default={}, max_length=MAX_TAGS, description="Additional tags")
    )


# ---- import ---------------------------------------------------------------------------------------------------------
@router.post(
    IMPORT_PATH.removeprefix("/api"),
    summary="Import files into the archive",
    response_model=ImportResultJson,
    openapi_extra={"requestBody": FILE_BODY},
)
async def import_files(
    request: Request,
    service: Service,
    name: Annotated[
        list[FileName], Query(min_length=1, max_length=MAX_IMPORTED_FILES, description="The name of each file")
    ],
    size: Annotated[
        list[Annotated[int, Field(ge=0)]],
        Query(
            default_factory=list,
            max_length=MAX_IMPORTED_FILES,
            description="The size of each file in bytes; can be omitted for a single file",
        ),
    ],
) -> Any:
    """Import the games of a file, or of several files whose contents are concatenated in the body.

    Send the `.jou` and `.trn` files of WTHOR together with the `.wtb` files that use them.  Games that are already in
    the archive are not added again.  Damaged games are reported, and the others are imported.
    """
    if service.public:
        async for _ in request.stream():  # browsers read the response only after sending the body
            pass
        raise ApiError(403, "import_disabled", IMPORT_DISABLED)
    files = _split(await request.body(), name, size)
    async with service.import_lock:
        reports = await service.run(lambda archive: _import(archive, files))
    return {"files": [ImportJson.of(report, MAX_REPORTED_ERRORS) for report in reports]}


def _split(body: bytes, names: Sequence[str], sizes: Sequence[int]) -> list[tuple[str, bytes]]:
    """Split the body into files, each with its name."""
    sizes = sizes or [len(body)]
    if len(sizes) != len(names) or sum(sizes) != len(body):
        counts = {"files": len(names), "sizes": len(sizes), "total": sum(sizes), "received": len(body)}
        message = (
            "the file names ({files}), the file sizes ({sizes}, {total} bytes in total) and the body ({received} "
            "bytes) do not match: give the name and the size of each file"
        )
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
        raise NotationError(f"{name}: {error}", "damaged_names", name=name, detail=str(error)) from None


# ---- export ---------------------------------------------------------------------------------------------------------
@router.get("/games/export", summary="Export games of the archive", response_class=Response, responses=FILE_RESPONSES)
async def export_games(query: Annotated[ExportGamesRequest, Query()], service: Service, client: Request) -> Response:
    """Export the games that match the filters, in the order in which they were added."""
    game_filter = query.to_filter()
    if client_address_of(client) not in LOCAL_HOSTS and not service.download_limits.take(client_network_of(client)):
        raise ApiError(429, "download_rate_limit", "too many downloads: wait a minute and try again")

    def write(archive: Archive) -> dict[str, bytes]:
        total, _ = archive.find_latest(game_filter, 0)
        if not total:
            raise AwelloError("no games match: change the filters", "no_games_found")
        if total > MAX_EXPORTED_GAMES:
            message = f"a file holds at most {MAX_EXPORTED_GAMES} games, but {total} match: add filters"
            raise ApiError(400, "too_many_games_found", message, games=total, limit=MAX_EXPORTED_GAMES)
        return write_games(archive, archive.find_numbers(game_filter), find_format(query.format))

    async with service.export_lock:  # one export at a time, so that other queries are not delayed
        return make_file_response(await service.run(write))


@router.post("/export", summary="Export a game", response_class=Response, responses=FILE_RESPONSES)
async def export_game(request: ExportGameRequest, client: Request) -> Response:
    """Export a game, finished or not, as a file."""
    played = request.to_record()
    record = replace(played, tags={**request.tags, **played.tags})
    return make_file_response(await call_in_worker(client, write_record, record, request.format))


def make_file_response(contents: dict[str, bytes], name: str = "awello") -> Response:
    """Make a download of `contents`, which maps extensions to file contents; several files become a .zip."""
    if len(contents) == 1:
        ((suffix, content),) = contents.items()
        return _attachment(f"{name}{suffix}", content, "application/octet-stream")
    buffer = BytesIO()
    with ZipFile(buffer, "w", ZIP_DEFLATED) as archive:
        for suffix, content in contents.items():
            archive.writestr(f"{name}{suffix}", content)
    return _attachment(f"{name}.zip", buffer.getvalue(), "application/zip")


def _attachment(name: str, content: bytes, media_type: str) -> Response:
    return Response(content, headers={"content-disposition": f'attachment; filename="{name}"'}, media_type=media_type)
