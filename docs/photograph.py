"""Photographs the page for the docs: `make pictures`.  Needs Chromium."""

import sys
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests"))
from browser import Visitor, browsing, serving  # noqa: E402

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


def main() -> None:
    """Write each photograph beside this file."""
    with serving() as address, browsing() as browser:
        for name, (link, prepare, settings) in SHOTS.items():
            visitor = Visitor(browser, address, **{"viewport": {"width": 1200, "height": 960}, **settings})
            page = visitor.open(link)
            page.wait_for_selector(".moves-line button")
            prepare(page)
            page.screenshot(path=HERE / name)
            visitor.close()


if __name__ == "__main__":
    main()
