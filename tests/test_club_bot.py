"""Programs in the club: `awello bot`, the commands that look after the books."""

import asyncio
import json
import sqlite3
import stat
import threading
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from clubs import Visitor, serving
from conftest import awello
from sqlalchemy import select
from waiting import PATIENCE, wait_until_async

from awello import Game, Record
from awello.club.accounts import make_token, open_account
from awello.club.desk import Desk, table_of
from awello.club.schema import games
from awello.club.table import Table
from awello.errors import ConfigError, SpecError
from awello.limits import Clock
from awello.players.player import Choice
from awello.protocols import club as clubs
from awello.protocols.club import Bot, Manners

SEEK = Manners(seek=(Game.OTHELLO4, Clock(60.0)))


def tokens_of(file: Path, *names: str) -> list[str]:
    """The tokens of new programs of Ann's."""
    desk = Desk(file)
    ann = desk.write(partial(open_account, name="Ann", hashed="none")).result()
    found = []
    for name in names:
        program = desk.write(partial(open_account, name=name, hashed=None, owner=ann.number)).result()
        found.append(desk.write(partial(make_token, account=program, label="test")).result())
    desk.close()
    return found


def tables(desk: Desk) -> list[Table]:
    """The games in the books."""
    rows = desk.read(lambda connection: connection.execute(select(games).order_by(games.c.id)).all())
    return [table_of(row) for row in rows]


@asynccontextmanager
async def playing(bots: list[Bot]) -> AsyncIterator[None]:
    """Bots that play in the background."""
    tasks = [asyncio.create_task(bot.run()) for bot in bots]
    yield
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def test_two_bots_find_each_other(tmp_path: Path) -> None:
    file, said = tmp_path / "club.sqlite", list[str]()
    one, two = tokens_of(file, "rex", "max")

    def results() -> list[str]:
        return [line for line in said if "won" in line or "drawn" in line]

    async def play(bots: list[Bot]) -> None:
        async with playing(bots):
            await wait_until_async(lambda: len(results()) >= 4)  # each of two games, told by both

    with serving(file) as address:
        asyncio.run(
            play([Bot(address, one, "greedy", SEEK, said.append), Bot(address, two, "random", SEEK, said.append)])
        )
    with closing(Desk(file)) as desk:
        ended = [table for table in tables(desk) if table.over]
    assert len(ended) >= 2 and all(table.position.over for table in ended)
    assert "greedy is in the club as rex" in said


def test_a_bot_whose_player_fails_resigns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, said = tmp_path / "club.sqlite", list[str]()
    one, two = tokens_of(file, "rex", "max")

    def fail(*_: Any) -> Choice:
        raise RuntimeError("boom")

    async def play(bots: list[Bot]) -> None:
        async with playing(bots):
            await wait_until_async(lambda: any("won, resigned" in line for line in said))

    monkeypatch.setattr(clubs, "choose", fail)
    with serving(file) as address:
        asyncio.run(play([Bot(address, token, "greedy", SEEK, said.append) for token in (one, two)]))
    assert any("RuntimeError: boom; the bot resigns" in line for line in said)


def test_a_bot_survives_a_restart_of_the_club(tmp_path: Path) -> None:
    file, said = tmp_path / "club.sqlite", list[str]()
    manners = Manners(seek=(Game.OTHELLO, Clock(300.0)))
    one, two = tokens_of(file, "rex", "max")

    def moves(desk: Desk) -> int:
        return sum(len(table.moves) for table in tables(desk)[:1])

    async def run(desk: Desk) -> None:
        port = 0
        async with AsyncExitStack() as stack:
            for more in (4, 4, 500):
                target = moves(desk) + more
                with serving(file, port) as address:
                    if not port:
                        port = int(address.split(":")[2].strip("/"))
                        bots = [Bot(address, each, "uct@30ms", manners, said.append) for each in (one, two)]
                        await stack.enter_async_context(playing(bots))
                    await wait_until_async(lambda: moves(desk) >= target or any(table.over for table in tables(desk)))  # noqa: B023

    with closing(Desk(file)) as desk:
        asyncio.run(run(desk))
        first = tables(desk)[0]
    assert first.position.over and first.reason == "", "the game that was broken off twice was played to its end"
    assert sum("is in the club" in line for line in said) == 6, "each bot has come three times"


def test_a_game_that_is_told_again_is_thought_about_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """As after a draw that is offered, or a connection that broke: the move goes out by the connection there is."""
    thoughts, decided = list[int](), threading.Event()

    def slow(player: Any, record: Record, clock: Clock) -> Choice:
        thoughts.append(len(record.moves))
        assert decided.wait(PATIENCE)
        return Choice(record.final.legal_moves()[0])

    class Line:
        def __init__(self) -> None:
            self.sent: list[dict[str, Any]] = []

        async def send(self, text: str) -> None:
            self.sent.append(json.loads(text))

    state = {"game": 1, "kind": "othello4", "players": [{"name": "rex"}, {"name": "Ann"}], "over": False, "mover": 0}
    state |= {"moves": [], "ply": 0, "clocks": [60.0, 60.0], "control": {"increment": 0.0}}

    async def play() -> None:
        bot = Bot("http://127.0.0.1", "token", "random", tell=lambda line: None)
        bot.name, first, second = "rex", Line(), Line()
        bot.socket = first  # type: ignore[assignment]
        await bot._look(state)
        await wait_until_async(lambda: thoughts)
        bot.socket = second  # type: ignore[assignment]
        await bot._look(state)
        decided.set()
        await wait_until_async(lambda: not bot.tasks)
        assert thoughts == [0] and not first.sent and [sent["type"] for sent in second.sent] == ["move"]
        await bot._look(state)  # the club could not keep it
        await wait_until_async(lambda: not bot.tasks)
        assert thoughts == [0, 0] and len(second.sent) == 2

    monkeypatch.setattr(clubs, "choose", slow)
    asyncio.run(play())


@pytest.mark.parametrize(
    ("manners", "challenge", "playing", "taken"),
    [
        (Manners(), {}, 0, True),
        (Manners(most=2), {}, 2, False),
        (Manners(names=frozenset({"bob"})), {}, 0, False),
        (Manners(names=frozenset({"ann"})), {}, 0, True),
        (Manners(kinds=frozenset({Game.ABAPA})), {}, 0, False),
    ],
)
def test_manners(manners: Manners, challenge: dict[str, str], playing: int, taken: bool) -> None:
    assert manners.accepts({"from": "Ann", "kind": "othello"} | challenge, playing) == taken


def test_what_is_wrong_is_said_in_a_line(tmp_path: Path) -> None:
    file = tmp_path / "club.sqlite"
    tokens_of(file)
    with serving(file) as address:
        with pytest.raises(ConfigError, match="does not let random in: this token is not valid"):
            asyncio.run(asyncio.wait_for(Bot(address, "forged", "random").run(), PATIENCE))
        assert Visitor(base_url=address).get("/api/health").json()["ok"]
    with pytest.raises(SpecError):
        Bot("http://127.0.0.1", "token", "nobody")
    for server in ("ftp://x", "http://"):
        with pytest.raises(ConfigError, match="is no address of a club"):
            Bot(server, "token", "random").address  # noqa: B018
    assert Bot("https://x.org/awello/", "t", "random").address == "wss://x.org/awello/api/club/live"


def test_the_books_are_looked_after_by_commands(tmp_path: Path) -> None:
    file = str(tmp_path / "club.sqlite")
    assert awello("club", "accounts", file).stderr.startswith("awello: there is no club")
    assert (
        awello("club", "open", file, "Ann", stdin="short\n").stderr
        == "awello: a password has 10 to 200 letters: choose another\n"
    )
    assert awello("club", "open", file, "Ann", stdin="correct horse\n").stdout == "Ann can log in now\n"
    assert stat.S_IMODE(Path(file).stat().st_mode) == 0o600, "nobody else may read it"
    token = awello("club", "program", file, "ann", "rex").stdout.strip()
    assert token.startswith("awello_")
    rows = json.loads(awello("club", "accounts", file, "--json").stdout)["accounts"]
    assert [(row["name"], row["program"]) for row in rows] == [("Ann", False), ("rex", True)]
    assert awello("club", "password", file, "ann", stdin="battery staple\n").stdout == "Ann has another password now\n"
    assert "is a program" in awello("club", "password", file, "rex", stdin="battery staple\n").stderr
    awello("club", "close", file, "rex")
    noted = awello("club", "audit", file).stdout
    assert (
        "account opened" in noted
        and "password changed" in noted
        and "program rex registered" in noted
        and "account closed" in noted
    )
    assert token not in noted
    copy = tmp_path / "copy.sqlite"
    assert awello("club", "backup", file, str(copy)).returncode == 0
    assert sqlite3.connect(copy).execute("SELECT count(*) FROM accounts").fetchone() == (2,)
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert "exists already" in awello("club", "backup", file, str(copy)).stderr
    assert "cannot be copied" in awello("club", "backup", file, str(tmp_path / "nowhere" / "copy")).stderr
    assert "there is no account 'bob'" in awello("club", "close", file, "bob").stderr


def test_a_bot_without_a_token_is_told_how_to_get_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWELLO_TOKEN", raising=False)
    assert "needs a token" in awello("bot", "random", "--server", "http://127.0.0.1:1").stderr
    wrong = awello("bot", "random", "--server", "http://127.0.0.1:1", "--token", "t", "--seek", "chess 5m")
    assert "no game 'chess'" in wrong.stderr
