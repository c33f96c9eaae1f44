"""A proxy for a PostgreSQL server of the tests, which cuts connections at a chosen moment."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

BEFORE, AFTER, DURING, FORGET = "before", "after", "during", "forget"


class PostgresProxy:
    """A proxy that forwards connections and, if `cut` is set, cuts the connection that sends the next COMMIT.

    - `BEFORE`: the server does not receive the COMMIT.
    - `AFTER`: the server executes the COMMIT, but the client does not receive the answer.
    - `DURING`: the connection is cut as soon as the COMMIT has been forwarded.
    - `FORGET`: as `BEFORE`, but the server's side of the connection stays open.
    """

    def __init__(self, folder: str) -> None:
        self.server = str(Path(folder) / ".s.PGSQL.5432")
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.listener.getsockname()[1]
        self.cut: str | None = None  # BEFORE, AFTER, DURING or FORGET; None forwards every COMMIT
        self.refusing = False  # whether new connections are closed immediately
        self.refuse_after_cut = False
        self.cuts = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def make_url(self, name: str) -> str:
        return f"postgresql://awello@127.0.0.1:{self.port}/{name}?sslmode=disable&gssencmode=disable"

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                if self.refusing:
                    client.close()
                    continue
                server = socket.socket(socket.AF_UNIX)
                server.connect(self.server)
                lost = threading.Event()  # set if the server's answer must not reach the client
                for work in (self._forward, self._answer):
                    threading.Thread(target=work, args=(client, server, lost), daemon=True).start()

    def _forward(self, client: socket.socket, server: socket.socket, lost: threading.Event) -> None:
        with suppress(OSError):
            while data := client.recv(65536):
                moment = self.cut if b"COMMIT" in data else None
                if moment:
                    self.cut, self.cuts = None, self.cuts + 1
                    self.refusing = self.refuse_after_cut
                if moment == AFTER:
                    lost.set()
                if moment == FORGET:
                    _close(client)
                    return
                if moment != BEFORE:
                    server.sendall(data)
                if moment in (BEFORE, DURING):
                    break
        _close(client, server)

    def _answer(self, client: socket.socket, server: socket.socket, lost: threading.Event) -> None:
        with suppress(OSError):
            while data := server.recv(65536):
                if lost.is_set():
                    break
                client.sendall(data)
        _close(client, server)


def _close(*sockets: socket.socket) -> None:
    for each in sockets:
        with suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)
        each.close()


@contextmanager
def postgres_proxy(folder: str) -> Iterator[PostgresProxy]:
    proxy = PostgresProxy(folder)
    try:
        yield proxy
    finally:
        _close(proxy.listener)
