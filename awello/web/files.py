"""The files of the page: small, few, and asked for all at once, so they are answered without a thread each."""

import zlib
from pathlib import Path

from fastapi import Request
from fastapi.responses import Response
from starlette.exceptions import HTTPException

FOLDER = Path(__file__).parent / "static"
KINDS = {".css": "text/css", ".html": "text/html", ".js": "text/javascript", ".svg": "image/svg+xml"}


class Files:
    """What may be asked for, by its name below the folder; a browser asks each time whether it has changed."""

    def __init__(self) -> None:
        self.known = {path.relative_to(FOLDER).as_posix(): path for path in FOLDER.rglob("*") if path.suffix in KINDS}

    def answer(self, name: str, request: Request) -> Response:
        """A file, or that the browser has it already."""
        if name not in self.known:
            raise HTTPException(404, "there is no such file")
        content = self.known[name].read_bytes()
        tag = f'"{zlib.crc32(content):08x}-{len(content)}"'
        headers = {"cache-control": "no-cache", "etag": tag}
        if tag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        return Response(content, headers=headers, media_type=KINDS[self.known[name].suffix])
