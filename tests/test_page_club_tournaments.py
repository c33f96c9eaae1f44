"""Tournaments and chat of the club in a browser."""

import re
import time
from functools import partial
from pathlib import Path

import pytest
from browser import caption, expect_notice, open_tab
from clubs import ClubHttpClient, sign_up
from playwright.sync_api import Browser, Page, expect
from test_club_tournaments import SMALL, start_now
from test_page_appearance import find_small_targets, find_untranslated
from test_page_club import ON_A_PHONE, check, open_pages, play, start_game
from test_page_club import club as club

from awello.club import tournament_organiser
from awello.club.accounts import find_account
from awello.club.store import ClubStore
from awello.club.tournament_store import create_tournament, enter_tournament

EVIL = "<script>window.error = 1</script><img src=x onerror='window.error = 1'> & \u202aça"


@pytest.fixture(autouse=True)
def check_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the organiser check the tournaments more often."""
    monkeypatch.setattr(tournament_organiser, "CHECK_SECONDS", 0.2)


def plan_tournament(
    database: Path, name: str, system: str = "swiss", rounds: int = 1, grace: float = 60.0, *players: str
) -> None:
    """Create a tournament with players, as another process would."""
    store = ClubStore(database)
    made = store.submit(
        lambda one: create_tournament(one, name, system, SMALL, rounds, time.time() + 4000, grace)
    ).result()
    store.close()
    enter_players(database, made.number, *players)


def enter_players(database: Path, number: int, *players: str) -> None:
    store = ClubStore(database)
    for player in players:
        account = store.read_blocking(partial(find_account, name=player))
        assert account
        store.submit(partial(enter_tournament, key=number, account=account)).result()
    store.close()


def start_tournament(database: Path, number: int) -> None:
    store = ClubStore(database)
    start_now(store, number)
    store.close()


def press(page: Page, selector: str) -> None:
    """Focus an element and press Enter."""
    page.locator(selector).focus()
    page.keyboard.press("Enter")


# ---- tournaments ----------------------------------------------------------------------------------------------------
def test_a_complete_tournament(browser: Browser, club: str, tmp_path: Path) -> None:
    """Updates arrive without a reload; players can enter a tournament by keyboard; names link to profiles."""
    database = tmp_path / "club.sqlite"
    with open_pages(browser, club, "Ann", "Bob", "") as (ann, bob, eyes):
        for page in (ann, bob):
            press(page, "#club-view-tournaments")
        expect(ann.locator("#panel-club")).to_contain_text("No tournaments are scheduled")
        plan_tournament(database, "Cup")
        row = bob.locator("#tournament-1")
        expect(row).to_contain_text("Othello 4×4 · 1 min · rated games · Swiss, 1 round")
        left = row.locator("time")
        was = left.inner_text()
        assert re.fullmatch(r"in 1:0\d:\d\d", was)
        expect(left).not_to_have_text(was)  # the countdown is updated
        ann.click("#tournament-enter-1")
        expect_notice(ann, "You have entered Cup")
        expect(ann.locator("#tournament-enter-1")).to_have_text("Withdraw")
        expect(row).to_contain_text("1 player")
        press(bob, "#tournament-1")
        expect(bob.locator("#tournament-back")).to_be_focused()
        expect(bob.locator("#tournament-entrants")).to_have_text("Ann")
        press(bob, "#tournament-enter-1")
        expect(bob.locator("#tournament-entrants")).to_have_text("AnnBob")
        expect(bob.locator("#tournament-enter-1")).to_be_focused()
        bob.keyboard.press("Enter")
        expect_notice(bob, "You have withdrawn from Cup")
        bob.click("#tournament-enter-1")
        expect(ann.locator("#tournament-1")).to_contain_text("2 players")

        eyes.click("#club-view-tournaments")
        eyes.click("#tournament-1")
        expect(eyes.locator("#tournament-login")).to_be_visible()
        start_tournament(database, 1)
        expect(eyes.locator("#tournament-state")).to_have_text("Round 1 of 1")
        eyes.locator("#round-1 button", has_text="Watch").click()
        expect(eyes.locator("#club-bar")).to_contain_text("You are watching")
        expect(eyes.locator("#chat")).to_be_hidden()
        eyes.click("#club-view-tournaments")
        for page in (ann, bob):
            expect(page.locator("#club-tournament")).to_have_text("Cup")
            expect(page.locator("#club-resign")).to_be_visible()
            assert page.locator("#club-abort").count() == 0, "a tournament game cannot be aborted"
        expect_notice(ann, "Round 1: you play Bob")
        bob.click("#club-tournament")
        expect(bob.locator("#tournament-own-pairing")).to_have_text("Round 1: you play AnnPlay")
        bob.click("#tournament-play")
        bob.click("#club-resign")
        bob.click("#club-resign-yes")
        expect_notice(ann, "Cup has ended: your final rank is 1")
        expect(eyes.locator("#tournament-state")).to_contain_text("Finished")
        expect(eyes.locator("#tournament-standings tbody tr")).to_have_text(["1Ann1001", "2Bob0100"])
        expect(eyes.locator("#round-1 .club-number")).to_have_text(re.compile("^(1 – 0|0 – 1)$"))
        eyes.locator("#round-1 button", has_text="Open").click()
        expect(eyes.locator("#banner strong")).to_contain_text("by resignation")
        eyes.goto(f"{club}#club/tournament/1")
        eyes.click("#standing-Ann")
        expect(eyes.locator("#panel-club")).to_contain_text("1 game")
        eyes.goto(f"{club}#club/tournament/7")
        expect(eyes.locator("#panel-club [role=alert]:visible")).to_contain_text("There is no tournament 7")


@pytest.mark.slow
def test_tournaments_for_everyone(browser: Browser, club: str, tmp_path: Path) -> None:
    """On a phone and in French, upcoming tournaments and forfeits are shown, and the focus is kept."""
    database = tmp_path / "club.sqlite"
    with open_pages(browser, club, "Ann", **ON_A_PHONE) as (page,):
        for name in ("Grace-Brewster-1906", "Emmy_Noether", "Bob"):
            with ClubHttpClient(base_url=club) as visitor:
                sign_up(visitor, name)
        plan_tournament(database, "Absents", "double-round-robin", 0, 0.0, "Grace-Brewster-1906", "Emmy_Noether", "Bob")
        plan_tournament(database, "Un nom de tournoi qui est très long", "swiss", 9)
        start_tournament(database, 1)
        page.reload()
        open_tab(page, "club")
        page.click("#club-view-tournaments")
        expect(page.locator("#tournaments-ended")).to_contain_text("Absents")
        check(page, "tournaments", "#tournaments-open")
        page.click("#tournament-1")
        expect(page.locator(".club-round[open]")).to_have_count(1)
        expect(page.locator(".club-round[open] .club-number").first).to_contain_text("forfait")
        page.click("#round-title-2")
        check(page, "tournament", "#tournament-standings")
        page.click("#tournament-back")
        expect(page.locator("#tournament-1")).to_be_focused()
        page.click("#tournament-2")
        page.click("#tournament-enter-2")
        expect(page.locator("#tournament-entrants button")).to_have_count(1)
        assert find_small_targets(page) == [] and find_untranslated(page) == []
        page.locator("#tournament-link").focus()
        enter_players(database, 2, "Bob")
        expect(page.locator("#tournament-entrants button")).to_have_count(2)
        expect(page.locator("#tournament-link")).to_be_focused()


# ---- chat -----------------------------------------------------------------------------------------------------------
def test_chat(browser: Browser, club: str) -> None:
    """Chat is off until both players turn it on; messages are plain text; the setting is stored."""
    with open_pages(browser, club, "Ann", "Bob") as (ann, bob):
        start_game(ann, bob, "othello4")
        for page in (ann, bob):
            expect(page.locator("#chat-on")).not_to_be_checked()
            expect(page.locator("#chat-text")).to_be_hidden()
        ann.check("#chat-on")
        ann.fill("#chat-text", "hello")
        ann.keyboard.press("Enter")
        expect(ann.locator("#chat-error")).to_have_text(
            "Bob is offline or has chat off: the message was not delivered."
        )
        assert ann.input_value("#chat-text") == "hello"
        bob.check("#chat-on")
        bob.reload()
        expect(bob.locator("#chat-on")).to_be_checked()
        ann.click("#chat-send")
        expect(bob.locator("#chat-log")).to_have_text("Ann hello")
        expect(ann.locator("#chat-log")).to_have_text("Ann hello")
        ann.fill("#chat-text", EVIL)
        ann.keyboard.press("Enter")
        expect(ann.locator("#chat-error")).to_contain_text("cannot contain control characters")
        ann.fill("#chat-text", EVIL.replace("\u202a", ""))
        ann.keyboard.press("Enter")
        line = bob.locator("#chat-log bdi").last
        expect(line).to_have_text(EVIL.replace("\u202a", ""))
        expect(bob.locator("#chat-log :is(img, script)")).to_have_count(0)
        assert bob.evaluate("window.error") is None is ann.evaluate("window.error")
        open_tab(ann, "play")
        bob.fill("#chat-text", "ffff <b>")  # letters are not shortcuts in the field
        bob.keyboard.press("Enter")
        expect_notice(ann, "Bob: ffff <b>")
        play(ann, "b1")
        expect(caption(bob)).to_contain_text("Your turn")
        bob.uncheck("#chat-on")
        expect(bob.locator("#chat-log")).to_be_hidden()
        open_tab(ann, "club")
        expect(ann.locator("#chat-log p")).to_have_count(3)
        ann.fill("#chat-text", "still there?")
        ann.keyboard.press("Enter")
        expect(ann.locator("#chat-error")).to_contain_text("is offline or has chat off")
