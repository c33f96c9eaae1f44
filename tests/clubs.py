"""A club on a real server for tests, and people who come there."""

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import uvicorn
from waiting import PATIENCE, wait_until
from websockets.sync.client import connect

from awello.cli.serve import listen
from awello.web.app import create_app
from awello.web.http_server import HttpServerConfig

PASSWORD = "correct horse"


class Visitor(httpx2.Client):
    """Somebody with a browser of their own."""

    @contextmanager
    def channel(self, **headers: str) -> Iterator["Talk"]:
        """The club's channel."""
        cookies = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        sent = ({"cookie": cookies} if cookies else {}) | headers
        address = str(self.base_url).replace("http", "ws") + "api/club/live"
        with connect(address, additional_headers=sent) as socket:
            yield Talk(socket)


@contextmanager
def serving(club: Path | None, port: int = 0, names: Sequence[str] = ()) -> Iterator[str]:
    """The address of a server that runs in a thread."""
    door = listen("127.0.0.1", port)
    archive = None if club is None else str(club.with_name("archive.sqlite"))
    app = create_app(0, archive=archive, club=None if club is None else str(club), host_names=names)
    server = uvicorn.Server(HttpServerConfig(app, behind_proxy=bool(names)))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [door]})
    thread.start()
    wait_until(lambda: server.started or not thread.is_alive())
    try:
        yield f"http://127.0.0.1:{door.getsockname()[1]}/"
    finally:
        server.should_exit = True
        thread.join()


def sign_up(client: Visitor, name: str) -> None:
    assert client.post("/api/club/accounts", json={"name": name, "password": PASSWORD}).json()["name"] == name


class Talk:
    """A channel, and what was told on it."""

    def __init__(self, socket: Any) -> None:
        self.socket, self.events, self.number = socket, list[dict[str, Any]](), 0

    def read(self) -> dict[str, Any]:
        message: dict[str, Any] = json.loads(self.socket.recv(timeout=PATIENCE))
        return message

    def ask(self, type: str, **fields: Any) -> dict[str, Any]:
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "type": type, **fields}))
        while True:
            message = self.read()
            if "id" in message:
                assert message["id"] == self.number
                return message
            self.events.append(message)

    def state(self, number: int) -> dict[str, Any]:
        """The game as it was last told."""
        while not (states := [event for event in self.events if event["type"] == "game" and event["game"] == number]):
            self.hear("game")
        return states[-1]

    def hear(self, event: str) -> dict[str, Any]:
        while True:
            message = self.read()
            self.events.append(message)
            if message.get("type") == event:
                return message
