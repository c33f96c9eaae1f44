"""Bots of the club: `awello bot`, and the commands for the club's database."""

import asyncio
import json
import re
import sqlite3
import stat
import threading
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from socket import gaierror
from typing import Any, ClassVar

import pytest
from clubs import ClubHttpClient, run_server_thread
from conftest import awello
from sqlalchemy import select
from waiting import TIMEOUT, wait_until_async
from websockets.exceptions import InvalidMessage

from awello import Game, Player, Position, Record, register
from awello.club.accounts import create_account, create_token
from awello.club.game_state import GameState
from awello.club.schema import games
from awello.club.store import ClubStore
from awello.club.stored_games import row_to_game_state
from awello.errors import ConfigError, SpecError
from awello.limits import Clock
from awello.players.player import Choice
from awello.protocols import club_bot
from awello.protocols.club_bot import BotPolicy, ClubBot, describe_failure

SEEK = BotPolicy(seek=(Game.OTHELLO4, Clock(60.0)))


STATE = {
    "game": 1,
    "variant": "othello4",
    "players": [{"name": "rex"}, {"name": "Ann"}],
    "over": False,
    "mover": 0,
    "moves": [],
    "ply": 0,
    "clocks": [60.0, 60.0],
    "control": {"increment": 0.0},
}
OVER = {"over": True, "winner": 0, "reason": "resigned", "score": None}


class FakeSocket:
    """A fake WebSocket that records the messages sent through it."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []

    async def send(self, text: str) -> None:
        self.sent.append(json.loads(text))


def create_bots(file: Path, *names: str) -> list[str]:
    """Create bots that belong to Ann; return their tokens."""
    store = ClubStore(file)
    ann = store.submit(partial(create_account, name="Ann", password_hash="none")).result()
    found = []
    for name in names:
        bot = store.submit(partial(create_account, name=name, password_hash=None, owner=ann.id)).result()
        found.append(store.submit(partial(create_token, account=bot, label="test")).result())
    store.close()
    return found


def load_games(store: ClubStore) -> list[GameState]:
    """Load the stored games."""
    rows = store.read_blocking(lambda connection: connection.execute(select(games).order_by(games.c.id)).all())
    return [row_to_game_state(row) for row in rows]


@asynccontextmanager
async def run_bots(bots: list[ClubBot]) -> AsyncIterator[None]:
    """Run bots in the background."""
    tasks = [asyncio.create_task(bot.run()) for bot in bots]
    yield
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def test_two_bots_find_each_other(tmp_path: Path) -> None:
    file, log = tmp_path / "club.sqlite", list[str]()
    one, two = create_bots(file, "rex", "max")

    def results() -> list[str]:
        return [line for line in log if "won" in line or "drawn" in line]

    async def play(bots: list[ClubBot]) -> None:
        async with run_bots(bots):
            await wait_until_async(lambda: len(results()) >= 4)  # two games, each logged by both bots

    with run_server_thread(file) as address:
        asyncio.run(
            play([ClubBot(address, one, "greedy", SEEK, log.append), ClubBot(address, two, "random", SEEK, log.append)])
        )
    with closing(ClubStore(file)) as store:
        ended = [state for state in load_games(store) if state.over]
    assert len(ended) >= 2 and all(state.position.over for state in ended)
    assert "greedy is online as rex" in log


def test_a_bot_whose_player_fails_resigns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, log = tmp_path / "club.sqlite", list[str]()
    one, two = create_bots(file, "rex", "max")

    def fail(*_: Any) -> Choice:
        raise RuntimeError("boom")

    async def play(bots: list[ClubBot]) -> None:
        async with run_bots(bots):
            await wait_until_async(lambda: any("won, resigned" in line for line in log))

    monkeypatch.setattr(club_bot, "choose_move", fail)
    with run_server_thread(file) as address:
        asyncio.run(play([ClubBot(address, token, "greedy", SEEK, log.append) for token in (one, two)]))
    assert any("the bot resigns after an error (RuntimeError: boom)" in line for line in log)


def test_a_bot_survives_a_restart_of_the_club(tmp_path: Path) -> None:
    file, log = tmp_path / "club.sqlite", list[str]()
    policy = BotPolicy(seek=(Game.OTHELLO, Clock(300.0)))
    one, two = create_bots(file, "rex", "max")

    def moves(store: ClubStore) -> int:
        return sum(len(state.moves) for state in load_games(store)[:1])

    def has_reached(store: ClubStore, target: int) -> bool:
        return moves(store) >= target or any(state.over for state in load_games(store))

    async def run(store: ClubStore) -> None:
        port = 0
        async with AsyncExitStack() as stack:
            for more in (4, 4, 500):
                target = moves(store) + more
                with run_server_thread(file, port) as address:
                    if not port:
                        port = int(address.split(":")[2].strip("/"))
                        bots = [ClubBot(address, each, "uct@30ms", policy, log.append) for each in (one, two)]
                        await stack.enter_async_context(run_bots(bots))
                    await wait_until_async(partial(has_reached, store, target))

    with closing(ClubStore(file)) as store:
        asyncio.run(run(store))
        first = load_games(store)[0]
    assert first.position.over and first.reason == "", "the game that was interrupted twice has been finished"
    assert sum("is online as" in line for line in log) == 6, "each bot has connected three times"


def test_a_game_that_is_sent_again_is_searched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The club sends a game again after a draw offer or a reconnection; the bot answers on its current connection."""
    thoughts, decided = list[int](), threading.Event()

    def slow(player: Any, record: Record, clock: Clock) -> Choice:
        thoughts.append(len(record.moves))
        assert decided.wait(TIMEOUT)
        return Choice(record.final.legal_moves()[0])

    async def play() -> None:
        bot = ClubBot("http://127.0.0.1", "token", "random", log=lambda line: None)
        bot.name, first, second = "rex", FakeSocket(), FakeSocket()
        bot.socket = first  # type: ignore[assignment]
        bot._handle_game(STATE)
        await wait_until_async(lambda: thoughts)
        bot.socket = second  # type: ignore[assignment]
        bot._handle_game(STATE)
        decided.set()
        await wait_until_async(lambda: not bot.tasks)
        assert thoughts == [0] and not first.sent and [sent["type"] for sent in second.sent] == ["move"]
        bot._handle_game(STATE)  # the game is sent again, as if the club could not store the move
        await wait_until_async(lambda: not bot.tasks)
        assert thoughts == [0, 0] and len(second.sent) == 2

    monkeypatch.setattr(club_bot, "choose_move", slow)
    asyncio.run(play())


@pytest.mark.parametrize(
    ("policy", "challenge", "playing", "taken"),
    [
        (BotPolicy(), {}, 0, True),
        (BotPolicy(max_games=2), {}, 2, False),
        (BotPolicy(opponents=frozenset({"bob"})), {}, 0, False),
        (BotPolicy(opponents=frozenset({"ann"})), {}, 0, True),
        (BotPolicy(variants=frozenset({Game.ABAPA})), {}, 0, False),
    ],
)
def test_policy(policy: BotPolicy, challenge: dict[str, str], playing: int, taken: bool) -> None:
    assert policy.accepts({"from": "Ann", "variant": "othello"} | challenge, playing) == taken


def test_errors_are_one_line(tmp_path: Path) -> None:
    file = tmp_path / "club.sqlite"
    create_bots(file)
    with run_server_thread(file) as address:
        with pytest.raises(ConfigError, match="the club refused random: the token is not valid"):
            asyncio.run(asyncio.wait_for(ClubBot(address, "forged", "random").run(), TIMEOUT))
        assert ClubHttpClient(base_url=address).get("/api/health").json()["ok"]
    with pytest.raises(SpecError):
        ClubBot("http://127.0.0.1", "token", "nobody")
    for server in ("ftp://x", "http://"):
        with pytest.raises(ConfigError, match="is not a club address"):
            ClubBot(server, "token", "random")
    assert ClubBot("https://x.org/awello/", "t", "random").url == "wss://x.org/awello/api/club/live"


def test_failed_connections_are_described() -> None:
    log = list[str]()

    async def try_to_connect(address: str) -> None:
        async with run_bots([ClubBot(address, "token", "random", log=log.append)]):
            await wait_until_async(lambda: bool(log))

    asyncio.run(try_to_connect("http://127.0.0.1:1"))
    assert log.pop(0) == "cannot connect to http://127.0.0.1:1: check --server, or wait; next try in 0.5 s"
    assert describe_failure(gaierror(-2, "Name or service not known")) == " (Name or service not known)"
    assert describe_failure(InvalidMessage("not HTTP")) == " (not HTTP)"


def test_commands_for_the_database(tmp_path: Path) -> None:
    file = str(tmp_path / "club.sqlite")
    assert awello("club", "accounts", file).stderr.endswith(f"create it with 'awello serve --club {file}'\n")
    assert (
        awello("club", "create-account", file, "Ann", stdin="short\n").stderr
        == "awello: the password must have 10 to 200 characters: choose another password\n"
    )
    assert awello("club", "create-account", file, "Ann", stdin="correct horse\n").stdout == "Ann can log in now\n"
    assert stat.S_IMODE(Path(file).stat().st_mode) == 0o600, "readable only by its owner"
    token = awello("club", "create-bot", file, "ann", "rex").stdout.strip()
    assert token.startswith("awello_")
    rows = json.loads(awello("club", "accounts", file, "--json").stdout)["accounts"]
    assert [(row["name"], row["bot"]) for row in rows] == [("Ann", False), ("rex", True)]
    assert (
        awello("club", "set-password", file, "ann", stdin="battery staple\n").stdout
        == "the password of Ann has been changed\n"
    )
    assert "is a bot" in awello("club", "set-password", file, "rex", stdin="battery staple\n").stderr
    awello("club", "close-account", file, "rex")
    noted = awello("club", "audit", file).stdout
    assert (
        "account created" in noted
        and "password changed" in noted
        and "bot rex created" in noted
        and "account closed" in noted
    )
    assert token not in noted
    last = json.loads(awello("club", "audit", file, "--last", "2", "--json").stdout)["audit"]
    assert [row["event"] for row in last] == ["password changed", "account closed"]
    copy = tmp_path / "copy.sqlite"
    assert awello("club", "backup", file, str(copy)).returncode == 0
    assert sqlite3.connect(copy).execute("SELECT count(*) FROM accounts").fetchone() == (2,)
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert "already exists" in awello("club", "backup", file, str(copy)).stderr
    assert "create it first" in awello("club", "backup", file, str(tmp_path / "nowhere" / "copy")).stderr
    assert "account 'bob' does not exist" in awello("club", "close-account", file, "bob").stderr


def test_a_bot_needs_a_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWELLO_TOKEN", raising=False)
    assert "needs a token" in awello("bot", "random", "--server", "http://127.0.0.1:1").stderr
    wrong = awello("bot", "random", "--server", "http://127.0.0.1:1", "--token", "t", "--seek", "chess 5m")
    assert "unknown game 'chess'" in wrong.stderr


@register("pupil", "the first legal move; records its calls")
@dataclass
class LearningPlayer(Player):
    calls: ClassVar[list[tuple[str, Any]]] = []
    lesson: ClassVar[threading.Event] = threading.Event()

    def begin(self, game: Game, seed: int) -> None:
        self.calls.append(("begin", self))

    def follow(self, record: Record) -> None:
        self.calls.append(("follow", record.moves))

    def choose(self, position: Position, clock: Clock) -> Choice:
        self.calls.append(("choose", position))
        return Choice(position.legal_moves()[0])

    def end(self) -> None:
        self.calls.append(("end", self))

    def learn(self, record: Record, side: int) -> Mapping[str, int]:
        assert self.lesson.wait(TIMEOUT)
        self.calls.append(("learn", (self, record, side)))
        return {}


def words(calls: list[tuple[str, Any]]) -> list[str]:
    return [word for word, _ in calls]


def test_a_bot_learns_from_each_game_before_its_next_one(tmp_path: Path) -> None:
    file = tmp_path / "club.sqlite"
    one, two = create_bots(file, "rex", "max")
    LearningPlayer.calls.clear()
    LearningPlayer.lesson.set()

    async def play(bots: list[ClubBot]) -> None:
        async with run_bots(bots):
            await wait_until_async(lambda: words(LearningPlayer.calls).count("learn") >= 3)

    def ignore(line: str) -> None:
        pass

    with run_server_thread(file) as address:
        asyncio.run(play([ClubBot(address, one, "pupil", SEEK, ignore), ClubBot(address, two, "random", SEEK, ignore)]))
    games = " ".join(words(LearningPlayer.calls)).split("begin")[1:4]
    for game in games:
        assert re.fullmatch(r" ?(follow choose )+end learn ?", game), "in this order, and nothing in between"
    for (_, moves), (word, position) in pairwise(LearningPlayer.calls):
        assert word != "choose" or Record(Position.start(Game.OTHELLO4), moves).final == position
    learnt = [arguments for word, arguments in LearningPlayer.calls if word == "learn"]
    assert all(record.final.over and record.loser is None for _, record, _ in learnt)
    assert {side for _, _, side in learnt} <= {0, 1} and len({id(player) for player, _, _ in learnt}) == len(learnt)


def test_challenges_and_games_wait_until_learning_is_done() -> None:
    LearningPlayer.calls.clear()
    LearningPlayer.lesson.clear()

    async def play() -> None:
        bot, line = ClubBot("http://127.0.0.1", "token", "pupil", log=lambda line: None), FakeSocket()
        bot.name, bot.socket = "rex", line  # type: ignore[assignment]
        bot._handle_game(STATE)
        await wait_until_async(lambda: line.sent)
        bot._handle_game(STATE | OVER)
        bot._handle_game(STATE | OVER)  # the club may send a finished game twice
        bot._handle_game(STATE | {"game": 2})
        challenge = bot._schedule(bot._answer_challenge, {"from": "Ann", "variant": "othello", "number": 5})
        await wait_until_async(lambda: words(LearningPlayer.calls)[-1] == "end")
        assert [sent["type"] for sent in line.sent] == ["move"] and not challenge.done()
        LearningPlayer.lesson.set()
        await wait_until_async(lambda: not bot.tasks)
        assert [sent["type"] for sent in line.sent][1:] in (["accept", "move"], ["move", "accept"])

    asyncio.run(play())
    assert words(LearningPlayer.calls) == ["begin", "follow", "choose", "end", "learn", "begin", "follow", "choose"]
    _, record, side = LearningPlayer.calls[4][1]
    assert (record.loser, record.reason, side) == (1, "resigned", 0)


@pytest.mark.parametrize("reason", ["aborted", "draw_agreed"])
def test_an_aborted_game_is_not_learnt_from(reason: str) -> None:
    LearningPlayer.calls.clear()
    LearningPlayer.lesson.set()

    async def play() -> None:
        bot = ClubBot("http://127.0.0.1", "token", "pupil", log=lambda line: None)
        bot.name = "rex"
        bot._handle_game(STATE | {"mover": 1})
        bot._handle_game(STATE | OVER | {"winner": None, "reason": reason})
        await wait_until_async(lambda: not bot.tasks)

    asyncio.run(play())
    assert words(LearningPlayer.calls) == ["begin", "end", *["learn"] * (reason == "draw_agreed")]


def test_a_bot_continues_after_a_failure_to_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    log = list[str]()

    def fail(player: LearningPlayer, record: Record, side: int) -> None:
        raise RuntimeError("boom")

    async def play() -> None:
        bot = ClubBot("http://127.0.0.1", "token", "pupil", log=log.append)
        bot.name = "rex"
        bot._handle_game(STATE | {"mover": 1})
        bot._handle_game(STATE | OVER)
        await wait_until_async(lambda: not bot.tasks)
        assert not bot.learning_tasks and not bot.players

    monkeypatch.setattr(LearningPlayer, "learn", fail)
    asyncio.run(play())
    assert log[-1] == "game 1: learning failed (RuntimeError: boom)"


@pytest.mark.slow
@pytest.mark.parametrize("learning", [True, False])
def test_otage_does_not_repeat_a_lost_game(learning: bool, tmp_path: Path) -> None:
    """In ten games against a deterministic opponent, Otage loses by the same moves twice only if learning is off."""
    file, memory = tmp_path / "club.sqlite", tmp_path / "otage"
    memory.mkdir()
    one, two = create_bots(file, "otage", "max")
    policy = BotPolicy(seek=(Game.OTHELLO, Clock(600.0)))
    over: list[str] = []

    async def play(bots: list[ClubBot]) -> None:
        async with run_bots(bots):
            await wait_until_async(lambda: sum("won" in line or "drawn" in line for line in over) >= 10)

    spec = f"otage@2,memory={memory}" + ("" if learning else ",learning=false")
    with run_server_thread(file) as address:
        rival = ClubBot(address, two, "champion@level=3,hash=1", policy, lambda line: None)
        asyncio.run(play([ClubBot(address, one, spec, policy, over.append), rival]))
    with closing(ClubStore(file)) as store:
        finished = [state for state in load_games(store) if state.over][:10]
    lost = [state.moves for state in finished if state.winner is not None and state.players[state.winner] != 2]
    assert len(lost) > 5, "the opponent is stronger"
    assert (len(set(lost)) == len(lost)) == learning
