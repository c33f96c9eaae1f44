"""Fair play on the page: first-move countdown, claims, blocking, unrated games."""

import pytest
from browser import expect_notice
from playwright.sync_api import Browser, expect
from test_page_club import OPEN, club, offer_game, open_pages, start_game

from awello.club.fair_play import SAME_NETWORK, FairPlayMonitor
from awello.club.server import ClubServer

__all__ = ["club"]  # a fixture, imported for the tests


def advance_club(monkeypatch: pytest.MonkeyPatch) -> None:
    """Advance the club's clock by a minute, but not the clocks of the browsers."""
    now = ClubServer.now
    monkeypatch.setattr(ClubServer, "now", lambda server: now(server) + 60.0)


def test_the_first_move_is_waited_for(browser: Browser, club: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_pages(browser, club, "Ann", "Bob") as (ann, bob):
        start_game(ann, bob, "othello")
        first = ann.locator("#club-first-move")
        expect(first).to_contain_text("Play your first move within")
        was = first.inner_text()
        expect(first).not_to_have_text(was)  # the countdown runs
        expect(bob.locator("#club-first-move")).to_contain_text("Ann has")
        ann.locator(OPEN).first.click()
        expect(bob.locator("#club-first-move")).to_contain_text("Play your first move within")
        advance_club(monkeypatch)
        expect(ann.locator("#banner strong")).to_have_text("Game aborted")
        expect_notice(bob, "Your early exits from rated games in the last hour: 1.")


def test_the_win_is_claimed(browser: Browser, club: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_pages(browser, club, "Ann") as (ann,):
        ann.clock.install()
        with open_pages(browser, club, "Bob") as (bob,):
            start_game(ann, bob, "abapa")
            ann.locator(OPEN).first.click()
            bob.locator(OPEN).first.click()
            expect(ann.locator(OPEN).first).to_be_visible()
            expect(ann.locator("#club-first-move")).to_have_count(0)
        gone = ann.locator("#club-opponent-left")
        expect(gone).to_contain_text("Bob has left the game. You can claim victory in")
        advance_club(monkeypatch)
        ann.clock.fast_forward(60_000)
        expect(ann.locator("#club-claim")).to_have_text("Claim victory")
        expect(ann.locator("#club-claim-draw")).to_be_visible()
        ann.click("#club-claim")
        expect(ann.locator("#banner strong")).to_have_text("South wins: the opponent left the game")


def test_an_opponent_who_comes_back(browser: Browser, club: str) -> None:
    with open_pages(browser, club, "Ann", "Bob") as (ann, bob):
        start_game(ann, bob, "othello")
        ann.locator(OPEN).first.click()
        bob.locator(OPEN).first.click()
        address = bob.url
        bob.goto("about:blank")
        expect(ann.locator("#club-opponent-left")).to_be_visible()
        bob.goto(address)
        expect(ann.locator("#club-opponent-left")).to_have_count(0)
        expect(ann.locator("#live-region")).to_contain_text("Bob is back.")


def test_a_player_is_blocked(browser: Browser, club: str) -> None:
    with open_pages(browser, club, "Ann", "Eve") as (ann, eve):
        offer_game(eve, "othello")
        expect(ann.locator("#club-seeks .club-row")).to_have_count(1)
        ann.click("#club-online-Eve")
        expect(ann.locator("#club-block")).to_have_text("Block")
        ann.click("#club-block")
        expect_notice(ann, "Eve can no longer challenge you.")
        expect(ann.locator("#club-block")).to_have_text("Unblock")
        ann.click("#club-view-lobby")
        expect(ann.locator("#club-seeks .club-row")).to_have_count(0)
        offer_game(eve, "othello", name="Ann")
        expect(eve.locator("#club-offer-error")).to_have_text(
            "Ann does not accept challenges at the moment: challenge another player, or offer a game to anyone."
        )
        ann.click("#club-online-Eve")
        ann.click("#club-block")
        expect_notice(ann, "Eve can challenge you again.")
        offer_game(eve, "othello", name="Ann")
        ann.click("#club-view-lobby")
        expect(ann.locator(".club-challenge")).to_contain_text("Eve challenges you")


def test_an_unrated_game_shows_the_reason(browser: Browser, club: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FairPlayMonitor, "find_unrated_reason", lambda *people: SAME_NETWORK)
    with open_pages(browser, club, "Ann", "Bob") as (ann, bob):
        start_game(ann, bob, "othello")
        for page in (ann, bob):
            expect(page.locator("#club-unrated")).to_have_text("Unrated: both players are on the same network.")
