"""The page in a browser: languages, themes, small screens, keyboard shortcuts and accessibility."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from browser import Visitor, caption, cell, expect_moves, expect_notice, open_tab, open_window, play_by_mouse
from playwright.sync_api import Browser, Page, expect
from test_translations import ENGLISH, FRENCH

TABS = ["play", "analysis", "games", "position", "lab", "settings"]
PHONE = {"width": 360, "height": 740}
LINKS = {"othello": "#othello?moves=f5f6e6f4g7*", "awale": "#abapa?moves=CcFf*"}


def states(page: Page) -> Iterator[str]:
    """Bring the page into each of its states (values, review, each tab, editor, help); yield the name of each."""
    page.click("#engine")
    expect(page.locator(".board-hint:not(.is-hidden)").first).to_be_visible()
    expect(open_tab(page, "analysis").locator(".values li").first).to_be_visible()
    yield "values"
    page.click("#engine")
    page.click("#begin-review")
    expect(page.locator("#begin-review")).to_be_visible()
    expect(page.locator(".summary")).to_be_visible()
    for name in TABS:
        open_tab(page, name)
        yield name
        if name == "position":
            page.click("#editor-open")
            yield "editor"
            page.click("#editor-cancel")
    page.click("#help-button")
    yield "help"
    page.keyboard.press("Escape")


# ---- accessibility and small screens --------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("family", "theme"), [("othello", "light"), pytest.param("awale", "dark", marks=pytest.mark.slow)]
)
def test_accessibility(browser: Browser, address: str, family: str, theme: str) -> None:
    """On a phone, in both themes: no serious axe violations, no horizontal scrolling, large touch targets."""
    settings: dict[str, Any] = {"viewport": PHONE, "color_scheme": theme, "has_touch": True, "is_mobile": True}
    with open_window(browser, address, **settings) as visitor:
        page = visitor.open(LINKS[family])
        for state in states(page):
            assert accessibility_violations(page, PLACES.get(state)) == [], state
            page.emulate_media(color_scheme="dark" if theme == "light" else "light")
            assert accessibility_violations(page, PLACES.get(state), "color-contrast") == [], state
            page.emulate_media(color_scheme="light" if theme == "light" else "dark")
            assert page.evaluate("() => document.documentElement.scrollWidth") <= PHONE["width"], state
            assert find_small_targets(page) == [], state
    with open_window(browser, address, color_scheme=theme, locale="fr-FR", viewport=PHONE) as visitor:
        page = visitor.open(LINKS[family])
        assert accessibility_violations(page) == []
        assert page.evaluate("() => document.documentElement.scrollWidth") <= PHONE["width"]


PLACES = {name: f"#panel-{name}" for name in TABS}


def accessibility_violations(page: Page, selector: str | None = None, *rules: str) -> list[str]:
    """List the serious axe violations, optionally only those of some elements or of some axe rules."""
    options = {"resultTypes": ["violations"]} | ({"runOnly": list(rules)} if rules else {})
    found = Axe().run(page, context=selector, options=options).response["violations"]
    return [
        f"{one['id']}: {one['nodes'][0]['html'][:200]} {one['nodes'][0].get('failureSummary', '')}"
        for one in found
        if one["impact"] in ("serious", "critical")
    ]


def find_small_targets(page: Page) -> list[str]:
    """List touch targets under 40 pixels, except Awalé stores, which are wide, and the graph's button."""
    return list(
        page.evaluate(
            """() => [...document.querySelectorAll("a, button, select, summary, textarea, input, [role=gridcell]")]
              .filter((node) => node.checkVisibility())
              .filter((node) => !node.matches(".graph-loss-button, [aria-colspan], :disabled, [type=file]"))
              .map((node) => (["checkbox", "radio"].includes(node.type) ? node.labels[0] : node))
              .filter((node) => Math.min(node.getBoundingClientRect().width, node.getBoundingClientRect().height) < 40)
              .map((node) => node.outerHTML.slice(0, 120))"""
        )
    )


def find_cut_off(page: Page) -> list[str]:
    """List tab lists and panels whose content is too wide, and buttons with a word that is broken."""
    return list(
        page.evaluate(
            """() => {
              const shown = (names) => [...document.querySelectorAll(names)].filter((node) => node.checkVisibility());
              const countLines = (node) => {
                const range = document.createRange();
                range.selectNodeContents(node);
                return range.getClientRects().length;
              };
              const words = shown("button").filter((node) => !node.children.length && !/[\\s-]/.test(node.textContent));
              const wide = shown(".side, .tabs, .panel").filter((node) => node.scrollWidth > node.clientWidth);
              const broken = words.filter((node) => countLines(node) > 1);
              return [...wide, ...broken].map((node) => node.outerHTML.slice(0, 120));
            }"""
        )
    )


# ---- languages and themes -------------------------------------------------------------------------------------------
def test_french(visitor: Visitor) -> None:
    """The language changes immediately and is stored; on a phone, no text is cut off."""
    page = visitor.open(LINKS["othello"])
    open_tab(page, "settings").locator("#setting-language").select_option("fr")
    expect(page.locator("#tab-settings")).to_have_text(FRENCH["tab.settings"])
    assert page.evaluate("() => document.activeElement.id") == "setting-language"
    page.reload()
    expect(caption(page)).to_contain_text("Trait aux Blancs")
    assert page.evaluate("() => document.documentElement.lang") == "fr"
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    for state in states(page):
        assert find_untranslated(page) == [] and find_cut_off(page) == [], state
    page = visitor.open("#abapa")
    assert find_untranslated(page) == []


def find_untranslated(page: Page) -> list[str]:
    """List English texts that the page shows or announces although they have a translation."""
    known = set(FRENCH.values())
    texts = {text for key, text in ENGLISH.items() if text not in known and FRENCH[key] != text and "{" not in text}
    seen = page.evaluate(
        """() => [...document.querySelectorAll("body *")].filter((node) => node.checkVisibility()).flatMap((node) =>
             [node.ariaLabel, node.title, node.placeholder, node.alt,
              ...[...node.childNodes].filter((child) => child.nodeType === 3).map((child) => child.data.trim())])
             .filter(Boolean)"""
    )
    pieces = {piece.strip() for text in seen for piece in [text, *re.split("[,·]", text)]}
    return sorted(texts & pieces)


def test_dates(visitor: Visitor) -> None:
    """Dates are written as in Britain and France."""
    page = visitor.open()
    dates = page.evaluate(
        """async () => {
          const { formatDate, setLanguage } = await import("/static/js/i18n.js");
          const dates = [formatDate("2026-11-19T20:48")];
          await setLanguage("fr");
          return [...dates, formatDate("2026-11-19T20:48")];
        }"""
    )
    assert dates == ["19/11/2026, 20:48", "19/11/2026 20:48"]


def test_themes(browser: Browser, address: str) -> None:
    """Themes, board colours and board sizes are applied and stored."""
    colour = "() => getComputedStyle(document.body).backgroundColor"
    felt = "() => getComputedStyle(document.querySelector('.othello-felt')).fill"
    with open_window(browser, address, color_scheme="dark") as visitor:
        page = visitor.open("#othello")
        dark = page.evaluate(colour)
        open_tab(page, "settings")
        page.select_option("#setting-theme", "light")
        light = page.evaluate(colour)
        assert light != dark
        page.emulate_media(color_scheme="light")
        page.select_option("#setting-theme", "system")
        assert page.evaluate(colour) == light
        page.select_option("#setting-theme", "dark")
        assert page.evaluate(colour) == dark
        looks = set()
        for colours in ["green", "blue", "wood", "grey", "contrast"]:
            page.select_option("#setting-boardColours", colours)
            looks.add(page.evaluate(felt))
        assert len(looks) == 5
        page.locator("#setting-boardSize").fill("320")
        expect(page.locator("othello-board")).to_have_css("width", "320px")
        page.reload()
        expect(page.locator("othello-board")).to_have_css("width", "320px")
        assert page.evaluate(colour) == dark


# ---- keyboard and focus ---------------------------------------------------------------------------------------------
def test_keys(visitor: Visitor) -> None:
    """Each shortcut has the effect described in the help."""
    page = visitor.open("#othello?moves=f5d6c3d3*")
    press = page.keyboard.press
    for key, moves in [
        ("ArrowLeft", "f5d6c3*d3"),
        ("k", "f5d6*c3d3"),
        ("ArrowRight", "f5d6c3*d3"),
        ("j", "f5d6c3d3*"),
        ("ArrowUp", "f5d6c3d3"),
        ("ArrowDown", "f5d6c3d3*"),
        ("Home", "f5d6c3d3"),
        ("End", "f5d6c3d3*"),
        ("u", "f5d6c3*d3"),
        ("y", "f5d6c3d3*"),
    ]:
        press(key)
        page.wait_for_function(
            "want => (new URLSearchParams(location.hash.split('?')[1]).get('moves').replace(/\\*$/, '*')) === want",
            arg=moves,
        )
    press("f")
    expect(page.locator("#clock-bottom .clock-name")).to_have_text("White")
    press("f")
    for key, button in [("l", "#engine"), ("z", "#hints")]:
        before = page.get_attribute(button, "aria-pressed")
        press(key)
        expect(page.locator(button)).to_have_attribute("aria-pressed", "false" if before == "true" else "true")
    press("z")
    expect(page.locator(".board-mark.is-engine")).to_be_visible()
    press("a")
    expect(page.locator(".board-mark.is-engine")).to_have_count(0)
    press(" ")
    page.wait_for_function("() => document.querySelectorAll('.moves-move').length === 5")
    press("l")
    press(" ")
    expect(page.locator("#engine")).to_have_attribute("aria-pressed", "true")
    press("l")
    cell(page, "a1").click(button="right")
    expect(page.locator(".board-mark.is-user")).to_be_visible()
    press("x")
    expect(page.locator(".board-mark")).to_have_count(0)
    press("g")
    expect(page.locator("[role=gridcell]:focus")).to_have_count(1)
    press("t")
    expect(page.locator("#typed-move")).to_be_focused()
    press("n")
    expect(page.locator("#typed-move")).to_have_value("n")
    caption(page).click()
    press("p")
    expect(page.locator("#pause")).to_have_text("Resume")
    press("p")
    press("s")
    press("n")
    expect_moves(page, "")
    for key in "bmi":
        press(key)
        expect_notice(page, "No move of this kind")
    press("r")
    expect(page.locator("#panel-analysis")).to_be_visible()
    press("?")
    rows = page.locator("#help tr")
    shown = page.evaluate("() => import('/static/js/shortcuts.js').then(({ SHORTCUTS }) => SHORTCUTS.length)")
    assert rows.count() == shown
    press("Escape")
    expect(page.locator("#help")).to_be_hidden()


def test_fields_keep_their_keys(visitor: Visitor) -> None:
    """Neither typing in fields nor arrow keys in lists, tabs and radio buttons trigger shortcuts."""
    page = visitor.open("#othello?moves=f5d6*")
    page.focus("#player-1")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Home")
    open_tab(page, "position")
    page.fill("#import-text", "")
    page.focus("#import-text")
    page.keyboard.type("lznfu ?")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#import-text")).to_have_value("lznfu ?")
    page.focus("#tab-position")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#panel-lab")).to_be_visible()
    page.keyboard.press("ArrowLeft")
    page.click("#editor-open")
    page.focus("#editor-tool-X")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#editor-tool-O")).to_be_checked()
    expect(page.locator("#editor-tool-O")).to_be_focused()
    page.keyboard.press("g")
    page.keyboard.press("Enter")
    expect(page.locator("[role=gridcell]:focus")).to_have_count(1)
    page.click("#editor-cancel")
    expect_moves(page, "f5d6*")


STORE = """async () => {
  const { notifyChange, setState, state, subscribe } = await import("/static/js/store.js");
  const heard = [];
  const unsubscribe = subscribe(["marks", "archive"], () => heard.push(state.marks.length));
  setState({ marks: [{ from: "f5", to: null, by: "user" }], preview: null });
  setState({ preview: null });
  notifyChange("archive");
  unsubscribe();
  setState({ marks: [] });
  return heard;
}"""


def test_subscribers_are_called_once_for_what_they_show(visitor: Visitor) -> None:
    assert visitor.open().evaluate(STORE) == [1, 1]


REFINE = """async () => {
  const { notifyChange, state } = await import("/static/js/store.js");
  const { current } = state.game;
  const { depth, moves } = current.analysis;
  current.analysis = { ...current.analysis, depth: depth + 1, moves: moves.toReversed() };
  notifyChange("analysis");
}"""


def test_focus_stays(visitor: Visitor) -> None:
    """The focus is kept while values and reviews arrive."""
    page = visitor.open("#othello?moves=f5d6c3d3*")
    open_tab(page, "analysis")
    page.click("#engine")
    button = page.locator(".values button").first
    button.focus()
    move = button.locator("b").inner_text()
    page.evaluate(REFINE)
    assert page.evaluate("() => document.activeElement.querySelector('b')?.textContent") == move
    page.locator(".pv button").nth(1).focus()
    page.evaluate(REFINE)
    assert page.evaluate("() => document.activeElement.parentElement.className") == "pv"
    page.click("#engine")
    page.focus("#begin-review")
    page.keyboard.press("Enter")
    expect(page.locator("#stop-review")).to_be_focused()
    expect(page.locator("#begin-review")).to_be_focused()


def test_tab_order(visitor: Visitor) -> None:
    """The Tab key visits the top bar, the board, its buttons, the graph and the tabs; the list of moves is one stop."""
    page = visitor.open("#othello?moves=f5d6*")
    page.wait_for_selector("#player-0 option[value=greedy]", state="attached")
    order = []
    for _ in range(60):
        page.keyboard.press("Tab")
        here = page.evaluate(
            "() => document.activeElement.id || document.activeElement.className || document.activeElement.innerText"
        )
        if here in order or not here:
            break
        order.append(here)
    assert order[:4] == ["brand", "game-picker", "new-game", "help-button"]
    assert order[4].startswith("board-cell")
    places = [
        order.index(name) for name in ("to-first", "undo", "flip", "graph-plot", "tab-play", "player-0", "typed-move")
    ]
    assert places == sorted(places)
    assert order.count("moves-move") == 1


def test_refusals(visitor: Visitor) -> None:
    """A refused move is explained visibly and to screen readers."""
    page = visitor.open("#othello")
    play_by_mouse(page, "a1")
    expect_notice(page, "a1 would not flip any disc")
    page = visitor.open("#abapa?start=0-0-0-0-1-5-0-0-0-0-0-0-21-21-S")
    play_by_mouse(page, "E")
    expect_notice(page, "you must feed your opponent")
    play_by_mouse(page, "A")
    expect_notice(page, "A is empty")
    play_by_mouse(page, "b")
    expect_notice(page, "b is not one of your pits")
    expect(page.locator("#live-region")).to_contain_text("not one of your pits")
