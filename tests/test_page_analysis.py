"""Analysis in a browser: scores, principal variation, graph, review, editor, import and export."""

import re
from functools import cache
from pathlib import Path

import pytest
from browser import (
    REFUSAL,
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
    play_by_mouse,
    record_in_address,
)
from playwright.sync_api import Page, expect

from awello import Position, format_position, parse_transcript
from awello.rules.game import Game

SEVEN_LEFT = (
    "c4c5f6c3b5g7e3e6c2f3g3a5h8b3f4f2b4f5f7h3a3d2e2e1a6e7d7c1c6g8f1g4d1b6b1d3g6b7f8a7c7h6a8b2g5g2a1d6h2h5a4d8c8"
)
FEW_SEEDS = "0-0-0-1-0-2-1-0-0-0-2-0-22-20-S"
BAD_GAME = "f5f6e6f4g7h8d3c2"  # g7 gives a corner away


@cache
def margin(position: Position) -> int:
    """Compute by brute force the final margin that the mover reaches with best play by both sides."""
    if position.over:
        first, second = position.score()
        return second - first if position.side else first - second
    return max(-margin(position.after(move)) for move in position.legal_moves())


def start_engine(page: Page) -> None:
    """Turn the engine on and wait for scores."""
    page.keyboard.press("l")
    expect(page.locator(".board-hint:not(.is-hidden)").first).to_be_visible()


def paste(page: Page, text: str) -> None:
    """Paste a text on the page, like Ctrl-V."""
    page.evaluate(
        """text => {
          const clipboardData = new DataTransfer();
          clipboardData.setData("text/plain", text);
          document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true }));
        }""",
        text,
    )


# ---- values ---------------------------------------------------------------------------------------------------------
RECORD_DEPTHS = """() => {
  window.depths = [];
  new MutationObserver(() => {
    const badges = [...document.querySelectorAll(".board-hint.is-best:not(.is-hidden) .board-hint-badge")];
    window.depths.push(...badges.map((badge) => Number(badge.textContent)).filter((depth) => depth > 0));
  }).observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true });
}"""


def test_values_refine(visitor: Visitor) -> None:
    page = visitor.open("#othello?moves=f5d6c3*")
    page.evaluate(RECORD_DEPTHS)
    start_engine(page)
    page.wait_for_function("() => window.depths.some((depth) => depth > window.depths[0])")
    expect(caption(page)).to_contain_text(", depth ")
    expect(page.locator(".is-hinted")).to_have_count(len(record_in_address(page).final.legal_moves()))
    expect(cell(page, "d3")).to_have_attribute(
        "aria-label", re.compile(r"d3, empty, legal, flips 1, (plus|minus|even)")
    )
    page.keyboard.press("z")
    expect(page.locator(".board-hint:not(.is-hidden)")).to_have_count(0)
    expect(caption(page)).not_to_contain_text("depth")
    expect(page.locator(".graph-curve")).to_have_attribute("d", "")
    expect(open_tab(page, "analysis")).to_contain_text("hidden")
    page.keyboard.press("z")
    expect(page.locator(".board-hint.is-best").first).to_be_visible()


def test_exact_values(visitor: Visitor) -> None:
    """With few empties, all values are exact and equal to those found by brute force."""
    page = visitor.open(f"#othello?moves={SEVEN_LEFT}*")
    start_engine(page)
    position = record_in_address(page).final
    expected = {position.format_move(move): -margin(position.after(move)) for move in position.legal_moves()}
    values = open_tab(page, "analysis").locator(".values li")
    expect(values.filter(has_text="=")).to_have_count(len(expected))
    shown = {line.split()[0]: int(line.split()[1].replace("−", "-")) for line in values.all_inner_texts()}
    assert shown == expected
    expect(page.locator(".board-hint.is-exact:not(.is-hidden)")).to_have_count(len(expected))
    expect(caption(page)).to_contain_text("exact")
    best = page.locator(".is-best").count()
    assert best == list(expected.values()).count(max(expected.values()))
    caption(page).click()
    page.keyboard.press(" ")
    page.wait_for_function("() => !location.hash.includes('c8*')")
    assert expected[moves_in_address(page)[-1]] == max(expected.values())


def test_exact_seeds(visitor: Visitor) -> None:
    page = visitor.open(f"#abapa?start={FEW_SEEDS}")
    start_engine(page)
    expect(page.locator(".board-hint.is-exact:not(.is-hidden)")).to_have_count(2)
    expect(open_tab(page, "analysis")).to_contain_text("Exact score")


def test_line_and_graph(visitor: Visitor) -> None:
    """The principal variation is previewed on hover and played on click; the graph shows losses and links to moves."""
    page = visitor.open("#othello?moves=f5d6c3d3*")
    start_engine(page)
    line = open_tab(page, "analysis").locator(".pv button")
    expect(page.locator(".values li")).to_have_count(len(record_in_address(page).final.legal_moves()))
    expect(line.nth(2)).to_be_visible()
    line.nth(2).hover()
    expect(page.locator(".board-drawing.is-preview")).to_be_visible()
    expect(page.locator(".othello-number", has_text="3")).to_be_visible()
    page.mouse.move(5, 5)
    expect(page.locator(".board-drawing.is-preview")).to_have_count(0)
    line.nth(2).click()
    page.wait_for_function("() => document.querySelectorAll('.moves-move').length === 7")
    for _ in range(3):
        page.keyboard.press("k")
    expect(page.locator(".graph-loss-button")).to_be_enabled()
    page.click(".graph-loss-button")
    expect(page.locator(".graph-legend")).to_contain_text(re.compile("Black.*White"))
    page.locator(".graph-plot").click(position={"x": 35, "y": 40})
    expect(page.locator(".graph-plot")).to_have_attribute("aria-valuenow", "0")
    expect(page.locator("#to-back")).to_be_disabled()


def test_opening(visitor: Visitor) -> None:
    page = visitor.open("#othello?moves=f5d6c3d3c4*")
    expect(caption(page)).to_contain_text("Tiger")
    page.keyboard.press("Home")
    expect(caption(page)).not_to_contain_text("Tiger")
    open_tab(page, "settings").locator("#setting-language").select_option("fr")
    page.click("#to-last")
    expect(caption(page)).to_contain_text("Tigre")


# ---- review ---------------------------------------------------------------------------------------------------------
def test_review(visitor: Visitor) -> None:
    page = visitor.open(f"#othello?moves={BAD_GAME}*")
    page.keyboard.press("r")
    mistakes = page.locator(".mistakes li")
    blunder = mistakes.filter(has_text="g7")
    expect(blunder).to_contain_text("best was")
    expect(page.locator("#begin-review")).to_be_visible()
    expect(page.locator(".summary tbody tr")).to_have_count(2)
    marks = {"b": "??", "m": "?", "i": "?!"}
    for key, mark in marks.items():
        page.keyboard.press("Home")
        expect_moves(page, BAD_GAME)
        found = [text for text in mistakes.all_inner_texts() if re.search(rf"[a-h][1-8]{re.escape(mark)} ", text)]
        page.keyboard.press(key)
        if found:
            expect(page.locator(".moves-move[aria-current] .moves-mark")).to_have_text(mark)
        else:
            expect_notice(page, "No move of this kind")
    blunder.get_by_role("button", name="Retry").click()
    expect(caption(page)).to_contain_text("Black: find a better move")
    assert page.evaluate("() => document.activeElement.getAttribute('role')") == "gridcell"
    play_by_mouse(page, "g7")
    expect(page.locator(".retry")).to_contain_text("g7 is not good enough")
    page.click("#retry-again")
    best = re.search(r"best was (\w+)", blunder.inner_text())
    assert best
    play_by_mouse(page, best[1])
    expect(page.locator(".retry.good")).to_contain_text(f"{best[1]} is a good move!")
    page.click("#retry-leave")
    expect(page.locator(".retry")).to_have_count(0)
    blunder.get_by_role("button", name="Retry").click()
    page.click("#retry-answer")
    page.wait_for_function("move => decodeURIComponent(location.hash).includes(`(${move}*)`)", arg=best[1])


@pytest.mark.slow
def test_review_of_seeds(visitor: Visitor) -> None:
    page = visitor.open("#abapa?moves=CcFfAbBd*&second=greedy")
    page.keyboard.press("r")
    expect(page.locator(".mistakes li").first).to_contain_text("best was")
    expect(page.locator("#begin-review")).to_be_visible()
    mistake = page.locator(".mistakes li").first
    mistake.get_by_role("button", name="Retry").click()
    expect(caption(page)).to_contain_text("find a better move")
    mistake.locator(".plain").click()
    expect(page.locator(".retry")).to_have_count(0)


# ---- position editor ------------------------------------------------------------------------------------------------
def test_editor(visitor: Visitor) -> None:
    page = visitor.open("#othello?second=greedy")
    open_tab(page, "position")
    page.click("#editor-open")
    page.click("#editor-clear")
    for square in ["a1", "h8"]:
        play_by_mouse(page, square)
    page.get_by_role("radio", name="White", exact=True).check()
    play_by_mouse(page, "b1")
    cell(page, "h8").click(button="right")
    page.get_by_label("Black to move").check()
    assert displayed_discs(page) == "XO" + "-" * 62
    page.click("#editor-done")
    expect(page.locator("#editor-done")).to_have_count(0)
    assert address_param(page, "start") == "XO" + "-" * 62 + " X"
    play_by_mouse(page, "c1")
    expect(page.locator("#banner")).to_contain_text("Black wins 64–0")


def test_editor_is_left(visitor: Visitor) -> None:
    """Cancelling the editor restores the position; bots do not move while the editor is open."""
    page = visitor.open("#othello?moves=f5d6*&second=greedy")
    open_tab(page, "position")
    page.click("#editor-open")
    play_by_mouse(page, "a1")
    page.keyboard.press("s")  # swaps the players, so that it is the bot's turn
    expect(caption(page)).to_contain_text("Setting up")
    expect(page.locator(".clock-thinking:not([hidden])")).to_have_count(0)
    page.click("#editor-cancel")
    page.wait_for_function("() => document.querySelectorAll('.moves-move').length === 3")
    assert moves_in_address(page)[:2] == ["f5", "d6"]


def test_editor_of_seeds(visitor: Visitor) -> None:
    visitor.allow_errors(REFUSAL)
    page = visitor.open("#abapa")
    open_tab(page, "position")
    page.click("#editor-open")
    cell(page, "A").click(button="right")
    page.get_by_label("Remove a seed").check()
    play_by_mouse(page, "B")
    expect(page.locator(".editor")).to_contain_text("Seeds left to place: 2")
    page.get_by_label("Add a seed").check()
    play_by_mouse(page, "f")
    page.get_by_label("North to move").check()
    page.click("#editor-done")
    expect_notice(page, "seeds")
    play_by_mouse(page, "south")
    page.click("#editor-done")
    expect(page.locator("#editor-done")).to_have_count(0)
    assert address_param(page, "start") == "3-3-4-4-4-4-4-4-4-4-4-5-1-0-N"
    assert displayed_seeds(page)[:2] == [3, 3]
    play_by_mouse(page, "f")
    expect_moves(page, "f*")


# ---- import ---------------------------------------------------------------------------------------------------------
START = format_position(Position.start())
BOARD = "\n".join(START[row : row + 8] for row in range(0, 64, 8)) + "\nBlack to move"
TEXTS = [
    ("F5 d6 C3\nd3 c4", "othello", "f5d6c3d3c4*", ""),
    (START.replace(" X", " X; f5:+1;"), "othello", "", START),
    (BOARD, "othello", "", START),
    ("3-3-4-4-4-4-4-4-4-4-4-5-1-0-N", "abapa", "", "3-3-4-4-4-4-4-4-4-4-4-5-1-0-N"),
    ("CcFfAb", "abapa", "CcFfAb*", ""),
    ("http://elsewhere/#othello?moves=f5d6(f6*)c3", "othello", "f5d6(f6*)c3", ""),
]


@pytest.mark.parametrize("way", ["text", "paste", "file", "drop"])
def test_import(visitor: Visitor, way: str, tmp_path: Path) -> None:
    """Every way to import accepts every format."""
    page = visitor.open()
    open_tab(page, "position")
    for number, (text, game, moves, start) in enumerate(TEXTS):
        page.evaluate("() => (location.hash = '#romein')")
        expect(page.locator("#game-picker")).to_have_value("romein")
        if way == "text":
            page.fill("#import-text", text)
            page.click("#import-submit")
        elif way == "paste":
            paste(page, text)
        elif way == "file":
            (tmp_path / f"{number}.txt").write_text(text)
            page.set_input_files("#import-file", tmp_path / f"{number}.txt")
        else:
            page.evaluate(
                """text => {
                  const dataTransfer = new DataTransfer();
                  dataTransfer.items.add(new File([text], "game.txt", { type: "text/plain" }));
                  document.body.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
                }""",
                text,
            )
        expect(page.locator("#game-picker")).to_have_value(game)
        expect_moves(page, moves)
        assert address_param(page, "start") in (start, "" if start == START else start)


CHOOSE_LARGE_FILE = """() => {
  const box = new DataTransfer();
  box.items.add(new File([new Uint8Array((1 << 24) + 1)], "x.txt", { type: "text/plain" }));
  const input = document.querySelector("#import-file");
  input.files = box.files;
  input.dispatchEvent(new Event("change", { bubbles: true }));
}"""  # the file is created in the page, because uploading it takes seconds


def test_import_of_nonsense(visitor: Visitor) -> None:
    visitor.allow_errors(REFUSAL)
    page = visitor.open("#othello?moves=f5*")
    for text, words in [
        ("hello there", "neither a game nor a position"),
        ("f5f5", "f5"),
        ("XO--", "-- is not a legal move"),
        ("#othello?moves=zz", "does not contain a valid game"),
    ]:
        paste(page, text)
        expect_notice(page, words)
    page.evaluate(CHOOSE_LARGE_FILE)
    expect(page.locator(".files-report")).to_contain_text("too large")
    expect_moves(page, "f5*")
    open_tab(page, "play")
    page.focus("#typed-move")
    page.locator("#typed-move").fill("z9")
    page.keyboard.press("Enter")
    expect(page.locator("#notice")).to_have_text("z9 is not a legal move. Legal moves: f4 d6 f6")
    page.locator("#typed-move").fill("f6")
    page.keyboard.press("Enter")
    expect_moves(page, "f5f6*")


# ---- export ---------------------------------------------------------------------------------------------------------
def test_export(visitor: Visitor) -> None:
    visitor.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = visitor.open("#othello?moves=f5d6(f6)c3*")
    panel = open_tab(page, "position")
    status = panel.locator("[role=status]")
    page.click("#export-transcript")
    expect(status).to_have_text("f5d6c3")
    assert page.evaluate("() => navigator.clipboard.readText()") == "f5d6c3"
    page.click("#export-position")
    expect(status).to_have_text(format_position(parse_transcript("f5d6c3").final))
    page.click("#export-link")
    expect(status).to_have_text(page.url)
    with page.expect_download() as svg:
        page.click("#export-svg")
    assert svg.value.suggested_filename == "awello.svg"
    assert svg.value.path().read_text().startswith("<svg")
    with page.expect_download() as png:
        page.click("#export-png")
    picture = png.value.path().read_bytes()
    assert picture[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = (int.from_bytes(picture[at : at + 4], "big") for at in (16, 20))
    assert min(width, height) >= 400


LINKS = """async () => {
  const { formatLink, parseLink } = await import("/static/js/link.js");
  const { Game } = await import("/static/js/game.js");
  const random = (bound) => Math.floor(Math.random() * bound);
  const names = { othello: () => "abcdefgh"[random(8)] + (1 + random(8)), abapa: () => "ABCDEFabcdef"[random(12)] };
  const shape = (node, current) =>
    [node.move, node === current, node.result, node.children.map((child) => shape(child, current))];
  const wrong = [];
  for (let round = 0; round < 300; round += 1) {
    const kind = round % 2 ? "othello" : "abapa";
    const clock = round % 3 ? null : { seconds: random(300) + 1, increment: random(9) };
    const players = [["human", "greedy"], ["champion@level=4", "human"], ["uct@1s,c=0.5", "a b+c&d=e#f"]][random(3)];
    const game = new Game({ game: kind, start: round % 4 ? null : "1-2-3 X", players, clock });
    const nodes = [game.root];
    for (let move = random(40); move > 0; move -= 1) {
      game.current = nodes[random(nodes.length)];
      nodes.push(game.play(random(20) ? names[kind]() : "pass"));
    }
    game.current = nodes[random(nodes.length)];
    if (round % 5 === 0) game.current.tip.result = { loser: random(2), reason: random(2) ? "resigned" : "time" };
    const again = parseLink(formatLink(game));
    const [here, there] = [game, again].map(({ game, start, players, clock, root, current }) =>
      JSON.stringify([game, start, players, clock, shape(root, current)]));
    if (here !== there || formatLink(again) !== formatLink(game)) wrong.push(formatLink(game));
  }
  return wrong;
}"""


def test_links_hold_everything(visitor: Visitor) -> None:
    """A link preserves any game tree with its players, clock and result."""
    assert visitor.open().evaluate(LINKS) == []


def test_position_of_the_other_sizes(visitor: Visitor) -> None:
    """Small boards show scores, too."""
    page = visitor.open("#othello4")
    start_engine(page)
    expect(page.locator(".board-hint.is-exact:not(.is-hidden)")).to_have_count(4)
    assert len(Position.start(Game.OTHELLO4).legal_moves()) == 4
