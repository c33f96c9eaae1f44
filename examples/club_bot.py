"""A small bot for the club: it accepts every challenge and plays random moves.

    AWELLO_TOKEN=... python examples/club_bot.py http://127.0.0.1:8421

The protocol is described in docs/club.md; you can use any language with WebSockets and JSON.
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

request_numbers = itertools.count(1)
pending_requests: dict[int, str] = {}  # requests that wait for a response, by id


async def send_request(club: ClientConnection, type: str, **fields: Any) -> None:
    """Send a request with a new id; the response will have the same id."""
    number = next(request_numbers)
    pending_requests[number] = json.dumps({"id": number, "type": type, **fields})
    await club.send(pending_requests[number])


def choose_move(game: dict[str, Any]) -> str:
    """Choose a move; `game` holds the position, the moves played, the clocks and the legal moves."""
    return str(random.choice(game["legal"]))


async def play(club: ClientConnection) -> None:
    """Play until the connection closes."""
    async for text in club:  # the first message has the type `welcome`
        message = json.loads(text)
        match message["type"]:
            case "welcome":
                me = message["name"]
                print(f"online as {me}")
            case "ping":
                await club.send(json.dumps({"type": "pong", "number": message["number"]}))
            case "challenge":
                await send_request(club, "accept", number=message["number"])
            case "game":
                names = [player["name"] for player in message["players"]]
                if message["over"]:
                    print(f"game {message['game']} is over: {message['reason'] or message['score']}")
                elif me in names and names[message["mover"]] == me:
                    await send_request(
                        club, "move", game=message["game"], ply=message["ply"], move=choose_move(message)
                    )
            case "error":
                request = pending_requests.pop(message["id"])
                print(f"refused: {message['message']}", file=sys.stderr)
                if message["code"] in ("message_rate_limit", "storage"):  # a temporary error: send the request again
                    await asyncio.sleep(0.5)
                    await club.send(pending_requests.setdefault(message["id"], request))
            case "done":
                del pending_requests[message["id"]]


async def main(server: str, token: str) -> None:
    """Connect, and reconnect after a lost connection; each time, the club sends the state of the bot's live games."""
    address = server.replace("http", "ws", 1).rstrip("/") + "/api/club/live"
    async for club in connect(address, additional_headers={"authorization": f"Bearer {token}"}):
        try:
            await play(club)
        except ConnectionClosed as closed:
            if closed.rcvd and closed.rcvd.code == 1008:
                sys.exit(f"the club closed the connection: {closed.rcvd.reason}")


if __name__ == "__main__":
    if len(sys.argv) != 2 or not os.environ.get("AWELLO_TOKEN"):
        sys.exit("usage: AWELLO_TOKEN=TOKEN python examples/club_bot.py http://HOST:PORT")
    asyncio.run(main(sys.argv[1], os.environ["AWELLO_TOKEN"]))
