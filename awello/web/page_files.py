"""A middleware that serves the page's static files.

Browsers request all files at once, so the middleware answers these requests itself instead of passing them to the
slower router.
"""

import zlib
from pathlib import Path

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

STATIC_FOLDER = Path(__file__).parent / "static"
MEDIA_TYPES = {".css": "text/css", ".html": "text/html", ".js": "text/javascript", ".svg": "image/svg+xml"}
PAGE_PATHS = {"/": "index.html", "/api": "api.html"}


class PageFiles:
    """Middleware that serves files from memory; browsers revalidate them by their ETag."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        files = {
            path.relative_to(STATIC_FOLDER).as_posix(): path
            for path in STATIC_FOLDER.rglob("*")
            if path.suffix in MEDIA_TYPES
        }
        self.paths = {f"/static/{name}": path for name, path in files.items()}
        self.paths |= {address: files[name] for address, name in PAGE_PATHS.items()}
        self._contents: dict[Path, tuple[int, bytes, str]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a file, or send status 304 if the browser has the current version."""
        path = self.paths.get(scope.get("path", "")) if scope["type"] == "http" else None
        if path is None or scope["method"] not in ("GET", "HEAD"):
            await self.app(scope, receive, send)
            return
        content, tag = self._read(path)
        headers = {"cache-control": "no-cache", "etag": tag}
        if tag in Headers(scope=scope).get("if-none-match", ""):
            response = Response(status_code=304, headers=headers)
        else:
            response = Response(content, headers=headers, media_type=MEDIA_TYPES[path.suffix])
        await response(scope, receive, send)

    def _read(self, path: Path) -> tuple[bytes, str]:
        """Return the content and the ETag of a file; read the file again if it has changed."""
        changed = path.stat().st_mtime_ns
        if path not in self._contents or self._contents[path][0] != changed:
            content = path.read_bytes()
            self._contents[path] = changed, content, f'"{zlib.crc32(content):08x}-{len(content)}"'
        return self._contents[path][1:]
