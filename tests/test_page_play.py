"""The page in a real browser: whole games by mouse and keyboard, clocks, variations, tabs, broken links and servers."""

import random
import re
import socket
from collections.abc import Callable

import pytest
from browser import (
    AWAY,
    REFUSAL,
    Visitor,
    caption,
    cell,
    click,
    discs,
    moves_of,
    notice,
    play_on,
    query,
    record_of,
    seeds,
    serving,
    shows,
    tab,
    visiting,
    walk,
)
from playwright.sync_api import Browser, Page, expect

from awello import Game, Position, format_position
from awello.rules.game import PASS

BLACK_PASSES = "e6f6c4e7e8d8g7f8"
WHITE_PASSES = "d3c5d6e7f5g5g6g7h5e3h7c2g8"


def answered(page: Page, moves: int) -> None:
    """Wait until so many moves have been played and it is a person's turn."""
    page.wait_for_function(
        """want => document.querySelectorAll('.moves-main > .moves-cell').length === want
                && document.querySelector('.board-cell.is-open') !== null""",
        arg=moves,
    )


# ---- whole games ----------------------------------------------------------------------------------------------------
def test_first_minute(visitor: Visitor) -> None:
    page = visitor.open()
    assert not page.locator("dialog[open]").count()
    expect(caption(page)).to_contain_text("Black to move")
    click(page, "f5")
    answered(page, 2)
    assert record_of(page).final.side == 0


@pytest.mark.parametrize(
    ("link", "act"),
    [
        ("#othello?second=alphabeta%401", click),
        ("#othello?first=champion%40level%3D1", walk),
        ("#abapa?second=alphabeta%401", click),
        ("#abapa?first=champion%40level%3D1", walk),
        ("#othello4", walk),
    ],
)
def test_whole_game(visitor: Visitor, link: str, act: Callable[[Page, str], None]) -> None:
    page = visitor.open(link)
    record = play_on(page, random.Random(link).choice, act)
    expect(page.locator("#spoken")).to_contain_text(" wins " if record.winner is not None else "A draw")
    holdings = [page.locator(f"game-clock[data-side='{side}'] .clock-held").inner_text() for side in (0, 1)]
    assert tuple(map(int, holdings)) == record.final.holdings()


@pytest.mark.parametrize(("moves", "side"), [(BLACK_PASSES, "Black"), (WHITE_PASSES, "White")])
def test_passes(visitor: Visitor, moves: str, side: str) -> None:
    """A pass is seen, said and recorded, whoever passes: a person or a program."""
    page = visitor.open(f"#othello?moves={moves[:-2]}*")
    click(page, moves[-2:])
    expect(caption(page)).to_contain_text(f"{side} has no move and passes")
    expect(page.locator("#spoken")).to_contain_text(f"{side} passes")
    shows(page, f"{moves}--*")
    page = visitor.open(f"#othello?moves={moves}*&first=greedy&second=greedy")
    expect(page.locator("#spoken")).to_contain_text(f"{side} passes")
    page.wait_for_function("() => location.hash.includes('--')")
    assert record_of(page).moves[len(moves) // 2] == PASS


def test_undo_at_a_pass(visitor: Visitor) -> None:
    page = visitor.open(f"#othello?moves={BLACK_PASSES[:-2]}*")
    click(page, BLACK_PASSES[-2:])
    page.keyboard.press("u")
    shows(page, BLACK_PASSES[:-2] + "*" + BLACK_PASSES[-2:])
    page.keyboard.press("j")
    shows(page, BLACK_PASSES + "--*")
    page.keyboard.press("u")
    shows(page, BLACK_PASSES[:-2] + "*" + BLACK_PASSES[-2:] + "--")
    page.keyboard.press("y")
    shows(page, BLACK_PASSES + "--*")


def test_motion(browser: Browser, address: str) -> None:
    """Discs and seeds that move end where the rules put them, whether one waits or not."""
    with visiting(browser, address, reduced_motion="no-preference") as visitor:
        page = visitor.open("#othello")
        page.evaluate("addEventListener('settled', () => (window.settled = (window.settled ?? 0) + 1))")
        for count, move in enumerate(["f5", "d6", "c3"], 1):
            click(page, move)
            page.wait_for_function(f"() => window.settled === {count}")
        assert discs(page) == format_position(record_of(page).final).split()[0]
        page = visitor.open("#abapa")
        page.evaluate("addEventListener('settled', () => (window.settled = (window.settled ?? 0) + 1))")
        click(page, "C")
        page.wait_for_function("() => window.settled === 1")
        for move in ["c", "F", "f"]:  # before the seeds have come to rest
            expect(cell(page, move)).to_have_class(re.compile("is-open"))
            click(page, move)
        page.wait_for_function("() => window.settled === 4")
        shows(page, "CcFf*")
        assert seeds(page) == list(map(int, format_position(record_of(page).final).split("-")[:12]))


# ---- a game that is kept --------------------------------------------------------------------------------------------
def test_reload_and_restart(browser: Browser) -> None:
    """A server that goes away is noticed, one that comes back goes on; a reload keeps players, clocks and times."""
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        port = str(door.getsockname()[1])
    with serving("--port", port) as address:
        visitor = Visitor(browser, address)
        visitor.forgive(AWAY)
        page = visitor.open("#othello?second=alphabeta%401&clock=300%2B5")
        click(page, "f5")
        answered(page, 2)
    click(page, page.locator(".board-cell.is-open").first.get_attribute("data-cell") or "")
    notice(page, "The server does not answer")
    with serving("--port", port):
        answered(page, 4)
        expect(page.locator("#notice")).to_be_hidden()
        known = "({ times: history.state.times, seats: window.seats })"
        before = page.evaluate(known), page.url, page.locator(".moves-time").all_inner_texts()
        page.reload()
        answered(page, 4)
        assert (page.evaluate(known), page.url, page.locator(".moves-time").all_inner_texts()) == before
        left = [moment["left"] for moment in page.evaluate("history.state.times")]
        assert left[-1] != left[0] == [300, 300]
        visitor.close()


def test_two_tabs(visitor: Visitor) -> None:
    page, other = visitor.open("#othello?second=greedy"), visitor.new_page()
    visitor.open("#abapa?second=greedy", other)
    click(other, "C")
    answered(other, 2)
    page.bring_to_front()
    click(page, "f5")
    answered(page, 2)
    assert (moves_of(page)[0], moves_of(other)[0]) == ("f5", "C")
    page.reload()
    answered(page, 2)
    recent = tab(page, "play").locator("details")
    recent.locator("summary").click()
    expect(recent.locator("a")).to_have_count(2)
    recent.locator("a", has_text="Awalé").click()
    expect(page.locator("awale-board")).to_be_visible()
    assert moves_of(page) == moves_of(other)


def test_variations(visitor: Visitor) -> None:
    """Nothing that was played is lost by taking back; a variation can be made the main line, or deleted."""
    page = visitor.open("#othello?moves=f5d6c3d3*")
    for key in "uu":
        page.keyboard.press(key)
    shows(page, "f5d6*c3d3")
    click(page, "c4")
    shows(page, "f5d6c3(c4*)d3")
    page.reload()
    shows(page, "f5d6c3(c4*)d3")
    page.click(".moves-more")
    page.click("text=Make main line")
    shows(page, "f5d6c4*(c3d3)")
    page.locator(".moves-move", has_text="d3").click()
    shows(page, "f5d6c4(c3d3*)")
    page.click(".moves-more")
    page.click("text=Delete from here")
    shows(page, "f5d6c4(c3*)")
    for key in "kkjj":
        page.keyboard.press(key)
    shows(page, "f5d6c4*(c3)")


def test_delete_what_a_program_played(visitor: Visitor) -> None:
    page = visitor.open("#othello?moves=f5*d6(f6)&second=greedy")
    page.locator(".moves-move", has_text="f6").click()
    shows(page, "f5d6(f6*)")
    page.click(".moves-more")
    page.click("text=Delete from here")
    shows(page, "f5d6")
    click(page, "c4")
    page.wait_for_function("() => /c4..\\*/.test(decodeURIComponent(location.hash))")


def test_undo_against_a_program(visitor: Visitor) -> None:
    page = visitor.open("#othello?second=greedy")
    click(page, "f5")
    answered(page, 2)
    reply = moves_of(page)[1]
    page.click("#undo")
    shows(page, f"f5{reply}")
    click(page, "f5")
    shows(page, f"f5{reply}*")
    page.click("#undo")
    click(page, "c4")
    page.wait_for_function(
        f"() => /^f5\\(c4..\\*\\){reply}$/.test(new URLSearchParams(location.hash.slice(9)).get('moves'))"
    )


# ---- players --------------------------------------------------------------------------------------------------------
def test_change_sides(visitor: Visitor) -> None:
    page = visitor.open("#othello?second=greedy")
    page.click("#change-sides")
    answered(page, 1)
    assert (query(page, "first"), query(page, "second")) == ("greedy", "")
    assert cell(page, "a1").bounding_box()["y"] > cell(page, "a8").bounding_box()["y"]  # type: ignore[index]
    page.keyboard.press("s")
    answered(page, 2)


def test_programs_pause_and_go_on(visitor: Visitor) -> None:
    page = visitor.open("#othello6?first=greedy&second=greedy")
    page.wait_for_function("() => document.querySelectorAll('.moves-move').length > 4")
    page.click("#pause")
    expect(page.locator("#pause")).to_have_text("Go on")
    expect(page.locator("#resign")).to_be_disabled()
    stopped = len(moves_of(page))
    page.keyboard.press("k")
    page.keyboard.press("j")
    expect(caption(page)).not_to_contain_text("thinking")
    assert len(moves_of(page)) == stopped
    page.keyboard.press("p")
    expect(page.locator("#banner")).to_be_visible()
    assert record_of(page).final.over


def test_seats(visitor: Visitor) -> None:
    """A player from the list, one by its spec, and one that does not exist."""
    page = visitor.open("#othello")
    page.select_option("#seat-1", "greedy")
    click(page, "f5")
    answered(page, 2)
    page.select_option("#seat-1", "other")
    spec = page.get_by_label("Player spec of White")
    spec.fill("nobody@3")
    spec.press("Enter")
    click(page, page.locator(".board-cell.is-open").first.get_attribute("data-cell") or "")
    notice(page, "nobody")
    expect(page.locator("#pause")).to_have_text("Go on")
    spec.fill("minimax:absolute@1")
    spec.press("Enter")
    answered(page, 4)
    page = visitor.open("#othello?second=nonsense%40%40")
    click(page, "f5")
    notice(page, "is no limit")
    page.select_option("#seat-1", "human")
    expect(caption(page)).to_contain_text("White to move")
    click(page, "d6")
    answered(page, 2)


def test_resign(visitor: Visitor) -> None:
    page = visitor.open("#othello?moves=f5d6*&second=greedy")
    page.click("#resign")
    expect(page.locator("#banner")).to_contain_text("White wins: Black resigned")
    expect(page.locator("#spoken")).to_contain_text("Black resigned")
    expect(page.locator("#resign")).to_be_disabled()
    page.keyboard.press("k")
    shows(page, "f5*d6")
    page.reload()
    page.locator(".moves-move", has_text="d6").click()
    expect(page.locator("#banner")).to_contain_text("Black resigned")
    page.click("#banner >> text=Again, other sides")
    answered(page, 1)
    assert query(page, "first") == "greedy"


def test_clock(visitor: Visitor) -> None:
    """The first move is free, then the clock runs, and its flag falls; what is left outlives a reload."""
    page = visitor.open("#othello?clock=2%2B0")
    click(page, "f5")
    expect(page.locator("#banner")).to_contain_text("Black wins: White ran out of time")
    page.reload()
    expect(page.locator("#banner")).to_contain_text("White ran out of time")
    page = visitor.open("#abapa?second=greedy")
    page.select_option("#clock-picker", "60+0")
    expect(page.locator("#clock-bottom .clock-time")).to_have_text("1:00")
    click(page, "C")
    answered(page, 2)
    expect(page.locator("#clock-bottom .clock-time")).to_have_text("0:59")
    click(page, "D")
    answered(page, 4)
    left = page.evaluate("history.state.times.at(-1).left")
    assert left[0] < 60
    page.reload()
    answered(page, 4)
    assert page.evaluate("history.state.times.at(-1).left") == left


# ---- links ----------------------------------------------------------------------------------------------------------
def test_back_and_forth(visitor: Visitor) -> None:
    page = visitor.open("#othello?moves=f5d6*")
    page.select_option("#game-picker", "abapa")
    expect(page.locator("awale-board")).to_be_visible()
    page.select_option("#seat-1", "human")
    click(page, "C")
    shows(page, "C*")
    page.go_back()
    expect(page.locator("othello-board")).to_be_visible()
    shows(page, "f5d6*")
    page.go_forward()
    expect(page.locator("awale-board")).to_be_visible()
    shows(page, "C*")


BROKEN = [
    ("#othello?moves=zz", "holds no game"),
    ("#othello?moves=f5)", "holds no game"),
    ("#othello?moves=" + "f5d6" * 6000, "holds no game"),
    ("#othello?moves=(((", "holds no game"),
    ("#abapa?moves=C(" + "Aa" * 1000 + ")", "holds no game"),
    ("#chess", "holds no game"),
    ("#__proto__?moves=f5", "holds no game"),
    ("#othello?moves=f5f5", "move 2: f5 is no legal move"),
    ("#othello?start=XO", "the board must"),
    ("#abapa?moves=f5", "move"),
    ("#abapa?start=1-2-3", "seeds"),
]


def test_broken_links(visitor: Visitor) -> None:
    """A link that cannot be opened is said to be wrong, and the board can be played on."""
    visitor.forgive(REFUSAL)
    for link, words in BROKEN[:1] + BROKEN[-1:]:
        page = visitor.open(link)
        notice(page, words)
        expect(page.locator(".board-cell.is-open").first).to_be_visible()
    page = visitor.open("#othello?moves=f5d6*")
    for link, words in BROKEN:
        page.evaluate("link => (location.hash = link)", link)
        notice(page, words)
        shows(page, "f5d6*")
    click(page, "c3")
    shows(page, "f5d6c3*")


# ---- whatever else people do ----------------------------------------------------------------------------------------
def test_new_games_in_haste(visitor: Visitor) -> None:
    """Games begun while a program thinks or a position is loaded: the last one stands, and no answer goes astray."""
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
    click(page, page.locator(".board-cell.is-open").first.get_attribute("data-cell") or "")
    page.wait_for_function(
        "() => location.hash.startsWith('#othello6') && document.querySelectorAll('.moves-move').length >= 2"
    )
    assert record_of(page).start == Position.start(Game.OTHELLO6)


def test_fast_fingers(browser: Browser, address: str) -> None:
    """Clicks and keys in the middle of animations and thinking never make an impossible game."""
    with visiting(browser, address, reduced_motion="no-preference") as visitor:
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
        record_of(page)
        page.reload()
        expect(page.locator("[role=gridcell]").first).to_be_visible()
        expect(page.locator("#notice")).to_be_hidden()


def test_jump_while_thinking(visitor: Visitor) -> None:
    page = visitor.open("#othello?moves=f5d6c3*&second=champion%4030s")
    expect(caption(page)).to_contain_text("White is thinking")
    page.keyboard.press("Home")
    shows(page, "f5d6c3")
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
    shows(page, "CcFf*")
    click(page, "A")
    shows(page, "CcFfA*")
