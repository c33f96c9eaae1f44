"""Playing in a browser: whole games by mouse and keyboard, clocks, variations, tabs, contests."""

import json
import random
import re
from collections.abc import Callable

import pytest
from browser import (
    Visitor,
    address_param,
    caption,
    cell,
    displayed_discs,
    displayed_seeds,
    expect_moves,
    expect_notice,
    moves_in_address,
    open_tab,
    open_window,
    play_by_keyboard,
    play_by_mouse,
    play_to_end,
    record_in_address,
    wait_for_reply,
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
    play_by_mouse(page, "f5")
    wait_for_reply(page, 2)
    assert record_in_address(page).final.side == 0


@pytest.mark.parametrize("link", ["#othello?second=greedy", "#abapa?second=greedy"])
def test_a_move_and_its_answer_take_one_request(visitor: Visitor, link: str) -> None:
    requests: list[str] = []
    visitor.page.on("websocket", lambda socket: socket.on("framesent", lambda frame: requests.append(str(frame))))
    page = visitor.open(link)
    page.on("request", lambda request: requests.append(request.url))
    page.wait_for_load_state("networkidle")
    for turn in (1, 2, 3):
        requests.clear()
        position = record_in_address(page).final
        play_by_mouse(page, position.format_move(position.legal_moves()[0]))
        wait_for_reply(page, 2 * turn)
        assert [json.loads(text)["type"] for text in requests] == ["choose"]


def test_a_move_is_kept_although_the_bot_cannot_answer(visitor: Visitor) -> None:
    page = visitor.open("#othello?second=nobody")
    play_by_mouse(page, "f5")
    expect_notice(page, "nobody")
    expect_moves(page, "f5*")
    expect(page.locator(".board-cell.is-open")).to_have_count(3)


@pytest.mark.parametrize(
    ("link", "act"),
    [
        ("#othello?second=alphabeta%401", play_by_mouse),
        pytest.param("#othello?first=champion%40level%3D1", play_by_keyboard, marks=pytest.mark.slow),
        pytest.param("#abapa?second=alphabeta%401", play_by_mouse, marks=pytest.mark.slow),
        ("#abapa?first=champion%40level%3D1", play_by_keyboard),
        ("#othello4", play_by_keyboard),
    ],
)
def test_whole_game(visitor: Visitor, link: str, act: Callable[[Page, str], None]) -> None:
    page = visitor.open(link)
    record = play_to_end(page, random.Random(link).choice, act)
    expect(page.locator("#live-region")).to_contain_text(" wins " if record.winner is not None else "Draw")
    counts = [page.locator(f"game-clock[data-side='{side}'] .clock-count").inner_text() for side in (0, 1)]
    assert tuple(map(int, counts)) == record.final.counts()


@pytest.mark.parametrize(
    ("moves", "side", "side_name"), [(BLACK_PASSES, "Black", "first"), (WHITE_PASSES, "White", "second")]
)
def test_passes(visitor: Visitor, moves: str, side: str, side_name: str) -> None:
    """A pass is shown, announced and recorded, for humans and bots."""
    page = visitor.open(f"#othello?moves={moves[:-2]}*")
    play_by_mouse(page, moves[-2:])
    expect(caption(page)).to_contain_text(f"{side} has no legal move and passes")
    expect(page.locator("#live-region")).to_contain_text(f"{side} passes")
    expect_moves(page, f"{moves}--*")
    page = visitor.open(f"#othello?moves={moves}*&{side_name}=greedy")
    expect(page.locator("#live-region")).to_contain_text(f"{side} passes")
    expect_moves(page, f"{moves}--*")
    assert record_in_address(page).moves[len(moves) // 2] == PASS


def test_undo_at_a_pass(visitor: Visitor) -> None:
    page = visitor.open(f"#othello?moves={BLACK_PASSES[:-2]}*")
    play_by_mouse(page, BLACK_PASSES[-2:])
    page.keyboard.press("u")
    expect_moves(page, BLACK_PASSES[:-2] + "*" + BLACK_PASSES[-2:])
    page.keyboard.press("j")
    expect_moves(page, BLACK_PASSES + "--*")
    page.keyboard.press("u")
    expect_moves(page, BLACK_PASSES[:-2] + "*" + BLACK_PASSES[-2:] + "--")
    page.keyboard.press("y")
    expect_moves(page, BLACK_PASSES + "--*")


def test_motion(browser: Browser, address: str) -> None:
    """Animated discs and seeds end where the rules say, even if the next move interrupts the animation."""
    with open_window(browser, address, reduced_motion="no-preference") as visitor:
        page = visitor.open("#othello")
        page.evaluate("addEventListener('settled', () => (window.settled = (window.settled ?? 0) + 1))")
        for count, move in enumerate(["f5", "d6", "c3"], 1):
            play_by_mouse(page, move)
            page.wait_for_function(f"() => window.settled === {count}")
        assert displayed_discs(page) == format_position(record_in_address(page).final).split()[0]
        page = visitor.open("#abapa")
        page.evaluate("addEventListener('settled', () => (window.settled = (window.settled ?? 0) + 1))")
        play_by_mouse(page, "C")
        page.wait_for_function("() => window.settled === 1")
        for move in ["c", "F", "f"]:  # during the sowing animation
            expect(cell(page, move)).to_have_class(re.compile("is-open"))
            play_by_mouse(page, move)
        page.wait_for_function("() => window.settled === 4")
        expect_moves(page, "CcFf*")
        assert displayed_seeds(page) == list(map(int, format_position(record_in_address(page).final).split("-")[:12]))


# ---- reloads, variations and undo -----------------------------------------------------------------------------------
def test_two_tabs(visitor: Visitor) -> None:
    page, other = visitor.open("#othello?second=greedy"), visitor.new_page()
    visitor.open("#abapa?second=greedy", other)
    play_by_mouse(other, "C")
    wait_for_reply(other, 2)
    page.bring_to_front()
    play_by_mouse(page, "f5")
    wait_for_reply(page, 2)
    assert (moves_in_address(page)[0], moves_in_address(other)[0]) == ("f5", "C")
    page.reload()
    wait_for_reply(page, 2)
    recent = open_tab(page, "play").locator("details")
    recent.locator("summary").click()
    expect(recent.locator("a")).to_have_count(2)
    recent.locator("a", has_text="Awalé").click()
    expect(page.locator("awale-board")).to_be_visible()
    assert moves_in_address(page) == moves_in_address(other)


def test_variations(visitor: Visitor) -> None:
    """Undo keeps moves as variations, which can be promoted or deleted."""
    page = visitor.open("#othello?moves=f5d6c3d3*")
    for key in "uu":
        page.keyboard.press(key)
    expect_moves(page, "f5d6*c3d3")
    play_by_mouse(page, "c4")
    expect_moves(page, "f5d6c3(c4*)d3")
    page.reload()
    expect_moves(page, "f5d6c3(c4*)d3")
    page.click(".moves-more")
    page.click("text=Make main line")
    expect_moves(page, "f5d6c4*(c3d3)")
    page.locator(".moves-move", has_text="d3").click()
    expect_moves(page, "f5d6c4(c3d3*)")
    page.click(".moves-more")
    page.click("text=Delete from here")
    expect_moves(page, "f5d6c4(c3*)")
    for key in "kkjj":
        page.keyboard.press(key)
    expect_moves(page, "f5d6c4*(c3)")


def test_delete_a_move_of_a_bot(visitor: Visitor) -> None:
    page = visitor.open("#othello?moves=f5*d6(f6)&second=greedy")
    page.locator(".moves-move", has_text="f6").click()
    expect_moves(page, "f5d6(f6*)")
    page.click(".moves-more")
    page.click("text=Delete from here")
    expect_moves(page, "f5d6")
    play_by_mouse(page, "c4")
    page.wait_for_function("() => /c4..\\*/.test(decodeURIComponent(location.hash))")


def test_undo_against_a_bot(visitor: Visitor) -> None:
    page = visitor.open("#othello?second=greedy")
    play_by_mouse(page, "f5")
    wait_for_reply(page, 2)
    reply = moves_in_address(page)[1]
    page.click("#undo")
    expect_moves(page, f"f5{reply}")
    play_by_mouse(page, "f5")
    expect_moves(page, f"f5{reply}*")
    page.click("#undo")
    play_by_mouse(page, "c4")
    page.wait_for_function(
        f"() => /^f5\\(c4..\\*\\){reply}$/.test(new URLSearchParams(location.hash.slice(9)).get('moves'))"
    )


# ---- players --------------------------------------------------------------------------------------------------------
def test_change_sides(visitor: Visitor) -> None:
    page = visitor.open("#othello?second=greedy")
    page.click("#change-sides")
    wait_for_reply(page, 1)
    assert (address_param(page, "first"), address_param(page, "second")) == ("greedy", "")
    assert cell(page, "a1").bounding_box()["y"] > cell(page, "a8").bounding_box()["y"]  # type: ignore[index]
    page.keyboard.press("s")
    wait_for_reply(page, 2)


def test_bots_pause_and_resume(visitor: Visitor) -> None:
    page = visitor.open("#othello?first=greedy&second=greedy")
    page.wait_for_function("() => document.querySelectorAll('.moves-move').length > 4")
    page.click("#pause")
    expect(page.locator("#pause")).to_have_text("Resume")
    expect(page.locator("#resign")).to_be_disabled()
    stopped = len(moves_in_address(page))
    page.keyboard.press("k")
    page.keyboard.press("j")
    expect(caption(page)).not_to_contain_text("thinking")
    assert len(moves_in_address(page)) == stopped
    page.keyboard.press("p")
    expect(page.locator("#banner")).to_be_visible()
    assert record_in_address(page).final.over


def test_choose_players(visitor: Visitor) -> None:
    """Players are chosen from the list or by spec; an unknown player is reported."""
    page = visitor.open("#othello")
    page.select_option("#player-1", "greedy")
    play_by_mouse(page, "f5")
    wait_for_reply(page, 2)
    page.select_option("#player-1", "other")
    spec = page.get_by_label("Bot specification, White")
    spec.fill("nobody@3")
    spec.press("Enter")
    play_by_mouse(page, page.locator(".board-cell.is-open").first.get_attribute("data-cell") or "")
    expect_notice(page, "nobody")
    expect(page.locator("#pause")).to_have_text("Resume")
    spec.fill("minimax:absolute@1")
    spec.press("Enter")
    wait_for_reply(page, 4)
    page = visitor.open("#othello?second=nonsense%40%40")
    play_by_mouse(page, "f5")
    expect_notice(page, "Invalid bot specification")
    page.select_option("#player-1", "human")
    expect(caption(page)).to_contain_text("White to move")
    play_by_mouse(page, "d6")
    wait_for_reply(page, 2)


def test_resign(visitor: Visitor) -> None:
    page = visitor.open("#othello?moves=f5d6*&second=greedy")
    page.click("#resign")
    expect(page.locator("#banner")).to_contain_text("White wins by resignation")
    expect(page.locator("#live-region")).to_contain_text("White wins by resignation")
    expect(page.locator("#resign")).to_be_disabled()
    page.keyboard.press("k")
    expect_moves(page, "f5*d6")
    page.reload()
    page.locator(".moves-move", has_text="d6").click()
    expect(page.locator("#banner")).to_contain_text("White wins by resignation")
    page.click("#banner >> text=Rematch, swap colours")
    wait_for_reply(page, 1)
    assert address_param(page, "first") == "greedy"


def test_clock(visitor: Visitor) -> None:
    """The clock starts after the first move and runs until the flag falls; times survive a reload."""
    page = visitor.open("#othello?clock=2%2B0")
    play_by_mouse(page, "f5")
    expect(page.locator("#banner")).to_contain_text("Black wins on time")
    page.reload()
    expect(page.locator("#banner")).to_contain_text("Black wins on time")
    page = visitor.open("#abapa?second=greedy")
    page.select_option("#clock-picker", "60+0")
    expect(page.locator("#clock-bottom .clock-time")).to_have_text("1:00")
    play_by_mouse(page, "C")
    wait_for_reply(page, 2)
    expect(page.locator("#clock-bottom .clock-time")).to_have_text(re.compile(r"0:[0-5]\d"))
    play_by_mouse(page, "D")
    wait_for_reply(page, 4)
    left = page.evaluate("history.state.times.at(-1).clocks")
    assert left[0] < 60
    page.reload()
    wait_for_reply(page, 4)
    assert page.evaluate("history.state.times.at(-1).clocks") == left


# ---- contests -------------------------------------------------------------------------------------------------------
def test_contest(visitor: Visitor) -> None:
    """Run a contest of two bots, replay a game, and draw a search tree."""
    page = visitor.open("#othello4")
    panel = open_tab(page, "lab")
    panel.get_by_label("Rounds per pairing").fill("1")
    panel.get_by_role("button", name="Start").click()
    expect(panel.locator(".contest-state")).to_have_text("finished")
    expect(panel.locator(".contest-games li")).to_have_count(2)
    panel.locator(".contest-games button").first.click()
    page.wait_for_function("() => document.querySelectorAll('.moves-move').length > 4")
    assert record_in_address(page).final.over
    expect(page.locator("#to-back")).to_be_disabled()
    panel.get_by_role("button", name="Draw the tree").click()
    expect(panel.locator(".search-tree-image")).to_be_visible()
    expect(panel.locator("search-tree")).to_contain_text("alphabeta:positional@2: value ")
    expect(panel.locator("search-tree")).to_contain_text("Thick green line: principal variation.")
