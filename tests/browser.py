"""A real browser before a real server, started as a person starts it."""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from conftest import ROOT, listen
from playwright.sync_api import Browser, BrowserContext, Locator, Page, sync_playwright

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@contextmanager
def serving(*words: str, **environment: str) -> Iterator[str]:
    """`awello serve`, ended by Ctrl-C; the address that it prints."""
    process = subprocess.Popen(
        [sys.executable, "-m", "awello", "serve", "--no-browser", *(words or ("--port", "0"))],
        cwd=ROOT,
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=listen,
    )
    try:
        assert process.stdout
        line = process.stdout.readline()
        found = re.search(r"http://\S+", line)
        assert found, f"no address in {line!r}"
        yield found[0]
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0


@contextmanager
def browsing() -> Iterator[Browser]:
    """Debian's Chromium without a window; tests are skipped where there is none."""
    if CHROMIUM is None:
        pytest.skip("no chromium: apt install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()


class Visitor:
    """Somebody with the page before them; anything that the browser complains about is an error."""

    def __init__(self, browser: Browser, address: str, **settings: Any) -> None:
        settings = {
            "locale": "en-GB",
            "reduced_motion": "reduce",
            "viewport": {"width": 1280, "height": 900},
        } | settings
        self.address = address
        self.context: BrowserContext = browser.new_context(**settings)
        self.complaints: list[str] = []
        self.page = self.new_page()

    def new_page(self) -> Page:
        """Another tab."""
        page = self.context.new_page()
        page.set_default_timeout(15_000)
        page.on("console", lambda message: self.complaints.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        return page

    def open(self, link: str = "", page: Page | None = None) -> Page:
        """The page with a link, ready to be played on."""
        page = page or self.page
        page.goto("about:blank")
        page.goto(self.address + link)
        page.wait_for_selector("[role=gridcell]")
        return page

    def close(self) -> None:
        """Leave, and complain."""
        self.context.close()
        assert self.complaints == []


def cell(page: Page, name: str) -> Locator:
    """A square or pit of the board."""
    return page.locator(f"[role=gridcell][data-cell='{name}']")


def moves_of(page: Page) -> list[str]:
    """The moves in the address of the page, without variations."""
    text = str(page.evaluate("new URLSearchParams(location.hash.split('?')[1]).get('moves') ?? ''")).replace("*", "")
    while "(" in text:
        text = re.sub(r"\([^()]*\)", "", text)
    return ["pass" if move == "--" else move for move in re.findall(r"[a-h][1-8]|--|[a-fA-F]", text)]
