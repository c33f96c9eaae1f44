"""The page in a real browser: whole games, hints, review, editor, import and export, as people do them."""

from collections.abc import Iterator

import pytest
from browser import Visitor, browsing, cell, moves_of, serving
from playwright.sync_api import Browser, Page, expect

from awello import Game, Position
from awello.web.messages import Line

PASSING = "#othello?start=" + "-XO" + "-" * 61 + "+X"  # Black plays d1, White has no move
ENDGAME = "f5d6c3d3c4f4f6f3e6e7d7g6f7f8"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with serving() as found:
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with browsing() as found:
        yield found


@pytest.fixture
def visitor(browser: Browser, address: str) -> Iterator[Visitor]:
    someone = Visitor(browser, address)
    yield someone
    someone.close()


def legal_cells(page: Page) -> list[str]:
    """The cells that the board says can be played."""
    return page.eval_on_selector_all(
        "[role=gridcell][aria-label*='legal'], [role=gridcell][aria-label*='playable']",
        "cells => cells.map(cell => cell.dataset.cell)",
    )


def play_to_the_end(page: Page, game: Game, by_keyboard: bool) -> Position:
    """Play the first move offered, again and again; the final position by the rules."""
    banner = page.locator("#banner")
    while not banner.is_visible():
        page.wait_for_function(
            """() => !document.querySelector('#banner').hidden
               || document.querySelector('[aria-label*=legal], [aria-label*=playable]')
                  && document.querySelector('#caption span').textContent.endsWith('to move')"""
        )
        if banner.is_visible():
            break
        before = len(moves_of(page))
        square = cell(page, legal_cells(page)[0])
        if by_keyboard:
            square.focus()
            page.keyboard.press("Enter")
        else:
            square.click()
        page.wait_for_function(
            f"() => location.hash.length && document.querySelectorAll('.moves-move, move-list button').length > {before}"
        )
    final = Line(game=str(game), moves=moves_of(page)).record().final
    assert final.over
    return final


def test_first_minute(visitor: Visitor) -> None:
    page = visitor.open()
    assert not page.locator("dialog[open]").count()
    expect(page.locator("#caption")).to_contain_text("Black to move")
    cell(page, "f5").click()
    expect(page.locator("#caption")).to_contain_text("Black to move")
    assert len(moves_of(page)) == 2
