"""The files of the page: small, few, and asked for all at once, so they are answered before any route is looked for."""

import zlib
from pathlib import Path

from awello.web.door import Application, Receive, Scope, Send

FOLDER = Path(__file__).parent / "static"
KINDS = {".css": "text/css", ".html": "text/html", ".js": "text/javascript", ".svg": "image/svg+xml"}
PAGES = {"/": "index.html", "/api": "api.html"}


class Files:
    """The layer that answers with files, kept in memory while they do not change; a browser asks whether they have."""

    def __init__(self, inside: Application) -> None:
        self.inside = inside
        found = {path.relative_to(FOLDER).as_posix(): path for path in FOLDER.rglob("*") if path.suffix in KINDS}
        self.known = {f"/static/{name}": path for name, path in found.items()}
        self.known |= {address: found[name] for address, name in PAGES.items()}
        self._contents: dict[Path, tuple[int, bytes, bytes]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with a file, or that the browser has it already."""
        path = self.known.get(scope.get("path", "")) if scope["type"] == "http" else None
        if path is None or scope["method"] not in ("GET", "HEAD"):
            await self.inside(scope, receive, send)
            return
        content, tag = self._read(path)
        headers = [(b"cache-control", b"no-cache"), (b"etag", tag)]
        same = any(name == b"if-none-match" and tag in value for name, value in scope["headers"])
        if not same:
            kind = KINDS[path.suffix] if path.suffix == ".svg" else f"{KINDS[path.suffix]}; charset=utf-8"
            headers += [(b"content-type", kind.encode()), (b"content-length", b"%d" % len(content))]
        await send({"type": "http.response.start", "status": 304 if same else 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if same or scope["method"] == "HEAD" else content})

    def _read(self, path: Path) -> tuple[bytes, bytes]:
        """A file's content and its tag."""
        changed = path.stat().st_mtime_ns
        if path not in self._contents or self._contents[path][0] != changed:
            content = path.read_bytes()
            self._contents[path] = changed, content, b'"%08x-%d"' % (zlib.crc32(content), len(content))
        return self._contents[path][1:]
