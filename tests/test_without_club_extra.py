"""Awello without the extra `club`: commands name the missing extra, and the server behaves as without a club."""

import json
import subprocess
from pathlib import Path

from conftest import run

BLOCK = "import sys; sys.modules.update(dict.fromkeys(('argon2', 'openskill', 'networkx')))\n"
COMMANDS = [
    ["club", "create-account", "FILE", "Ann"],
    ["club", "set-password", "FILE", "Ann"],
    ["club", "create-bot", "FILE", "Ann", "rex"],
    ["club", "close-account", "FILE", "Ann"],
    ["club", "accounts", "FILE"],
    ["club", "audit", "FILE"],
    ["club", "create-tournament", "FILE", "Cup", "--start", "10m"],
    ["club", "tournaments", "FILE"],
    ["club", "cancel-tournament", "FILE", "1"],
    ["serve", "--port", "0", "--no-browser", "--club", "FILE"],
]
ALL = """
import json
from awello.cli.app import main
for words in json.loads(sys.argv.pop()):
    sys.argv = ["awello", *words]
    try:
        main()
    except SystemExit as left:
        print(left.code)
"""
ASK = """
import json, sys, urllib.error, urllib.request
sys.path.insert(0, "tests")
from clubs import run_server_thread

with run_server_thread(None) as address:
    for path in sys.argv[1:]:
        try:
            urllib.request.urlopen(address + path)
        except urllib.error.HTTPError as error:
            print(error.code, json.load(error)["code"])
"""


def without_extra(script: str, *words: str) -> subprocess.CompletedProcess[str]:
    return run("-c", BLOCK + script, *words, stdin="correct horse\n" * 20)


def test_commands_name_the_missing_extra(tmp_path: Path) -> None:
    words = [[word.replace("FILE", f"{tmp_path}/club.sqlite") for word in command] for command in COMMANDS]
    done = without_extra(ALL, json.dumps(words))
    assert done.stdout.split() == ["2"] * len(COMMANDS), done.stderr
    needed = "awello: packages for the club are missing: install them with pip install 'awello[club]'\n"
    assert [line for line in done.stderr.splitlines(keepends=True) if line.startswith("awello:")] == [needed] * len(
        COMMANDS
    )
    assert "Traceback" not in done.stderr


def test_the_server_behaves_as_without_a_club() -> None:
    paths = ["leaderboard", "players/ann", "players/ann/games", "session", "bots", "bots/rex/tokens", "tournaments"]
    done = without_extra(ASK, *(f"api/club/{path}" for path in paths), "api/club/tournaments/1")
    assert done.stdout.splitlines() == ["404 no_club"] * (len(paths) + 1), done.stderr
