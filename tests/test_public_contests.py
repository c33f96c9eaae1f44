"""Contests on a public server: limited in number, priority and time, and changed only by their owners."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from waiting import wait_until

from awello.web import contests as module
from awello.web.app import create_app
from awello.web.child_processes import CONTEST_NICENESS
from awello.web.contests import Contest, ContestConfig, ContestRunner
from awello.web.errors import ApiError

CONFIG = {"game": "othello4", "players": ["greedy", "random"], "rounds": 50, "seed": 5}
HOST = "http://club.example.org"


@pytest.fixture
def contests(tmp_path: Path) -> Iterator[ContestRunner]:
    made = ContestRunner(tmp_path, public=True)
    yield made
    made.close()


def process_of(contests: ContestRunner, name: str) -> Any:
    return contests.get(name)._process


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FastAPI]:
    """Start the application of a public server."""
    monkeypatch.setenv("AWELLO_DATA", str(tmp_path))
    made = create_app(0, archive=None, hostnames=["club.example.org"])
    with TestClient(made, HOST, client=("203.0.113.7", 1)):
        yield made


def test_only_the_owner_can_change_a_contest(app: FastAPI) -> None:
    owner, other = (TestClient(app, HOST, client=(f"203.0.113.{number}", 1)) for number in (7, 8))
    begun = owner.post("/api/contests", json=CONFIG).json()
    path, proof = f"/api/contests/{begun['id']}", {"x-contest-key": begun["key"]}
    for key in ({}, {"x-contest-key": "guess"}, {"x-contest-key": "0" * 200}):
        for method, where in (("POST", f"{path}/stop"), ("POST", f"{path}/resume"), ("DELETE", path)):
            for client in (owner, other):
                answer = client.request(method, where, headers=key)
                assert answer.status_code == (422 if len(key.get("x-contest-key", "")) > 100 else 403), answer.text
    assert begun["key"] not in json.dumps(other.get("/api/contests").json()), "the key is not public"
    assert begun["key"] not in (app.state.contests.folder / begun["id"] / "contest.json").read_text()
    assert other.post(f"{path}/stop", headers=proof).json()["state"] == "stopped"
    assert owner.delete(path, headers=proof).status_code == 204
    assert owner.get(path).status_code == 404


def test_running_contests_are_limited(contests: ContestRunner) -> None:
    plan = ContestConfig.model_validate(CONFIG)
    first, _ = contests.start(plan, "one")
    with pytest.raises(ApiError, match="from your network"):
        contests.start(plan, "one")
    contests.start(plan, "two")
    with pytest.raises(ApiError, match="are running"):
        contests.start(plan, "three")
    contests.get(first).stop()
    contests.start(plan, "three")


def test_a_running_contest_is_not_started_again(contests: ContestRunner) -> None:
    name, _ = contests.start(ContestConfig.model_validate(CONFIG), "one")
    process = process_of(contests, name)
    with pytest.raises(ApiError, match="this contest is running"):
        contests.resume(name, "two")
    assert process_of(contests, name) is process


@pytest.mark.skipif(not hasattr(os, "getpriority"), reason="this system has no process priorities")
def test_contests_have_low_priority(contests: ContestRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWELLO_NICE")
    name, _ = contests.start(ContestConfig.model_validate(CONFIG), "one")
    process = process_of(contests, name)
    wait_until(lambda: os.getpriority(os.PRIO_PROCESS, process.pid) == CONTEST_NICENESS)


def test_a_contest_of_a_visitor_ends_in_time_and_can_be_resumed(
    contests: ContestRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_CONTEST_SECONDS", 0.01)
    name, _ = contests.start(ContestConfig.model_validate(CONFIG), "one")
    wait_until(lambda: contests.get(name).state != "running")
    assert contests.get(name).state == "stopped" and contests.get(name).rounds_played < 50
    monkeypatch.setattr(module, "MAX_CONTEST_SECONDS", 600.0)
    contests.resume(name, "one")
    wait_until(lambda: contests.get(name).rounds_played)


def test_the_oldest_contest_of_visitors_is_deleted(contests: ContestRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_VISITOR_CONTESTS", 2)
    names = []
    for _ in range(3):
        names.append(contests.start(ContestConfig.model_validate(CONFIG), "one")[0])
        contests.get(names[-1]).stop()
    assert {contest.folder.name for contest in contests.list()} == set(names[1:])


def test_a_network_deletes_only_its_own_contests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If a client network has too many contests, its oldest are deleted; contests of the server's owner never are."""
    monkeypatch.setattr(module, "MAX_VISITOR_CONTESTS", 4)
    monkeypatch.setattr(module, "MAX_CONTESTS_PER_NETWORK", 2)
    monkeypatch.setattr(Contest, "start", lambda contest, seconds: contest.save())
    plan = ContestConfig.model_validate(CONFIG)
    owners, _ = ContestRunner(tmp_path).start(plan)
    contests = ContestRunner(tmp_path, public=True)
    others, _ = contests.start(plan, "two")
    own = [contests.start(plan, "one")[0] for _ in range(10)]
    assert {contest.folder.name for contest in contests.list()} == {owners, others, *own[-2:]}
    for number in range(10):
        contests.start(plan, f"network {number}")
    kept = {contest.folder.name for contest in contests.list()}
    assert owners in kept and len(kept) == 5 and not kept & {others, *own}


def test_an_interrupted_write_leaves_the_contest(contests: ContestRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    name, _ = contests.start(ContestConfig.model_validate(CONFIG), "one")
    contests.get(name).stop()
    contest = contests.get(name)
    before = (contest.folder / "contest.json").read_bytes()

    def fail(*_: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(os, "fsync", fail)
    contest.stored.message = "something else"
    with pytest.raises(ValueError, match="cannot be saved"):
        contest.save()
    assert (contest.folder / "contest.json").read_bytes() == before
