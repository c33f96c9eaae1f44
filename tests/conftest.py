"""Shared fixtures and helpers: reference rules, the command line, browsers, random games."""

import os
import random
import signal
import subprocess
import sys
import warnings
from collections.abc import Iterator
from contextlib import chdir
from io import BytesIO, TextIOWrapper
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

import pytest
from reference_rules import ReferenceAwale, ReferenceOthello

from awello import Game, Position, Record

if TYPE_CHECKING:
    from browser import Visitor
    from playwright.sync_api import Browser

ROOT = Path(__file__).parent.parent
Reference = ReferenceOthello | ReferenceAwale


def reference_start(game: Game) -> Reference:
    """Return the start position of a game in the reference implementation."""
    return ReferenceAwale.start(game.variant) if game.variant else ReferenceOthello.start(game.size)


def restore_interrupts() -> None:
    """Enable Ctrl-C in a new process, because background jobs of a shell may ignore it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def run(*words: str, stdin: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    """Run Python with these arguments in a new process, without a terminal."""
    return subprocess.run(
        [sys.executable, *words],
        input=stdin,
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=os.environ | environment,
        timeout=300,
    )


def fresh_awello(*words: str, stdin: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    """Run an awello command in a new process, without a terminal."""
    return run("-m", "awello", *words, stdin=stdin, **environment)


def awello(*words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Run an awello command without a terminal in this process, where kernels are loaded only once.

    Warnings and uncaught exceptions make the test fail.  Use `fresh_awello` for commands that start processes or load
    players from a file, and in at least one test of each kind of command.
    """
    from awello.cli.app import main

    streams = [TextIOWrapper(BytesIO(given), "utf-8", write_through=True) for given in (stdin.encode(), b"", b"")]
    with pytest.MonkeyPatch.context() as patch, chdir(ROOT), warnings.catch_warnings():
        for category in (RuntimeWarning, UserWarning):
            warnings.simplefilter("error", category)
        patch.setattr(sys, "argv", ["awello", *words])
        for name, stream in zip(("stdin", "stdout", "stderr"), streams, strict=True):
            patch.setattr(sys, name, stream)
        with pytest.raises(SystemExit) as left:
            main()
    shown = [stream.buffer.getvalue().decode() for stream in streams[1:]]
    return subprocess.CompletedProcess(words, int(left.value.code or 0), *shown)


@pytest.fixture(params=list(Game), ids=lambda game: game.name.lower())
def game(request: pytest.FixtureRequest) -> Game:
    """Run a test once for each game."""
    chosen: Game = request.param
    return chosen


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """Start a server of the page; all tests share it, because a start takes seconds."""
    from browser import run_server_process

    with run_server_process() as found:
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator["Browser"]:
    """Start a browser for the tests of a module."""
    from browser import open_browser

    with open_browser() as found:
        yield found


@pytest.fixture
def visitor(browser: "Browser", address: str) -> Iterator["Visitor"]:
    """Yield a visitor who uses the page in English and without animations."""
    from browser import Visitor

    someone = Visitor(browser, address)
    yield someone
    someone.close()


@pytest.fixture
def frozen_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stop the clock of the rate limits, so that no limit refills during a slow test."""
    from awello.web import rate_limits

    frozen = monotonic()
    monkeypatch.setattr(rate_limits, "monotonic", lambda: frozen)


@pytest.fixture(scope="session", autouse=True)
def own_environment(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Isolate tests from the user's data and settings."""
    os.environ["AWELLO_DATA"] = str(tmp_path_factory.mktemp("data"))
    os.environ.pop("AWELLO_ARCHIVE", None)
    os.environ["AWELLO_NICE"] = "0"  # processes with low priority could starve


def random_record(game: Game, seed: int) -> Record:
    """Return a game of random moves, cut off after 300 moves."""
    rng, position = random.Random(seed), Position.start(game)
    moves: list[int] = []
    while (legal := position.legal_moves()) and len(moves) < 300:
        moves.append(rng.choice(legal))
        position = position.play(moves[-1])
    return Record(Position.start(game), tuple(moves))
