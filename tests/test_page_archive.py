"""The archive in a browser: explorer, saved games, the list of games, and files."""

import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import (
    REFUSAL,
    Visitor,
    address_param,
    cell,
    displayed_discs,
    expect_moves,
    moves_in_address,
    open_tab,
    open_window,
    play_by_mouse,
    play_to_end,
    run_server_process,
    wait_for_reply,
)
from conftest import random_record
from playwright.sync_api import Browser, Page, Route, expect
from test_page_appearance import PHONE, accessibility_violations, find_small_targets, find_untranslated
from test_web_archive import names_of

from awello import Game, Position, Record, format_position, parse_transcript
from awello.archive.archive import Archive, GameFilter
from awello.archive.explorer import explore
from awello.engine.levels import OPPONENT_SPECS
from awello.formats.registry import find_format, read_games

SHORT = "#othello4?first=human&second=human"
TIGER = "f5d6c3d3c4"
LEVEL_2 = OPPONENT_SPECS["awale"][1]
SHORT_GAME = next(  # without a pass
    names for seed in range(100) if "pass" not in (names := names_of(random_record(Game.OTHELLO4, seed)))
)


@pytest.fixture(scope="module")
def location(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Create an archive with games of Othello by Ann and Bob, one of Awalé, and one that ended by resignation."""
    archive = Archive(location := str(tmp_path_factory.mktemp("archive") / "archive.sqlite"))
    for seed in range(25):
        record = random_record(Game.OTHELLO, seed)
        tags = {"Black": "Ann", "White": f"Bob {seed}", "Date": str(1990 + seed), "Event": "Cup"}
        archive.add(Record(record.start, record.moves, tags=tags))
    tags = {"Black": "Zoé", "White": "Ann", "Date": "2020"}
    archive.add(Record(Position.start(), parse_transcript(TIGER).moves, (1.5,) * 5, (), tags, 1, "resigned"))
    record = random_record(Game.ABAPA, 1)
    archive.add(Record(record.start, record.moves, tags={"South": LEVEL_2, "North": "Bob", "Date": "2021"}))
    archive.close()
    return location


@pytest.fixture(scope="module")
def address(location: str) -> Iterator[str]:
    with run_server_process("--port", "0", "--jobs", "1", "--archive", location) as found:
        yield found


def numbers(location: str) -> list[int]:
    archive = Archive(location)
    try:
        return archive.find_numbers(GameFilter())
    finally:
        archive.close()


def replay(page: Page, moves: list[str]) -> None:
    """Play the moves of both sides with the mouse."""
    for move in moves:
        expect(cell(page, move)).to_have_class(re.compile("is-open"))
        play_by_mouse(page, move)


def row(page: Page, move: str) -> str:
    """Return the label of a move in the explorer."""
    return page.locator(f"#explore-{move}").get_attribute("aria-label") or ""


# ---- explorer -------------------------------------------------------------------------------------------------------
def test_explorer_follows_the_position(visitor: Visitor, location: str) -> None:
    page = visitor.open("#othello?moves=f5d6c3d3*")
    page.keyboard.press("e")
    expect(page.locator("#explorer-summary")).to_contain_text("game")
    page.keyboard.press("Home")
    start = explore(Archive(location), Position.start())
    value = f"{start.value:+d}".replace("-", "−")
    expect(page.locator("#explorer-summary")).to_have_text(f"26 games · value {value}")
    expect(page.locator("#explore-f5 .explorer-value")).to_have_text(value)
    expect(page.locator(".explorer-move")).to_have_count(1)
    assert row(page, "f5").startswith("f5: 26 games, 100\xa0%, won ") and row(page, "f5").endswith(f"value {value}")
    (first,) = start.moves
    widths = page.eval_on_selector_all(".explorer-bar span", "parts => parts.map(part => Number(part.style.flexGrow))")
    assert widths == [count for count in (first.wins, first.draws, first.losses) if count]
    expect(page.locator(".explorer-bar span").first).to_have_class("explorer-first is-won")
    page.keyboard.press("End")
    expect(page.locator("#explore-c4 .explorer-opening")).to_have_text("Tiger")
    expect(page.locator(".explorer-columns .explorer-value")).to_be_hidden()  # no finished game contains this position
    expect(page.locator("#explorer-summary")).to_contain_text("Perpendicular")
    page.keyboard.press("k")
    expect(page.locator("#explore-d3")).to_be_visible()
    expect(page.locator("#explore-d3 .explorer-bar span")).to_have_class("explorer-first")  # White lost that game


def test_explorer_plays_and_previews(visitor: Visitor) -> None:
    page = visitor.open("#othello?moves=f5d6c3*")
    open_tab(page, "games")
    page.hover("#explore-d3")
    expect(page.locator(".board-drawing.is-preview")).to_be_visible()
    assert displayed_discs(page) == format_position(parse_transcript("f5d6c3d3").final).split()[0]
    page.hover("#explorer-summary")
    expect(page.locator(".board-drawing.is-preview")).to_have_count(0)
    page.click("#explore-d3")
    expect_moves(page, "f5d6c3d3*")
    expect(page.locator("#explore-c4")).to_be_visible()
    page.keyboard.press("Tab")
    page.focus("#explore-c4")
    expect(page.locator(".board-drawing.is-preview")).to_be_visible()
    page.keyboard.press("Enter")
    expect_moves(page, "f5d6c3d3c4*")
    expect(page.locator("#explorer-rows button")).to_have_count(0)
    expect(page.locator(".explorer .muted")).to_have_text("No game continues from here.")
    page.keyboard.press("u")
    expect(page.locator("#explore-c4")).to_be_visible()


def test_positions_without_games(visitor: Visitor) -> None:
    page = visitor.open("#romein")
    expect(open_tab(page, "games").locator(".explorer .muted")).to_contain_text("import files below")
    page = visitor.open("#abapa")
    open_tab(page, "games")
    expect(page.locator("#explorer-summary")).to_have_text("1 game")
    page.click(".explorer-move")
    expect(page.locator(".explorer-move")).to_have_count(1)
    page = visitor.open("#othello?moves=f5f4*")
    expect(open_tab(page, "games").locator(".explorer-move").first).to_be_visible()


# ---- saved games ----------------------------------------------------------------------------------------------------
def saved_number(page: Page) -> int:
    expect(page.locator("#save-status")).to_contain_text("Saved in the archive as game")
    return int(page.locator("#save-status").inner_text().split()[-1])


def test_a_finished_game_is_saved_once(visitor: Visitor, location: str) -> None:
    page = visitor.open("#othello4?second=greedy")
    open_tab(page, "settings").locator("#setting-name").fill("Ann O’Nym")
    page.keyboard.press("Enter")
    record = play_to_end(page, random.Random(5).choice, play_by_mouse)
    number = saved_number(page)
    before = numbers(location)
    assert number == before[-1]
    kept = Archive(location).load_record(number)
    assert kept.moves == record.moves and len(kept.seconds) == len(kept.moves)
    assert (kept.tags["Black"], kept.tags["White"], kept.tags["Site"]) == ("Ann O’Nym", "greedy", "Awello page")
    page.reload()
    assert saved_number(page) == number
    page.keyboard.press("u")
    page.keyboard.press("y")
    assert saved_number(page) == number
    page.keyboard.press("u")
    page.evaluate("() => import('/static/js/store.js').then(({ state }) => (state.game.saved = null))")
    again = moves_in_address(page)[len(page.evaluate("() => location.hash.split('*')[0].split('moves=')[1]")) // 2]
    play_by_mouse(page, again)
    assert saved_number(page) == number, "a repeated game keeps its number"
    assert numbers(location) == before


@pytest.mark.slow
def test_another_ending_of_a_saved_game_is_an_analysis(visitor: Visitor, location: str) -> None:
    page = visitor.open(SHORT)
    play_to_end(page, random.Random(7).choice, play_by_mouse)
    saved_number(page)
    before = numbers(location)
    page.keyboard.press("Home")
    replay(page, SHORT_GAME)
    expect(page.locator("#banner")).to_be_visible()
    assert "(" in address_param(page, "moves")
    expect(page.locator("#save-status")).to_have_count(0)
    assert numbers(location) == before


def test_resigned_and_out_of_time(visitor: Visitor, location: str) -> None:
    page = visitor.open("#othello?second=greedy")
    play_by_mouse(page, "f5")
    wait_for_reply(page, 2)
    page.click("#resign")
    kept = Archive(location).load_record(saved_number(page))
    assert (kept.loser, kept.reason, len(kept.moves)) == (0, "resigned", 2)
    assert (kept.tags["Black"], kept.tags["White"]) == ("guest", "greedy")
    page = visitor.open("#othello?clock=0.5")
    play_by_mouse(page, "f5")
    kept = Archive(location).load_record(saved_number(page))
    assert (kept.loser, kept.reason) == (1, "ran out of time")


@pytest.mark.slow
def test_games_not_played_here_are_not_saved(visitor: Visitor, location: str) -> None:
    """Games from links, games in which the user moved for a bot, and games with saving turned off are not saved."""
    before = numbers(location)
    page = visitor.open(f"#othello4?moves={''.join(SHORT_GAME[:-1])}*")
    replay(page, SHORT_GAME[-1:])
    expect(page.locator("#banner")).to_be_visible()
    page = visitor.open("#othello4?second=greedy")
    page.keyboard.press("p")
    replay(page, SHORT_GAME)
    expect(page.locator("#banner")).to_be_visible()
    expect(page.locator("#save-status")).to_have_count(0)
    page = visitor.open(SHORT)
    open_tab(page, "settings").locator("#setting-saveGames").uncheck()
    play_to_end(page, random.Random(3).choice, play_by_mouse)
    page.wait_for_load_state("networkidle")
    expect(page.locator("#save-status")).to_have_count(0)
    assert numbers(location) == before
    page.check("#setting-saveGames")
    saved_number(page)
    page.click("#tab-play")
    page.click("#open-archive-settings")
    expect(page.locator("#setting-saveGames")).to_be_focused()


def test_a_game_resumed_later_is_saved(visitor: Visitor) -> None:
    """A game finished in another tab is saved, because the browser's list of recent games contains its move times."""
    page = visitor.open("#othello?second=greedy")
    play_by_mouse(page, "f5")
    wait_for_reply(page, 2)
    link = page.evaluate("location.hash")
    page = visitor.open(link, visitor.new_page())
    page.click("#resign")
    saved_number(page)


# ---- list of games --------------------------------------------------------------------------------------------------
def test_list_of_games(visitor: Visitor, location: str) -> None:
    page = visitor.open("#othello")
    panel = open_tab(page, "games")
    rows = panel.locator(".archive-game")
    expect(rows).to_have_count(20)
    page.focus("#archive-more")
    page.keyboard.press("Enter")
    expect(rows.nth(20)).to_be_focused()
    page.fill("#archive-player", "zo")
    expect(rows).to_have_count(1)
    expect(panel.locator("#archive-status")).to_have_text("1 game")
    expect(rows).to_contain_text("1–0")
    page.fill("#archive-player", "")
    panel.locator("summary").click()
    page.fill("#archive-year", "1992-1994")
    expect(rows).to_have_count(3)
    page.fill("#archive-opening", "no such")
    expect(panel.locator("#archive-status")).to_have_text("No matching games.")
    page.fill("#archive-opening", "")
    page.fill("#archive-year", "")
    page.select_option("#archive-game", "abapa")
    expect(rows).to_have_count(1)
    expect(rows.get_by_title(LEVEL_2)).to_have_text("2 · Easy")
    page.select_option("#archive-game", "")
    page.keyboard.press("Home")
    page.check("#archive-position")
    page.locator("#caption").click()
    for move in ("f5", "d6", "c3", "d3"):
        page.click(f"#explore-{move}")
    expect(rows).to_have_count(1)
    rows.click()
    expect_moves(page, "f5d6c3d3c4*")
    expect(page.locator("#banner strong")).to_have_text("Black wins by resignation")
    expect(page.locator("#clock-top .clock-player")).to_have_text("Ann")
    expect(page.locator("#clock-bottom .clock-player")).to_have_text("Zoé")
    assert saved_number(page) == 26
    expect(page.locator("#open-archive-settings")).to_have_count(0)
    page.reload()
    expect(page.locator("#clock-bottom .clock-player")).to_have_text("Zoé")


def test_a_fast_click_on_a_move_is_not_lost(visitor: Visitor) -> None:
    """The explorer can show the next moves before the board shows the position."""
    page = visitor.open("#othello")
    open_tab(page, "games")
    held: list[Route] | None = []
    page.route("**/api/positions", lambda route: route.continue_() if held is None else held.append(route))
    for move in ("f5", "d6"):
        page.click(f"#explore-{move}")
    waiting, held = held or [], None
    for route in waiting:
        route.continue_()
    expect_moves(page, "f5d6*")


# ---- files ----------------------------------------------------------------------------------------------------------
def game_files(first: str, count: int, format_name: str = "ggf") -> dict[str, bytes]:
    """Return files of `count` random games in which `first` plays Black, as their contents by suffix."""
    records = [random_record(Game.OTHELLO, 100 + seed) for seed in range(count)]
    named = [Record(one.start, one.moves, tags={"Black": first, "White": "Yan", "Date": "2001"}) for one in records]
    return find_format(format_name).write(named)


def drop(page: Page, selector: str, **files: bytes) -> None:
    """Drop files on an element of the page."""
    page.evaluate(
        """([selector, files]) => {
          const dataTransfer = new DataTransfer();
          for (const [name, bytes] of files) dataTransfer.items.add(new File([new Uint8Array(bytes)], name));
          const event = new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true });
          document.querySelector(selector).dispatchEvent(event);
        }""",
        [selector, [[name, list(content)] for name, content in files.items()]],
    )


def download(page: Page, button: str) -> tuple[str, bytes]:
    """Click a download button; return the name and content of the file."""
    with page.expect_download() as found:
        page.click(button)
    return found.value.suggested_filename, Path(found.value.path()).read_bytes()


def test_import_files(visitor: Visitor) -> None:
    """Chosen or dropped files are reported and listed; a single dropped game is shown on the board."""
    visitor.allow_errors(REFUSAL)
    page = visitor.open("#othello?moves=f5d6c3*")
    panel = open_tab(page, "games")
    (content,) = game_files("Ilse", 3).values()
    damaged = content.replace(b"1 (;", b"1 (;GM[Chess]", 1)
    page.set_input_files("#archive-files", {"name": "three.ggf", "mimeType": "", "buffer": content})
    report = panel.locator(".files-report")
    expect(report).to_have_text("three.ggf 3 games · new: 3")
    page.fill("#archive-player", "Ilse")
    expect(panel.locator(".archive-game")).to_have_count(3)
    drop(page, "#panel-games", **{"again.ggf": damaged})
    expect(report.first).to_contain_text("again.ggf 2 games · new: 2")
    expect(report.first).to_contain_text("damaged: 1Details of damaged games:line 1: ")
    open_tab(page, "play")
    drop(page, "body", **{"three.ggf": content})
    expect(page.locator("#tab-games")).to_have_attribute("aria-selected", "true")
    expect(report.first).to_have_text("three.ggf 3 games · new: 0")
    drop(page, "body", **{"w.jou": b"not WTHOR"})
    expect(report.first).to_contain_text("w.jou is not a valid WTHOR list of names")
    wthor = {f"w{suffix}": content for suffix, content in game_files("Zita", 2, "wthor").items()}
    drop(page, "body", **{"w.wtb": wthor["w.wtb"]})
    expect(report.first).to_contain_text("w.wtb contains numbers instead of names")
    drop(page, "body", **wthor)
    expect(report.first).to_contain_text("w.wtb 2 games · new: 2")
    page.fill("#archive-player", "Zita")
    expect(panel.locator(".archive-game")).to_have_count(2)
    (content,) = game_files("Ilse", 1).values()
    drop(page, "body", **{"one.ggf": content})
    expect(page.locator("#banner strong")).to_be_visible()
    expect(report).to_have_count(6)


def test_export_files(visitor: Visitor) -> None:
    """All matching games can be exported; the game on the board can be exported in the formats that support it."""
    visitor.allow_errors(REFUSAL)
    page = visitor.open("#othello?moves=f5d6(f6)c3*d3")
    panel = open_tab(page, "games")
    page.fill("#archive-player", "Bob")
    page.select_option("#files-format", "ggf")
    page.click("#files-export")
    expect(panel.locator("#files-status")).to_contain_text("Export in this format is not possible")
    expect(panel.locator("#files-status")).to_contain_text("not of abapa")
    panel.locator("summary").click()
    page.select_option("#archive-game", "othello")
    page.select_option("#files-format", "wthor")
    page.click("#files-export")
    expect(panel.locator("#files-status")).to_contain_text("a WTHOR file stores games of one year")
    page.select_option("#files-format", "ggf")
    name, content = download(page, "#files-export")
    assert (name, len(list(read_games(content)))) == ("awello.ggf", 25)
    open_tab(page, "position")
    for button, suffix in (("ggf", ".ggf"), ("transcripts", ".txt"), ("logbook", ".gam")):
        name, content = download(page, f"#export-{button}")
        (record,) = read_games(content, name)
        assert isinstance(record, Record) and name == f"awello{suffix}"
        assert (record.start, record.moves) == (Position.start(), parse_transcript("f5d6c3d3").moves)
    expect(page.locator("#export-ogn")).to_be_hidden()
    open_tab(page, "games")
    page.fill("#archive-player", "Zoé")
    expect(panel.locator(".archive-game")).to_have_count(1)
    panel.locator(".archive-game").click()
    expect(page.locator("#clock-bottom .clock-player")).to_have_text("Zoé")
    open_tab(page, "position")
    (record,) = read_games(download(page, "#export-ggf")[1])
    assert isinstance(record, Record)
    assert (record.loser, record.reason, record.seconds) == (1, "resigned", (1.5,) * 5)
    assert [record.tags[name] for name in ("Black", "White", "Date")] == ["Zoé", "Ann", "2020"]
    page = visitor.open("#abapa?moves=CcFf*")
    open_tab(page, "position")
    expect(page.locator("#export-ggf")).to_be_hidden()
    (record,) = read_games(download(page, "#export-ogn")[1])
    assert isinstance(record, Record) and names_of(record) == ["C", "c", "F", "f"]


# ---- accessibility and errors ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_accessibility(browser: Browser, address: str, theme: str) -> None:
    """On a phone, in French, in both themes: no serious axe violations, no horizontal scrolling, no small targets."""
    with open_window(
        browser, address, viewport=PHONE, color_scheme=theme, has_touch=True, is_mobile=True, locale="fr-FR"
    ) as visitor:
        page = visitor.open("#othello?moves=f5d6c3d3*")
        panel = open_tab(page, "games")
        expect(panel.locator(".explorer-opening")).to_have_text("Tigre")
        expect(panel.locator(".archive-game").first).to_be_visible()
        panel.locator("summary").click()
        drop(
            page,
            "#panel-games",
            **{"a rather long name of a file with a game and damage.txt": b"f5d6\nf5a1\n", "w.wtb": b""},
        )
        expect(panel.locator(".files-report")).to_have_count(2)
        expect(panel.locator(".files-report ul")).to_be_visible()
        assert accessibility_violations(page) == []
        assert page.evaluate("() => document.documentElement.scrollWidth") <= PHONE["width"]
        assert find_small_targets(page) == []
        assert set(find_untranslated(page)) <= {"guest"}, (
            "player names are stored in the language of the page that saved the game"
        )
        page.locator(".archive-game", has_text="Zoé").click()
        expect(page.locator("#save-status")).to_contain_text("archives")
        assert accessibility_violations(page, ".play-area") == []


@pytest.mark.slow
def test_no_archive_and_a_broken_one(browser: Browser, tmp_path: Path) -> None:
    """Without a working archive, the tab explains the problem, and games can still be played."""
    broken = tmp_path / "broken"
    for words, problem in (
        (("--no-archive",), "This server has no archive: ask its operator to enable it."),
        (("--archive", str(broken)), "The archive is not available"),
    ):
        with (
            run_server_process("--port", "0", "--jobs", "1", *words) as address,
            open_window(browser, address) as visitor,
        ):
            if broken.exists():  # damaged only now, because a server does not start with a broken archive
                broken.write_text("no database" * 1000)
            visitor.allow_errors(f"{REFUSAL}|status of 503")
            page = visitor.open(SHORT)
            expect(open_tab(page, "games").locator("#explorer-summary")).to_contain_text(problem)
            expect(page.locator("#archive-status")).to_contain_text(problem)
            play_to_end(page, random.Random(4).choice, play_by_mouse)
            if words[0] == "--no-archive":
                expect(page.locator("#save-status")).to_have_count(0)
            else:
                expect(page.locator("#save-status")).to_contain_text(
                    "This game was not saved: The archive is not available"
                )
