"""A real server with a club for tests, and clients of its HTTP API and WebSocket."""

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import uvicorn
from waiting import TIMEOUT, wait_until
from websockets.sync.client import connect as connect_websocket

from awello.cli.serve import listen
from awello.web.app import create_app
from awello.web.http_server import HttpServerConfig

PASSWORD = "correct horse"


class ClubHttpClient(httpx2.Client):
    """An HTTP client with its own cookies."""

    @contextmanager
    def connect(self, **headers: str) -> Iterator["ClubChannel"]:
        """Open a WebSocket connection to the club."""
        cookies = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        sent = ({"cookie": cookies} if cookies else {}) | headers
        address = str(self.base_url).replace("http", "ws") + "api/club/live"
        with connect_websocket(address, additional_headers=sent) as socket:
            yield ClubChannel(socket)


@contextmanager
def run_server_thread(club: Path | None, port: int = 0, names: Sequence[str] = ()) -> Iterator[str]:
    """Run a server in a thread and yield its address; the server has no club if `club` is None."""
    listener = listen("127.0.0.1", port)
    archive = None if club is None else str(club.with_name("archive.sqlite"))
    app = create_app(0, archive=archive, club=None if club is None else str(club), hostnames=names)
    server = uvicorn.Server(HttpServerConfig(app, behind_proxy=bool(names)))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    wait_until(lambda: server.started or not thread.is_alive())
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
    finally:
        server.should_exit = True
        thread.join()


def sign_up(client: ClubHttpClient, name: str) -> None:
    assert client.post("/api/club/accounts", json={"name": name, "password": PASSWORD}).json()["name"] == name


class ClubChannel:
    """A WebSocket connection, and the events received on it."""

    def __init__(self, socket: Any) -> None:
        self.socket, self.events, self.number = socket, list[dict[str, Any]](), 0

    def receive(self) -> dict[str, Any]:
        message: dict[str, Any] = json.loads(self.socket.recv(timeout=TIMEOUT))
        return message

    def request(self, type: str, **fields: Any) -> dict[str, Any]:
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "type": type, **fields}))
        while True:
            message = self.receive()
            if "id" in message:
                assert message["id"] == self.number
                return message
            self.events.append(message)

    def state(self, number: int) -> dict[str, Any]:
        """Return the last received state of a game; if there is none yet, wait until one arrives."""
        while not (states := [event for event in self.events if event["type"] == "game" and event["game"] == number]):
            self.wait_for("game")
        return states[-1]

    def wait_for(self, event_type: str) -> dict[str, Any]:
        while True:
            message = self.receive()
            self.events.append(message)
            if message.get("type") == event_type:
                return message
