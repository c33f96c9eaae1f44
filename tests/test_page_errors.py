"""The page in a browser when things go wrong: a lost server, broken links, quick input."""

import re
import socket

from browser import (
    AWAY,
    REFUSAL,
    Visitor,
    caption,
    expect_moves,
    expect_notice,
    open_window,
    play_by_mouse,
    record_in_address,
    run_server_process,
    wait_for_reply,
)
from playwright.sync_api import Browser, expect

from awello import Game, Position


# ---- lost server ----------------------------------------------------------------------------------------------------
def test_reload_and_restart(browser: Browser) -> None:
    """A lost server is reported; when it is back, the game continues, and a reload preserves the game and its times."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = str(listener.getsockname()[1])
    with run_server_process("--port", port, "--jobs", "1") as address:
        visitor = Visitor(browser, address)
        visitor.allow_errors(AWAY)
        page = visitor.open("#othello?second=alphabeta%401&clock=300%2B5")
        play_by_mouse(page, "f5")
        wait_for_reply(page, 2)
    play_by_mouse(page, page.locator(".board-cell.is-open").first.get_attribute("data-cell") or "")
    expect_notice(page, "The server is not responding")
    with run_server_process("--port", port, "--jobs", "1"):
        wait_for_reply(page, 4)
        expect(page.locator("#notice")).to_be_hidden()
        known = "() => history.state.times"
        before = page.evaluate(known), page.url, page.locator(".moves-time").all_inner_texts()
        page.reload()
        wait_for_reply(page, 4)
        assert (page.evaluate(known), page.url, page.locator(".moves-time").all_inner_texts()) == before
        left = [moment["clocks"] for moment in page.evaluate(known)]
        assert left[-1] != left[0] == [300, 300]
        visitor.close()


# ---- links ----------------------------------------------------------------------------------------------------------
def test_back_and_forth(visitor: Visitor) -> None:
    page = visitor.open("#othello?moves=f5d6*")
    page.select_option("#game-picker", "abapa")
    expect(page.locator("awale-board")).to_be_visible()
    page.select_option("#player-1", "human")
    play_by_mouse(page, "C")
    expect_moves(page, "C*")
    page.go_back()
    expect(page.locator("othello-board")).to_be_visible()
    expect_moves(page, "f5d6*")
    page.go_forward()
    expect(page.locator("awale-board")).to_be_visible()
    expect_moves(page, "C*")


BROKEN = [
    ("#othello?moves=zz", "does not contain a valid game"),
    ("#othello?moves=f5)", "does not contain a valid game"),
    ("#othello?moves=" + "f5d6" * 6000, "does not contain a valid game"),
    ("#othello?moves=(((", "does not contain a valid game"),
    ("#abapa?moves=C(" + "Aa" * 1000 + ")", "Move 3: A is not a legal move"),
    ("#abapa?moves=C(" + "Aa" * 1001 + ")", "does not contain a valid game"),
    ("#chess", "does not contain a valid game"),
    ("#__proto__?moves=f5", "does not contain a valid game"),
    ("#othello?moves=f5f5", "Move 2: f5 is not a legal move"),
    ("#othello?start=XO", "the board must"),
    ("#abapa?moves=f5", "move"),
    ("#abapa?start=1-2-3", "seeds"),
]

FOLLOW = """link => {
  document.getElementById("notice").textContent = "";  // removes the notice of the previous link
  location.hash = link;
}"""


def test_broken_links(visitor: Visitor) -> None:
    """A broken link is reported, and the game on the board continues."""
    visitor.allow_errors(REFUSAL)
    for link, words in BROKEN[:1] + BROKEN[-1:]:
        page = visitor.open(link)
        expect_notice(page, words)
        expect(page.locator(".board-cell.is-open").first).to_be_visible()
    page = visitor.open("#othello?moves=f5d6*")
    for link, words in BROKEN:
        page.evaluate(FOLLOW, link)
        expect_notice(page, words)
        expect_moves(page, "f5d6*")
        expect(page).to_have_url(re.compile(r"#othello\?moves=f5d6\*$"))  # the address is restored
    play_by_mouse(page, "c3")
    expect_moves(page, "f5d6c3*")


ERRORS_IN_FRENCH = [
    ("#othello?moves=f5f5", "Coup 2 : f5 n’est pas un coup légal."),
    ("#othello?start=XO", "Ce texte ne peut pas être lu."),
    ("#chess", "Ce lien ne contient pas de partie valide : vérifiez qu’il est complet."),
]


def test_a_typed_address_is_not_overwritten(visitor: Visitor) -> None:
    """The page may write its address between the change of the address and the event that reports it."""
    page = visitor.open("#othello?moves=f5d6*")
    expect_moves(page, "f5d6*")
    page.evaluate(
        """async () => {
          const { notifyChange } = await import("/static/js/store.js");
          location.hash = "#othello?moves=c4c3*";
          notifyChange("game");
        }"""
    )
    expect(page.locator("move-list")).to_contain_text("c3")
    expect_moves(page, "c4c3*")


def test_errors_of_the_server_in_french(browser: Browser, address: str) -> None:
    with open_window(browser, address, locale="fr-FR") as visitor:
        visitor.allow_errors(REFUSAL)
        page = visitor.open("#othello?moves=f5d6*")
        for link, text in ERRORS_IN_FRENCH:
            page.evaluate(FOLLOW, link)
            expect_notice(page, text)
            expect(page).to_have_url(re.compile(r"#othello\?moves=f5d6\*$"))
        play_by_mouse(page, "c3")
        expect_moves(page, "f5d6c3*")


# ---- quick input ----------------------------------------------------------------------------------------------------
def test_new_games_in_quick_succession(visitor: Visitor) -> None:
    """If games start while a bot thinks or a position loads, only the last game is shown; late replies are ignored."""
    page = visitor.open("#othello?first=alphabeta%405&second=alphabeta%405")
    page.evaluate(
        """() => {
          for (const key of ["n", "n", "s", "l", "n", "u", "y", "p", "p", "z", "z", "l", "f", "n"])
            document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
        }"""
    )
    page.select_option("#game-picker", "abapa")
    page.select_option("#game-picker", "othello6")
    expect(page.locator(".othello-square")).to_have_count(36)
    page.select_option("#player-0", "human")
    page.select_option("#player-1", "greedy")
    before = page.url
    play_by_mouse(page, page.locator(".board-cell.is-open").first.get_attribute("data-cell") or "")
    page.wait_for_function(
        "before => location.href !== before && document.querySelector('.board-cell.is-open') !== null", arg=before
    )
    assert record_in_address(page).start == Position.start(Game.OTHELLO6)


def test_fast_fingers(browser: Browser, address: str) -> None:
    """Clicks and keys during animations and searches never lead to an invalid game."""
    with open_window(browser, address, reduced_motion="no-preference") as visitor:
        page = visitor.open("#othello?second=greedy")
        page.evaluate(
            """async () => {
              const cells = () => [...document.querySelectorAll("[role=gridcell]")];
              const keys = ["ArrowLeft", "ArrowRight", "u", "y", "Home", "End", "f", "s", "l", " "];
              for (let round = 0; round < 150; round += 1) {
                const open = cells().filter((cell) => cell.classList.contains("is-open"));
                const choice = open.length && round % 3 ? open : cells();
                choice[(round * 7) % choice.length].click();
                if (round % 5 === 0) {
                  const key = keys[(round / 5) % keys.length];
                  document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
                }
                await new Promise((resolve) => setTimeout(resolve, round % 4 ? 0 : 12));
              }
            }"""
        )
        page.keyboard.press("End")
        page.wait_for_function("() => !document.querySelector('.clock-thinking:not([hidden])')")
        record_in_address(page)
        page.reload()
        expect(page.locator("[role=gridcell]").first).to_be_visible()
        expect(page.locator("#notice")).to_be_hidden()


def test_jump_while_thinking(visitor: Visitor) -> None:
    page = visitor.open("#othello?moves=f5d6c3*&second=champion%4030s")
    expect(caption(page)).to_contain_text("White is thinking")
    page.keyboard.press("Home")
    expect_moves(page, "f5d6c3")
    expect(caption(page)).to_contain_text("Black to move")
    page.keyboard.press("End")
    expect(caption(page)).to_contain_text("White is thinking")
    page.evaluate(
        """() => {
          const clipboardData = new DataTransfer();
          clipboardData.setData("text/plain", "CcFf");
          document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true }));
        }"""
    )
    expect(page.locator("awale-board")).to_be_visible()
    expect_moves(page, "CcFf*")
    play_by_mouse(page, "A")
    expect_moves(page, "CcFfA*")
