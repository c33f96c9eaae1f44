"""A real PostgreSQL server of the tests' own, where its programs are installed."""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

PATIENCE = 30.0


def find_programs() -> Path | None:
    """The folder of PostgreSQL's programs, which distributions hide in different places."""
    found = [shutil.which("initdb"), *sorted(map(str, Path("/usr/lib/postgresql").glob("*/bin/initdb")))]
    return next((Path(program).resolve().parent for program in found if program), None)


@contextmanager
def postgres() -> Iterator[str]:
    """A server that listens on a socket in its own folder; yields that folder."""
    programs = find_programs()
    assert programs is not None
    user = "postgres" if os.geteuid() == 0 else None  # the server refuses to run as root
    folder = Path(tempfile.mkdtemp(prefix="awello-postgres-"))
    if user:
        shutil.chown(folder, user)
    try:
        setup = [str(programs / "initdb"), "--auth=trust", "--no-sync", "--username=awello", "--encoding=UTF8"]
        subprocess.run([*setup, f"--pgdata={folder}"], user=user, cwd=folder, check=True, capture_output=True)
        command = [str(programs / "postgres"), "-D", str(folder), "-k", str(folder), "-h", "", "-F"]
        with subprocess.Popen(command, user=user, cwd=folder, stderr=subprocess.DEVNULL) as server:
            _wait(str(folder))
            yield str(folder)
            server.terminate()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _wait(folder: str) -> None:
    begun = time.monotonic()
    while True:
        try:
            psycopg.connect(f"host={folder} user=awello dbname=postgres").close()
            return
        except psycopg.OperationalError:
            if time.monotonic() - begun > PATIENCE:
                raise
            time.sleep(0.1)


def new_database(folder: str, name: str) -> str:
    """Make an empty database; its address."""
    with psycopg.connect(f"host={folder} user=awello dbname=postgres", autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"'.encode())
    return f"postgresql://awello@/{name}?host={folder}"
