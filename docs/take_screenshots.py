"""Take the screenshots of the docs: `make pictures`.  Needs Chromium."""

import re
import sys
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from playwright.sync_api import Browser, Page

from awello.web import club_service

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS.parent / "tests"))
import clubs  # noqa: E402
from browser import Visitor, open_browser, run_server_process  # noqa: E402

OTHELLO_GAME = (
    "d3c5f6f5e6e3f4f3e2c3d2f1b4f2c6c2d1c4e1d6g1c7d7g5b5a3b6g4c1b2a4b7g6e8b3f7a8h6g7b1a1a2b8g2d8h8e7c8h4a7f8h5h1h3"
)
AWALE_GAME = "FdBeFcEcDeEfEcDdCcDaEf"


def review_game(page: Page) -> None:
    """Turn the engine on and review the game."""
    page.keyboard.press("l")
    page.click("#tab-analysis")
    page.click("#begin-review")
    page.wait_for_selector("#begin-review", timeout=120_000)
    page.wait_for_selector(".values li")
    page.wait_for_timeout(4000)


def show_values(page: Page) -> None:
    """Turn the engine on and wait for its values."""
    page.keyboard.press("l")
    page.wait_for_timeout(4000)


# for each file: the link to open, the action before the screenshot, the browser settings
SCREENSHOTS: dict[str, tuple[str, Any, dict[str, Any]]] = {
    "page-othello.png": (
        f"#othello?moves={OTHELLO_GAME[:60]}*{OTHELLO_GAME[60:]}&second=champion%40level%3D6",
        review_game,
        {},
    ),
    "page-awale.png": (
        f"#abapa?moves={AWALE_GAME}*&first=human&second=travers%40500ms",
        show_values,
        {"color_scheme": "dark"},
    ),
    "page-phone.png": (
        f"#othello?moves={OTHELLO_GAME[:60]}*",
        show_values,
        {"viewport": {"width": 360, "height": 860}, "locale": "fr-FR"},
    ),
}


# ---- the club --------------------------------------------------------------------------------------------------------
MEMBER_NAMES = ["Ann", "Bob", "Eve", "Dan"]
LOSERS_OF_FINISHED_GAMES = ["Dan", "Eve", "Bob", "Dan", "Ann", "Eve"]  # chosen to give the players different ratings


class ClubAccounts:
    """Accounts of the club, each with an HTTP client and a WebSocket channel."""

    def __init__(self, stack: ExitStack, address: str) -> None:
        self.clients = {name: clubs.ClubHttpClient(base_url=address) for name in MEMBER_NAMES}
        for name, client in self.clients.items():
            clubs.sign_up(client, name)
        self.channels = {name: stack.enter_context(client.connect()) for name, client in self.clients.items()}

    def play(self, first: str, second: str, moves: list[str], **conditions: Any) -> int:
        """Start a game, play the moves, and return the number of the game."""
        channels = self.channels[first], self.channels[second]
        seek = channels[0].request("seek", side=0, **conditions)["seek"]
        number: int = channels[1].request("accept", number=seek)["game"]
        for ply, move in enumerate(moves):
            assert channels[ply % 2].request("move", game=number, ply=ply, move=move)["type"] == "done"
        return number

    def fill(self) -> None:
        """Create finished games, seeks and two games in progress; Ann plays in one of those two."""
        for index, loser in enumerate(LOSERS_OF_FINISHED_GAMES):
            winner = MEMBER_NAMES[index % 2] if MEMBER_NAMES[index % 2] != loser else MEMBER_NAMES[2]
            number = self.play(winner, loser, ["d3", "c5"], variant="othello", seconds=300)
            assert self.channels[loser].request("resign", game=number)["type"] == "done"
        self.play("Eve", "Dan", re.findall(".", AWALE_GAME), variant="abapa", seconds=1800)
        self.play("Ann", "Bob", re.findall("..", OTHELLO_GAME[:40]), variant="othello", seconds=300)
        self.channels["Eve"].request("seek", variant="othello", seconds=300)
        self.channels["Dan"].request("seek", variant="abapa", seconds=600, increment=5, side=1)


def photograph_club(browser: Browser) -> None:
    """Take a screenshot of a live game beside the lobby."""
    club_service.SIGNUP_RATE = (100, 1)
    with (
        TemporaryDirectory() as folder,
        clubs.run_server_thread(Path(folder) / "club.sqlite") as address,
        ExitStack() as stack,
    ):
        accounts = ClubAccounts(stack, address)
        visitor = Visitor(browser, address, viewport={"width": 1200, "height": 960})
        login = {"name": "Ann", "password": clubs.PASSWORD}
        assert visitor.context.request.post(f"{address}api/club/session", data=login).ok
        accounts.fill()
        page = visitor.open("#club")
        page.wait_for_selector("#club-resign")
        page.click("#club-view-lobby")
        page.wait_for_selector("#club-seeks .club-row")
        page.wait_for_timeout(1500)
        page.screenshot(path=DOCS / "page-club.png")
        visitor.close()


def main() -> None:
    """Take all screenshots and write them to the folder of this file."""
    with open_browser() as browser:
        photograph_club(browser)
    with run_server_process() as address, open_browser() as browser:
        for name, (link, prepare, settings) in SCREENSHOTS.items():
            visitor = Visitor(browser, address, **{"viewport": {"width": 1200, "height": 960}, **settings})
            page = visitor.open(link)
            page.wait_for_selector(".moves-line button")
            prepare(page)
            page.screenshot(path=DOCS / name)
            visitor.close()


if __name__ == "__main__":
    main()
