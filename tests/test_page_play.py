"""Playing in a browser: whole games by mouse and keyboard, clocks, variations, tabs, contests."""

import json
import random
import re
from collections.abc import Callable

import pytest
from browser import (
    Visitor,
    answered,
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
    shows,
    tab,
    visiting,
    walk,
)
from playwright.sync_api import Browser, Page, expect

from awello import format_position
from awello.rules.game import PASS

BLACK_PASSES = "e6f6c4e7e8d8g7f8"
WHITE_PASSES = "d3c5d6e7f5g5g6g7h5e3h7c2g8"


# ---- whole games ----------------------------------------------------------------------------------------------------
def test_first_minute(visitor: Visitor) -> None:
    page = visitor.open()
    assert not page.locator("dialog[open]").count()
    expect(caption(page)).to_contain_text("Black to move")
    click(page, "f5")
    answered(page, 2)
    assert record_of(page).final.side == 0


@pytest.mark.parametrize("link", ["#othello?second=greedy", "#abapa?second=greedy"])
def test_a_move_and_its_answer_take_one_request(visitor: Visitor, link: str) -> None:
    requests: list[str] = []
    visitor.page.on("websocket", lambda socket: socket.on("framesent", lambda frame: requests.append(str(frame))))
    page = visitor.open(link)
    page.on("request", lambda request: requests.append(request.url))
    page.wait_for_load_state("networkidle")
    for turn in (1, 2, 3):
        requests.clear()
        position = record_of(page).final
        click(page, position.format_move(position.legal_moves()[0]))
        answered(page, 2 * turn)
        assert [json.loads(text)["type"] for text in requests] == ["choose"]


def test_a_move_is_kept_although_the_bot_cannot_answer(visitor: Visitor) -> None:
    page = visitor.open("#othello?second=nobody")
    click(page, "f5")
    notice(page, "nobody")
    shows(page, "f5*")
    expect(page.locator(".board-cell.is-open")).to_have_count(3)


@pytest.mark.parametrize(
    ("link", "act"),
    [
        ("#othello?second=alphabeta%401", click),
        pytest.param("#othello?first=champion%40level%3D1", walk, marks=pytest.mark.slow),
        pytest.param("#abapa?second=alphabeta%401", click, marks=pytest.mark.slow),
        ("#abapa?first=champion%40level%3D1", walk),
        ("#othello4", walk),
    ],
)
def test_whole_game(visitor: Visitor, link: str, act: Callable[[Page, str], None]) -> None:
    page = visitor.open(link)
    record = play_on(page, random.Random(link).choice, act)
    expect(page.locator("#live-region")).to_contain_text(" wins " if record.winner is not None else "Draw")
    counts = [page.locator(f"game-clock[data-side='{side}'] .clock-count").inner_text() for side in (0, 1)]
    assert tuple(map(int, counts)) == record.final.counts()


@pytest.mark.parametrize(
    ("moves", "side", "side_name"), [(BLACK_PASSES, "Black", "first"), (WHITE_PASSES, "White", "second")]
)
def test_passes(visitor: Visitor, moves: str, side: str, side_name: str) -> None:
    """A pass is shown, announced and recorded, for humans and bots."""
    page = visitor.open(f"#othello?moves={moves[:-2]}*")
    click(page, moves[-2:])
    expect(caption(page)).to_contain_text(f"{side} has no legal move and passes")
    expect(page.locator("#live-region")).to_contain_text(f"{side} passes")
    shows(page, f"{moves}--*")
    page = visitor.open(f"#othello?moves={moves}*&{side_name}=greedy")
    expect(page.locator("#live-region")).to_contain_text(f"{side} passes")
    shows(page, f"{moves}--*")
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
    """Animated discs and seeds end where the rules say, also when interrupted."""
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
        for move in ["c", "F", "f"]:  # during the sowing animation
            expect(cell(page, move)).to_have_class(re.compile("is-open"))
            click(page, move)
        page.wait_for_function("() => window.settled === 4")
        shows(page, "CcFf*")
        assert seeds(page) == list(map(int, format_position(record_of(page).final).split("-")[:12]))


# ---- a game that is kept --------------------------------------------------------------------------------------------
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
    """Undo keeps moves as variations, which can be promoted or deleted."""
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


def test_delete_a_move_of_a_bot(visitor: Visitor) -> None:
    page = visitor.open("#othello?moves=f5*d6(f6)&second=greedy")
    page.locator(".moves-move", has_text="f6").click()
    shows(page, "f5d6(f6*)")
    page.click(".moves-more")
    page.click("text=Delete from here")
    shows(page, "f5d6")
    click(page, "c4")
    page.wait_for_function("() => /c4..\\*/.test(decodeURIComponent(location.hash))")


def test_undo_against_a_bot(visitor: Visitor) -> None:
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


def test_bots_pause_and_resume(visitor: Visitor) -> None:
    page = visitor.open("#othello?first=greedy&second=greedy")
    page.wait_for_function("() => document.querySelectorAll('.moves-move').length > 4")
    page.click("#pause")
    expect(page.locator("#pause")).to_have_text("Resume")
    expect(page.locator("#resign")).to_be_disabled()
    stopped = len(moves_of(page))
    page.keyboard.press("k")
    page.keyboard.press("j")
    expect(caption(page)).not_to_contain_text("thinking")
    assert len(moves_of(page)) == stopped
    page.keyboard.press("p")
    expect(page.locator("#banner")).to_be_visible()
    assert record_of(page).final.over


def test_choose_players(visitor: Visitor) -> None:
    """Players from the list, by spec, and unknown ones."""
    page = visitor.open("#othello")
    page.select_option("#player-1", "greedy")
    click(page, "f5")
    answered(page, 2)
    page.select_option("#player-1", "other")
    spec = page.get_by_label("Bot specification, White")
    spec.fill("nobody@3")
    spec.press("Enter")
    click(page, page.locator(".board-cell.is-open").first.get_attribute("data-cell") or "")
    notice(page, "nobody")
    expect(page.locator("#pause")).to_have_text("Resume")
    spec.fill("minimax:absolute@1")
    spec.press("Enter")
    answered(page, 4)
    page = visitor.open("#othello?second=nonsense%40%40")
    click(page, "f5")
    notice(page, "Invalid bot specification")
    page.select_option("#player-1", "human")
    expect(caption(page)).to_contain_text("White to move")
    click(page, "d6")
    answered(page, 2)


def test_resign(visitor: Visitor) -> None:
    page = visitor.open("#othello?moves=f5d6*&second=greedy")
    page.click("#resign")
    expect(page.locator("#banner")).to_contain_text("White wins by resignation")
    expect(page.locator("#live-region")).to_contain_text("White wins by resignation")
    expect(page.locator("#resign")).to_be_disabled()
    page.keyboard.press("k")
    shows(page, "f5*d6")
    page.reload()
    page.locator(".moves-move", has_text="d6").click()
    expect(page.locator("#banner")).to_contain_text("White wins by resignation")
    page.click("#banner >> text=Rematch, swap colours")
    answered(page, 1)
    assert query(page, "first") == "greedy"


def test_clock(visitor: Visitor) -> None:
    """The first move is free; then the clock runs until the flag falls. Times survive a reload."""
    page = visitor.open("#othello?clock=2%2B0")
    click(page, "f5")
    expect(page.locator("#banner")).to_contain_text("Black wins on time")
    page.reload()
    expect(page.locator("#banner")).to_contain_text("Black wins on time")
    page = visitor.open("#abapa?second=greedy")
    page.select_option("#clock-picker", "60+0")
    expect(page.locator("#clock-bottom .clock-time")).to_have_text("1:00")
    click(page, "C")
    answered(page, 2)
    expect(page.locator("#clock-bottom .clock-time")).to_have_text(re.compile(r"0:[0-5]\d"))
    click(page, "D")
    answered(page, 4)
    left = page.evaluate("history.state.times.at(-1).clocks")
    assert left[0] < 60
    page.reload()
    answered(page, 4)
    assert page.evaluate("history.state.times.at(-1).clocks") == left


# ---- the laboratory -------------------------------------------------------------------------------------------------
def test_contest(visitor: Visitor) -> None:
    """Run a contest of two bots, replay a game, and draw a search tree."""
    page = visitor.open("#othello4")
    panel = tab(page, "lab")
    panel.get_by_label("Rounds per pair").fill("1")
    panel.get_by_role("button", name="Start").click()
    expect(panel.locator(".lab-state")).to_have_text("finished")
    expect(panel.locator(".lab-games li")).to_have_count(2)
    panel.locator(".lab-games button").first.click()
    page.wait_for_function("() => document.querySelectorAll('.moves-move').length > 4")
    assert record_of(page).final.over
    expect(page.locator("#to-back")).to_be_disabled()
    panel.get_by_role("button", name="Draw the tree").click()
    expect(panel.locator(".search-tree-image")).to_be_visible()
