"""Accounts: concurrent password changes, limits on login attempts, known devices, sessions."""

import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from argon2 import PasswordHasher
from clubs import PASSWORD, ClubHttpClient, run_server_thread, sign_up
from database import find_programs, new_database, postgres
from sqlalchemy import select
from test_club import create_user

from awello.club import accounts
from awello.club.schema import audit, known_devices
from awello.club.store import ClubStore
from awello.web import accounts_api, club_service, logins

OWNERS, GUESSERS, ELSEWHERE = "10.0.0.1", "10.6.6.6", "10.0.0.2"


@pytest.fixture(autouse=True)
def exact_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use fast password hashes, and a limit on login attempts that does not refill during a test."""
    monkeypatch.setattr(accounts, "_hasher", PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
    monkeypatch.setattr(logins, "NAME_AND_ORIGIN_RATE", (10, 1e-9))


@contextmanager
def club(database: Path) -> Iterator[Any]:
    """Run a club; yield a function that creates a new HTTP client."""
    with run_server_thread(database) as address, ExitStack() as stack:
        yield lambda: stack.enter_context(ClubHttpClient(base_url=address))


def log_in(visitor: ClubHttpClient, network: str, password: str = PASSWORD) -> int:
    login = {"name": "Ann", "password": password}
    return int(visitor.post("/api/club/session", json=login, headers={"x-forwarded-for": network}).status_code)


def guess(visitor: ClubHttpClient, network: str) -> int:
    return log_in(visitor, network, "guess guess")


def audit_events(database: Path) -> list[str]:
    store = ClubStore(database)
    found = [row.event for row in store.read_blocking(lambda connection: connection.execute(select(audit)).all())]
    store.close()
    return found


# ---- passwords -------------------------------------------------------------------------------------------------------
def test_one_of_two_concurrent_password_changes_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(club_service, "MAX_CONCURRENT_HASHES", 2)
    hash_password, both = accounts.hash_password, threading.Barrier(2, timeout=30)

    def wait_for_the_other(password: str) -> str:
        both.wait()
        return hash_password(password)

    with club(tmp_path / "club.sqlite") as visit:
        owner, thief = visit(), visit()
        sign_up(owner, "Ann")
        assert log_in(thief, GUESSERS) == 200
        # The new passwords are hashed only after both requests have verified the old password.
        monkeypatch.setattr(accounts, "hash_password", wait_for_the_other)
        answers: dict[str, Any] = {}

        def change(visitor: ClubHttpClient, new: str) -> None:
            answers[new] = visitor.put("/api/club/password", json={"old": PASSWORD, "new": new})

        tries = [(owner, "battery staple"), (thief, "stolen horse!")]
        threads = [threading.Thread(target=change, args=words) for words in tries]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        (lost,) = [answer for answer in answers.values() if answer.status_code != 200]
        assert (lost.status_code, lost.json()["code"]) == (403, "password_changed") and "just been changed" in lost.text
        for new, answer in answers.items():
            assert log_in(visit(), ELSEWHERE, new) == (200 if answer.status_code == 200 else 401)


def test_unknown_login_names_are_not_logged(tmp_path: Path) -> None:
    with club(tmp_path / "club.sqlite") as visit:
        sign_up(visit(), "Ann")
        visit().post("/api/club/session", json={"name": PASSWORD, "password": "Ann"})
        guess(visit(), GUESSERS)
    events = audit_events(tmp_path / "club.sqlite")[1:]
    assert events == ["wrong password for an unknown name", "wrong password for Ann"]


@pytest.mark.parametrize("path", ["bots", "bots/rex/tokens"])
def test_a_session_that_has_just_ended_creates_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    """A request is refused if its session ends while the server processes the request."""
    require_user = accounts_api._require_user

    async def logged_out_at_once(club: Any, request: Any) -> Any:
        person = await require_user(club, request)
        await club.write(lambda connection: accounts.change_password(connection, person, "another"))
        return person

    with club(tmp_path / "club.sqlite") as visit:
        ann = visit()
        sign_up(ann, "Ann")
        assert ann.post("/api/club/bots", json={"name": "rex"}).status_code == 200
        monkeypatch.setattr(accounts_api, "_require_user", logged_out_at_once)
        assert (
            ann.post(f"/api/club/{path}", json={"name": "max"} if path == "bots" else {"label": "x"}).status_code == 401
        )


# ---- login attempts --------------------------------------------------------------------------------------------------
def test_guesses_from_one_address_lock_out_that_address_only(tmp_path: Path) -> None:
    with club(tmp_path / "club.sqlite") as visit:
        sign_up(visit(), "Ann")
        assert [guess(visit(), GUESSERS) for _ in range(12)][-2:] == [429, 429]
        assert log_in(visit(), ELSEWHERE) == 200, "a new device in a new network can log in"


def test_guesses_in_the_same_network_do_not_lock_out_a_known_device(tmp_path: Path) -> None:
    with club(tmp_path / "club.sqlite") as visit:
        owner = visit()
        sign_up(owner, "Ann")
        assert log_in(owner, OWNERS) == 200
        owner.delete("/api/club/session")
        assert [guess(visit(), OWNERS) for _ in range(12)][-1] == 429
        assert log_in(owner, OWNERS) == 200


def test_guesses_from_everywhere_lock_out_no_device_or_network_that_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After guesses have used up a limit, known devices and known networks can still log in, even after a restart."""
    database = tmp_path / "club.sqlite"
    with club(database) as visit:
        owner = visit()
        sign_up(owner, "Ann")
        assert log_in(owner, OWNERS) == 200
        cookies = dict(owner.cookies)
    for limit, elsewhere in (("NAME_RATE", "10.0.0.2"), ("UNKNOWN_ORIGIN_RATE", "10.0.0.3")):
        with monkeypatch.context() as patch:
            patch.setattr(logins, limit, (3, 1e-9))
            with club(database) as visit:
                assert [guess(visit(), f"10.1.0.{number}") for number in range(5)] == [401] * 3 + [429] * 2
                assert log_in(visit(), elsewhere) == 429, "a new device in a new network is locked out"
                assert log_in(visit(), OWNERS) == 200, "a new device in a known network can log in"
                device = visit()
                device.cookies.update(cookies)
                assert log_in(device, elsewhere) == 200, "a known device in a new network can log in"


def test_a_device_is_known_for_its_own_account_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logins, "NAME_RATE", (3, 1e-9))
    with club(tmp_path / "club.sqlite") as visit:
        sign_up(visit(), "Ann")
        eve = visit()
        sign_up(eve, "Eve")
        assert [guess(eve, f"10.1.0.{number}") for number in range(4)][-1] == 429


def test_only_new_accounts_count_towards_their_limit(tmp_path: Path) -> None:
    """Invalid and taken names and invalid passwords do not count; the error says when the next account is possible."""
    with club(tmp_path / "club.sqlite") as visit:

        def create(name: str, password: str = PASSWORD) -> Any:
            return visit().post("/api/club/accounts", json={"name": name, "password": password}).json()

        sign_up(visit(), "Ann")
        for _ in range(6):
            refused = [create("ann"), create("1"), create("Bob", "short")]
            assert [answer["code"] for answer in refused] == ["name_taken", "invalid_name", "password_length"]
        assert [create(f"Ann{number}")["name"] for number in range(4)] == ["Ann0", "Ann1", "Ann2", "Ann3"]
        assert create("Ann4") == {
            "code": "too_many_attempts",
            "message": "too many attempts: try again in 12 min",
            "params": {"time": "12 min"},
        }


# ---- stored data -----------------------------------------------------------------------------------------------------
@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ClubStore]:
    if request.param == "sqlite":
        store = ClubStore(tmp_path / "club.sqlite")
        yield store
        store.close()
    elif find_programs() is None:
        pytest.skip("PostgreSQL is not installed")
    else:
        with postgres() as folder:
            store = ClubStore(new_database(folder, "club"))
            yield store
            store.close()


def test_known_devices_are_bounded_hashed_and_forgotten(store: ClubStore, monkeypatch: pytest.MonkeyPatch) -> None:
    ann, now = create_user(store, "Ann"), time.time()

    def use(number: int) -> None:
        monkeypatch.setattr(time, "time", lambda: now + number)
        store.submit(
            lambda connection: accounts.save_device(connection, ann, f"device{number}", f"net{number}")
        ).result()

    def known(device: str, client_network: str) -> str | None:
        return store.read_blocking(
            lambda connection: accounts.find_known_login_origin(connection, ann.id, device, client_network)
        )

    for number in range(accounts.MAX_KNOWN_DEVICES_PER_ACCOUNT):
        use(number)
    rows = store.read_blocking(lambda connection: connection.execute(select(known_devices)).all())
    assert len(rows) == accounts.MAX_KNOWN_DEVICES_PER_ACCOUNT and all(len(row.digest) == 32 for row in rows)
    assert known("device0", "net0") is None, "the devices and networks used least recently are forgotten"
    last = accounts.MAX_KNOWN_DEVICES_PER_ACCOUNT - 1
    assert known(f"device{last}", "net0") == "device" and known("other", f"net{last}") == "client_network"
    use(last)
    assert (
        len(store.read_blocking(lambda connection: connection.execute(select(known_devices)).all()))
        == accounts.MAX_KNOWN_DEVICES_PER_ACCOUNT
    )
    monkeypatch.setattr(time, "time", lambda: now + last + accounts.KNOWN_DEVICE_SECONDS + 1)
    assert known(f"device{last}", f"net{last}") is None
    use(0)
    store.submit(lambda connection: accounts.change_password(connection, ann, "another")).result()
    assert known("device0", "net0") is None, "after a password change, no device or network is known"


def test_sessions_of_an_account_are_limited(store: ClubStore, monkeypatch: pytest.MonkeyPatch) -> None:
    ann, bob, now = create_user(store, "Ann"), create_user(store, "Bob"), time.time()
    others = store.submit(lambda connection: accounts.create_session(connection, bob)).result()
    secrets = []
    for number in range(accounts.MAX_SESSIONS_PER_ACCOUNT + 1):
        monkeypatch.setattr(time, "time", lambda number=number: now + number)
        secrets.append(store.submit(lambda connection: accounts.create_session(connection, ann)).result())

    def find_owner(secret: str) -> accounts.Account | None:
        return store.read_blocking(lambda connection: accounts.find_by_session(connection, secret))

    assert [find_owner(secret) for secret in secrets] == [None] + [ann] * accounts.MAX_SESSIONS_PER_ACCOUNT
    assert find_owner(others) == bob


def test_control_characters_are_refused_before_a_database_sees_them(tmp_path: Path) -> None:
    with club(tmp_path / "club.sqlite") as visit:
        ann = visit()
        sign_up(ann, "Ann")
        ann.post("/api/club/bots", json={"name": "rex"})
        assert ann.post("/api/club/bots/rex/tokens", json={"label": "a\0b"}).status_code == 422
        assert ann.post("/api/club/session", json={"name": "A\0nn", "password": PASSWORD}).status_code == 422
