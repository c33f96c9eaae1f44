"""A program for the club in sixty lines: it accepts every challenge and plays random moves.

AWELLO_TOKEN=... python examples/club_client.py http://127.0.0.1:8421

Everything a program needs to know is in docs/club.md; any language with WebSockets and JSON will do.
"""

import asyncio
import itertools
import json
import os
import random
import sys
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosedError

numbers = itertools.count(1)


async def ask(club: ClientConnection, do: str, **fields: Any) -> None:
    """Send a message; its answer will carry the same id."""
    await club.send(json.dumps({"id": next(numbers), "do": do, **fields}))


def choose(game: dict[str, Any]) -> str:
    """Your idea goes here: `game` holds the position, the moves so far, the clocks and the legal moves."""
    return str(random.choice(game["legal"]))


async def play(server: str, token: str) -> None:
    """Play until the connection ends."""
    address = server.replace("http", "ws", 1).rstrip("/") + "/api/club/live"
    async with connect(address, additional_headers={"authorization": f"Bearer {token}"}) as club:
        async for text in club:  # the first message is the welcome
            message = json.loads(text)
            match message.get("event"):
                case "welcome":
                    me = message["name"]
                    print(f"in the club as {me}")
                case "ping":
                    await club.send(json.dumps({"do": "pong", "number": message["number"]}))
                case "challenge":
                    await ask(club, "accept", number=message["number"])
                case "game":
                    names = [player["name"] for player in message["players"]]
                    if message["over"]:
                        print(f"game {message['game']} is over: {message['reason'] or message['score']}")
                    elif me in names and names[message["mover"]] == me:
                        await ask(club, "move", game=message["game"], ply=message["ply"], move=choose(message))
                case None if not message.get("ok"):
                    print(f"refused: {message['message']}", file=sys.stderr)


if __name__ == "__main__":
    try:
        asyncio.run(play(sys.argv[1], os.environ["AWELLO_TOKEN"]))
    except ConnectionClosedError as closed:
        sys.exit(f"the club has closed the connection: {closed}")
