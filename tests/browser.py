"""Helpers for tests of the page: start a server and a browser, and use the page."""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from conftest import ROOT, restore_interrupts
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect, sync_playwright
from test_translations import ENGLISH

from awello import Record
from awello.schemas import PositionJson
from awello.web.messages import MovesRequest

BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")  # fastest first
CHROMIUM = next(filter(None, map(shutil.which, BROWSERS)), None)
TIMEOUT_MS = 120_000  # long enough for a busy machine

expect.set_options(timeout=TIMEOUT_MS)


@contextmanager
def run_server_process(*words: str, **environment: str) -> Iterator[str]:
    """Run `awello serve`, yield the address that it prints, and stop it with Ctrl-C."""
    process = subprocess.Popen(
        [sys.executable, "-m", "awello", "serve", "--no-browser", *(words or ("--port", "0", "--jobs", "1"))],
        cwd=ROOT,
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=restore_interrupts,
    )
    try:
        assert process.stdout
        line = process.stdout.readline()
        found = re.search(r"http://\S+", line)
        assert found, f"no address in {line!r}"
        yield found[0]
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(TIMEOUT_MS // 1000) == 0


@contextmanager
def open_browser() -> Iterator[Browser]:
    """Start and yield a headless browser, or skip the test if Chromium is not installed."""
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed: apt install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()


class Visitor:
    """A browser window that shows the page; the test fails if the console of the window reports errors."""

    def __init__(self, browser: Browser, address: str, **settings: Any) -> None:
        settings = {
            "locale": "en-GB",
            "reduced_motion": "reduce",
            "viewport": {"width": 1280, "height": 900},
        } | settings
        self.address = address
        self.context: BrowserContext = browser.new_context(**settings)
        self.errors: list[str] = []
        self.allowed_errors = r"$^"
        self.page = self.new_page()

    def new_page(self) -> Page:
        """Open another browser tab; return its page."""
        page = self.context.new_page()
        page.set_default_timeout(TIMEOUT_MS)
        page.on("console", lambda message: self.errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        return page

    def open(self, link: str = "", page: Page | None = None) -> Page:
        """Open a link and wait for the board; return the page."""
        page = page or self.page
        page.goto("about:blank")
        page.goto(self.address + link)
        page.wait_for_selector("[role=gridcell]")
        return page

    def allow_errors(self, pattern: str) -> None:
        """Allow console errors that match a regular expression."""
        self.allowed_errors = pattern

    def close(self) -> None:
        """Close the window; fail if the console reported errors that are not allowed."""
        self.context.close()
        assert [text for text in self.errors if not re.search(self.allowed_errors, text)] == []


REFUSAL = "status of 4"  # part of the console error for a refused request (status 4xx)
AWAY = "ERR_CONNECTION|WebSocket connection|ERR_EMPTY_RESPONSE"  # matches console errors for an unreachable server


@contextmanager
def open_window(browser: Browser, address: str, **settings: Any) -> Iterator[Visitor]:
    """Yield a visitor with these browser settings."""
    someone = Visitor(browser, address, **settings)
    yield someone
    someone.close()


def cell(page: Page, name: str) -> Locator:
    """Return the board cell with this name, which is a square or a pit."""
    return page.locator(f"[role=gridcell][data-cell='{name}']")


def caption(page: Page) -> Locator:
    """Return the caption below the board."""
    return page.locator("#caption")


def expect_notice(page: Page, text: str) -> None:
    """Wait for a notice that contains this text."""
    expect(page.locator("#notice")).to_contain_text(text)
    expect(page.locator("#notice")).to_be_visible()


def open_tab(page: Page, name: str) -> Locator:
    """Open a tab of the page; return its panel."""
    page.click(f"#tab-{name}")
    return page.locator(f"#panel-{name}")


def address_param(page: Page, name: str) -> str:
    """Return the value of a parameter in the address of the page, or an empty string if it is missing."""
    return str(page.evaluate(f"new URLSearchParams(location.hash.split('?')[1]).get('{name}') ?? ''"))


def moves_in_address(page: Page) -> list[str]:
    """Return the moves of the main line from the address of the page."""
    text = address_param(page, "moves").replace("*", "")
    while "(" in text:
        text = re.sub(r"\([^()]*\)", "", text)
    return ["pass" if move == "--" else move for move in re.findall(r"[a-h][1-8]|--|[a-fA-F]", text)]


def expect_moves(page: Page, moves: str) -> None:
    """Wait until the moves in the page's address are `moves`, where a star follows the current move."""
    script = "want => (new URLSearchParams(location.hash.split('?')[1]).get('moves') ?? '') === want"
    try:
        page.wait_for_function(script, arg=moves)
    except Exception as error:
        raise AssertionError(f"{address_param(page, 'moves')} instead of {moves}") from error


def record_in_address(page: Page) -> Record:
    """Return the game in the address of the page as a record."""
    game = page.evaluate("location.hash.slice(1).split('?')[0]")
    return MovesRequest(game=game, start=address_param(page, "start") or None, moves=moves_in_address(page)).to_record()


READY_TO_PLAY = """before => location.hash !== before && (!document.querySelector('#banner').hidden
  || document.querySelector('.board-cell.is-open') !== null)"""


def play_to_end(page: Page, choose: Callable[[list[str]], str], act: Callable[[Page, str], None]) -> Record:
    """Play the moves that `choose` returns, using `act`, until the game is over; check the displayed result."""
    before = ""
    while page.wait_for_function(READY_TO_PLAY, arg=before) and not page.locator("#banner").is_visible():
        before = page.evaluate("location.hash")
        open_cells = page.eval_on_selector_all(".board-cell.is-open", "cells => cells.map(cell => cell.dataset.cell)")
        act(page, choose(sorted(open_cells)))
    record = record_in_address(page)
    assert record.final.over
    expect(page.locator("#banner strong")).to_have_text(expected_result(record))
    return record


def expected_result(record: Record) -> str:
    """Return the text with which the page should display the result of a game."""
    final = record.final
    ending = PositionJson.of(final).end_reason
    why = f" ({ENGLISH[f'end.{ending}'].format(mover=final.game.sides[final.side])})" if ending else ""
    most, least = sorted(final.score(), reverse=True)
    if record.winner is None:
        return f"Draw, {most}–{least}{why}"
    return f"{final.game.sides[record.winner]} wins {most}–{least}{why}"


def wait_for_reply(page: Page, moves: int) -> None:
    """Wait until this number of moves has been played and it is the user's turn."""
    page.wait_for_function(
        """want => document.querySelectorAll('.moves-main > .moves-cell').length === want
                && document.querySelector('.board-cell.is-open') !== null""",
        arg=moves,
    )


def play_by_mouse(page: Page, name: str) -> None:
    """Play a move with the mouse."""
    cell(page, name).click()


KEYS_TO_CELL = """name => {
  const rows = [...document.querySelectorAll("[role=row]")];
  const place = (node) => [rows.indexOf(node.parentElement), [...node.parentElement.children].indexOf(node)];
  const [row, column] = place(document.activeElement);
  const [toRow, toColumn] = place(document.querySelector(`[data-cell='${name}']`));
  const keys = (key, count) => Array(Math.max(0, count)).fill(key);
  return [
    ...keys("ArrowDown", toRow - row), ...keys("ArrowUp", row - toRow),
    ...keys("ArrowRight", toColumn - column), ...keys("ArrowLeft", column - toColumn), "Enter",
  ];
}"""


def play_by_keyboard(page: Page, name: str) -> None:
    """Play a move with the keyboard: go to the board, press arrow keys and Enter."""
    if page.evaluate("() => document.activeElement.dataset.cell === undefined"):
        page.keyboard.press("g")
    for key in page.evaluate(KEYS_TO_CELL, name):
        page.keyboard.press(key)


def displayed_discs(page: Page) -> str:
    """Return the displayed discs as text, one character per square."""
    return str(
        page.eval_on_selector_all(
            ".othello-square",
            """squares => squares.map(({ classList }) =>
                 classList.contains("is-black") ? "X" : classList.contains("is-white") ? "O" : "-").join("")""",
        )
    )


def displayed_seeds(page: Page) -> list[int]:
    """Return the number of seeds that each pit displays."""
    return list(page.eval_on_selector_all(".awale-seeds", "pits => pits.map(pit => pit.children.length)"))
