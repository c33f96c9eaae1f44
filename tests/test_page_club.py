"""The club in a browser: two players, a spectator, a server that restarts, and a page without a club."""

import json
import re
import socket
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from browser import AWAY, REFUSAL, caption, cell, expect_notice, open_tab, open_window, play_by_keyboard
from clubs import PASSWORD, run_server_thread
from playwright.sync_api import Browser, Page, Route, WebSocketRoute, expect
from test_page_appearance import PHONE, accessibility_violations, find_cut_off, find_small_targets, find_untranslated

from awello.web import club_service

OPEN = ".board-cell.is-open"
GAME = ["c1", "d1", "a3", "a4", "a1", "a2"]
COUNT_OPEN = """() => {
  window.opened = 0;
  setInterval(() => (window.opened += document.querySelectorAll(".board-cell.is-open").length), 10);
}"""
ON_A_PHONE: dict[str, Any] = {"viewport": PHONE, "has_touch": True, "is_mobile": True, "locale": "fr-FR"}


@pytest.fixture
def club(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Yield the address of an empty club."""
    monkeypatch.setattr(club_service, "SIGNUP_RATE", (100, 1))
    with run_server_thread(tmp_path / "club.sqlite") as address:
        yield address


@contextmanager
def open_pages(
    browser: Browser, address: str, *names: str, allowed: str = r"$^", **settings: Any
) -> Iterator[list[Page]]:
    """Yield pages with the club tab open, one per account name; an empty name stands for a spectator."""
    with ExitStack() as stack:
        pages = []
        for name in names:
            visitor = stack.enter_context(open_window(browser, address, **settings))
            visitor.allow_errors(allowed)
            if name:
                login = {"name": name, "password": PASSWORD}
                assert visitor.context.request.post(f"{address}api/club/accounts", data=login).ok
            pages.append(visitor.open())
            open_tab(pages[-1], "club")
            expect(pages[-1].locator("#club-online")).to_contain_text(name)
        yield pages


def offer_game(page: Page, variant: str, name: str = "", side: str = "", rated: bool = True) -> None:
    """Fill in and send the form for a game offer."""
    page.click("#club-view-lobby")
    if page.get_attribute("#club-offer", "open") is None:
        page.click("#club-offer summary")
    page.fill("#club-opponent", name)
    page.select_option("#club-variant", variant)
    page.select_option("#club-side", side)
    page.set_checked("#club-rated", rated)
    page.click("#club-offer-submit")


def start_game(first: Page, second: Page, variant: str, **terms: Any) -> None:
    """Start a game between two players; the first of them moves first."""
    offer_game(first, variant, side="0", **terms)
    second.click("#club-view-lobby")
    second.locator("#club-seeks .club-row, .club-challenges .primary").click()
    expect(caption(first)).to_contain_text("Your turn")


def listed_moves(page: Page) -> list[str]:
    """Return the moves that the list of moves shows."""
    return page.locator("#panel-club .moves-name").all_inner_texts()


def play(page: Page, move: str) -> None:
    """Play a move as soon as it is legal."""
    page.locator(f"{OPEN}[data-cell='{move}']").click()


# ---- a game ---------------------------------------------------------------------------------------------------------
def test_two_play_and_one_watches(browser: Browser, club: str, tmp_path: Path) -> None:
    """Cover the offer, the game, ratings, the rematch and profiles; a spectator sees the same game without buttons."""
    with open_pages(browser, club, "Ann", "Bob", "") as (ann, bob, eyes):
        offer_game(ann, "othello4", side="0")
        expect(ann.locator("#club-seeks")).to_contain_text("Your offer · Othello 4×4 · 5 min · rated")
        expect(eyes.locator("#club-seeks .club-row")).to_be_disabled()
        seek = bob.locator("#club-seeks .club-row")
        expect(seek).to_have_text(re.compile("Ann.*1500?.*you play White"))
        seek.click()
        for page in (ann, bob):
            expect(page.locator("#clock-bottom .clock-player")).to_have_text(
                "Ann (1500?)" if page is ann else "Bob (1500?)"
            )
        expect(caption(ann)).to_have_text("Your turn: Black to move")
        expect(bob.locator(OPEN)).to_have_count(0)
        expect(bob.locator("#club-abort")).to_be_visible()
        eyes.locator("#club-games .club-row").click()
        expect(eyes.locator("#club-bar")).to_have_text("You are watching Ann – Bob")
        assert eyes.locator("#club-bar button, .board-cell.is-open").count() == 0

        play_by_keyboard(ann, "b1")
        expect(bob.locator("#live-region")).to_contain_text("Black plays b1, flips 1")
        expect(ann.locator("#club-resign")).to_be_visible()
        left = bob.locator("#clock-bottom .clock-time")
        was = left.inner_text()
        expect(left).not_to_have_text(was)  # the clock runs between messages
        ann.keyboard.press("l")
        expect_notice(ann, "Analysis is off during rated games")
        for hidden in ("#engine", "#tab-analysis", "value-graph"):
            expect(ann.locator(hidden)).to_be_hidden()
        expect(eyes.locator("#engine")).to_be_visible()
        for page, move in zip([bob, ann] * 3, GAME, strict=True):
            play(page, move)
        play(ann, "d3")  # Bob passed
        play(bob, "d4")
        play(ann, "c4")
        held: list[Route] | None = []  # requests held back, as by a slow server
        ann.route("**/api/positions", lambda route: route.continue_() if held is None else held.append(route))
        ann.evaluate(COUNT_OPEN)
        with ann.expect_request("**/api/positions"):
            play(bob, "d2")
        play(bob, "b4")  # Ann passed
        expect(bob.locator("#club-ratings")).to_be_visible()
        waiting, held = held or [], None
        for route in waiting:
            route.continue_()
        expect(ann.locator("#club-ratings")).to_be_visible()
        assert ann.evaluate("window.opened") == 0, "it was never Ann's turn"
        for page in (bob, eyes):
            expect(page.locator("#banner strong")).to_have_text(ann.inner_text("#banner strong"))
            expect(page.locator("#live-region")).to_contain_text(re.compile("wins|Draw"))
        assert listed_moves(ann) == listed_moves(bob) == listed_moves(eyes)
        expect(ann.locator("#club-ratings")).to_have_text(
            re.compile(r"Ann: 1500 → \d+ \([+−]\d+\)Bob: 1500 → \d+ \([+−]\d+\)")
        )
        expect(eyes.locator("#club-rematch")).to_have_count(0)

        ann.click("#club-rematch")
        expect(bob.locator("#club-rematch")).to_have_text("Accept the rematch with Ann")
        bob.click("#club-rematch")
        expect(caption(bob)).to_contain_text("Your turn")
        bob.locator(OPEN).first.click()
        ann.locator(OPEN).first.click()
        ann.click("#club-resign")
        ann.click("#club-resign-no")
        expect(ann.locator("#club-resign-yes")).to_have_count(0)
        ann.click("#club-resign")
        ann.click("#club-resign-yes")
        expect(bob.locator("#banner strong")).to_have_text("Black wins by resignation")
        bob.click("#club-back")
        expect(bob.locator("#club-games")).to_contain_text("No games in progress")

        bob.click("#club-view-leaderboard")
        bob.select_option("#leaderboard-variant", "othello4")
        expect(bob.locator("#leaderboard-status")).to_contain_text("No established ratings yet")
        with sqlite3.connect(tmp_path / "club.sqlite") as database:  # ratings become established, as after many games
            database.execute("UPDATE ratings SET deviation = 100")
        bob.click("#club-view-leaderboard")
        expect(bob.locator("#leaderboard tbody tr")).to_have_count(2)
        bob.locator("#leaderboard button", has_text="Ann").click()
        expect(bob.locator("#club-pools tbody tr")).to_contain_text("Othello 4×4 · Blitz")
        lost, ended = bob.locator("#club-recent-games .club-row").all_inner_texts()
        assert lost.startswith("Lost · Bob") and "–" in ended.splitlines()[1]
        bob.locator("#club-open-1").click()
        expect(bob.locator("#club-ratings")).to_contain_text("Ann: 1500 →")
        assert bob.url.endswith("#club/1") and listed_moves(bob) == listed_moves(eyes)
        times = bob.locator("#panel-club .moves-time").all_inner_texts()
        assert len(times) == len(listed_moves(bob)) and all(re.fullmatch(r"\d+(\.\d)?", time) for time in times)
        bob.keyboard.press("Home")
        cell(bob, "d3").click()  # another first move starts a variation, as in any game
        bob.wait_for_function("() => location.hash.includes('moves=')")
        ann.click("#club-view-profile")
        with ann.expect_download() as taken:
            ann.click("#club-download")
        assert taken.value.suggested_filename == "awello-Ann.ggf"
        assert taken.value.path().read_text().count("(;GM[Othello]") == 2


def test_challenges_draws_and_several_games(browser: Browser, club: str) -> None:
    with open_pages(browser, club, "Ann", "Bob") as (ann, bob):
        offer_game(ann, "othello", "Nobody")
        expect(ann.locator("#club-offer-error")).to_contain_text("Nobody is not online")
        offer_game(ann, "abapa", "bob")
        expect(ann.locator("#club-seeks")).to_contain_text("You have challenged bob")
        open_tab(bob, "play")
        expect(bob.locator("#tab-club")).to_have_text("Club (1)")
        bob.locator("#club-bar button", has_text="Decline").click()
        expect_notice(ann, "Bob declined your challenge")
        open_tab(bob, "club")
        start_game(ann, bob, "abapa", name="Bob", rated=False)
        play(ann, "C")
        bob.click("#club-draw-offer")
        expect(ann.locator("#live-region")).to_contain_text("North offers a draw")
        ann.click("#club-draw-decline")
        expect(bob.locator("#club-draw-offer")).to_be_visible()

        offer_game(bob, "othello", "Ann", side="1")
        ann.click("#club-view-lobby")
        ann.locator(".club-challenges .primary").click()
        other = ann.locator("#club-game-2")
        expect(other).to_have_text("Bob, Othello · your turn")
        other.click()
        expect(ann.locator("othello-board")).to_be_visible()
        expect(ann.locator("#club-draw-offer")).to_have_count(0)  # Othello has no draw offers
        ann.click("#club-abort")
        expect(ann.locator("#banner strong")).to_have_text("Game aborted")
        ann.click("#club-game-1")
        expect(ann.locator("awale-board")).to_be_visible()
        play(bob, "a")
        ann.click("#club-draw-offer")
        bob.click("#club-draw-accept")
        for page in (ann, bob):
            expect(page.locator("#banner strong")).to_have_text("Draw by agreement")
            expect(page.locator("#club-ratings")).to_have_count(0)


# ---- server restarts ------------------------------------------------------------------------------------------------
@pytest.mark.slow
def test_games_continue_after_a_restart(browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An unacknowledged move is sent again; a reload restores the game."""
    monkeypatch.setattr(club_service, "SIGNUP_RATE", (100, 1))
    file, lost, message_types = tmp_path / "club.sqlite", list[str](), set[str]()
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]

    def lose_a_move(route: WebSocketRoute) -> None:
        server = route.connect_to_server()

        def pass_on(message: str | bytes) -> None:
            message_types.add(json.loads(message)["type"])
            if json.loads(message)["type"] == "move" and not lost:
                lost.append(str(message))
                server.close()
                route.close()
            else:
                server.send(message)

        route.on_message(pass_on)

    with ExitStack() as stack:
        with run_server_thread(file, port) as address:
            ann, bob, eyes = stack.enter_context(open_pages(browser, address, "Ann", "Bob", "", allowed=AWAY))
            for page in (ann, bob, eyes):
                page.evaluate("window.stayed = true")
            start_game(ann, bob, "othello")
            eyes.locator("#club-games .club-row").click()
            play(ann, "f5")
            expect(bob.locator("#live-region")).to_contain_text("Black plays f5")
        for page in (ann, bob, eyes):
            expect(page.locator("#club-bar .club-offline")).to_be_visible()
        expect(bob.locator("#club-resign, #club-abort")).to_be_disabled()
        assert bob.locator(OPEN).count() == 0
        with run_server_thread(file, port):
            for page in (ann, bob, eyes):
                expect(page.locator(".club-offline:visible")).to_have_count(0)
            bob.route_web_socket("**/api/club/live", lose_a_move)
            bob.reload()
            expect(bob.locator("#caption")).to_contain_text("Your turn")
            play(bob, "d6")
            for page in (ann, eyes):
                expect(page.locator("#live-region")).to_contain_text("White plays d6")
            assert len(lost) == 1 and "pong" in message_types
            play(ann, "c3")
            expect(caption(bob)).to_contain_text("Your turn")
            assert ann.evaluate("window.stayed") and listed_moves(bob) == ["f5", "d6", "c3"]
            for page in (ann, bob, eyes):
                page.goto("about:blank")


# ---- accounts and bots ----------------------------------------------------------------------------------------------
def test_login_errors(browser: Browser, club: str) -> None:
    """Login errors are shown, also in French; fields have the right autocomplete attributes."""
    with open_window(browser, club) as visitor:
        visitor.allow_errors(REFUSAL)
        page = visitor.open()
        panel = open_tab(page, "club")
        password, problem = page.locator("#club-password"), page.locator("#club-login-error")
        expect(password).to_have_attribute("autocomplete", "current-password")
        page.click("#club-switch-form")
        expect(page.locator("#club-name")).to_have_attribute("autocomplete", "username")
        expect(password).to_have_attribute("autocomplete", "new-password")
        for name, secret, words in [
            ("9", PASSWORD, "start with a letter"),
            ("Ann", "short", "10 to 200 characters"),
        ]:
            page.fill("#club-name", name)
            page.fill("#club-password", secret)
            page.click("#club-submit")
            expect(problem).to_contain_text(words)
        page.fill("#club-password", PASSWORD)
        page.keyboard.press("Enter")
        expect(panel.locator(".club-account")).to_contain_text("Logged in as Ann")
        page.click("#club-logout")
        expect(page.locator("#club-submit")).to_have_text("Log in")
        page.fill("#club-password", PASSWORD)
        page.click("#club-submit")
        expect(panel.locator(".club-account")).to_contain_text("Logged in as Ann")
        page.reload()
        expect(open_tab(page, "club").locator(".club-account")).to_contain_text("Logged in as Ann")
        page.click("#club-logout")
        expect(page.locator("#club-view-bots")).to_have_count(0)
        page.fill("#club-name", "ann")
        page.fill("#club-password", "a wrong password")
        page.click("#club-submit")
        expect(problem).to_have_text("The name or the password is wrong: check both.")
        assert accessibility_violations(page, "#panel-club") == []
        open_tab(page, "settings").locator("#setting-language").select_option("fr")
        open_tab(page, "club")
        page.fill("#club-name", "ann")
        page.fill("#club-password", "a wrong password")
        page.click("#club-submit")
        expect(problem).to_have_text("Le nom ou le mot de passe est incorrect : vérifiez-les.")
        assert find_untranslated(page) == []


def test_change_password(browser: Browser, club: str) -> None:
    """The password is changed on the user's own profile; other browsers are logged out."""
    session_url, login = f"{club}api/club/session", {"name": "Ann", "password": "another horse"}
    settings = ON_A_PHONE | {"allowed": REFUSAL}
    with open_pages(browser, club, "Ann", **settings) as (page,), open_window(browser, club) as other:
        assert other.context.request.post(session_url, data={"name": "Ann", "password": PASSWORD}).ok
        expect(page.locator("#password-open")).to_be_hidden()
        page.click("#club-view-profile")
        page.locator("#password-open").press("Enter")
        problem = page.locator("#password-error")
        for old, new, words, field in [
            ("a wrong password", "another horse", "Le mot de passe actuel est incorrect", "old"),
            (PASSWORD, "short", "10 à 200 caractères", "new"),
        ]:
            page.fill("#password-old", old)
            page.fill("#password-new", new)
            page.click("#password-submit")
            expect(problem).to_contain_text(words)
            expect(page.locator(f"#password-{field}")).to_be_focused()
        check(page, "password", "#password-submit")
        page.fill("#password-new", "another horse")
        page.keyboard.press("Enter")
        expect_notice(page, "Votre mot de passe a été changé.")
        expect(page.locator("#password-open")).to_be_focused()
        expect(page.locator("#password-old")).to_have_value("")
        page.click("#club-view-lobby")
        expect(page.locator("#club-online")).to_contain_text("Ann")
        assert page.context.request.get(session_url).json()["name"] == "Ann"
        assert other.context.request.get(session_url).json()["name"] is None
        assert other.context.request.post(session_url, data=login).ok


def test_bots(browser: Browser, club: str) -> None:
    """Create a bot, create a token that is shown once, and revoke it."""
    with open_pages(browser, club, "Ann", **ON_A_PHONE) as (page,):
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        page.click("#club-view-bots")
        page.fill("#bot-name", "rex")
        page.click("#bot-create")
        page.fill("#token-label-rex", "x")
        page.click("#token-create-rex")
        expect(page.locator("#token-value-rex")).to_be_visible()
        check(page, "bots")
        page.click("#token-copy-rex")
        expect(page.locator("#token-copy-rex")).to_have_text("Copié")
        token = page.evaluate("() => navigator.clipboard.readText()")
        headers = {"authorization": f"Bearer {token}"}
        session_url = f"{club}api/club/session"
        assert page.context.request.get(session_url, headers=headers).json() == {"name": "rex", "bot": True}
        page.click("#club-view-lobby")
        page.click("#club-view-bots")
        expect(page.locator("#token-value-rex")).to_have_count(0)
        page.locator("#bots li button").click()
        expect(page.locator("#bots li")).to_have_count(0)
        assert page.context.request.get(session_url, headers=headers).status == 401


# ---- accessibility, and pages without a club ------------------------------------------------------------------------
def test_accessibility(browser: Browser, club: str) -> None:
    with open_pages(browser, club, "Ann", "Bob", **ON_A_PHONE) as (ann, bob):
        offer_game(ann, "othello", "Bob", side="0")
        check(ann, "challenge sent", ".club-list-item button")
        check(bob, "challenge", ".club-challenges .primary")
        bob.locator(".club-challenges .primary").click()
        ann.check("#chat-on")
        check(ann, "game", "#club-abort")
        play(ann, "f5")
        bob.locator(OPEN).first.click()
        bob.click("#club-resign")
        bob.click("#club-resign-yes")
        expect(ann.locator("#banner")).to_be_visible()
        ann.click("#club-view-profile")
        check(ann, "profile", "#club-recent-games")


def check(page: Page, state: str, sign: str = "body") -> None:
    """Check both themes: no serious axe violations, no horizontal scrolling, large targets, no English texts."""
    page.wait_for_selector(sign)
    assert accessibility_violations(page, ".page") == [], state
    page.emulate_media(color_scheme="dark")
    assert accessibility_violations(page, ".page", "color-contrast") == [], state
    page.emulate_media(color_scheme="light")
    assert page.evaluate("() => document.documentElement.scrollWidth") <= PHONE["width"], state
    assert find_small_targets(page) == [] and find_untranslated(page) == [] and find_cut_off(page) == [], state


def test_without_a_club_there_is_no_trace_of_it(browser: Browser) -> None:
    with run_server_thread(None) as address, open_window(browser, address) as visitor:
        urls: list[str] = []
        visitor.page.on("request", lambda request: urls.append(request.url))
        page = visitor.open("#club/1")
        expect_notice(page, "This link does not contain a valid game")
        play(page, "f5")
        page.wait_for_selector("#player-0 option[value=greedy]", state="attached")
        assert page.locator("[role=tab]").count() == 6 and not re.search(r'="[^"]*club', page.content())
        assert not [url for url in urls if "club" in url.partition("#")[0]]
