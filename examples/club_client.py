"""A small bot for the club: it accepts every challenge and plays random moves.

AWELLO_TOKEN=... python examples/club_client.py http://127.0.0.1:8421

The protocol is described in docs/club.md; any language with WebSockets and JSON will do.
"""

import asyncio
import itertools
import json
import os
import random
import sys
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

numbers = itertools.count(1)
sent: dict[int, str] = {}  # unanswered messages by id


async def ask(club: ClientConnection, type: str, **fields: Any) -> None:
    """Send a message; the response has the same id."""
    number = next(numbers)
    sent[number] = json.dumps({"id": number, "type": type, **fields})
    await club.send(sent[number])


def choose(game: dict[str, Any]) -> str:
    """Choose a move; `game` holds the position, the moves so far, the clocks and the legal moves."""
    return str(random.choice(game["legal"]))


async def play(club: ClientConnection) -> None:
    """Play until the connection is closed."""
    async for text in club:  # the first message is the welcome
        message = json.loads(text)
        match message["type"]:
            case "welcome":
                me = message["name"]
                print(f"in the club as {me}")
            case "ping":
                await club.send(json.dumps({"type": "pong", "number": message["number"]}))
            case "challenge":
                await ask(club, "accept", number=message["number"])
            case "game":
                names = [player["name"] for player in message["players"]]
                if message["over"]:
                    print(f"game {message['game']} is over: {message['reason'] or message['score']}")
                elif me in names and names[message["mover"]] == me:
                    await ask(club, "move", game=message["game"], ply=message["ply"], move=choose(message))
            case "error":
                request = sent.pop(message["id"])
                print(f"refused: {message['message']}", file=sys.stderr)
                if message["code"] in ("often", "storage"):  # the club is busy: send it again
                    await asyncio.sleep(0.5)
                    await club.send(sent.setdefault(message["id"], request))
            case "done":
                del sent[message["id"]]


async def main(server: str, token: str) -> None:
    """Connect, and reconnect after failures; the club then sends the state of every game again."""
    address = server.replace("http", "ws", 1).rstrip("/") + "/api/club/live"
    async for club in connect(address, additional_headers={"authorization": f"Bearer {token}"}):
        try:
            await play(club)
        except ConnectionClosed as closed:
            if closed.rcvd and closed.rcvd.code == 1008:
                sys.exit(f"the club has closed the connection: {closed.rcvd.reason}")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], os.environ["AWELLO_TOKEN"]))
