"""Photographs the page for the docs: `make pictures`.  Needs Chromium."""

import re
import sys
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from playwright.sync_api import Browser, Page

from awello.web import club_service

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests"))
import clubs  # noqa: E402
from browser import ClubHttpClient, browsing, serving  # noqa: E402

GAME = "d3c5f6f5e6e3f4f3e2c3d2f1b4f2c6c2d1c4e1d6g1c7d7g5b5a3b6g4c1b2a4b7g6e8b3f7a8h6g7b1a1a2b8g2d8h8e7c8h4a7f8h5h1h3"
AWALE = "FdBeFcEcDeEfEcDdCcDaEf"


def study(page: Page) -> None:
    """A game under review, with the engine on."""
    page.keyboard.press("l")
    page.click("#tab-analysis")
    page.click("#begin-review")
    page.wait_for_selector("#begin-review", timeout=120_000)
    page.wait_for_selector(".values li")
    page.wait_for_timeout(4000)


def sow(page: Page) -> None:
    """A game against a friendly program."""
    page.keyboard.press("l")
    page.wait_for_timeout(4000)


# the file: the link, what to do there, and with what kind of screen
SHOTS: dict[str, tuple[str, Any, dict[str, Any]]] = {
    "page-othello.png": (f"#othello?moves={GAME[:60]}*{GAME[60:]}&second=champion%40level%3D6", study, {}),
    "page-awale.png": (f"#abapa?moves={AWALE}*&first=human&second=travers%40500ms", sow, {"color_scheme": "dark"}),
    "page-phone.png": (
        f"#othello?moves={GAME[:60]}*",
        sow,
        {"viewport": {"width": 360, "height": 860}, "locale": "fr-FR"},
    ),
}


# ---- the club --------------------------------------------------------------------------------------------------------
MEMBERS = ["Ann", "Bob", "Eve", "Dan"]
LOST = ["Dan", "Eve", "Bob", "Dan", "Ann", "Eve"]  # games that were given up, so that ratings differ


class Members:
    """Those who are in the club, each on a channel of their own."""

    def __init__(self, stack: ExitStack, address: str) -> None:
        self.visitors = {name: clubs.ClubHttpClient(base_url=address) for name in MEMBERS}
        for name, visitor in self.visitors.items():
            clubs.sign_up(visitor, name)
        self.channels = {name: stack.enter_context(visitor.connect()) for name, visitor in self.visitors.items()}

    def play(self, first: str, second: str, moves: list[str], **terms: Any) -> int:
        """The number of a game in which these two have played some moves."""
        channels = self.channels[first], self.channels[second]
        seek = channels[0].request("seek", side=0, **terms)["seek"]
        number: int = channels[1].request("accept", number=seek)["game"]
        for ply, move in enumerate(moves):
            assert channels[ply % 2].request("move", game=number, ply=ply, move=move)["type"] == "done"
        return number

    def fill(self) -> None:
        """Some games that have ended, some that go on, and some that are wanted; the first player of all plays."""
        for place, loser in enumerate(LOST):
            other = MEMBERS[place % 2] if MEMBERS[place % 2] != loser else MEMBERS[2]
            number = self.play(other, loser, ["d3", "c5"], variant="othello", seconds=300)
            assert self.channels[loser].request("resign", game=number)["type"] == "done"
        self.play("Eve", "Dan", re.findall(".", AWALE), variant="abapa", seconds=1800)
        self.play("Ann", "Bob", re.findall("..", GAME[:40]), variant="othello", seconds=300)
        self.channels["Eve"].request("seek", variant="othello", seconds=300)
        self.channels["Dan"].request("seek", variant="abapa", seconds=600, increment=5, side=1)


def photograph_club(browser: Browser) -> None:
    """A game that is played, and the lobby beside it."""
    club_service.SIGNUP_RATE = (100, 1)
    with TemporaryDirectory() as folder, clubs.serving(Path(folder) / "club.sqlite") as address, ExitStack() as stack:
        members = Members(stack, address)
        visitor = ClubHttpClient(browser, address, viewport={"width": 1200, "height": 960})
        login = {"name": "Ann", "password": clubs.PASSWORD}
        assert visitor.context.request.post(f"{address}api/club/session", data=login).ok
        members.fill()
        page = visitor.open("#club")
        page.wait_for_selector("#club-resign")
        page.click("#club-view-lobby")
        page.wait_for_selector("#club-seeks .club-row")
        page.wait_for_timeout(1500)
        page.screenshot(path=HERE / "page-club.png")
        visitor.close()


def main() -> None:
    """Write each photograph beside this file."""
    with browsing() as browser:
        photograph_club(browser)
    with serving() as address, browsing() as browser:
        for name, (link, prepare, settings) in SHOTS.items():
            visitor = ClubHttpClient(browser, address, **{"viewport": {"width": 1200, "height": 960}, **settings})
            page = visitor.open(link)
            page.wait_for_selector(".moves-line button")
            prepare(page)
            page.screenshot(path=HERE / name)
            visitor.close()


if __name__ == "__main__":
    main()
